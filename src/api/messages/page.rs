//! Loading messages and writing them: at once where they are in memory, on a blocking thread where the disk is asked.

use crate::api::wire::message::{MessageForm, MessageWriter};
use crate::http::{ApiError, Envelope};
use actix_web::web;
use actors::{DomainError, RealmHandle, View, queries};
use model::{Flag, Flags, Message, MessageId, User};
use std::sync::Arc;

/// Whether all of some messages are in memory.
pub fn is_recent(view: &View, ids: &[MessageId]) -> bool {
    ids.iter().all(|id| view.recent.get(*id).is_some())
}

/// Runs something that reads messages: here, or where it may wait for the disk.
pub async fn run<T: Send + 'static>(
    is_recent: bool,
    read: impl FnOnce() -> Result<T, DomainError> + Send + 'static,
) -> Result<T, ApiError> {
    if is_recent {
        return Ok(read()?);
    }
    match web::block(read).await {
        Ok(result) => Ok(result?),
        Err(error) => {
            tracing::error!(%error, "a read was given up");
            Err(ApiError::internal())
        }
    }
}

/// Writes messages, ascending, as the field `messages`. That the asker may read them has been decided with their ids.
pub fn write_messages(
    envelope: &mut Envelope,
    realm: &RealmHandle,
    asker: Option<&User>,
    ids: &[MessageId],
    form: MessageForm,
) -> Result<(), DomainError> {
    let messages = queries::load(realm, asker, ids)?;
    let directory = realm.directory();
    let mut writer = MessageWriter::new(&directory, asker, form);
    let out = envelope.open_field("messages");
    out.reserve(messages.iter().map(|fetched| writer.size_of(&fetched.message)).sum());
    out.push(b'[');
    for (index, fetched) in messages.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        writer.push(out, &fetched.message, Some(shown_flags(asker, fetched.flags)));
    }
    out.push(b']');
    Ok(())
}

/// The flags to show: for somebody without an account, everything is read.
pub fn shown_flags(asker: Option<&User>, flags: Flags) -> Flags {
    if asker.is_some() { flags } else { Flags::only(Flag::Read) }
}

/// A message's body; none where there is no such message.
pub async fn body(realm: &RealmHandle, id: MessageId) -> Result<Option<Arc<Message>>, ApiError> {
    if let Some(message) = realm.read(|view| view.recent_message(id)) {
        return Ok(Some(message));
    }
    if !realm.read(|view| view.messages.all.contains(id.0)) {
        return Ok(None);
    }
    let realm = realm.clone();
    run(false, move || realm.message(id)).await
}
