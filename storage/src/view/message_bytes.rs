//! How much memory a message takes.

use model::{EditEntry, Flags, Message, UserId};

/// Approximate memory of a message besides its texts.
const MESSAGE_OVERHEAD_BYTES: usize = 320;

/// Approximate memory of a reaction.
const REACTION_BYTES: usize = 128;

/// The approximate size of a message in memory, in bytes, with its edits, parts of widgets and reactions.
pub fn message_bytes(message: &Message) -> usize {
    let edits: usize = message.edits.iter().map(EditEntry::bytes).sum();
    let parts: usize = message.submessages.iter().map(|part| 96 + part.content.len()).sum();
    let texts = message.content.len() + message.rendered.len() + message.place.topic().len() + edits + parts;
    let links: usize = message.topic_links.iter().map(|link| 64 + link.text.len() + link.url.len()).sum();
    MESSAGE_OVERHEAD_BYTES
        + texts
        + links
        + message.reactions.len() * REACTION_BYTES
        + message.user_flags.len() * size_of::<(UserId, Flags)>()
}
