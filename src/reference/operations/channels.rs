//! Channels, default channels, folders, subscriptions and topics.

use super::settings::{channel_permission_changes, channel_permissions};
use crate::reference::operation::Kind::{
    Bool, BoolOrPartial, Choice, Id, IdOrNull, Ids, Json, LooseText, Objects, Text, TextOrJson, Texts, Word,
};
use crate::reference::operation::{Operation, Parameter, may, need, operation};

const POLICIES: &str = "Which topics messages may have: \u{201c}inherit\u{201d} what the organization says, \u{201c}allow_empty_topic\u{201d}, \u{201c}disable_empty_topic\u{201d}, or \u{201c}empty_topic_only\u{201d}.";
const RETENTION: &str = "After how many days messages are deleted: \u{201c}realm_default\u{201d}, \u{201c}unlimited\u{201d}, or days; for owners.";

/// The operations of this family.
pub fn operations() -> Vec<Operation> {
    let mut all = channels();
    all.extend(changes());
    all.extend(defaults());
    all.extend(folders());
    all.extend(subscriptions());
    all.extend(topics());
    all
}

fn options() -> Vec<Parameter> {
    let mut all = vec![
        may("announce", Bool, "Whether a notice of the new channel is sent to the channel that the organization has for announcements.").or("false"),
        may("invite_only", Bool, "Whether the channel is private.").or("false"),
        may("is_web_public", Bool, "Whether it is readable without an account.").or("false"),
        may("is_default_stream", Bool, "Whether new people are subscribed to it.").or("false"),
        may(
            "history_public_to_subscribers",
            Bool,
            "Whether new subscribers see earlier messages; by default in all but private channels.",
        ),
        may("message_retention_days", Text, RETENTION).or("\"realm_default\""),
        may("topics_policy", LooseText, POLICIES).or("\"inherit\""),
        may("folder_id", IdOrNull, "The id of the folder that clients show the channel in.").or("null"),
    ];
    all.extend(channel_permissions());
    all
}

fn channels() -> Vec<Operation> {
    let flag = |name, default, text| may(name, Bool, text).or(default);
    vec![
        operation("get-streams", "GET /api/v1/streams", "List channels", "Sorted by name. Each parameter that is true adds channels.").with([
            flag("include_public", "true", "Public channels, except for guests."),
            flag("include_subscribed", "true", "Those that the requester subscribes to."),
            flag("include_web_public", "false", "Web-public channels that are not archived."),
            flag("include_can_access_content", "false", "All whose messages the requester can read."),
            flag("include_owner_subscribed", "false", "For bots: those that the owner subscribes to."),
            flag("include_all", "false", "All that the requester sees."),
            flag("include_all_active", "false", "An older name of include_all."),
            flag("exclude_archived", "true", "Leaves out archived channels."),
            flag("include_default", "false", "Adds the field is_default."),
        ]),
        operation("get-stream-by-id", "GET /api/v1/streams/{stream_id:int}", "Get a channel", "One that the requester sees and that is not archived."),
        operation("get-stream-id", "GET /api/v1/get_stream_id", "Get the id of a channel", "By its name.")
            .with([need("stream", Text, "The name.")]),
        operation(
            "get-subscribers",
            "GET /api/v1/streams/{stream_id:int}/members",
            "List the subscribers of a channel",
            "The ids of active accounts.",
        ),
        operation(
            "get-stream-email-address",
            "GET /api/v1/streams/{stream_id:int}/email_address",
            "Get the e-mail address of a channel",
            "E-mails to it become messages. The address is the requester's own; it is empty where the server does not receive mail.",
        )
        .with([may("sender_id", Id, "As whom e-mails are posted: the e-mail gateway bot, the requester, or one of the requester's bots.")]),
    ]
}

