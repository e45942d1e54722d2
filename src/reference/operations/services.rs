//! Bots, uploads, stored texts, event queues, push notifications, calls.

use crate::reference::operation::Kind::{
    Bool, BoolOrPartial, Choice, Id, Int, Json, LooseText, Object, Objects, Text, Texts, Word,
};
use crate::reference::operation::{Answer, Operation, Parameter, may, need, operation};

/// The operations on bots.
#[expect(clippy::too_many_lines, reason = "a table has an entry for each operation, and nothing else")]
pub fn bots() -> Vec<Operation> {
    let defaults = || {
        [
            may("default_sending_stream", Text, "The name of the channel that it sends to by default."),
            may(
                "default_events_register_stream",
                Text,
                "The name of the channel whose messages it gets by default.",
            ),
            may("default_all_public_streams", Bool, "Whether it gets the messages of all public channels."),
            may("config_data", Object, "Configuration of an incoming webhook: texts under keys."),
        ]
    };
    vec![
        operation("get-bots", "GET /api/v1/bots", "List your own bots", "Active ones, with their keys."),
        operation("create-bot", "POST /api/v1/bots", "Create a bot", "Its address is made of the short name and the domain of the organization.")
            .with([
                need("full_name", Text, "The name."),
                need("short_name", Text, "The first part of the address."),
                may("bot_type", Choice(&[1, 2, 3]), "1 generic, 2 incoming webhook, 3 outgoing webhook.").or("1"),
                may("payload_url", LooseText, "The URL of the service of an outgoing webhook.").or("\"\""),
                may("service_name", Text, "Outgoing webhooks: the name of the service. Incoming ones: an integration of the catalog."),
                may("interface_type", Choice(&[1, 2]), "The form of calls of an outgoing webhook: 1 JSON, 2 a form as Slack sends it.").or("1"),
            ])
            .with(defaults())
            .takes_file("file", false)
            .sends(&["realm_user", "realm_bot"]),
        operation("update-bot", "PATCH /api/v1/bots/{bot_id:int}", "Update a bot", "Either all changes are made or none; the picture follows.")
            .with([
                may("full_name", Text, "The new name."),
                may("short_name", Text, "The first part of the new address."),
                may("role", Choice(&[100, 200, 300, 400, 600]), "The new role, at most that of its owner: 100 owner, 200 administrator, 300 moderator, 400 member, 600 guest."),
                may("bot_owner_id", Int, "The id of the new owner."),
                may("service_payload_url", LooseText, "The URL of the service of an outgoing webhook."),
                may("service_interface", Choice(&[1, 2]), "The form of its calls: 1 JSON, 2 a form as Slack sends it."),
                may("service_name", Text, "The integration of an incoming webhook; empty for none."),
            ])
            .with(defaults())
            .takes_file("file", false)
            .sends(&["realm_user", "realm_bot", "subscription"]),
        operation("delete-bot", "DELETE /api/v1/bots/{bot_id:int}", "Deactivate a bot", "Its messages stay.")
            .sends(&["realm_user", "realm_bot", "subscription"]),
        operation("get-bot-api-key", "GET /api/v1/bots/{bot_id:int}/api_key", "Get the API key of a bot", "With which programs act as the bot."),
        operation("regenerate-bot-api-key", "POST /api/v1/bots/{bot_id:int}/api_key/regenerate", "Regenerate the API key of a bot", "The old key stops at once.")
            .sends(&["realm_bot"]),
        operation("get-storage", "GET /api/v1/bot_storage", "Read the storage of the account", "Texts under keys, which no other account sees.")
            .with([may("keys", Texts, "These keys; by default all.")]),
        operation("update-storage", "PUT /api/v1/bot_storage", "Write to the storage of the account", "Sets these keys; others stay.")
            .with([need("storage", Object, "Texts under keys.")]),
        operation("remove-storage", "DELETE /api/v1/bot_storage", "Remove from the storage of the account", "All keys must exist.")
            .with([may("keys", Texts, "These keys; by default all.")]),
        operation(
            "post-webhook",
            "POST /api/v1/external/{integration:text}",
            "Deliver to an incoming webhook",
            "What another service calls. The body is the service's document; the key of a bot is in the URL. Some integrations read \
             more parameters of the URL.",
        )
        .with([
            need("api_key", Text, "The API key of the bot."),
            may("stream", Text, "The name or id of a channel; without it, messages go to the owner of the bot."),
            may("topic", Text, "One topic for all messages."),
            may("only_events", Texts, "The events that become messages, each a name or a pattern with *; by default all."),
            may("exclude_events", Texts, "The events that do not become messages, in the same form."),
            may("ignore_private_repositories", Bool, "Whether private repositories are left out.").or("false"),
        ])
        .of_webhook()
        .sends(&["message"]),
    ]
}

