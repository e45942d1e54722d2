//! Bots that leave channels which their owners can no longer read (docs/api/bots.md#rights-of-a-bot). Which ones, is in
//! `rules::bots`.

use super::serialized::DecisionContext;
use crate::channel::unsubscribe_bots;
use model::{ChannelId, Directory, Fact, GroupFact, MessageId, User, UserId};
use rules::bots::{bots_left_behind, bots_left_in, channels_to_leave};
use std::collections::{BTreeMap, BTreeSet};

/// A directory with the changes of groups in some facts.
pub(super) fn with_groups(directory: &Directory, facts: &[Fact]) -> Directory {
    let mut then = directory.clone();
    for fact in facts {
        if let Fact::Group(GroupFact::MembersChanged { group, added, removed }) = fact {
            then.change_members(*group, added, removed);
        } else if let Fact::Group(GroupFact::Changed(group)) = fact {
            then.put_group((**group).clone());
        }
    }
    then
}

/// Unsubscribes the bots of some owners from channels that the owners can read before a change and not in `then`, after it.
pub(super) fn bots_leave(
    context: &DecisionContext<'_>,
    then: &Directory,
    is_concerned: impl Fn(UserId) -> bool,
    by: UserId,
) -> Vec<Fact> {
    unsubscribe(context, bots_left_behind(&context.directory, then, is_concerned), by)
}

/// Unsubscribes bots from channels that their owners can no longer read after changes of groups.
pub(super) fn bots_leave_with_groups(
    context: &DecisionContext<'_>,
    changes: &[Fact],
    by: UserId,
) -> Vec<Fact> {
    let then = with_groups(&context.directory, changes);
    let mut changed = BTreeSet::new();
    for fact in changes {
        if let Fact::Group(GroupFact::MembersChanged { removed, .. }) = fact {
            changed.extend(removed.iter().copied());
        } else if let Fact::Group(GroupFact::Changed(group)) = fact {
            changed.extend(then.members_changed_since(&context.directory, group.id));
        }
    }
    if changed.is_empty() {
        return Vec::new();
    }
    bots_leave(context, &then, |owner| changed.contains(&owner), by)
}

/// Unsubscribes bots from one channel that their owners can no longer read in `then`, after a change of the channel. `last`
/// is the last message before the change.
pub(super) fn bots_leave_channel(
    context: &DecisionContext<'_>,
    then: &Directory,
    (channel, last): (ChannelId, MessageId),
    by: UserId,
) -> Vec<Fact> {
    let bots = bots_left_in(&context.directory, then, channel);
    let leaving: BTreeMap<_, _> = (!bots.is_empty()).then_some((channel, bots)).into_iter().collect();
    unsubscribe_bots(&context.realm.view.read(), leaving, last, by)
}

/// Unsubscribes a bot from the channels that a new owner cannot read.
pub(super) fn leave_channels(
    context: &DecisionContext<'_>,
    bot: &User,
    owner: UserId,
    by: UserId,
) -> Vec<Fact> {
    let left = channels_to_leave(&context.directory, bot, owner);
    unsubscribe(context, left.into_iter().map(|channel| (channel, vec![bot.id])).collect(), by)
}

fn unsubscribe(
    context: &DecisionContext<'_>,
    leaving: BTreeMap<ChannelId, Vec<UserId>>,
    by: UserId,
) -> Vec<Fact> {
    unsubscribe_bots(&context.realm.view.read(), leaving, context.ids.last_message(), by)
}
