//! `/messages` and below: mirrors `src/api/messages`.

mod bot_owner;
mod delete;
mod delete_topic;
mod edit;
mod edit_refusals;
mod edit_typing;
mod fetch;
mod fetch_checks;
mod fetch_first_unread;
mod fetch_narrows;
mod fetch_one;
mod flags;
mod flags_narrow;
mod history;
mod mark_read;
mod matches_narrow;
mod mentions;
mod move_notices;
mod move_refusals;
mod moves;
mod narrow_forms;
mod narrow_history;
mod narrow_with;
mod reactions;
mod read_receipts;
mod render;
mod report;
mod search;
mod send;
mod send_refusals;
mod widgets;

use crate::support::TestUser;
use crate::support::shape::words;
use serde_json::Value;

/// A message as a user sees it now.
pub async fn one(person: &TestUser, id: u64) -> Value {
    let body = person.get(&format!("/messages/{id}"), &[("allow_empty_topic_name", &true)]).ok().await;
    body["message"].clone()
}

/// The keys of an unedited channel message in `GET /messages`.
pub fn channel_message_keys() -> Vec<&'static str> {
    words(
        "avatar_url client content content_type display_recipient flags id is_me_message reactions \
         recipient_id sender_email sender_full_name sender_id sender_realm_str stream_id subject submessages \
         timestamp topic_links type",
    )
}

/// The keys of an unedited direct message.
pub fn direct_message_keys() -> Vec<&'static str> {
    channel_message_keys().into_iter().filter(|key| *key != "stream_id").collect()
}