/// The operations on uploaded files.
#[expect(clippy::too_many_lines, reason = "a table has an entry for each operation, and nothing else")]
pub fn uploads() -> Vec<Operation> {
    let tus = |id, route, summary, text| operation(id, route, summary, text).answers(Answer::Tus);
    let begin = "By the protocol tus 1.0.0; the headers Tus-Resumable and Upload-Length are needed. Answered with status 201 and the \
                 address of the upload.";
    vec![
        operation(
            "upload-file",
            "POST /api/v1/user_uploads",
            "Upload a file",
            "To name it in messages by its URL. Exactly one file, in a field of any name.",
        )
        .takes_file("file", true)
        .sends(&["attachment"]),
        operation(
            "get-attachments",
            "GET /api/v1/attachments",
            "List your own files",
            "With the messages that name them.",
        ),
        operation(
            "remove-attachment",
            "DELETE /api/v1/attachments/{attachment_id:int}",
            "Delete a file",
            "Links in messages stay and lead nowhere.",
        )
        .sends(&["attachment"]),
        operation(
            "get-file-temporary-url",
            "GET /api/v1/user_uploads/{realm_id:int}/{file:rest}",
            "Get a temporary URL of a file",
            "With which it can be read without an account for 60 seconds.",
        ),
        operation(
            "get-file",
            "GET /user_uploads/{realm_id:int}/{file:rest}",
            "Read a file",
            "With an API key as everywhere, or as the parameter api_key.",
        )
        .with([may("api_key", Text, "The API key, for programs that cannot send headers.")])
        .answers(Answer::File),
        operation(
            "download-file",
            "GET /user_uploads/download/{realm_id:int}/{file:rest}",
            "Download a file",
            "The same, always as a download.",
        )
        .with([may("api_key", Text, "The API key, for programs that cannot send headers.")])
        .answers(Answer::File),
        operation(
            "get-thumbnail",
            "GET /user_uploads/thumbnail/{realm_id:int}/{file:rest}",
            "Read a thumbnail",
            "The path of an image, and the name of a format.",
        )
        .with([may("api_key", Text, "The API key, for programs that cannot send headers.")])
        .answers(Answer::Picture),
        tus("begin-upload", "POST /api/v1/tus/", "Begin an upload in parts", begin).takes_bytes(),
        tus(
            "begin-upload-without-slash",
            "POST /api/v1/tus",
            "Begin an upload in parts, at the path without a slash",
            begin,
        )
        .takes_bytes()
        .deprecated(),
        tus(
            "get-upload",
            "HEAD /api/v1/tus/{upload_id:text}",
            "Get the state of an upload",
            "The header Upload-Offset says how much is on disk.",
        ),
        tus(
            "continue-upload",
            "PATCH /api/v1/tus/{upload_id:text}",
            "Send a part of an upload",
            "With the header Upload-Offset. After the last part the answer has the URL of the file.",
        )
        .takes_bytes()
        .sends(&["attachment"]),
        tus(
            "cancel-upload",
            "DELETE /api/v1/tus/{upload_id:text}",
            "Cancel an upload",
            "What has arrived is deleted.",
        ),
    ]
}

fn recipient() -> [Parameter; 2] {
    [
        may(
            "type",
            Word(&["direct", "private", "stream", "channel"]),
            "Whether it goes to a channel or to people; \u{201c}private\u{201d} and \u{201c}stream\u{201d} are older words for \u{201c}direct\u{201d} and \u{201c}channel\u{201d}.",
        ),
        may("to", Json, "The id of a channel, or a list of ids of people."),
    ]
}

