//! Messages: sending, reading, changing, deleting; flags, reactions, widgets.

use crate::reference::operation::Kind::{Bool, Id, Ids, Int, Json, Text, TextOrJson, Word};
use crate::reference::operation::{Operation, Parameter, may, need, operation};

const MODES: &[&str] = &["change_one", "change_later", "change_all"];
const REPORT_TYPES: &[&str] = &["spam", "harassment", "inappropriate", "norms", "other"];
const EMPTY_TOPIC: &str = "Whether the topic without a name is an empty text in the answer; otherwise it is \u{201c}general chat\u{201d}.";

/// The operations of this family.
pub fn operations() -> Vec<Operation> {
    let mut all = messages();
    all.extend(changes());
    all.extend(flags());
    all.extend(parts());
    all
}

fn empty_topic() -> Parameter {
    may("allow_empty_topic_name", Bool, EMPTY_TOPIC).or("false")
}

fn narrow() -> Parameter {
    may(
        "narrow",
        Json,
        r#"The filter: a list of objects with operator, operand and perhaps negated, such as [{"operator": "channel", "operand": "design"}]; or of pairs of both."#,
    )
}

fn window() -> [Parameter; 4] {
    [
        may(
            "anchor",
            Text,
            "The id of a message, or \u{201c}newest\u{201d}, \u{201c}oldest\u{201d}, \u{201c}first_unread\u{201d}.",
        ),
        may("num_before", Int, "How many messages before the anchor.").or("0"),
        may("num_after", Int, "How many messages after the anchor; at most 5000 on both sides together.")
            .or("0"),
        may("include_anchor", Bool, "Whether the anchor itself counts; false only at an end of the range.")
            .or("true"),
    ]
}

#[expect(clippy::too_many_lines, reason = "a table has an entry for each operation, and nothing else")]
fn messages() -> Vec<Operation> {
    vec![
        operation(
            "get-messages",
            "GET /api/v1/messages",
            "Fetch messages",
            "A range of the messages of a filter, the oldest first; or the messages of a list of ids, without those that do not \
             exist or cannot be read. Below /json, visitors without an account read messages of web-public channels.",
        )
        .with(window())
        .with([
            narrow().or("[]"),
            may("message_ids", Ids, "The ids of the messages, instead of a range."),
            may("use_first_unread_anchor", Bool, "The older form of the anchor \u{201c}first_unread\u{201d}; it wins over anchor.").or("false"),
            may("client_gravatar", Bool, "Whether avatar_url may be null where the client can compute the address of the picture at gravatar.com itself.").or("true"),
            may("apply_markdown", Bool, "Whether content is HTML; otherwise it is the Markdown source.").or("true"),
            empty_topic(),
        ]),
        operation(
            "send-message",
            "POST /api/v1/messages",
            "Send a message",
            "To a topic of a channel, or to people. The answer comes when the message is on disk. A bot without recipients sends to \
             its default channel.",
        )
        .with([
            need("type", Word(&["direct", "private", "stream", "channel"]), "Where it goes; \u{201c}private\u{201d} and \u{201c}stream\u{201d} are older words for \u{201c}direct\u{201d} and \u{201c}channel\u{201d}."),
            may("to", TextOrJson, "The name or id of a channel; or a list of ids or addresses of people, or addresses with commas between them."),
            may("topic", Text, "The topic, which messages to channels need.").or_as("subject"),
            need("content", Text, "The Markdown source of the message."),
            may("queue_id", Text, "The event queue of the sender, which gets local_id back with the message: a client that showed the message already knows it by that."),
            may("local_id", Text, "What the message event of that queue repeats as local_message_id; at most 200 characters."),
            may("read_by_sender", Bool, "Whether it is read for its sender; by default decided by the name of the client."),
            may("widget_content", Text, "A form with buttons, as JSON text of at most 10,000 characters."),
        ])
        .sends(&["message", "user_topic", "stream"]),
        operation(
            "render-message",
            "POST /api/v1/messages/render",
            "Render a text",
            "The HTML that a Markdown source becomes. Nothing is stored.",
        )
        .with([need("content", Text, "The Markdown source.")]),
        operation(
            "check-messages-match-narrow",
            "GET /api/v1/messages/matches_narrow",
            "Match messages with a narrow",
            "Which of some messages match a filter, with the words of a search marked.",
        )
        .with([
            need("msg_ids", Ids, "The ids of the messages, at most 5000."),
            need("narrow", Json, "The filter, as for fetching messages."),
        ]),
        operation("get-message", "GET /api/v1/messages/{message_id:int}", "Fetch a message", "One message with its flags and its source.")
            .with([may("apply_markdown", Bool, "Whether content is HTML; otherwise it is the Markdown source.").or("true"), empty_topic()]),
        operation(
            "get-message-history",
            "GET /api/v1/messages/{message_id:int}/history",
            "Fetch the edit history",
            "The states of a message, the oldest first, as far as the organization shows them.",
        )
        .with([empty_topic()]),
        operation(
            "get-read-receipts",
            "GET /api/v1/messages/{message_id:int}/read_receipts",
            "Fetch read receipts",
            "Who has read a message and lets others know.",
        ),
    ]
}

