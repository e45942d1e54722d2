//! Uploaded files: who may read them, and which of them a message claims (docs/api/uploads.md).
//!
//! A file is readable for its owner and for everyone who can read a message that names it. A message names a file only if its
//! sender could read the file before: otherwise a guessed link would give access.

use crate::announce::can_read_any;
use crate::draft::Draft;
use crate::shared::RealmShared;
use model::{
    Attachment, AttachmentFact, AttachmentId, Directory, Fact, ListedAttachment, MessageId, Timestamp, User,
};
use rules::permissions::message::{ConversationId, is_publicly_readable};
use std::sync::Arc;
use storage::View;

/// The outcome of asking for a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileAccess {
    /// There is no such file.
    Missing,
    /// There is one, and the requester may not read it.
    Refused,
    Allowed(Arc<Attachment>),
}

/// Whether a requester (none: without an account) may read the file at a path.
pub(crate) fn access_file(view: &View, asker: Option<&User>, path_id: &str) -> FileAccess {
    let Some(file) = find_file(&view.directory, path_id) else { return FileAccess::Missing };
    let is_readable = match asker {
        Some(user) => can_read_file(view, user, file),
        None => is_file_publicly_readable(view, file.id),
    };
    if is_readable { FileAccess::Allowed(file.clone()) } else { FileAccess::Refused }
}

/// The file at a path, which may be percent-encoded, as in links.
pub(crate) fn find_file<'d>(directory: &'d Directory, path: &str) -> Option<&'d Arc<Attachment>> {
    directory.attachment_by_path(path).or_else(|| {
        let decoded = percent_encoding::percent_decode_str(path).decode_utf8().ok()?;
        directory.attachment_by_path(&decoded)
    })
}

/// Whether a user may read a file. The cost depends on the conversations of the organization, not on how many messages name
/// the file: sets of messages are compared as a whole.
pub(crate) fn can_read_file(view: &View, user: &User, file: &Attachment) -> bool {
    if file.owner == user.id {
        return true;
    }
    let Some(messages) = view.claims.messages(file.id) else { return false };
    let conversations = view.directory.directs_of(user.id);
    let mut directs = conversations.filter_map(|direct| view.messages.directs.get(&direct.recipient));
    directs.any(|direct| !direct.is_disjoint(messages))
        || view.messages.channels.iter().any(|(channel, there)| {
            !there.ids.is_disjoint(messages) && can_read_any(view, user, *channel, &(&there.ids & messages))
        })
}

fn is_file_publicly_readable(view: &View, file: AttachmentId) -> bool {
    let Some(messages) = view.claims.messages(file) else { return false };
    view.messages.channels.iter().any(|(channel, there)| {
        is_publicly_readable(&view.directory, ConversationId::Channel(*channel))
            && !there.ids.is_disjoint(messages)
    })
}

/// The files that a text of a user claims: those at its paths that the user may read, by id. `known` are files that the
/// message names already.
pub(crate) fn claimed_files(
    view: &View,
    user: &User,
    known: &[AttachmentId],
    paths: &[String],
) -> Vec<AttachmentId> {
    let found = paths.iter().filter_map(|path| find_file(&view.directory, path));
    let readable = found.filter(|file| known.contains(&file.id) || can_read_file(view, user, file));
    let mut ids: Vec<AttachmentId> = readable.map(|file| file.id).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// Adds the files that a message to send claims. Locks the view only for texts that name files.
pub(crate) fn claim_for(realm: &RealmShared, draft: &mut Draft) {
    if !draft.rendered.upload_paths.is_empty() {
        claim_in(&realm.view.read(), draft);
    }
}

/// As [`claim_for`], for callers that have locked the view.
pub(crate) fn claim_in(view: &View, draft: &mut Draft) {
    draft.claims = claimed_files(view, &draft.sender, &[], &draft.rendered.upload_paths);
}

/// The claims of a message that is sent; none without files. It comes before the message, as clients know it.
pub(crate) fn claims_of_sent(
    message: MessageId,
    sent: Timestamp,
    claimed: Vec<AttachmentId>,
) -> Option<Fact> {
    let released = Vec::new();
    (!claimed.is_empty()).then_some(Fact::Attachment(AttachmentFact::ClaimsChanged {
        message,
        sent,
        claimed,
        released,
    }))
}

/// The change of a message's claims by an edit, and the files that no message names then.
pub(crate) fn claims_of_edit(
    view: &View,
    (message, sent): (MessageId, Timestamp),
    after: &[AttachmentId],
) -> (Option<Fact>, Vec<ListedAttachment>) {
    let before = view.claims.of_message(message);
    let claimed: Vec<AttachmentId> = after.iter().copied().filter(|file| !before.contains(file)).collect();
    let released: Vec<AttachmentId> = before.iter().copied().filter(|file| !after.contains(file)).collect();
    if claimed.is_empty() && released.is_empty() {
        return (None, Vec::new());
    }
    let is_last = |file: &&AttachmentId| view.claims.messages(**file).is_some_and(|ids| ids.len() == 1);
    let detached = released.iter().filter(is_last).filter_map(|file| view.directory.attachment(*file));
    let detached = detached.map(|file| ListedAttachment { file: file.clone(), uses: Vec::new() }).collect();
    let fact = AttachmentFact::ClaimsChanged { message, sent, claimed, released };
    (Some(Fact::Attachment(fact)), detached)
}

/// Messages that are about to be deleted release their files: one fact for each that names any.
pub(crate) fn releases(view: &View, messages: impl Iterator<Item = MessageId>) -> Vec<Fact> {
    let release = |message| {
        let released = view.claims.of_message(message).to_vec();
        let sent = view.claims.sent(*released.first()?, message)?;
        let claimed = Vec::new();
        Some(Fact::Attachment(AttachmentFact::ClaimsChanged { message, sent, claimed, released }))
    };
    messages.filter_map(release).collect()
}
