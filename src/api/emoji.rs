//! `GET {server_emoji_data_url}`: the standard emoji by code (docs/api/emoji.md#emoji-data).

use crate::http::{HandlerResult, Reply};

/// The path of the emoji data.
pub const EMOJI_PATH: &str = "/static/generated/emoji/emoji_api.json";

/// `{"code_to_names": {code: [name, …]}}`. The table changes with the server's version only.
pub async fn emoji_json() -> HandlerResult {
    let forever = "public, max-age=31536000, immutable";
    Ok(Reply::plain("application/json", forever, rules::emoji::code_to_names_json().as_bytes()))
}
