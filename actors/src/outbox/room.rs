//! The room for deliveries that no person waits for, and for those of one owner's bots.

use model::job::TaskKind;
use model::{Directory, UserId};
use std::collections::BTreeMap;
use storage::view::{JOBS_WAITING_MAX, Jobs};

/// Maximum number of unsent e-mails while invitations and e-mails about missed messages are added: the rest of the outbox is for
/// e-mails that a person waits for, such as a link for a new password.
pub(crate) const UNREQUESTED_MAILS_MAX: usize = JOBS_WAITING_MAX / 2;

/// Maximum number of calls that wait for the services of one owner's bots, up to what is decided at the same time: the rest of
/// the outbox is for the bots of others.
const OWNER_CALLS_MAX: usize = JOBS_WAITING_MAX / 10;

/// How many invitations or e-mails about missed messages can be added.
pub(crate) fn unrequested_mail_room(jobs: &Jobs) -> usize {
    UNREQUESTED_MAILS_MAX.saturating_sub(jobs.waiting_count(TaskKind::Mail))
}

/// In whose share the calls of a bot's service are: its owner's. A bot without an owner has a share of its own.
pub(crate) fn call_owner(directory: &Directory, bot: UserId) -> UserId {
    directory.bot_owner(bot).unwrap_or(bot)
}

/// The room for calls of the services of bots.
pub(crate) struct CallRoom<'d> {
    directory: &'d Directory,
    waiting: BTreeMap<UserId, usize>,
}

impl<'d> CallRoom<'d> {
    /// The room besides the pending jobs. Costs a lookup for each bot that has any.
    pub fn new(directory: &'d Directory, jobs: &Jobs) -> Self {
        let mut waiting = BTreeMap::new();
        for (destination, count) in jobs.waiting_by_destination(TaskKind::Webhook) {
            *waiting.entry(call_owner(directory, UserId(destination.id))).or_default() += count;
        }
        Self { directory, waiting }
    }

    /// Takes the room of one call; false if the bot's owner has none left.
    pub fn take(&mut self, bot: UserId) -> bool {
        let waiting = self.waiting.entry(call_owner(self.directory, bot)).or_default();
        let has_room = *waiting < OWNER_CALLS_MAX;
        *waiting += usize::from(has_room);
        has_room
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{HAMLET, IAGO};
    use model::{Bot, BotKind, User};

    /// A directory in which Hamlet owns two bots and Iago one.
    fn directory() -> Directory {
        let mut directory = crate::fixture::view().directory;
        for (id, owner) in [(101, HAMLET), (102, HAMLET), (103, IAGO)] {
            let person = directory.user(owner).unwrap();
            let bot = Bot { kind: BotKind::OutgoingWebhook, owner: Some(owner), is_system: false };
            let bot = User { id: UserId(id), bot: Some(bot), ..User::clone(person) };
            directory.put_user(bot);
        }
        directory
    }

    #[test]
    fn bots_of_an_owner_share_their_room() {
        let directory = directory();
        let mut room = CallRoom::new(&directory, &Jobs::default());
        for call in 0..OWNER_CALLS_MAX {
            let bot = UserId(101 + (call % 2) as u32);
            assert!(room.take(bot), "{call}");
        }
        assert!(!room.take(UserId(101)) && !room.take(UserId(102)));
        assert!(room.take(UserId(103)) && room.take(UserId(999)), "others have room of their own");
    }
}
