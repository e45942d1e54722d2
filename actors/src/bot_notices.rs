//! Rendered drafts of the notification bot's messages. The texts are in `rules::bot_notices`;
//! the caller decides where they are sent.

use crate::draft::Draft;
use crate::markdown::RealmMarkdown;
use crate::shared::RealmShared;
use model::{Directory, User};
use rules::markdown::render;
use std::sync::Arc;

/// The client name of notices.
const CLIENT: &str = "Internal";

/// The system bots: address before the `@`, and name.
pub const SYSTEM_BOTS: [(&str, &str); 3] = [
    ("notification-bot", "Notification Bot"),
    ("welcome-bot", "Welcome Bot"),
    ("emailgateway", "Email Gateway"),
];

/// The bot that sends notices.
pub fn notification_bot(directory: &Directory) -> Option<&Arc<User>> {
    system_bot(directory, SYSTEM_BOTS[0])
}

/// The bot that sends welcome messages.
pub fn welcome_bot(directory: &Directory) -> Option<&Arc<User>> {
    system_bot(directory, SYSTEM_BOTS[1])
}

/// The bot that posts e-mails sent to channels.
pub fn gateway_bot(directory: &Directory) -> Option<&Arc<User>> {
    system_bot(directory, SYSTEM_BOTS[2])
}

fn system_bot<'d>(directory: &'d Directory, (address, _): (&str, &str)) -> Option<&'d Arc<User>> {
    directory.user_by_email(&format!("{address}@{}", directory.realm().email_domain))
}

/// A notice, rendered with the permissions of `author`, who caused it; none if it cannot be rendered. Formulas that were not
/// rendered lately are shown as typed.
pub(crate) fn draft_notice(
    realm: &RealmShared,
    directory: &Directory,
    author: &User,
    content: String,
) -> Option<Draft> {
    draft_notice_with(&RealmMarkdown::of_notice(realm, directory, author), directory, content)
}

/// A notice as of [`draft_notice`], rendered with a given Markdown context.
pub(crate) fn draft_notice_with(
    context: &RealmMarkdown<'_>,
    directory: &Directory,
    content: String,
) -> Option<Draft> {
    let rendered = render(&content, context).ok()?;
    let sender = notification_bot(directory)?.clone();
    Some(Draft {
        sender,
        content,
        rendered,
        client: CLIENT.to_owned(),
        read_by_sender: true,
        echo: None,
        claims: Vec::new(),
        widget: None,
    })
}