fn changes() -> Vec<Operation> {
    vec![
        operation(
            "update-message",
            "PATCH /api/v1/messages/{message_id:int}",
            "Edit or move messages",
            "Changes the content of a message, moves messages to another topic or channel, or edits and renames at once.",
        )
        .with([
            may("content", Text, "The new source."),
            may("topic", Text, "The new topic.").or_as("subject"),
            may("stream_id", Id, "The id of the new channel."),
            may("propagate_mode", Word(MODES), "Which messages move: this one, this and later ones, or all of the topic.").or("\"change_one\""),
            may("send_notification_to_old_thread", Bool, "Whether a notice in the old topic says where the messages are now.").or("false"),
            may("send_notification_to_new_thread", Bool, "Whether a notice in the new topic says where the messages were.").or("true"),
            may("prev_content_sha256", Text, "SHA-256 of the source that the client knows, in hexadecimal digits; the change is refused if it is another one."),
        ])
        .sends(&["update_message", "delete_message", "message", "user_topic", "stream", "attachment"]),
        operation("delete-message", "DELETE /api/v1/messages/{message_id:int}", "Delete a message", "Deletes it for everyone.")
            .sends(&["delete_message"]),
        operation(
            "delete-topic",
            "POST /api/v1/streams/{stream_id:int}/delete_topic",
            "Delete a topic",
            "Deletes what the requester can read of a topic, the newest messages first, in batches. If complete is false, the \
             client asks again.",
        )
        .with([need("topic_name", Text, "The topic.")])
        .sends(&["delete_message", "user_topic"]),
        operation(
            "report-message",
            "POST /api/v1/messages/{message_id:int}/report",
            "Report a message",
            "Sends it to the channel of the organization for reports.",
        )
        .with([
            need("report_type", Word(REPORT_TYPES), "The reason."),
            may("description", Text, "An explanation of at most 1000 characters; required for \u{201c}other\u{201d}."),
        ])
        .sends(&["message"]),
        operation(
            "set-typing-status-for-message-edit",
            "POST /api/v1/messages/{message_id:int}/typing",
            "Report typing while editing",
            "Tells those who can read the message that its text is being changed. Repeated while it goes on.",
        )
        .with([need("op", Word(&["start", "stop"]), "Whether typing starts or stops.")])
        .sends(&["typing_edit_message"]),
        operation(
            "set-typing-status-for-message-edit-at-old-path",
            "POST /api/v1/message_edit_typing",
            "Report typing while editing, at the older path",
            "The same with the message as a parameter.",
        )
        .with([
            need("message_id", Id, "The id of the message."),
            need("op", Word(&["start", "stop"]), "Whether typing starts or stops."),
        ])
        .sends(&["typing_edit_message"])
        .deprecated(),
    ]
}

