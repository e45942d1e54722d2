//! Why a device is not registered for notifications, or not found (docs/api/push.md).

/// A refusal. The display text is exactly what a client reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PushError {
    #[error("Empty or invalid length token")]
    TokenLength,
    /// Not the hexadecimal digits of whole bytes.
    #[error("Invalid APNS token")]
    ApnsToken,
    #[error("appid has invalid format")]
    AppId,
    /// The requester has no device with this token.
    #[error("Token does not exist")]
    TokenMissing,
    /// Not 33 bytes in Base64, or an unsupported cryptosystem.
    #[error("Invalid `push_key`")]
    PushKey,
    #[error("{field} is too long (limit: {limit} characters)")]
    TooLong { field: &'static str, limit: usize },
}
