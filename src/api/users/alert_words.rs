//! `GET`, `POST` and `DELETE /users/me/alert_words`: words that flag messages for the requester
//! (docs/api/users.md#alert-words).

use crate::http::params::check_length_max;
use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, reply};
use actors::commands;
use rules::alert_words::ALERT_WORD_LENGTH_MAX;
use serde::Serialize;

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

#[derive(Serialize)]
struct Listed {
    alert_words: Vec<String>,
}

/// `alert_words`.
pub async fn list(caller: Caller, _: Params<()>) -> HandlerResult {
    let alert_words = caller.realm.directory().alert_words(caller.user.id).to_vec();
    reply(&Listed { alert_words })
}

/// Adds words; `alert_words` is the whole list then.
pub async fn add(caller: Caller, Params(AlertWords(words)): Params<AlertWords>) -> HandlerResult {
    let alert_words = caller
        .realm
        .execute(commands::ChangeAlertWords { user: caller.user.id, words, is_add: true })
        .await?;
    reply(&Listed { alert_words })
}

/// Takes words away; `alert_words` is what remains.
pub async fn remove(caller: Caller, Params(AlertWords(words)): Params<AlertWords>) -> HandlerResult {
    let alert_words = caller
        .realm
        .execute(commands::ChangeAlertWords { user: caller.user.id, words, is_add: false })
        .await?;
    reply(&Listed { alert_words })
}