/// The operations on texts that are stored before they are sent.
#[expect(clippy::too_many_lines, reason = "a table has an entry for each operation, and nothing else")]
pub fn texts() -> Vec<Operation> {
    let required = |parameter: Parameter| Parameter { is_required: true, ..parameter };
    let at = "When it is due, in seconds since 1970 (UTC).";
    vec![
        operation("get-drafts", "GET /api/v1/drafts", "List drafts", "The one changed last is at the end."),
        operation("create-drafts", "POST /api/v1/drafts", "Store drafts", "All are stored or none.")
            .with([need("drafts", Objects, "Objects with type, to, topic, content and perhaps timestamp.")])
            .sends(&["drafts"]),
        operation(
            "edit-draft",
            "PATCH /api/v1/drafts/{draft_id:int}",
            "Update a draft",
            "The whole draft is sent.",
        )
        .with([need("draft", Object, "An object with type, to, topic, content and perhaps timestamp.")])
        .sends(&["drafts"]),
        operation("delete-draft", "DELETE /api/v1/drafts/{draft_id:int}", "Delete a draft", "By its id.")
            .sends(&["drafts"]),
        operation(
            "get-scheduled-messages",
            "GET /api/v1/scheduled_messages",
            "List scheduled messages",
            "In the order in which they are due, failed ones included.",
        ),
        operation(
            "create-scheduled-message",
            "POST /api/v1/scheduled_messages",
            "Schedule a message",
            "Permissions are decided again when it is sent.",
        )
        .with(recipient().map(required))
        .with([
            may("topic", Text, "The topic, which messages to channels need."),
            need("content", Text, "The Markdown source."),
            need("scheduled_delivery_timestamp", Int, at),
            may(
                "read_by_sender",
                Bool,
                "Whether it is read for its sender; by default decided by the name of the client.",
            ),
        ])
        .sends(&["scheduled_messages"]),
        operation(
            "update-scheduled-message",
            "PATCH /api/v1/scheduled_messages/{scheduled_message_id:int}",
            "Change a scheduled message",
            "Only what is given changes. A failed message needs a new time.",
        )
        .with(recipient())
        .with([
            may("topic", Text, "The topic."),
            may("content", Text, "The Markdown source."),
            may("scheduled_delivery_timestamp", Int, at),
        ])
        .sends(&["scheduled_messages"]),
        operation(
            "delete-scheduled-message",
            "DELETE /api/v1/scheduled_messages/{scheduled_message_id:int}",
            "Delete a scheduled message",
            "It is not sent.",
        )
        .sends(&["scheduled_messages"]),
        operation(
            "get-reminders",
            "GET /api/v1/reminders",
            "List reminders",
            "In the order in which they are due.",
        ),
        operation(
            "create-message-reminder",
            "POST /api/v1/reminders",
            "Create a reminder",
            "The notification bot sends a link to the message at the time.",
        )
        .with([
            need("message_id", Id, "The id of the message."),
            need("scheduled_delivery_timestamp", Int, at),
            may("note", Text, "A note of at most 1000 characters."),
        ])
        .sends(&["reminders"]),
        operation(
            "delete-reminder",
            "DELETE /api/v1/reminders/{reminder_id:int}",
            "Delete a reminder",
            "By its id.",
        )
        .sends(&["reminders"]),
        operation(
            "get-saved-snippets",
            "GET /api/v1/saved_snippets",
            "List saved snippets",
            "Texts to insert into messages.",
        ),
        operation(
            "create-saved-snippet",
            "POST /api/v1/saved_snippets",
            "Create a saved snippet",
            "At most 1000.",
        )
        .with([
            need("title", Text, "The title, at most 60 characters."),
            need("content", Text, "The Markdown source, at most 10,000 characters."),
        ])
        .sends(&["saved_snippets"]),
        operation(
            "edit-saved-snippet",
            "PATCH /api/v1/saved_snippets/{saved_snippet_id:int}",
            "Update a saved snippet",
            "Only what is given changes.",
        )
        .with([may("title", Text, "The new title."), may("content", Text, "The new source.")])
        .sends(&["saved_snippets"]),
        operation(
            "delete-saved-snippet",
            "DELETE /api/v1/saved_snippets/{saved_snippet_id:int}",
            "Delete a saved snippet",
            "By its id.",
        )
        .sends(&["saved_snippets"]),
    ]
}

fn queue_options() -> Vec<Parameter> {
    vec![
        may("event_types", Json, "The types of events of the queue, as a list; null for all."),
        may(
            "apply_markdown",
            Bool,
            "Whether content of messages is HTML; otherwise it is the Markdown source.",
        )
        .or("false"),
        may("slim_presence", Bool, "Whether presence is by user id; otherwise by e-mail address.")
            .or("false"),
        may("all_public_streams", Bool, "Whether messages of all public channels are delivered."),
        may(
            "client_gravatar",
            Bool,
            "Whether avatar_url may be null where the client can compute the address of the picture at gravatar.com itself.",
        ),
        may(
            "narrow",
            Json,
            r#"Which messages are delivered: a list of pairs of operator and operand, such as [["channel", "design"]]."#,
        ),
    ]
}

