//! `POST /realm/test_welcome_bot_custom_message`: sends the welcome message to the requester as a preview
//! (docs/api/organization.md#test-the-welcome-message).

use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, reply};
use actors::{DirectDraft, welcome_bot};
use model::{MessageId, SettingValue};
use rules::RuleError;
use rules::content::parse_content;
use rules::error::AccountError;
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
pub async fn test_welcome(
    caller: Caller,
    Params(TestWelcome { text }): Params<TestWelcome>,
) -> HandlerResult {
    if let Some(setting) = realm_setting(NAME) {
        setting.check(&SettingValue::Text(text.clone()))?;
    }
    let text = parse_content(&text)?;
    let directory = caller.realm.directory();
    let bot = welcome_bot(&directory).ok_or(AccountError::NoSuchUser).map_err(RuleError::from)?;
    let mut draft = caller.realm.draft_notice(&directory, bot, text).ok_or(RuleError::ContentEmpty)?;
    draft.sender = bot.clone();
    let mut users = vec![bot.id, caller.user.id];
    users.sort_unstable();
    let sent = caller.realm.send_direct(DirectDraft { draft, users }).await?;
    reply(&Shown { message_id: sent.id })
}
