//! The room for e-mails that no person waits for.

use model::job::TaskKind;
use storage::view::{JOBS_WAITING_MAX, Jobs};

/// Maximum number of unsent e-mails while invitations and e-mails about missed messages are added: the rest of the outbox is for
/// e-mails that a person waits for, such as a link for a new password.
pub(crate) const UNREQUESTED_MAILS_MAX: usize = JOBS_WAITING_MAX / 2;

/// How many invitations or e-mails about missed messages can be added.
pub(crate) fn unrequested_mail_room(jobs: &Jobs) -> usize {
    UNREQUESTED_MAILS_MAX.saturating_sub(jobs.waiting_count(TaskKind::Mail))
}
