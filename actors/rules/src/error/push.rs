//! Why a device is not registered for notifications, or not found (docs/api/push.md).

/// A refusal. The display text is exactly what a client reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PushError {
    /// Empty, or longer than any token is.
    #[error("Empty or invalid length token")]
    TokenLength,
    /// Not the hexadecimal digits of whole bytes.
    #[error("Invalid APNS token")]
    ApnsToken,
    /// Not the name of an app.
    #[error("appid has invalid format")]
    AppId,
    /// The caller has no phone with this token.
    #[error("Token does not exist")]
    TokenMissing,
    /// Not 33 bytes in Base64, or a cryptosystem that this server does not speak.
    #[error("Invalid `push_key`")]
    PushKey,
    /// Longer than any registration is.
    #[error("{field} is too long (limit: {limit} characters)")]
    TooLong {
        /// The parameter.
        field: &'static str,
        /// Characters that it may have.
        limit: usize,
    },
}
