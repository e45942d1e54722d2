//! Moving messages to another topic or channel: the moved messages, their readers afterwards, and the visibility policies
//! of the topic (docs/api/messages.md#edit-or-move-messages).

use super::{DecisionContext, Target};
use crate::announce::{can_read_any, readable_in};
use crate::error::DomainError;
use model::fact::{ArrivalFact, Delivery, MessageRanges, Movement, NewTopic};
use model::{
    Channel, ChannelId, Directory, Fact, MessageId, PropagateMode, SubscriptionFact, TopicKey, TopicLink,
    User, UserId, VisibilityPolicy,
};
use roaring::RoaringBitmap;
use rules::permissions::channel::sees_content;
use rules::permissions::channel_visibility::loses_by_move;
use rules::permissions::edit::MovePlan;
use rules::visibility::{MovedFor, Participation, has_room_for_policy, move_policies, policy_of_starter};
use std::collections::BTreeMap;
use storage::View;

/// A decided move.
pub(super) struct Relocation {
    pub plan: MovePlan,
    /// The message that the request was about.
    pub target: MessageId,
    pub moved: RoaringBitmap,
    /// Whether messages that the user can read are left in the old topic.
    pub leaves_messages: bool,
    /// Whether the user could read messages of the new topic before.
    pub joins_messages: bool,
    /// All messages of the new topic before the move.
    pub in_new_topic: RoaringBitmap,
    /// The users who have the moved messages afterwards; empty within a channel.
    deliveries: Vec<Delivery>,
    /// Users whose policy for the old topic is reset.
    policies_reset: Vec<UserId>,
    /// Changed policies for the new topic.
    policies: BTreeMap<UserId, VisibilityPolicy>,
}

/// Decides a move that is permitted except for the ages of the topic's messages, which are checked here.
pub(super) fn move_messages(
    context: &DecisionContext<'_>,
    user: &User,
    target: &Target,
    plan: MovePlan,
) -> Result<Relocation, DomainError> {
    let view = context.view;
    let id = target.message.id;
    let visible = visible_in_topic(view, user, &plan.origin, &plan.old_topic);
    check_ages(context, &plan, &visible)?;
    let mut moved = match plan.mode {
        PropagateMode::One => RoaringBitmap::new(),
        PropagateMode::Later => visible.iter().filter(|other| *other >= id.0).collect(),
        PropagateMode::All => visible.clone(),
    };
    moved.insert(id.0);
    let in_new_topic = messages_of(view, plan.destination.id, &plan.topic);
    let joined = visible_in_topic(view, user, &plan.destination, &plan.topic);
    let mut relocation = Relocation {
        target: id,
        leaves_messages: !(&visible - &moved).is_empty(),
        joins_messages: !(joined - &moved).is_empty(),
        in_new_topic: in_new_topic - &moved,
        moved,
        deliveries: Vec::new(),
        policies_reset: Vec::new(),
        policies: BTreeMap::new(),
        plan,
    };
    if relocation.plan.changes_channel() {
        relocation.deliveries = deliveries(view, &relocation.plan, &relocation.moved);
    }
    relocation.decide_policies(view, view.directory.user(target.message.sender));
    Ok(relocation)
}

fn messages_of(view: &View, channel: ChannelId, topic: &str) -> RoaringBitmap {
    let found = view.messages.topic(channel, &TopicKey::new(topic));
    found.map(|messages| messages.ids.clone()).unwrap_or_default()
}

/// Messages of a topic that a user can read.
fn visible_in_topic(view: &View, user: &User, channel: &Channel, topic: &str) -> RoaringBitmap {
    match view.messages.topic(channel.id, &TopicKey::new(topic)) {
        Some(found) => readable_in(view, user, channel.id, &found.ids).into_owned(),
        None => RoaringBitmap::new(),
    }
}

/// Checks the ages of a topic's messages by binary search, because ids ascend with time.
fn check_ages(
    context: &DecisionContext<'_>,
    plan: &MovePlan,
    visible: &RoaringBitmap,
) -> Result<(), DomainError> {
    let Some(oldest) = plan.oldest_allowed else { return Ok(()) };
    let total = visible.len() as u32;
    // Bounds of the number of messages that are too old.
    let (mut at_least, mut at_most) = (0, total);
    while at_least < at_most {
        let middle = at_least + (at_most - at_least) / 2;
        let Some(id) = visible.select(middle) else { break };
        let sent = context.realm.own_record(MessageId(id))?.map(|message| message.sent);
        match sent {
            Some(sent) if sent >= oldest => at_most = middle,
            _ => at_least = middle + 1,
        }
    }
    let first_allowed = visible.select(at_least).map(MessageId);
    Ok(plan.check_allowed(total as usize, (total - at_least) as usize, first_allowed)?)
}

