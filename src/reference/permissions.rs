//! Who may call an operation, where its handler checks more than the table of routes does. These texts take the place of the
//! sentence of the row, on the page of the operation, in the document and in `millstream routes`.

/// The text of each such operation, by its id.
#[rustfmt::skip]
const TEXTS: &[(&str, &str)] = &[
    ("get-messages", "For every account, which gets what it can read; below /json also for visitors where the organization shows channels to them."),
    ("send-message", "For accounts in can_send_message_group of the channel; between people, for those whom direct_message_permission_group and direct_message_initiator_group of the organization allow it."),
    ("get-message", "For accounts that can read the message; below /json also for visitors where the organization shows channels to them."),
    ("get-message-history", "For accounts that can read the message, unless message_edit_history_visibility_policy of the organization is none."),
    ("get-read-receipts", "For accounts that can read the message, where enable_read_receipts of the organization is on."),
    ("update-message", "For the content: the sender of the message, where allow_message_editing of the organization is on. For the topic: accounts in can_move_messages_between_topics_group of the organization or can_move_messages_within_channel_group of the channel. For the channel: accounts in can_move_messages_between_channels_group of the organization or can_move_messages_out_of_channel_group of the channel. Those who administer the channel may move messages, too; time limits apply."),
    ("delete-message", "For accounts in can_delete_any_message_group; the sender, and the owner of a bot that sent it, need can_delete_own_message_group. Both are permissions of the organization and of the channel, and one of the two is enough."),
    ("delete-topic", "For administrators and owners who can read the channel."),
    ("report-message", "For accounts that can read the message, where the organization has a channel for reports."),
    ("set-typing-status-for-message-edit", "For accounts that may edit the content of the message now."),
    ("set-typing-status-for-message-edit-at-old-path", "For accounts that may edit the content of the message now."),
    ("add-reaction", "For accounts that can read the message."),
    ("remove-reaction", "For accounts that can read the message, each for its own reaction."),
    ("add-submessage", "For accounts that can read the message; the first part is for its sender."),
    ("mark-stream-as-read", "For accounts that can read the channel."),
    ("mark-topic-as-read", "For accounts that can read the channel."),

    ("get-stream-by-id", "For accounts that see the channel."),
    ("get-stream-id", "For accounts that can read the channel."),
    ("get-subscribers", "For accounts that see the channel; guests only in channels that they subscribe to, and of private channels subscribers, administrators and owners."),
    ("get-stream-email-address", "For accounts that can read the channel."),
    ("create-channel", "For accounts that are not guests and are in can_create_public_channel_group of the organization, for private channels in can_create_private_channel_group; for web-public ones in can_create_web_public_channel_group, too."),
    ("update-stream", "For those who administer the channel: administrators, owners, and accounts in its can_administer_channel_group that are not guests. Some parameters need more."),
    ("archive-stream", "For those who administer the channel: administrators, owners, and accounts in its can_administer_channel_group that are not guests."),
    ("add-default-stream", "For administrators and owners who can read the channel."),
    ("remove-default-stream", "For administrators and owners who can read the channel."),
    ("get-subscription-status", "For every account about itself; about others, for accounts that see the user and the subscribers of the channel."),
    ("subscribe", "For accounts that are not guests and can read the channels; new channels need the permission to create them. Others are subscribed by accounts in can_add_subscribers_group of the organization or of the channel, and by those who administer the channel."),
    ("unsubscribe", "For every account about itself and its bots. Others are unsubscribed by administrators, owners, and accounts that administer all the channels or are in can_remove_subscribers_group of all of them."),
    ("update-subscriptions", "For every account about itself; it subscribes to channels that it can read, and new channels need the permission to create them."),
    ("update-subscription-settings", "For accounts that subscribe to the channels."),
    ("update-subscription-property", "For accounts that subscribe to the channel."),
    ("get-stream-topics", "For accounts that can read the channel; below /json also for visitors where the organization shows channels to them."),
    ("update-user-topic", "For accounts that can read the channel."),
    ("mute-topic", "For accounts that can read the channel."),

    ("get-users", "For every account, and for visitors where the organization shows channels to them. Guests outside can_access_all_users_group of the organization see those with whom they share a conversation."),
    ("get-user", "For every account. Guests outside can_access_all_users_group of the organization see those with whom they share a conversation."),
    ("get-user-presence", "For accounts that see the user."),
    ("create-user", "For administrators and owners whom the operator allowed to create users."),
    ("update-user", "For administrators and owners, and for the owner of a bot about the bot. Roles are changed by administrators and owners; only owners make someone an owner or take that role away. E-mail addresses are changed by accounts that the operator allowed to (millstream user grant)."),
    ("deactivate-user", "For administrators and owners; owners are deactivated by owners."),
    ("deactivate-own-user", "For people, except the only owner and the only person."),
    ("reactivate-user", "For administrators and owners; owners are reactivated by owners."),
    ("update-status-for-user", "For administrators and owners."),
    ("update-profile-data", "For people; fields that people may not edit themselves are for administrators and owners."),
    ("remove-profile-data", "For people; fields that people may not edit themselves are for administrators and owners."),
    ("upload-avatar", "For people; where avatar_changes_disabled of the organization is on, for administrators and owners."),
    ("remove-avatar", "For people; where avatar_changes_disabled of the organization is on, for administrators and owners."),
    ("set-typing-status", "For accounts that may send a message there."),

    ("create-user-group", "For accounts that are not guests and are in can_create_groups of the organization."),
    ("update-user-group", "For accounts that are not guests and are in can_manage_group of the group or can_manage_all_groups of the organization."),
    ("deactivate-user-group", "For accounts that are not guests and are in can_manage_group of the group or can_manage_all_groups of the organization."),
    ("remove-user-group", "For accounts that are not guests and are in can_manage_group of the group or can_manage_all_groups of the organization."),
    ("update-user-group-members", "For accounts in can_manage_group of the group or can_manage_all_groups of the organization, for adding also in can_add_members_group, for removing in can_remove_members_group; oneself with can_join_group and can_leave_group. Guests may only leave."),
    ("update-user-group-subgroups", "For accounts that are not guests and are in can_manage_group of the group or can_manage_all_groups of the organization; for adding also in can_add_members_group, for removing in can_remove_members_group."),

    ("get-invites", "For people who are not guests; administrators and owners get all invitations, others their own."),
    ("send-invites", "For people who are not guests and are in can_invite_users_group of the organization; administrators and moderators are invited by administrators and owners, owners by owners."),
    ("create-invite-link", "For people who are not guests and are in create_multiuse_invite_group of the organization; administrators and moderators are invited by administrators and owners, owners by owners."),
    ("revoke-invite-link", "For those who made the invitation, and for administrators and owners; invitations of owners are for owners."),
    ("revoke-email-invite", "For those who made the invitation, and for administrators and owners; invitations of owners are for owners."),
    ("resend-email-invite", "For those who made the invitation, and for administrators and owners; invitations of owners are for owners."),

    ("create-bot", "For people who are not guests and are in can_create_bots_group of the organization, for incoming webhooks also in can_create_write_only_bots_group."),
    ("update-bot", "For the owner of the bot, and for administrators and owners of the organization whose role is not below that of the bot."),
    ("delete-bot", "For the owner of the bot, and for administrators and owners of the organization whose role is not below that of the bot."),
    ("get-bot-api-key", "For the owner of the bot."),
    ("regenerate-bot-api-key", "For the owner of the bot."),

    ("get-file-temporary-url", "For the owner of the file, and for accounts that can read a message that names it."),
    ("get-file", "For the owner of the file, and for accounts that can read a message that names it, also with a key in the URL; for visitors where a message in a channel that they can read names it."),
    ("download-file", "For the owner of the file, and for accounts that can read a message that names it, also with a key in the URL; for visitors where a message in a channel that they can read names it."),
    ("get-thumbnail", "For the owner of the file, and for accounts that can read a message that names it, also with a key in the URL; for visitors where a message in a channel that they can read names it."),
    ("remove-attachment", "For the owner of the file."),
    ("get-upload", "For the account that began the upload."),
    ("continue-upload", "For the account that began the upload."),
    ("cancel-upload", "For the account that began the upload."),
    ("create-message-reminder", "For accounts that can read the message."),
    ("create-scheduled-message", "For accounts that may send the message now; it is decided again when it is sent."),

    ("update-realm", "For administrators and owners; some settings are for owners."),
    ("upload-custom-emoji", "For accounts that are not guests and are in can_add_custom_emoji_group of the organization; names of standard emoji are for administrators and owners."),
    ("deactivate-custom-emoji", "For the author of the emoji, and for administrators and owners."),
];

/// The text of an operation that has one.
pub(super) fn text(id: &str) -> Option<&'static str> {
    TEXTS.iter().find(|(known, _)| *known == id).map(|(_, text)| *text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::operations::operations;
    use std::collections::BTreeSet;

    #[test]
    fn every_text_is_a_sentence_about_one_operation() {
        let ids: BTreeSet<&str> = operations().iter().map(|operation| operation.id).collect();
        let known: BTreeSet<&str> = TEXTS.iter().map(|(id, _)| *id).collect();
        assert_eq!(known.len(), TEXTS.len(), "an operation has two texts");
        assert!(known.is_subset(&ids), "an operation is gone: {:?}", known.difference(&ids));
        for (id, text) in TEXTS {
            assert!(text.starts_with("For ") && text.ends_with('.'), "{id}: {text}");
        }
    }

    #[test]
    fn permissions_are_said_in_one_place() {
        for operation in operations() {
            let words = [
                "For administrators",
                "For owners",
                "For its owner",
                "For its author",
                "For accounts",
                "For those who",
            ];
            let said = words.iter().find(|words| operation.text.contains(*words));
            assert_eq!(said, None, "{}: {}", operation.id, operation.text);
        }
    }
}