/// The operations on event queues.
pub fn events() -> Vec<Operation> {
    vec![
        operation(
            "register-queue",
            "POST /api/v1/register",
            "Register an event queue",
            "Makes a queue, and answers with the state that its events change. Below /json, visitors without an account get the \
             state without a queue.",
        )
        .with(queue_options())
        .with([
            may("fetch_event_types", Json, "The parts of the state, as a list; by default those of event_types."),
            may("include_subscribers", BoolOrPartial, "Whether channels have their subscribers.").or("false"),
            may("presence_history_limit_days", Int, "How many days back presence goes.").or("14"),
            may("client_capabilities", Object, r#"What the client understands: an object with booleans, such as {"notification_settings_null": true}."#),
            may("queue_lifespan_secs", Int, "How many seconds the queue lives without a poll; 0 as the server is configured.").or("0"),
        ]),
        operation(
            "get-events",
            "GET /api/v1/events",
            "Get events",
            "Waits until there are events; after 45 to 55 seconds without one the answer is a heartbeat. Events up to and including \
             last_event_id are acknowledged and dropped.",
        )
        .with([
            may("queue_id", Text, "The id of the queue; without it, and with dont_block, a queue is made."),
            may("last_event_id", Int, "The id of the last event that the client has; -1 at first."),
            may("dont_block", Bool, "Whether it answers at once, even without events.").or("false"),
        ])
        .with(queue_options())
        .with([may("lifespan_secs", Int, "How many seconds a queue that is made lives without a poll; 0 as the server is configured.").or("0")]),
        operation("delete-queue", "DELETE /api/v1/events", "Close an event queue", "A waiting poll is answered first.")
            .with([need("queue_id", Text, "The id of the queue.")]),
    ]
}

/// The operations of push notifications.
#[expect(clippy::too_many_lines, reason = "a table has an entry for each operation, and nothing else")]
pub fn push() -> Vec<Operation> {
    let token = || need("token", Text, "The token of the device.");
    vec![
        operation(
            "add-apns-token",
            "POST /api/v1/users/me/apns_device_token",
            "Register a device of Apple",
            "The older form, without encryption.",
        )
        .with([token(), need("appid", Text, "The id of the app.")]),
        operation(
            "remove-apns-token",
            "DELETE /api/v1/users/me/apns_device_token",
            "Remove a device of Apple",
            "By its token.",
        )
        .with([token()]),
        operation(
            "add-fcm-token",
            "POST /api/v1/users/me/android_gcm_reg_id",
            "Register a device of Google",
            "The older form, without encryption.",
        )
        .with([token()]),
        operation(
            "remove-fcm-token",
            "DELETE /api/v1/users/me/android_gcm_reg_id",
            "Remove a device of Google",
            "By its token.",
        )
        .with([token()]),
        operation(
            "register-push-device",
            "POST /api/v1/mobile_push/register",
            "Register a device for encrypted notifications",
            "It is pending until the push service confirms it.",
        )
        .with([
            need("token_kind", Word(&["apns", "fcm"]), "The service of the device."),
            need("push_account_id", Int, "An id that the client chooses."),
            need("push_key", Text, "The key, in base64.").or_as("push_public_key"),
            need(
                "bouncer_public_key",
                Text,
                "The key of the push service for which the registration is encrypted.",
            ),
            need("encrypted_push_registration", Text, "The encrypted registration."),
        ])
        .sends(&["push_device"]),
        operation(
            "test-notify",
            "POST /api/v1/mobile_push/test_notification",
            "Send a test notification",
            "The answer is what the push service says.",
        )
        .with([may("token", Text, "One device; by default all of yours.")]),
        operation(
            "e2ee-test-notify",
            "POST /api/v1/mobile_push/e2ee/test_notification",
            "Send an encrypted test notification",
            "The answer is what the push service says.",
        )
        .with([may("push_account_id", Int, "One device; by default all of yours that are active.")]),
    ]
}

/// The operations of video calls.
pub fn calls() -> Vec<Operation> {
    vec![
        operation(
            "create-big-blue-button-video-call",
            "GET /api/v1/calls/bigbluebutton/create",
            "Create a BigBlueButton call",
            "Always refused: it is not configured.",
        )
        .with([need("meeting_name", Text, "The name of the call.")]),
        operation(
            "create-zoom-video-call",
            "POST /api/v1/calls/zoom/create",
            "Create a Zoom call",
            "Always refused: it is not configured.",
        )
        .with([may("is_video_call", Bool, "Whether it has video.")]),
    ]
}