fn changes() -> Vec<Operation> {
    vec![
        operation(
            "create-channel",
            "POST /api/v1/channels/create",
            "Create a channel",
            "The creator subscribes only if listed.",
        )
        .with([
            need("name", Text, "The name, at most 60 characters."),
            may("description", Text, "Markdown of at most 1024 characters on one line.").or("\"\""),
            need("subscribers", Ids, "The ids of the users who are subscribed; may be empty."),
        ])
        .with(options())
        .sends(&["stream", "subscription", "default_streams", "message"]),
        operation(
            "update-stream",
            "PATCH /api/v1/streams/{stream_id:int}",
            "Update a channel",
            "Archived channels, too. Properties are changed in order, and those before a refusal stay changed.",
        )
        .with([
            may("description", Text, "Markdown of at most 1024 characters on one line."),
            may("new_name", Text, "The new name."),
            may("is_private", Bool, "Whether it is private."),
            may("is_web_public", Bool, "Whether it is readable without an account."),
            may("history_public_to_subscribers", Bool, "Whether new subscribers see earlier messages."),
            may("is_default_stream", Bool, "Whether new people are subscribed to it."),
            may("message_retention_days", Text, RETENTION),
            may("is_archived", Bool, "False unarchives it; true has no effect."),
            may("folder_id", IdOrNull, "The id of the folder that clients show the channel in, null for none."),
            may("topics_policy", LooseText, POLICIES),
        ])
        .with(channel_permission_changes())
        .sends(&["stream", "subscription", "default_streams", "default_stream_groups", "message"]),
        operation(
            "archive-stream",
            "DELETE /api/v1/streams/{stream_id:int}",
            "Archive a channel",
            "Messages stay readable, and the name stays taken.",
        )
        .sends(&["stream", "subscription", "default_streams", "default_stream_groups", "message"]),
    ]
}

fn defaults() -> Vec<Operation> {
    let names = || need("stream_names", Texts, "Names of public channels that are no default channels.");
    vec![
        operation(
            "add-default-stream",
            "POST /api/v1/default_streams",
            "Add a default channel",
            "New people are subscribed to default channels.",
        )
        .with([need("stream_id", Id, "The id of the channel.")])
        .sends(&["default_streams", "default_stream_groups"]),
        operation(
            "remove-default-stream",
            "DELETE /api/v1/default_streams",
            "Remove a default channel",
            "Subscriptions stay.",
        )
        .with([need("stream_id", Id, "The id of the channel.")])
        .sends(&["default_streams"]),
        operation(
            "create-default-stream-group",
            "POST /api/v1/default_stream_groups/create",
            "Create a group of default channels",
            "People choose among these groups when they join.",
        )
        .with([
            need("group_name", Text, "The name, at most 60 characters."),
            need("description", Text, "The description."),
            names(),
        ])
        .sends(&["default_stream_groups"]),
        operation(
            "update-default-stream-group",
            "PATCH /api/v1/default_stream_groups/{group_id:int}",
            "Rename a group of default channels",
            "One of the parameters is needed.",
        )
        .with([
            may("new_group_name", Text, "The new name."),
            may("new_description", Text, "The new description."),
        ])
        .sends(&["default_stream_groups"]),
        operation(
            "change-default-stream-group-channels",
            "PATCH /api/v1/default_stream_groups/{group_id:int}/streams",
            "Change the channels of a group of default channels",
            "Adds or removes channels.",
        )
        .with([need("op", Text, "\u{201c}add\u{201d} or \u{201c}remove\u{201d}."), names()])
        .sends(&["default_stream_groups"]),
        operation(
            "remove-default-stream-group",
            "DELETE /api/v1/default_stream_groups/{group_id:int}",
            "Delete a group of default channels",
            "Its channels stay.",
        )
        .sends(&["default_stream_groups"]),
    ]
}

fn folders() -> Vec<Operation> {
    vec![
        operation(
            "get-channel-folders",
            "GET /api/v1/channel_folders",
            "List channel folders",
            "In their order.",
        )
        .with([may("include_archived", Bool, "Whether archived folders are listed, too.").or("false")]),
        operation(
            "create-channel-folder",
            "POST /api/v1/channel_folders/create",
            "Create a channel folder",
            "It comes last.",
        )
        .with([
            need("name", Text, "The name, at most 60 characters."),
            may("description", Text, "Markdown of at most 1024 characters.").or("\"\""),
        ])
        .sends(&["channel_folder"]),
        operation(
            "update-channel-folder",
            "PATCH /api/v1/channel_folders/{channel_folder_id:int}",
            "Update a channel folder",
            "A folder with channels cannot be archived.",
        )
        .with([
            may("name", Text, "The new name."),
            may("description", Text, "The new description."),
            may("is_archived", Bool, "Whether it is archived."),
        ])
        .sends(&["channel_folder"]),
        operation(
            "patch-channel-folders",
            "PATCH /api/v1/channel_folders",
            "Reorder channel folders",
            "All are named, archived ones, too.",
        )
        .with([need("order", Ids, "The ids of all folders.")])
        .sends(&["channel_folder"]),
    ]
}

