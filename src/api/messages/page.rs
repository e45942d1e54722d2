//! Loading messages and writing them: at once where they are in memory, on a blocking thread where the disk is asked.

use crate::api::wire::message::{MessageForm, MessageWriter};
use crate::http::{ApiError, Envelope};
use actix_web::web;
use actors::queries::{FetchedMessage, MessageSnapshot, locate};
use actors::{DomainError, RealmHandle};
use model::{Flag, Flags, MessageId, User};

/// Runs something that reads messages: here, or where it may wait for the disk.
pub async fn run<T: Send + 'static>(
    is_in_memory: bool,
    read: impl FnOnce() -> Result<T, DomainError> + Send + 'static,
) -> Result<T, ApiError> {
    if is_in_memory {
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

/// Writes messages, ascending, as the field `messages`, as of the moment in which it was decided that the asker may read
/// them.
pub fn write_messages(
    envelope: &mut Envelope,
    realm: &RealmHandle,
    asker: Option<&User>,
    snapshot: MessageSnapshot,
    form: MessageForm,
) -> Result<(), DomainError> {
    let messages = snapshot.read(realm)?;
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

/// A message as somebody (none: without an account) may read it; none where there is no such message, or not for them.
pub async fn read_one(
    realm: &RealmHandle,
    reader: Option<&User>,
    id: MessageId,
) -> Result<Option<FetchedMessage>, ApiError> {
    let snapshot = realm.read(|view| {
        let may = locate(view, reader, id).is_some();
        may.then(|| MessageSnapshot::take(view, reader, &[id]))
    });
    let Some(snapshot) = snapshot else { return Ok(None) };
    let realm = realm.clone();
    Ok(run(snapshot.is_in_memory(), move || snapshot.read(&realm)).await?.pop())
}
