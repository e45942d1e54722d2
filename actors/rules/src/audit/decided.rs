//! What actions are made from, and their bounds.

use model::{ActionKind, AuditAction, Directory, MessageRanges, Subject, UserId};

/// Actions of one request that are kept.
pub const ACTIONS_MAX: usize = 100;
/// Changes of one action that are kept.
pub const CHANGES_MAX: usize = 60;
/// Users of one action that are named.
pub const USERS_MAX: usize = 20;
/// Characters of a name or value that are kept.
const TEXT_LENGTH_MAX: usize = 200;

/// The facts of one request, and what they are compared with.
pub struct Decided<'d> {
    /// The directory before them.
    pub before: &'d Directory,
    /// The requester; none for the operator and for requests without an account.
    pub by: Option<UserId>,
    /// Whether a user wrote all of some messages.
    pub wrote_all: &'d dyn Fn(UserId, &MessageRanges) -> bool,
}

/// An action without details.
pub fn action(kind: ActionKind, about: Subject) -> AuditAction {
    AuditAction { kind, about, users: Vec::new(), count: 1, changes: Vec::new() }
}

/// A text within the bound; `…` stands for what is left out.
pub fn cut(text: &str) -> String {
    match text.char_indices().nth(TEXT_LENGTH_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
