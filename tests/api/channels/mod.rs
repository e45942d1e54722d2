//! Channels: mirrors `src/api/channels`.

mod archive;
mod create;
mod default_groups;
mod defaults;
mod get;
mod list;
mod retention;
mod update;

use crate::support::shape::words;

/// The keys of a channel in `GET /streams`.
pub fn channel_keys() -> Vec<&'static str> {
    words(
        "can_add_subscribers_group can_administer_channel_group can_delete_any_message_group \
         can_delete_own_message_group can_move_messages_out_of_channel_group \
         can_move_messages_within_channel_group can_remove_subscribers_group can_resolve_topics_group \
         can_send_message_group can_subscribe_group creator_id date_created description first_message_id \
         folder_id history_public_to_subscribers invite_only is_announcement_only is_archived \
         is_recently_active is_web_public message_retention_days name rendered_description \
         stream_id stream_post_policy stream_weekly_traffic subscriber_count topics_policy",
    )
}
