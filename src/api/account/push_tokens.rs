//! `/users/me/apns_device_token` and `/users/me/android_gcm_reg_id`: legacy push tokens
//! (docs/api/push.md#legacy-tokens).

use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, reply_ok};
use actors::commands;
use model::push::PushTokenKind;

/// One of Apple's phones.
pub struct AppleToken {
    token: String,
    app: String,
}

impl FromFields for AppleToken {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self { token: fields.required("token")?, app: fields.required("appid")? })
    }
}

/// Any phone.
pub struct Token(String);

impl FromFields for Token {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self(fields.required("token")?))
    }
}

/// Registers one of Apple's phones; nothing happens if it is registered already.
pub async fn add_apple(
    caller: Caller,
    Params(AppleToken { token, app }): Params<AppleToken>,
) -> HandlerResult {
    caller
        .realm
        .execute(commands::AddPushToken {
            user: caller.user.id,
            kind: PushTokenKind::Apns,
            token,
            app: Some(app),
        })
        .await?;
    reply_ok()
}

/// Forgets one of Apple's phones.
pub async fn remove_apple(caller: Caller, Params(Token(token)): Params<Token>) -> HandlerResult {
    caller
        .realm
        .execute(commands::RemovePushToken { user: caller.user.id, kind: PushTokenKind::Apns, token })
        .await?;
    reply_ok()
}

/// Registers one of Google's phones; nothing happens if it is registered already.
pub async fn add_google(caller: Caller, Params(Token(token)): Params<Token>) -> HandlerResult {
    caller
        .realm
        .execute(commands::AddPushToken { user: caller.user.id, kind: PushTokenKind::Fcm, token, app: None })
        .await?;
    reply_ok()
}

/// Forgets one of Google's phones.
pub async fn remove_google(caller: Caller, Params(Token(token)): Params<Token>) -> HandlerResult {
    caller
        .realm
        .execute(commands::RemovePushToken { user: caller.user.id, kind: PushTokenKind::Fcm, token })
        .await?;
    reply_ok()
}
