//! Records in the audit log what requesters changed: the fact is added where a frame is committed, so that no command can forget it.

use crate::account::Requester;
use model::{ActionKind, AuditAction, AuditEntry, Fact, MessageRanges, RequestOrigin, Subject, UserId};
use roaring::RoaringBitmap;
use rules::audit::{Decided, actions};
use storage::View;

/// The audit entry of facts that a requester decided; none if they are not administrative, as for messages that are sent.
pub(crate) fn record(view: &View, by: Requester, facts: &[Fact]) -> Option<Fact> {
    let wrote_all = |user: UserId, messages: &MessageRanges| wrote_all(view, user, messages);
    let decided = Decided { before: &view.directory, by: by.user, wrote_all: &wrote_all };
    let actions = actions(&decided, facts);
    if actions.is_empty() {
        return None;
    }
    let client = by.client.map(|client| client.to_string()).unwrap_or_default();
    Some(Fact::Audit(Box::new(AuditEntry {
        by: by.user,
        origin: by.origin,
        address: by.address,
        client,
        actions,
    })))
}

/// The audit entry of an organization that was created by a command of the operator, or by an import.
pub(crate) fn of_organization(kind: ActionKind, origin: RequestOrigin) -> Fact {
    let action =
        AuditAction { kind, about: Subject::Organization, users: Vec::new(), count: 1, changes: Vec::new() };
    Fact::Audit(Box::new(AuditEntry {
        by: None,
        origin,
        address: None,
        client: String::new(),
        actions: vec![action],
    }))
}

fn wrote_all(view: &View, user: UserId, messages: &MessageRanges) -> bool {
    let ids: RoaringBitmap = messages.iter().map(|id| id.0).collect();
    view.messages.senders.get(&user).is_some_and(|own| ids.is_subset(own))
}