#[expect(clippy::too_many_lines, reason = "a table has an entry for each operation, and nothing else")]
fn subscriptions() -> Vec<Operation> {
    let principals = || {
        may("principals", Json, "Other people than the requester: a list of user ids or of e-mail addresses.")
    };
    vec![
        operation("get-subscriptions", "GET /api/v1/users/me/subscriptions", "List subscriptions", "Without archived channels.").with([may(
            "include_subscribers",
            BoolOrPartial,
            "Whether each has its subscribers; with \u{201c}partial\u{201d} large channels list some.",
        )
        .or("false")]),
        operation(
            "get-subscription-status",
            "GET /api/v1/users/{user_id:int}/subscriptions/{stream_id:int}",
            "Get a subscription",
            "Whether a user subscribes to a channel.",
        ),
        operation(
            "subscribe",
            "POST /api/v1/users/me/subscriptions",
            "Subscribe",
            "Subscribes the requester or others, and creates channels that do not exist. Everything is checked before anything changes.",
        )
        .with([
            need("subscriptions", Objects, "The channels: a list of objects with name, and perhaps description and color."),
            principals(),
            may("authorization_errors_fatal", Bool, "Whether channels that are not accessible are an error, and not listed as unauthorized.").or("true"),
            may("send_new_subscription_messages", Bool, "Whether the new subscribers get a direct message.").or("true"),
        ])
        .with(options())
        .sends(&["subscription", "stream", "default_streams", "message"]),
        operation(
            "unsubscribe",
            "DELETE /api/v1/users/me/subscriptions",
            "Unsubscribe",
            "Ends subscriptions of the requester or of others. Archived channels can be left, too.",
        )
        .with([need("subscriptions", Texts, "Names of channels."), principals()])
        .sends(&["subscription", "stream"]),
        operation(
            "update-subscriptions",
            "PATCH /api/v1/users/me/subscriptions",
            "Update subscriptions",
            "Subscribes and unsubscribes at once. Both parts are checked before either is done.",
        )
        .with([
            may("add", Objects, "Channels, as for subscribing."),
            may("delete", Texts, "Names of channels."),
        ])
        .sends(&["subscription", "stream"]),
        operation(
            "update-subscription-settings",
            "POST /api/v1/users/me/subscriptions/properties",
            "Set properties of subscriptions",
            "They are set one after another, and those before a refusal stay set.",
        )
        .with([need("subscription_data", Objects, "A list of objects with stream_id, property and value. Properties are color, is_muted, in_home_view, pin_to_top, desktop_notifications, audible_notifications, push_notifications, email_notifications and wildcard_mentions_notify.")])
        .sends(&["subscription"]),
        operation(
            "update-subscription-property",
            "PATCH /api/v1/users/me/subscriptions/{stream_id:int}",
            "Set a property of a subscription",
            "One property of one channel.",
        )
        .with([
            need("property", Text, "The name of the property, such as color or pin_to_top."),
            need("value", TextOrJson, "A boolean, or a color as text."),
        ])
        .sends(&["subscription"]),
    ]
}

fn topics() -> Vec<Operation> {
    vec![
        operation(
            "get-stream-topics",
            "GET /api/v1/users/me/{stream_id:int}/topics",
            "List topics",
            "The topics of a channel, the newest first; archived channels, too. Below /json, visitors without an account list those \
             of web-public channels.",
        )
        .with([may("allow_empty_topic_name", Bool, "Whether the topic without a name is an empty text in the answer; otherwise it is \u{201c}general chat\u{201d}.").or("false")]),
        operation(
            "update-user-topic",
            "POST /api/v1/user_topics",
            "Mute, unmute or follow a topic",
            "Needs neither a subscription nor a message.",
        )
        .with([
            need("stream_id", Id, "The id of the channel."),
            need("topic", Text, "The topic, at most 60 characters."),
            need("visibility_policy", Choice(&[0, 1, 2, 3]), "0 none, 1 muted, 2 unmuted in a muted channel, 3 followed."),
        ])
        .sends(&["user_topic", "muted_topics"]),
        operation("mute-topic", "PATCH /api/v1/users/me/subscriptions/muted_topics", "Mute or unmute a topic", "An older form.")
            .with([
                may("stream_id", Id, "The id of the channel; this or its name is needed."),
                may("stream", Text, "The name of the channel."),
                need("topic", Text, "The topic."),
                need("op", Word(&["add", "remove"]), "Whether it is muted."),
            ])
            .sends(&["user_topic", "muted_topics"])
            .deprecated(),
    ]
}
