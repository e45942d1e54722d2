//! `alert_words`: all alert words of the user.

use serde::Serialize;

#[derive(Serialize)]
pub(super) struct AlertWords<'e> {
    pub alert_words: &'e [String],
}
