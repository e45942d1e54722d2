//! Changes of which users can see each other: restricted guests start and stop seeing people, and a new role shows or
//! hides addresses and bots (docs/api/permissions.md#visibility-of-users, docs/api/events.md#realm_user).

use super::context::{Announcements, EventContext};
use super::{bots, channel_visibility, personal, pictures};
use model::event::UserChange;
use model::{
    ChannelId, Directory, EventBody, Fact, GroupFact, MessageFact, Realm, RealmFact, SubscriptionFact, User,
    UserFact, UserId,
};
use rules::permissions::users::{is_restricted, sees_user, shown_delivery_email};
use rules::settings::RealmPermission;
use std::collections::{BTreeMap, BTreeSet};

/// Sets numbers aside behind facts that may change who knows of whom; nothing for most frames, and hardly ever
/// anything where everybody may know of everybody.
pub(crate) fn record_user_visibility(directory: &Directory, facts: &[Fact]) -> Option<Fact> {
    let guests_are_restricted =
        || directory.users().any(|user| user.is_active && user.is_guest() && is_restricted(directory, user));
    let is_guest = |id: &UserId| directory.user(*id).is_some_and(|user| user.is_guest());
    let matters = facts.iter().filter_map(Cause::of).any(|cause| match cause {
        Cause::User(user) => {
            directory.user(user.id).is_some_and(|was| (was.role, was.owner()) != (user.role, user.owner()))
        }
        Cause::Realm(realm) => {
            let name = RealmPermission::AccessAllUsers.rule().name;
            directory.realm().settings.get(name) != realm.settings.get(name)
        }
        Cause::Account(_) | Cause::Channel(..) | Cause::Conversation(_) => guests_are_restricted(),
        Cause::Group => directory.users().any(|user| user.is_guest()),
        // A guest joins or leaves the group that may see everybody.
        Cause::Members(added, removed) => added.iter().chain(removed).any(is_guest),
    });
    // Each user is gained by some (with the status) and lost by others, and shows an address with its picture or not;
    // with another role one learns who is in each channel, and of each bot. Facts that say this are one or a few.
    let events = || {
        let roles = facts.iter().filter(|fact| matches!(fact, Fact::User(UserFact::Changed(_)))).count();
        let users = directory.users().count();
        let events = users * 7 + (directory.channels().count() + users) * roles + 64;
        Fact::User(UserFact::VisibilityChanged { events: u32::try_from(events).unwrap_or(u32::MAX) })
    };
    matters.then(events)
}

