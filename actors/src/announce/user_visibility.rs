//! Changes of which users can see each other: restricted guests start and stop seeing users, and a new role shows or
//! hides addresses and bots (docs/api/permissions.md#visibility-of-users, docs/api/events.md#realm_user).

use super::context::{Announcements, EventContext};
use super::{bots, channel_visibility, personal, pictures};
use model::event::UserChange;
use model::fact::DirectoryChange;
use model::{ChannelId, Directory, EventBody, Fact, Realm, User, UserFact, UserId};
use rules::permissions::users::{is_restricted, sees_user, shown_delivery_email};
use rules::settings::RealmPermission;
use std::collections::{BTreeMap, BTreeSet};

/// The fact that reserves event numbers after facts that may change who sees whom; none for most frames, and hardly ever
/// one where all users may see each other.
pub(crate) fn record_user_visibility(directory: &Directory, facts: &[Fact]) -> Option<Fact> {
    let guests_are_restricted =
        || directory.guests().any(|guest| guest.is_active && is_restricted(directory, guest));
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
        Cause::Group => directory.guests().next().is_some(),
        // A guest joins or leaves the group that may see all users.
        Cause::Members(added, removed) => added.iter().chain(removed).any(is_guest),
    });
    // Each user is gained by some (with the status) and lost by others, and shows or hides an address with its avatar; a
    // new role shows or hides each channel and bot. Few facts change roles.
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
        Some(match fact.directory_change()? {
            DirectoryChange::User { user, .. } => Self::User(user),
            DirectoryChange::Account { user, .. } => Self::Account(user),
            DirectoryChange::Realm(realm) => Self::Realm(realm),
            DirectoryChange::Group { is_new: false, .. } => Self::Group,
            DirectoryChange::Members { added, removed, .. } => Self::Members(added, removed),
            DirectoryChange::Subscribed { channel, subscribers } => {
                Self::Channel(channel, subscribers.iter().map(|(user, _)| *user).collect())
            }
            DirectoryChange::Unsubscribed { channel, users, .. } => {
                Self::Channel(channel, users.iter().copied().collect())
            }
            DirectoryChange::Direct(direct) => Self::Conversation(&direct.users),
            DirectoryChange::Group { is_new: true, .. }
            | DirectoryChange::Channel { .. }
            | DirectoryChange::Activity { .. }
            | DirectoryChange::DefaultChannels(_)
            | DirectoryChange::Folder(_)
            | DirectoryChange::Subscription { .. }
            | DirectoryChange::Picture(_) => return None,
        })
    }
}

/// The users whose visibility for a viewer may have changed.
enum AffectedUsers {
    All,
    Only(BTreeSet<UserId>),
}

impl AffectedUsers {
    fn add(&mut self, users: impl IntoIterator<Item = UserId>) {
        if let Self::Only(ids) = self {
            ids.extend(users);
        }
    }
}

/// Announces gained and lost users, and to users with a new role also channels and bots.
pub(super) fn changed(out: &mut Announcements<'_>) {
    let context = out.context;
    let promoted: BTreeSet<UserId> =
        context.frame.facts.iter().filter_map(|fact| new_role(context, fact)).collect();
    for user in promoted {
        channel_visibility::users_changed([user], |_| true, out);
        bots::bot_manager_changed(user, out);
    }
    let mut diff = UserVisibilityDiff::default();
    for (viewer, affected) in affected(context) {
        let was = context.before().user(viewer).filter(|viewer| viewer.is_active);
        let is = context.after.user(viewer).filter(|viewer| viewer.is_active);
        let (Some(was), Some(is)) = (was, is) else { continue };
        match affected {
            AffectedUsers::All => {
                context.after.users().for_each(|user| diff.compare(context, was, is, user));
            }
            AffectedUsers::Only(ids) => {
                let users = ids.iter().filter_map(|id| context.after.user(*id));
                users.for_each(|user| diff.compare(context, was, is, user));
            }
        }
    }
    diff.emit(out);
}

/// Viewers for whom the visibility of users may have changed.
fn affected(context: &EventContext<'_>) -> BTreeMap<UserId, AffectedUsers> {
    let mut found: BTreeMap<UserId, AffectedUsers> = BTreeMap::new();
    let mut add = |viewer: UserId, users: &BTreeSet<UserId>| {
        let known = found.entry(viewer).or_insert_with(|| AffectedUsers::Only(BTreeSet::new()));
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
    found.extend(all.into_iter().map(|viewer| (viewer, AffectedUsers::All)));
    found
}

/// The user whose role a fact changed.
fn new_role(context: &EventContext<'_>, fact: &Fact) -> Option<UserId> {
    let Fact::User(UserFact::Changed(user)) = fact else { return None };
    context.has_new_role(user.id).then_some(user.id)
}

fn guests<'m>(context: &'m EventContext<'_>) -> impl Iterator<Item = &'m User> {
    context.after.guests().map(|guest| &**guest).filter(|guest| guest.is_active)
}

fn restriction_changed(context: &EventContext<'_>, guest: &User) -> bool {
    let was = context.before().user(guest.id);
    was.is_some_and(|was| is_restricted(context.before(), was) != is_restricted(context.after, guest))
}

/// Restricted guests of a channel gain or lose users who are subscribed or unsubscribed; a guest who is subscribed or
/// unsubscribed gains or loses all subscribers.
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

/// The viewers of each change, by the user that it is about.
#[derive(Default)]
struct UserVisibilityDiff {
    gained: BTreeMap<UserId, BTreeSet<UserId>>,
    lost: BTreeMap<UserId, BTreeSet<UserId>>,
    shown: BTreeMap<UserId, BTreeSet<UserId>>,
    hidden: BTreeMap<UserId, BTreeSet<UserId>>,
}

impl UserVisibilityDiff {
    fn compare(&mut self, context: &EventContext<'_>, was: &User, is: &User, about: &User) {
        // A new user was announced by the fact of creation.
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

    fn emit(self, out: &mut Announcements<'_>) {
        let context = out.context;
        for (about, viewers) in self.lost {
            out.to(viewers, EventBody::UserRemoved(about));
        }
        for (about, viewers) in self.gained {
            if let Some(user) = context.after.user(about) {
                out.to(viewers.iter().copied(), EventBody::UserAdded(user.clone()));
                personal::status_shown(user, viewers.into_iter().collect(), out);
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
