//! The expected outcomes that the cells of the table name.

use crate::support::ApiResponse;

/// An outcome: status, code and message. `{name}` is the name of the row's channel.
#[derive(Clone, Copy, Debug)]
pub struct Expected {
    word: &'static str,
    status: u16,
    code: &'static str,
    msg: &'static str,
}

const fn word(word: &'static str, status: u16, code: &'static str, msg: &'static str) -> Expected {
    Expected { word, status, code, msg }
}

const fn bad(name: &'static str, msg: &'static str) -> Expected {
    word(name, 400, "BAD_REQUEST", msg)
}

const WORDS: &[Expected] = &[
    word("ok", 200, "", ""),
    // Other organizations.
    word("found", 302, "", ""),
    // Authentication (docs/api/conventions.md#authentication).
    word("login", 401, "UNAUTHORIZED", "Not logged in: API authentication or user session required"),
    word("key", 401, "UNAUTHORIZED", "Invalid API key"),
    bad("elsewhere", "Account is not associated with this subdomain"),
    // Roles (docs/api/conventions.md#who-may-call).
    word("admin", 400, "UNAUTHORIZED_PRINCIPAL", "Must be an organization administrator"),
    word("owner", 400, "UNAUTHORIZED_PRINCIPAL", "Must be an organization owner"),
    bad("guest", "Not allowed for guest users"),
    bad("human", "This endpoint does not accept bot requests."),
    word(
        "phone",
        400,
        "PUSH_SERVICE_NOT_CONFIGURED",
        "Server is not configured to use push notification service.",
    ),
    word("token", 400, "INVALID_PUSH_DEVICE_TOKEN", "Device not recognized"),
    word("inert", 400, "NO_ACTIVE_PUSH_DEVICE", "No active registered push device"),
    bad("perm", "Insufficient permission"),
    // Channels.
    bad("id", "Invalid channel ID"),
    bad("named", "Invalid channel name '{name}'"),
    bad("manage", "You do not have permission to administer this channel."),
    bad("gone", "Channel is already deactivated"),
    bad("content", "Channel content access is required."),
    bad("default", "You do not have permission to change default channels."),
    word("none_id", 400, "STREAM_DOES_NOT_EXIST", "Channel with ID '{channel}' does not exist"),
    word("unnamed", 400, "STREAM_DOES_NOT_EXIST", "Channel(s) ({name}) do not exist"),
    bad("unmuted", "Topic is not muted"),
    bad("access", "Unable to access channel ({name})."),
    bad("post", "You do not have permission to post in this channel."),
    bad("send", "Not authorized to send to channel '{name}'"),
    bad("topic", "No such topic 't'"),
    bad("inside", "Not subscribed to channel ID {channel}"),
    // Messages.
    bad("msg", "Invalid message(s)"),
    bad("edit", "You don't have permission to edit this message"),
    bad("move", "You don't have permission to move this message"),
    bad("resolve", "You don't have permission to resolve topics in this channel."),
    word("reaction", 400, "REACTION_DOES_NOT_EXIST", "Reaction doesn't exist."),
    bad("delete", "You don't have permission to delete this message"),
    // Accounts.
    word("last", 400, "CANNOT_DEACTIVATE_LAST_USER", "Cannot deactivate the only organization owner."),
    // The organization.
    bad("avatar", "You must upload exactly one avatar."),
    bad("export", "Invalid data export ID"),
    bad("icon", "You must upload exactly one icon."),
    bad("logo", "You must upload exactly one logo."),
    // The value of the path's placeholder is not a valid emoji name.
    bad(
        "letter",
        "Emoji names must contain only lowercase English letters, digits, spaces, dashes, and underscores.",
    ),
    word("emoji", 404, "BAD_REQUEST", "Emoji '{emoji_name:rest}' does not exist"),
    bad("nofile", "You must specify a file to upload"),
    bad("nofil", "Invalid attachment"),
    bad("badurl", "Invalid token"),
    word("tus", 412, "BAD_REQUEST", "The header Tus-Resumable must be 1.0.0"),
    bad("domain", "No entry found for domain nowhere.example."),
    bad("linkif", "Linkifier not found."),
    bad("order", "The ordered list must enumerate all existing linkifiers exactly once"),
    bad("play", "Invalid playground"),
    bad("kept", "This server does not delete the data of deactivated organizations."),
    // Routes of development servers.
    word("none", 404, "NOT_FOUND", "Not Found"),
    // Other errors.
    bad("nosess", "No such session"),
    word("csrf", 403, "CSRF_FAILED", "CSRF error: CSRF cookie not set."),
    bad("wrong", "Password is incorrect."),
    word("nokey", 400, "REQUEST_VARIABLE_MISSING", "Missing 'api_key' argument"),
    bad("field", "Field id 99999 not found."),
    word("draft", 404, "BAD_REQUEST", "Draft does not exist"),
    word("later", 404, "BAD_REQUEST", "Scheduled message does not exist"),
    word("remind", 404, "BAD_REQUEST", "Reminder does not exist"),
    word("snippet", 404, "BAD_REQUEST", "Saved snippet does not exist."),
    word("password", 401, "AUTHENTICATION_FAILED", "Your username or password is incorrect"),
    bad("jwt", "JWT authentication is not enabled for this organization"),
    bad("development", "This endpoint is available on development servers only."),
    bad("presence", "No presence data for {user}"),
    bad("absent", "No presence data for cordelia@zulip.com"),
    bad("secret", "Only the owner of a bot can see or renew its API key. Become its owner first."),
    bad("above", "The role of a bot cannot be above that of its owner."),
    bad("create", "User not authorized to create users"),
    bad("query", "User not authorized for this query"),
    bad("nomail", "This server cannot send email; use a reusable invitation link"),
    bad("inviter", "Must be an organization administrator"),
    bad("uninvited", "No such invitation"),
    // HTML pages.
    word("page", 404, "", ""),
    bad("group", "Invalid user group"),
    bad("unreported", "Message reporting is not enabled in this organization."),
    bad("bbb", "BigBlueButton is not configured."),
    bad("zoom", "Zoom credentials have not been configured"),
    bad("defgrp", "Default channel group with id '99999' does not exist."),
    bad("part", "You cannot attach a submessage to this message."),
    word("queue", 400, "BAD_EVENT_QUEUE_ID", "Bad event queue ID: {queue}"),
];

impl Expected {
    /// The outcome that a cell names.
    pub fn of(name: &str) -> Self {
        let found = WORDS.iter().find(|expected| expected.word == name);
        *found.unwrap_or_else(|| panic!("no outcome is called {name}"))
    }

    /// The difference between a response and the expected outcome; `names` replaces the placeholders of the message.
    pub fn difference(&self, answer: &ApiResponse, names: &[(&str, String)]) -> Option<String> {
        let code = answer.body["code"].as_str().unwrap_or("");
        let msg = answer.body["msg"].as_str().unwrap_or("");
        let expected = names
            .iter()
            .fold(self.msg.to_owned(), |msg, (name, value)| msg.replace(&format!("{{{name}}}"), value));
        // Responses that are not JSON (metrics, the emoji table) have neither code nor message.
        // Responses to HEAD have no body.
        let has_text = code == self.code && msg == expected || answer.what.contains(" HEAD ");
        let is_same = answer.status == self.status && has_text;
        (!is_same).then(|| format!("expected {}, got {} {code} {msg:?}", self.word, answer.status))
    }
}
