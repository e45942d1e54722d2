//! `/users/me/apns_device_token` and `/users/me/android_gcm_reg_id`: phones of the older way (endpoints.md 15).

use crate::http::{Answer, ApiError, Caller, Fields, FromFields, Params, reply_ok};
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
pub async fn add_apple(caller: Caller, Params(AppleToken { token, app }): Params<AppleToken>) -> Answer {
    caller.realm.add_push_token(caller.user.id, PushTokenKind::Apns, token, Some(app)).await?;
    reply_ok()
}

/// Forgets one of Apple's phones.
pub async fn remove_apple(caller: Caller, Params(Token(token)): Params<Token>) -> Answer {
    caller.realm.remove_push_token(caller.user.id, PushTokenKind::Apns, token).await?;
    reply_ok()
}

/// Registers one of Google's phones; nothing happens if it is registered already.
pub async fn add_google(caller: Caller, Params(Token(token)): Params<Token>) -> Answer {
    caller.realm.add_push_token(caller.user.id, PushTokenKind::Fcm, token, None).await?;
    reply_ok()
}

/// Forgets one of Google's phones.
pub async fn remove_google(caller: Caller, Params(Token(token)): Params<Token>) -> Answer {
    caller.realm.remove_push_token(caller.user.id, PushTokenKind::Fcm, token).await?;
    reply_ok()
}
