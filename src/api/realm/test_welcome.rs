//! `POST /realm/test_welcome_bot_custom_message`: shows an administrator what new people would be told (companions.md 10).

use crate::api::account::welcome::greet_with;
use crate::http::{Answer, ApiError, Caller, Fields, FromFields, Params, reply};
use model::{MessageId, SettingValue};
use rules::content::parse_content;
use rules::settings::realm_setting;
use serde::Serialize;

const NAME: &str = "welcome_message_custom_text";

/// The parameters.
pub struct TestWelcome {
    text: String,
}

impl FromFields for TestWelcome {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self { text: fields.required(NAME)? })
    }
}

#[derive(Serialize)]
struct Shown {
    message_id: MessageId,
}

/// Sends the text to whoever asks, from the bot that greets, within the bounds of the setting. Nothing is changed by it.
pub async fn test_welcome(caller: Caller, Params(TestWelcome { text }): Params<TestWelcome>) -> Answer {
    if let Some(setting) = realm_setting(NAME) {
        setting.check(&SettingValue::Text(text.clone()))?;
    }
    let text = parse_content(&text)?;
    let sent = greet_with(&caller.realm, &caller.realm.directory(), &caller.user, text).await?;
    reply(&Shown { message_id: sent.id })
}
