//! Statuses: a short text and an emoji (docs/api/presence-and-status.md#set-the-own-status).

use crate::error::{EmojiError, PersonalError, RuleError};
use crate::names::check_length;
use crate::reactions::{ChosenEmoji, CustomEmoji, ProposedEmoji, check_emoji, complete_emoji};
use crate::text::strip;
use model::{StatusEmoji, UserStatus};

/// Longest text, in code points.
const STATUS_LENGTH_MAX: usize = 60;

/// The parameters as sent; missing ones leave that part of the status unchanged.
#[derive(Clone, Copy, Debug, Default)]
pub struct StatusRequest<'r> {
    pub text: Option<&'r str>,
    /// Empty removes the emoji.
    pub emoji_name: Option<&'r str>,
    pub emoji_code: Option<&'r str>,
    pub reaction_type: Option<&'r str>,
    /// Deprecated: changes a setting, not the status, but counts as a change.
    pub away: Option<bool>,
}

/// The new status; none if it is empty. `TooLong`, `NoNewValues`, errors of the emoji, in this order.
pub fn check_status(
    before: Option<&UserStatus>,
    request: &StatusRequest,
    custom: &[CustomEmoji],
) -> Result<Option<UserStatus>, RuleError> {
    let text =
        request.text.map(|raw| check_length("status_text", strip(raw), STATUS_LENGTH_MAX)).transpose()?;
    if request.away.is_none() && text.is_none() && request.emoji_name.is_none() {
        // A code or type without a name does not count.
        return Err(PersonalError::NoNewValues.into());
    }
    let mut status = before.cloned().unwrap_or_default();
    if let Some(text) = text {
        text.clone_into(&mut status.text);
    }
    match request.emoji_name {
        Some("") => status.emoji = None,
        Some(name) => {
            let proposed = ProposedEmoji { name, code: request.emoji_code, kind: request.reaction_type };
            let chosen = complete_emoji(proposed, custom)?;
            check_emoji(&chosen, custom)?;
            let ChosenEmoji { name, code, kind } = chosen;
            status.emoji = Some(StatusEmoji { name, code, kind });
        }
        None if request.emoji_code.is_some() || request.reaction_type.is_some() => {
            return Err(EmojiError::NameMissing.into());
        }
        None => {}
    }
    Ok((status != UserStatus::default()).then_some(status))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(text: &str, emoji: Option<(&str, &str)>) -> UserStatus {
        let emoji = emoji.map(|(name, code)| StatusEmoji {
            name: name.into(),
            code: code.into(),
            kind: "unicode_emoji".into(),
        });
        UserStatus { text: text.into(), emoji }
    }

    #[test]
    fn missing_parameters_change_nothing() {
        let before = status("lunch", Some(("car", "1f697")));
        let ask = |request: StatusRequest| check_status(Some(&before), &request, &[]);
        let text = StatusRequest { text: Some(" back "), ..StatusRequest::default() };
        assert_eq!(ask(text), Ok(Some(status("back", Some(("car", "1f697"))))));
        let no_emoji = StatusRequest { emoji_name: Some(""), ..StatusRequest::default() };
        assert_eq!(ask(no_emoji), Ok(Some(status("lunch", None))));
        let nothing = StatusRequest { text: Some(""), emoji_name: Some(""), ..StatusRequest::default() };
        assert_eq!(ask(nothing), Ok(None));
        let away = StatusRequest { away: Some(true), ..StatusRequest::default() };
        assert_eq!(ask(away), Ok(Some(before.clone())));
    }

    #[test]
    fn invalid_requests_are_refused() {
        let long = "x".repeat(61);
        let cases: [(StatusRequest, &str); 7] = [
            (StatusRequest::default(), "Client did not pass any new values."),
            (
                StatusRequest { text: Some(&long), ..Default::default() },
                "status_text is too long (limit: 60 characters)",
            ),
            (
                StatusRequest { emoji_name: Some("no such"), ..Default::default() },
                "Emoji 'no such' does not exist",
            ),
            (
                StatusRequest { emoji_code: Some("1f697"), ..Default::default() },
                "Client did not pass any new values.",
            ),
            (
                StatusRequest { text: Some("a"), reaction_type: Some("unicode_emoji"), ..Default::default() },
                "Client must pass emoji_name if they pass either emoji_code or reaction_type.",
            ),
            (
                StatusRequest { emoji_name: Some("car"), emoji_code: Some("1f698"), ..Default::default() },
                "Invalid emoji name.",
            ),
            (
                StatusRequest { emoji_name: Some("car"), reaction_type: Some("x"), ..Default::default() },
                "Invalid emoji type.",
            ),
        ];
        for (request, expected) in cases {
            assert_eq!(check_status(None, &request, &[]).unwrap_err().to_string(), expected, "{request:?}");
        }
    }
}
