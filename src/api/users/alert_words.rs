//! `GET`, `POST` and `DELETE /users/me/alert_words`: words that flag messages for the requester
//! (docs/api/users.md#alert-words).

use crate::http::params::check_length_max;
use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, reply_field};
use actors::commands;
use rules::alert_words::ALERT_WORD_LENGTH_MAX;

/// The parameter: a list of words.
pub struct AlertWords(Vec<String>);

impl FromFields for AlertWords {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let words = fields.required_strings("alert_words")?;
        for (index, word) in words.iter().enumerate() {
            check_length_max(&format!("alert_words[{index}]"), word, ALERT_WORD_LENGTH_MAX)?;
        }
        Ok(Self(words))
    }
}

/// Returns the `alert_words` of the requester.
pub async fn list(caller: Caller, _: Params<()>) -> HandlerResult {
    reply_field("alert_words", &caller.realm.directory().alert_words(caller.user.id))
}

/// Adds words, and returns the whole list `alert_words`.
pub async fn add(caller: Caller, Params(AlertWords(words)): Params<AlertWords>) -> HandlerResult {
    change(&caller, words, true).await
}

/// Removes words, and returns the rest as `alert_words`.
pub async fn remove(caller: Caller, Params(AlertWords(words)): Params<AlertWords>) -> HandlerResult {
    change(&caller, words, false).await
}

async fn change(caller: &Caller, words: Vec<String>, is_add: bool) -> HandlerResult {
    let command = commands::ChangeAlertWords { user: caller.user.id, words, is_add };
    reply_field("alert_words", &caller.realm.execute(command).await?)
}
