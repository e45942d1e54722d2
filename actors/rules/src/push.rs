//! Validation of legacy push tokens and of keys for encrypted notifications (docs/api/push.md).

use crate::error::{PushError, RuleError};
use model::push::PushTokenKind;

/// Longest token, in characters.
const TOKEN_LENGTH_MAX: usize = 4096;
/// Longest encrypted registration and key name, in characters.
const REGISTRATION_LENGTH_MAX: usize = 4096;
/// Maximum number of a user's devices of one kind. A further one replaces the oldest, whose app registers again when it is
/// opened.
pub const PHONES_MAX: usize = 32;
/// The first byte of a key for libsodium's secretbox, before its 32 bytes.
const SECRETBOX: u8 = 0x31;

/// Checks a token as sent: `TokenLength`, `ApnsToken`.
pub fn check_token(kind: PushTokenKind, token: &str) -> Result<(), RuleError> {
    if token.is_empty() || token.len() > TOKEN_LENGTH_MAX {
        return Err(PushError::TokenLength.into());
    }
    let is_hex = token.len().is_multiple_of(2) && token.bytes().all(|byte| byte.is_ascii_hexdigit());
    match kind {
        PushTokenKind::Apns if !is_hex => Err(PushError::ApnsToken.into()),
        _ => Ok(()),
    }
}

/// Checks the id of an app: `AppId`.
pub fn check_app(app: &str) -> Result<(), RuleError> {
    let is_known = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'.' || byte == b'-';
    if app.is_empty() || !app.bytes().all(is_known) {
        return Err(PushError::AppId.into());
    }
    Ok(())
}

/// Whether two tokens of one kind belong to the same device: they are compared ignoring case.
pub fn is_same_token(left: &str, right: &str) -> bool {
    left.to_lowercase() == right.to_lowercase()
}

/// The 32 bytes of a key after the byte for the cryptosystem. `decoded` is none if the parameter is not Base64. `PushKey`.
pub fn parse_push_key(decoded: Option<&[u8]>) -> Result<[u8; 32], RuleError> {
    match decoded {
        Some([SECRETBOX, key @ ..]) => key.try_into().map_err(|_| PushError::PushKey.into()),
        _ => Err(PushError::PushKey.into()),
    }
}

/// Checks the length of an encrypted registration for the push service: `TooLong`.
pub fn check_registration(field: &'static str, text: &str) -> Result<(), RuleError> {
    match text.chars().count() > REGISTRATION_LENGTH_MAX {
        true => Err(PushError::TooLong { field, limit: REGISTRATION_LENGTH_MAX }.into()),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_bounded_and_apns_tokens_are_hexadecimal() {
        let long = "a".repeat(TOKEN_LENGTH_MAX + 1);
        let cases = [
            (PushTokenKind::Fcm, "android-token", None),
            (PushTokenKind::Fcm, "", Some(PushError::TokenLength)),
            (PushTokenKind::Fcm, &long, Some(PushError::TokenLength)),
            (PushTokenKind::Apns, "c0ffee", None),
            (PushTokenKind::Apns, "C0FFEE", None),
            (PushTokenKind::Apns, "c0ffe", Some(PushError::ApnsToken)),
            (PushTokenKind::Apns, "apple-tokenbb", Some(PushError::ApnsToken)),
            (PushTokenKind::Apns, "", Some(PushError::TokenLength)),
            (PushTokenKind::Apns, &long, Some(PushError::TokenLength)),
        ];
        for (kind, token, error) in cases {
            assert_eq!(check_token(kind, token).err(), error.map(RuleError::from), "{kind:?} {token:.20}");
        }
    }

    #[test]
    fn app_ids_are_validated() {
        for app in ["org.zulip.Zulip", "a", "com.Example-2.app"] {
            assert_eq!(check_app(app), Ok(()), "{app}");
        }
        for app in ["", "a b", "org/zulip", "ä", "a_b", "'; --"] {
            assert_eq!(check_app(app), Err(PushError::AppId.into()), "{app}");
        }
    }

    #[test]
    fn keys_have_a_prefix_and_32_bytes() {
        let mut bytes = [7; 33];
        bytes[0] = SECRETBOX;
        assert_eq!(parse_push_key(Some(&bytes)), Ok([7; 32]));
        let wrong = Err(PushError::PushKey.into());
        assert_eq!(parse_push_key(None), wrong);
        assert_eq!(parse_push_key(Some(&[])), wrong);
        assert_eq!(parse_push_key(Some(&bytes[..32])), wrong);
        assert_eq!(parse_push_key(Some(&[bytes.as_slice(), &[0]].concat())), wrong);
        assert_eq!(parse_push_key(Some(&[7; 33])), wrong);
    }
}
