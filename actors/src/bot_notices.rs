//! Rendered drafts of the notification bot's messages. The texts are in `rules::bot_notices`;
//! the caller decides where they are sent.

use crate::bootstrap::SYSTEM_BOTS;
use crate::draft::Draft;
use crate::markdown::RealmMarkdown;
use crate::shared::RealmShared;
use model::{Directory, User};
use rules::markdown::render;
use std::sync::Arc;

/// Name of the client that notices come from.
const CLIENT: &str = "Internal";

/// The bot that tells people what happened.
pub fn notification_bot(directory: &Directory) -> Option<&Arc<User>> {
    system_bot(directory, SYSTEM_BOTS[0])
}

/// The bot that greets people.
pub fn welcome_bot(directory: &Directory) -> Option<&Arc<User>> {
    system_bot(directory, SYSTEM_BOTS[1])
}

fn system_bot<'d>(directory: &'d Directory, (address, _): (&str, &str)) -> Option<&'d Arc<User>> {
    directory.user_by_email(&format!("{address}@{}", directory.realm().email_domain))
}

/// A notice in which names mean what they mean to `author`, who caused it; none where it cannot be rendered.
pub(crate) fn draft_notice(
    realm: &RealmShared,
    directory: &Directory,
    author: &User,
    content: String,
) -> Option<Draft> {
    draft_notice_with(&RealmMarkdown::of_message(realm, directory, author), directory, content)
}

/// The same in a context of one's own.
pub(crate) fn draft_notice_with(
    context: &RealmMarkdown<'_>,
    directory: &Directory,
    content: String,
) -> Option<Draft> {
    let rendered = render(&content, context).ok()?;
    let sender = notification_bot(directory)?.clone();
    Some(Draft { sender, content, rendered, client: CLIENT.to_owned(), read_by_sender: true, echo: None })
}