fn flags() -> Vec<Operation> {
    let change = || {
        [
            need(
                "op",
                Text,
                "Whether the flag is set or removed: \u{201c}add\u{201d} or \u{201c}remove\u{201d}.",
            ),
            need(
                "flag",
                Text,
                "The flag: \u{201c}read\u{201d}, \u{201c}starred\u{201d} or \u{201c}collapsed\u{201d}.",
            ),
        ]
    };
    let required = |parameter: Parameter| {
        let is_required = ["anchor", "num_before", "num_after"].contains(&parameter.name.as_ref());
        let default = parameter.default.clone().filter(|_| !is_required);
        Parameter { is_required, default, ..parameter }
    };
    vec![
        operation(
            "update-message-flags",
            "POST /api/v1/messages/flags",
            "Change flags",
            "Adds a flag of the requester to messages, or removes it. Messages stay read in channels that the requester does not \
             subscribe to.",
        )
        .with([need("messages", Ids, "The ids of the messages.")])
        .with(change())
        .sends(&["update_message_flags"]),
        operation(
            "update-message-flags-for-narrow",
            "POST /api/v1/messages/flags/narrow",
            "Change flags in a narrow",
            "The same for a range of the messages of a filter.",
        )
        .with(window().map(required))
        .with([need("narrow", Json, "The filter, as for fetching messages; null for all messages.")])
        .with(change())
        .sends(&["update_message_flags"]),
        operation("mark-all-as-read", "POST /api/v1/mark_all_as_read", "Mark everything as read", "An older form of changing flags.")
            .sends(&["update_message_flags"])
            .deprecated(),
        operation("mark-stream-as-read", "POST /api/v1/mark_stream_as_read", "Mark a channel as read", "An older form of changing flags.")
            .with([need("stream_id", Id, "The id of the channel.")])
            .sends(&["update_message_flags"])
            .deprecated(),
        operation("mark-topic-as-read", "POST /api/v1/mark_topic_as_read", "Mark a topic as read", "An older form of changing flags.")
            .with([need("stream_id", Id, "The id of the channel."), need("topic_name", Text, "The topic.")])
            .sends(&["update_message_flags"])
            .deprecated(),
    ]
}

fn parts() -> Vec<Operation> {
    let more = || {
        [
            may(
                "emoji_code",
                Text,
                "The code of the emoji, such as 1f44d, or the id of a custom emoji; by default that of the name.",
            ),
            may(
                "reaction_type",
                Text,
                "The kind of emoji: \u{201c}unicode_emoji\u{201d} (standard), \u{201c}realm_emoji\u{201d} (custom) or \u{201c}zulip_extra_emoji\u{201d} (:zulip:).",
            ),
        ]
    };
    vec![
        operation(
            "add-reaction",
            "POST /api/v1/messages/{message_id:int}/reactions",
            "Add a reaction",
            "Name, code and type of the emoji must belong together; the name alone is enough.",
        )
        .with([need("emoji_name", Text, "The name of the emoji.")])
        .with(more())
        .sends(&["reaction", "user_topic"]),
        operation(
            "remove-reaction",
            "DELETE /api/v1/messages/{message_id:int}/reactions",
            "Remove a reaction",
            "Your own reaction, by name or by code.",
        )
        .with([may("emoji_name", Text, "The name of the emoji; this or the code is needed.")])
        .with(more())
        .sends(&["reaction"]),
        operation(
            "add-submessage",
            "POST /api/v1/submessage",
            "Add a part to a widget",
            "A vote, an option or a task of a poll or a list of tasks.",
        )
        .with([
            need("message_id", Id, "The id of the message with the widget."),
            need("msg_type", Word(&["widget"]), "The kind of part."),
            need("content", Text, r#"The part, as JSON text, such as {"type": "vote", "key": "canned,0", "vote": 1} in a poll."#),
        ])
        .sends(&["submessage", "user_topic"]),
    ]
}