/// The users who have each moved message in the new channel: its subscribers have those they had before, and with
/// protected history also the others.
fn deliveries(view: &View, plan: &MovePlan, moved: &RoaringBitmap) -> Vec<Delivery> {
    let destination = &plan.destination;
    let is_protected =
        destination.invite_only && !destination.history_public_to_subscribers && !destination.is_web_public;
    let mut groups: BTreeMap<(bool, Vec<u32>), Vec<UserId>> = BTreeMap::new();
    let mut all: [Vec<UserId>; 2] = Default::default();
    let mut give = |user: UserId, ids: &RoaringBitmap, is_new: bool| {
        if ids.len() == moved.len() {
            all[usize::from(is_new)].push(user);
        } else if !ids.is_empty() {
            groups.entry((is_new, ids.iter().collect())).or_default().push(user);
        }
    };
    for (user, subscription) in &view.directory.subscriptions_of(destination.id) {
        if !subscription.is_active {
            continue;
        }
        if view.has_all_delivered(*user, plan.origin.id, moved) {
            give(*user, moved, false);
            continue;
        }
        let had = view.delivered_among_in_channel(*user, plan.origin.id, moved);
        give(*user, &had, false);
        if is_protected {
            give(*user, &(moved - view.accessible_in_channel(*user, plan.origin.id, moved)), true);
        }
    }
    let ranges = |ids: &mut dyn Iterator<Item = u32>| MessageRanges::from_sorted(ids.map(MessageId));
    let whole = all.into_iter().zip([false, true]).filter(|(users, _)| !users.is_empty());
    let whole = whole.map(|(users, is_new)| Delivery { messages: ranges(&mut moved.iter()), users, is_new });
    let parts = groups.into_iter().map(|((is_new, ids), users)| Delivery {
        messages: ranges(&mut ids.into_iter()),
        users,
        is_new,
    });
    whole.chain(parts).collect()
}

impl Relocation {
    /// Whether all messages of the topic that the user can read moved.
    fn is_whole(&self) -> bool {
        self.plan.mode == PropagateMode::All || !self.leaves_messages
    }

    /// The movement in the fact. `topic_links` are the links in the new topic.
    pub fn movement(&self, topic_links: &[TopicLink]) -> Movement {
        let plan = &self.plan;
        Movement {
            messages: MessageRanges::from_sorted(self.moved.iter().map(MessageId)),
            mode: plan.mode,
            channel: plan.origin.id,
            topic: plan.old_topic.clone(),
            new_channel: plan.changes_channel().then(|| ArrivalFact {
                channel: plan.destination.id,
                recipient: plan.destination.recipient,
                deliveries: self.deliveries.clone(),
            }),
            new_topic: plan
                .changes_topic()
                .then(|| NewTopic { name: plan.topic.clone(), links: topic_links.to_vec() }),
            is_resolve: plan.is_only_resolve(),
        }
    }

    fn decide_policies(&mut self, view: &View, sender: Option<&std::sync::Arc<User>>) {
        let (plan, directory) = (&self.plan, &view.directory);
        if plan.is_respelling() {
            return;
        }
        let (origin, destination) = (&plan.origin, &plan.destination);
        let moved_for = |user: UserId| match directory.user(user) {
            Some(user) if !can_read_any(view, user, origin.id, &self.moved) => MovedFor::Unseen,
            Some(user) if loses_by_move(directory, user, origin, destination) => MovedFor::Lost,
            Some(_) => MovedFor::Kept,
            None => MovedFor::Unseen,
        };
        if self.is_whole() {
            let (from, to) = ((origin.id, plan.old_topic.as_str()), (destination.id, plan.topic.as_str()));
            let had_messages = !self.in_new_topic.is_empty();
            for change in move_policies(directory, from, to, had_messages, moved_for) {
                if change.resets_old {
                    self.policies_reset.push(change.user);
                }
                if let Some(policy) = change.new {
                    self.policies.insert(change.user, policy);
                }
            }
        }
        // Moving a part of a topic starts a new one. A whole topic is only renamed, and users retain their policies.
        let is_first = !self.is_whole()
            && self.moved.min() == Some(self.target.0)
            && self.in_new_topic.min().is_none_or(|first| first > self.target.0);
        if let Some(sender) = sender.filter(|sender| is_first && sees_content(directory, sender, destination))
        {
            let muted = directory.subscription(destination.id, sender.id);
            let participation = Participation {
                is_channel_muted: muted.is_some_and(|own| own.is_active && own.is_muted),
                policy: self.policy_after(directory, sender.id),
                starts_topic: true,
            };
            if let Some(policy) = policy_of_starter(sender, participation)
                && has_room_for_policy(directory, sender.id, participation.policy)
            {
                self.policies.insert(sender.id, policy);
            }
        }
    }

    /// A user's policy for the new topic after the move.
    pub fn policy_after(&self, directory: &Directory, user: UserId) -> VisibilityPolicy {
        let decided = self.policies.get(&user).copied();
        let key = TopicKey::new(&self.plan.topic);
        decided.unwrap_or_else(|| directory.topic_policy(user, self.plan.destination.id, &key))
    }

    /// The changes of policies: first for the old topic, then for the new one.
    pub fn policy_facts(&self) -> Vec<Fact> {
        let plan = &self.plan;
        let mut facts = Vec::new();
        if !self.policies_reset.is_empty() {
            facts.push(Fact::Subscription(SubscriptionFact::TopicPolicySet {
                channel: plan.origin.id,
                topic: plan.old_topic.clone(),
                policy: VisibilityPolicy::Inherit,
                users: self.policies_reset.clone(),
            }));
        }
        let mut users_by_policy: BTreeMap<VisibilityPolicy, Vec<UserId>> = BTreeMap::new();
        for (user, policy) in &self.policies {
            users_by_policy.entry(*policy).or_default().push(*user);
        }
        facts.extend(users_by_policy.into_iter().map(|(policy, users)| {
            Fact::Subscription(SubscriptionFact::TopicPolicySet {
                channel: plan.destination.id,
                topic: plan.topic.clone(),
                policy,
                users,
            })
        }));
        facts
    }
}