/// A fact that may change who sees whom.
enum Cause<'f> {
    /// A user's record: another role, or a bot's other owner.
    User(&'f User),
    /// An account was deactivated or reactivated.
    Account(UserId),
    /// The organization's settings.
    Realm(&'f Realm),
    /// A group's record.
    Group,
    /// A group's new and former members.
    Members(&'f [UserId], &'f [UserId]),
    /// Users were subscribed to a channel or unsubscribed.
    Channel(ChannelId, BTreeSet<UserId>),
    /// The users of a new direct conversation.
    Conversation(&'f [UserId]),
}

impl<'f> Cause<'f> {
    fn of(fact: &'f Fact) -> Option<Self> {
        Some(match fact {
            Fact::User(UserFact::Changed(user)) => Self::User(user),
            Fact::User(UserFact::ActiveSet { user, .. }) => Self::Account(*user),
            Fact::Realm(RealmFact::Changed(realm)) => Self::Realm(realm),
            Fact::Group(GroupFact::Changed(_)) => Self::Group,
            Fact::Group(GroupFact::MembersChanged { added, removed, .. }) => Self::Members(added, removed),
            Fact::Subscription(SubscriptionFact::Added { channel, subscribers, .. }) => {
                Self::Channel(*channel, subscribers.iter().map(|(user, _)| *user).collect())
            }
            Fact::Subscription(SubscriptionFact::Removed { channel, users, .. }) => {
                Self::Channel(*channel, users.iter().copied().collect())
            }
            Fact::Message(MessageFact::ConversationCreated(direct)) => Self::Conversation(&direct.users),
            Fact::Realm(
                RealmFact::Created(_)
                | RealmFact::ProfileFieldsChanged(_)
                | RealmFact::DomainSet { .. }
                | RealmFact::LinkifiersChanged(_)
                | RealmFact::PlaygroundsChanged(_),
            )
            | Fact::User(
                UserFact::Created(_)
                | UserFact::VisibilityChanged { .. }
                | UserFact::ProfileValuesSet { .. }
                | UserFact::SettingsRestated { .. }
                | UserFact::BotConfigured { .. },
            )
            | Fact::Group(GroupFact::Created(_))
            | Fact::Subscription(
                SubscriptionFact::Changed { .. }
                | SubscriptionFact::Restated { .. }
                | SubscriptionFact::TopicPolicySet { .. },
            )
            | Fact::Message(
                MessageFact::Sent { .. }
                | MessageFact::Updated(_)
                | MessageFact::Deleted { .. }
                | MessageFact::FlagsChanged { .. }
                | MessageFact::ReactionAdded { .. }
                | MessageFact::ReactionRemoved { .. }
                | MessageFact::SubmessageAdded { .. },
            )
            | Fact::Channel(_)
            | Fact::Personal(_)
            | Fact::Queue(_)
            | Fact::Job(_)
            | Fact::Push(_)
            | Fact::Invitation(_)
            | Fact::Picture(_)
            | Fact::PreImages(_) => return None,
        })
    }
}

/// Of whom somebody's knowledge may have changed.
enum AffectedUser {
    Everybody,
    Only(BTreeSet<UserId>),
}

impl AffectedUser {
    fn add(&mut self, users: impl IntoIterator<Item = UserId>) {
        if let Self::Only(ids) = self {
            ids.extend(users);
        }
    }
}

/// Tells people of those whom they know from now on, or no longer; and those with another role of channels and bots.
pub(super) fn changed(context: &EventContext<'_>, out: &mut Announcements) {
    let promoted: BTreeSet<UserId> =
        context.frame.facts.iter().filter_map(|fact| new_role(context, fact)).collect();
    for user in promoted {
        channel_visibility::users_changed(context, [user], |_| true, out);
        bots::bot_manager_changed(context, user, out);
    }
    let mut diff = UserVisibilityDiff::default();
    for (viewer, affected) in affected(context) {
        let was = context.before().user(viewer).filter(|viewer| viewer.is_active);
        let is = context.after.user(viewer).filter(|viewer| viewer.is_active);
        let (Some(was), Some(is)) = (was, is) else { continue };
        match affected {
            AffectedUser::Everybody => {
                context.after.users().for_each(|user| diff.compare(context, was, is, user));
            }
            AffectedUser::Only(ids) => {
                let users = ids.iter().filter_map(|id| context.after.user(*id));
                users.for_each(|user| diff.compare(context, was, is, user));
            }
        }
    }
    diff.emit(context, out);
}

/// Whose knowledge may have changed, and of whom.
fn affected(context: &EventContext<'_>) -> BTreeMap<UserId, AffectedUser> {
    let mut found: BTreeMap<UserId, AffectedUser> = BTreeMap::new();
    let mut add = |viewer: UserId, users: &BTreeSet<UserId>| {
        let known = found.entry(viewer).or_insert_with(|| AffectedUser::Only(BTreeSet::new()));
        known.add(users.iter().copied());
    };
    let mut all = Vec::new();
    for fact in &context.frame.facts {
        match Cause::of(fact) {
            Some(Cause::Channel(channel, users)) => meet(context, channel, &users, &mut add),
            Some(Cause::Conversation(users)) => {
                let all = users.iter().copied().collect();
                users.iter().for_each(|user| add(*user, &all));
            }
            Some(Cause::Account(user)) => {
                guests(context).for_each(|guest| add(guest.id, &BTreeSet::from([user])));
            }
            Some(Cause::User(_)) => all.extend(new_role(context, fact)),
            Some(Cause::Realm(_) | Cause::Group | Cause::Members(..)) => {
                let changed = guests(context).filter(|guest| restriction_changed(context, guest));
                all.extend(changed.map(|guest| guest.id));
            }
            None => {}
        }
    }
    found.extend(all.into_iter().map(|viewer| (viewer, AffectedUser::Everybody)));
    found
}

/// Whoever has another role by a fact.
fn new_role(context: &EventContext<'_>, fact: &Fact) -> Option<UserId> {
    let Fact::User(UserFact::Changed(user)) = fact else { return None };
    context.has_new_role(user.id).then_some(user.id)
}

fn guests<'m>(context: &'m EventContext<'_>) -> impl Iterator<Item = &'m User> {
    context.after.users().map(|user| &**user).filter(|user| user.is_active && user.is_guest())
}

fn restriction_changed(context: &EventContext<'_>, guest: &User) -> bool {
    let was = context.before().user(guest.id);
    was.is_some_and(|was| is_restricted(context.before(), was) != is_restricted(context.after, guest))
}

/// Those who come or go meet, or lose, the guests in a channel; guests who come or go, everybody in it.
fn meet(
    context: &EventContext<'_>,
    channel: ChannelId,
    users: &BTreeSet<UserId>,
    add: &mut impl FnMut(UserId, &BTreeSet<UserId>),
) {
    let is_restricted_guest = |id: &UserId| {
        let guest = context.after.user(*id).filter(|user| user.is_guest());
        guest.is_some_and(|guest| is_restricted(context.after, guest))
    };
    let mut inside: BTreeSet<UserId> = context.before().subscriber_ids(channel).collect();
    inside.extend(context.after.subscriber_ids(channel));
    for guest in inside.iter().chain(users).filter(|id| is_restricted_guest(id)) {
        add(*guest, if users.contains(guest) { &inside } else { users });
    }
}

/// What is new, by whom it is about.
#[derive(Default)]
struct UserVisibilityDiff {
    gained: BTreeMap<UserId, BTreeSet<UserId>>,
    lost: BTreeMap<UserId, BTreeSet<UserId>>,
    shown: BTreeMap<UserId, BTreeSet<UserId>>,
    hidden: BTreeMap<UserId, BTreeSet<UserId>>,
}

impl UserVisibilityDiff {
    fn compare(&mut self, context: &EventContext<'_>, was: &User, is: &User, about: &User) {
        // Somebody who is new was announced to those who may know.
        let Some(before) = context.before().user(about.id).filter(|_| about.id != is.id) else { return };
        let address = |directory, viewer, user| shown_delivery_email(directory, Some(viewer), user).is_some();
        let list = match (sees_user(context.before(), was, before), sees_user(context.after, is, about)) {
            (false, true) => &mut self.gained,
            (true, false) => &mut self.lost,
            (false, false) => return,
            (true, true) => {
                let is_shown = address(context.after, is, about);
                match (address(context.before(), was, before), is_shown) {
                    (false, true) => &mut self.shown,
                    (true, false) => &mut self.hidden,
                    _ => return,
                }
            }
        };
        list.entry(about.id).or_default().insert(is.id);
    }

    fn emit(self, context: &EventContext<'_>, out: &mut Announcements) {
        for (about, viewers) in self.lost {
            out.to(viewers, EventBody::UserRemoved(about));
        }
        for (about, viewers) in self.gained {
            if let Some(user) = context.after.user(about) {
                out.to(viewers.iter().copied(), EventBody::UserAdded(user.clone()));
                personal::status_shown(context, user, viewers.into_iter().collect(), out);
            }
        }
        let address = |about: UserId| context.after.user(about).map(|user| user.delivery_email.clone());
        let shown = self.shown.into_iter().map(|(about, viewers)| (about, viewers, address(about)));
        let hidden = self.hidden.into_iter().map(|(about, viewers)| (about, viewers, None));
        for (user, viewers, address) in shown.chain(hidden) {
            let change = UserChange::DeliveryEmail(address);
            out.to(viewers.iter().copied(), EventBody::UserChanged { user, change });
            if let Some(about) = context.after.user(user) {
                pictures::address_shown_or_hidden(context.after, about, viewers.into_iter().collect(), out);
            }
        }
    }
}
