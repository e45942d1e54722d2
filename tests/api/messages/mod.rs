//! `/messages` and below.

mod bot_owner;
mod fetch;
mod fetch_narrows;
mod fetch_one;
mod flags;
mod flags_narrow;
mod mark_read;
mod matches_narrow;
mod render;
mod send;
mod send_refusals;

use crate::support::shape::words;

/// The keys of a message to a channel, as GET gives it when nobody has edited it.
pub fn channel_message_keys() -> Vec<&'static str> {
    words(
        "avatar_url client content content_type display_recipient flags id is_me_message reactions \
         recipient_id sender_email sender_full_name sender_id sender_realm_str stream_id subject submessages \
         timestamp topic_links type",
    )
}

/// The same for a direct message.
pub fn direct_message_keys() -> Vec<&'static str> {
    channel_message_keys().into_iter().filter(|key| *key != "stream_id").collect()
}
