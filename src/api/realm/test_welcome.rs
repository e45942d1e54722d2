//! `POST /realm/test_welcome_bot_custom_message`: sends the welcome message to the requester as a preview
//! (docs/api/organization.md#test-the-welcome-message).

use crate::api::formulas;
use crate::http::{ApiError, App, Caller, Fields, FromFields, HandlerResult, Params, reply_field};
use actors::{DirectDraft, welcome_bot};
use model::SettingValue;
use rules::RuleError;
use rules::content::parse_content;
use rules::error::AccountError;
use rules::settings::realm_setting;

const NAME: &str = "welcome_message_custom_text";

/// The text to preview.
pub struct TestWelcome(String);

impl FromFields for TestWelcome {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self(fields.required(NAME)?))
    }
}

/// Sends the text from the welcome bot to the requester, and returns its `message_id`. The text must be valid for the
/// setting, which is not changed.
pub async fn test_welcome(
    app: App,
    caller: Caller,
    Params(TestWelcome(text)): Params<TestWelcome>,
) -> HandlerResult {
    if let Some(setting) = realm_setting(NAME) {
        setting.check(&SettingValue::Text(text.clone()))?;
    }
    let text = parse_content(&text)?;
    formulas::prepare(&app, &caller, [text.as_str()]).await?;
    let directory = caller.realm.directory();
    let bot = welcome_bot(&directory).ok_or(AccountError::NoSuchUser).map_err(RuleError::from)?;
    let mut draft = caller.realm.draft_notice(&directory, bot, text).ok_or(RuleError::ContentEmpty)?;
    draft.sender = bot.clone();
    let mut users = vec![bot.id, caller.user.id];
    users.sort_unstable();
    let sent = caller.realm.send_direct(DirectDraft { draft, users }).await?;
    reply_field("message_id", &sent.id)
}
