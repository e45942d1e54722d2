//! Who received a message, and with which flags.

use super::drafting::{Draft, MessageFlags, MessageLocation};
use super::entry::Entry;
use super::flags::{CHANNEL_WILDCARD, HISTORICAL, READ, content_flags};
use super::history::History;
use super::messages::{Messages, PART, REACTION, ROW};
use model::{Flag, Flags, MessageId, UserId};
use std::collections::HashSet;

const NO_USER: &str = "of a user who is not in the export";

/// Those who received a message, and those of them who must have a row of it.
struct Receivers {
    all: HashSet<UserId>,
    with_rows: Vec<UserId>,
    /// The message came from another channel: users with a row received it.
    has_moved: bool,
}

impl Messages {
    /// What the report says about a message that is durable already.
    pub(super) fn count_done(&mut self, id: MessageId, entry: &Entry) {
        let users = entry.users.iter().filter(|(user, _)| self.directory.user(UserId(*user)).is_some());
        let known = users.count() as u64;
        self.report.carry(ROW, known);
        self.report.leave_out(ROW, NO_USER, entry.users.len() as u64 - known);
        self.report.carry(PART, entry.submessages.len() as u64);
        let reactions = self.tables.reactions_of(id.0);
        let is_known = |user: u32| self.directory.user(UserId(user)).is_some();
        let known = reactions.iter().filter(|reaction| is_known(reaction.user)).count() as u64;
        let others = reactions.len() as u64 - known;
        self.reactions += known + others;
        self.report.carry(REACTION, known);
        self.report.leave_out(REACTION, NO_USER, others);
    }

    fn receivers(&mut self, id: MessageId, spotted: &MessageLocation, history: &History) -> Receivers {
        let has_moved = history
            .steps
            .iter()
            .any(|step| step.place.as_ref().is_some_and(|(before, after)| before.0 != after.0));
        let mut all: HashSet<UserId> = spotted.people.iter().copied().collect();
        let mut with_rows = spotted.people.clone();
        if let Some((channel, _)) = &spotted.topic
            && !has_moved
        {
            for member in self.members(*channel).iter().filter(|member| member.subscription.received(id)) {
                all.insert(member.user);
                if member.has_rows {
                    with_rows.push(member.user);
                }
            }
        }
        Receivers { all, with_rows, has_moved }
    }

    /// The flags of all users for a message.
    pub(super) fn flags(
        &mut self,
        id: MessageId,
        entry: &Entry,
        spotted: &MessageLocation,
        history: &History,
        draft: &mut Draft,
    ) -> MessageFlags {
        let mut flags = MessageFlags { is_read_by_sender: true, ..MessageFlags::default() };
        let sender = UserId(entry.row.sender);
        let receivers = self.receivers(id, spotted, history);
        let mut seen = HashSet::new();
        for (user, mask) in &entry.users {
            let (user, mask) = (UserId(*user), *mask);
            if self.directory.user(user).is_none() {
                self.report.leave_out(ROW, NO_USER, 1);
            } else if !seen.insert(user) {
                self.report.leave_out(ROW, "the second of a user and a message", 1);
            } else {
                self.report.carry(ROW, 1);
                let has_received = match receivers.has_moved {
                    true => mask & HISTORICAL == 0,
                    false => receivers.all.contains(&user),
                };
                if receivers.has_moved && has_received {
                    flags.received.push(user);
                }
                self.row(id, (user, mask, has_received), user == sender, &mut flags, draft);
            }
        }
        for user in receivers.with_rows {
            if user != sender && !seen.contains(&user) {
                draft.flags.add(user, Flag::Read, id);
                self.report.change("received messages of which the export has no row are read", 1);
            }
        }
        flags.content.sort_unstable_by_key(|(user, _)| *user);
        flags.received.sort_unstable();
        flags
    }

    /// The flags of one user.
    fn row(
        &mut self,
        id: MessageId,
        (user, mask, has_received): (UserId, u32, bool),
        is_sender: bool,
        flags: &mut MessageFlags,
        draft: &mut Draft,
    ) {
        flags.has_channel_wildcard |= mask & CHANNEL_WILDCARD != 0;
        let content = content_flags(mask);
        if content != Flags::NONE {
            flags.content.push((user, content));
        }
        match (is_sender, mask & READ != 0) {
            (true, is_read) if has_received => flags.is_read_by_sender = is_read,
            (_, true) => draft.flags.add(user, Flag::Read, id),
            (_, false) if !has_received => {
                self.report.change("unread messages that their reader had not received are read", 1);
                draft.flags.add(user, Flag::Read, id);
            }
            (_, false) => {}
        }
        if has_received && mask & HISTORICAL != 0 {
            draft.flags.add(user, Flag::Historical, id);
        }
        draft.flags.add_own(user, mask, id);
    }
}
