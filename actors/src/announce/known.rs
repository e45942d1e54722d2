//! Who may know of whom, where that changes: restricted guests meet people and lose sight of them, and a new role shows
//! others' addresses and bots or hides them (events.md 1 "user viewers", 3 `realm_user`, `realm_bot`).

use super::{Announcements, Moment, bots, personal, pictures, roles};
use model::event::UserChange;
use model::{ChannelId, Directory, EventBody, Fact, User, UserId};
use rules::permissions::users::{is_restricted, sees_user, shown_delivery_email};
use rules::settings::RealmPermission;
use std::collections::{BTreeMap, BTreeSet};

/// Sets numbers aside behind facts that may change who knows of whom; nothing for most frames, and hardly ever
/// anything where everybody may know of everybody.
pub(crate) fn note_known_people(directory: &Directory, facts: &[Fact]) -> Option<Fact> {
    let guests_are_restricted =
        || directory.users().any(|user| user.is_active && user.is_guest() && is_restricted(directory, user));
    let matters = facts.iter().any(|fact| match fact {
        Fact::UserChanged(user) => directory.user(user.id).is_some_and(|was| was.role != user.role),
        Fact::RealmChanged(realm) => {
            let name = RealmPermission::AccessAllUsers.rule().name;
            directory.realm().settings.get(name) != realm.settings.get(name)
        }
        Fact::Subscribed { .. }
        | Fact::Unsubscribed { .. }
        | Fact::DirectConversationCreated(_)
        | Fact::UserActiveSet { .. } => guests_are_restricted(),
        // A guest in the group that may know of everybody comes or goes.
        Fact::GroupMembersChanged { added, removed, .. } => {
            added.iter().chain(removed).any(|id| directory.user(*id).is_some_and(|user| user.is_guest()))
        }
        Fact::GroupChanged(_) => directory.users().any(|user| user.is_guest()),
        _ => false,
    });
    // Each user is gained by some (with the status) and lost by others, and shows an address with its picture or not;
    // with another role one learns who is in each channel, and of each bot. Facts that say this are one or a few.
    let events = || {
        let roles = facts.iter().filter(|fact| matches!(fact, Fact::UserChanged(_))).count();
        let users = directory.users().count();
        let events = users * 7 + (directory.channels().count() + users) * roles + 64;
        Fact::KnownPeopleChanged { events: u32::try_from(events).unwrap_or(u32::MAX) }
    };
    matters.then(events)
}

/// Of whom somebody's knowledge may have changed.
enum Concerned {
    Everybody,
    Only(BTreeSet<UserId>),
}

impl Concerned {
    fn add(&mut self, users: impl IntoIterator<Item = UserId>) {
        if let Self::Only(ids) = self {
            ids.extend(users);
        }
    }
}

/// Tells people of those whom they know from now on, or no longer; and those with another role of channels and bots.
pub(super) fn changed(moment: &Moment<'_>, out: &mut Announcements) {
    let promoted: BTreeSet<UserId> =
        moment.frame.facts.iter().filter_map(|fact| new_role(moment, fact)).collect();
    for user in promoted {
        roles::changed(moment, user, out);
        bots::keeper_changed(moment, user, out);
    }
    let mut news = News::default();
    for (viewer, concerned) in concerned(moment) {
        let was = moment.before().user(viewer).filter(|viewer| viewer.is_active);
        let is = moment.after.user(viewer).filter(|viewer| viewer.is_active);
        let (Some(was), Some(is)) = (was, is) else { continue };
        match concerned {
            Concerned::Everybody => {
                moment.after.users().for_each(|user| news.compare(moment, was, is, user));
            }
            Concerned::Only(ids) => {
                let users = ids.iter().filter_map(|id| moment.after.user(*id));
                users.for_each(|user| news.compare(moment, was, is, user));
            }
        }
    }
    news.tell(moment, out);
}

/// Whose knowledge may have changed, and of whom.
fn concerned(moment: &Moment<'_>) -> BTreeMap<UserId, Concerned> {
    let mut found: BTreeMap<UserId, Concerned> = BTreeMap::new();
    let mut add = |viewer: UserId, users: &BTreeSet<UserId>| {
        let known = found.entry(viewer).or_insert_with(|| Concerned::Only(BTreeSet::new()));
        known.add(users.iter().copied());
    };
    let mut all = Vec::new();
    for fact in &moment.frame.facts {
        match fact {
            Fact::Subscribed { channel, subscribers, .. } => {
                let users = subscribers.iter().map(|(user, _)| *user).collect();
                meet(moment, *channel, &users, &mut add);
            }
            Fact::Unsubscribed { channel, users, .. } => {
                meet(moment, *channel, &users.iter().copied().collect(), &mut add);
            }
            Fact::DirectConversationCreated(direct) => {
                let users = direct.users.iter().copied().collect();
                direct.users.iter().for_each(|user| add(*user, &users));
            }
            Fact::UserActiveSet { user, .. } => {
                guests(moment).for_each(|guest| add(guest.id, &BTreeSet::from([*user])));
            }
            Fact::UserChanged(_) => all.extend(new_role(moment, fact)),
            Fact::RealmChanged(_) | Fact::GroupChanged(_) | Fact::GroupMembersChanged { .. } => {
                all.extend(
                    guests(moment).filter(|guest| restriction_changed(moment, guest)).map(|one| one.id),
                );
            }
            _ => {}
        }
    }
    found.extend(all.into_iter().map(|viewer| (viewer, Concerned::Everybody)));
    found
}

/// Whoever has another role by a fact.
fn new_role(moment: &Moment<'_>, fact: &Fact) -> Option<UserId> {
    let Fact::UserChanged(user) = fact else { return None };
    moment.has_new_role(user.id).then_some(user.id)
}

fn guests<'m>(moment: &'m Moment<'_>) -> impl Iterator<Item = &'m User> {
    moment.after.users().map(|user| &**user).filter(|user| user.is_active && user.is_guest())
}

fn restriction_changed(moment: &Moment<'_>, guest: &User) -> bool {
    let was = moment.before().user(guest.id);
    was.is_some_and(|was| is_restricted(moment.before(), was) != is_restricted(moment.after, guest))
}

/// Those who come or go meet, or lose, the guests in a channel; guests who come or go, everybody in it.
fn meet(
    moment: &Moment<'_>,
    channel: ChannelId,
    users: &BTreeSet<UserId>,
    add: &mut impl FnMut(UserId, &BTreeSet<UserId>),
) {
    let is_restricted_guest = |id: &UserId| {
        let guest = moment.after.user(*id).filter(|user| user.is_guest());
        guest.is_some_and(|guest| is_restricted(moment.after, guest))
    };
    let mut inside: BTreeSet<UserId> = moment.before().subscriber_ids(channel).collect();
    inside.extend(moment.after.subscriber_ids(channel));
    for guest in inside.iter().chain(users).filter(|id| is_restricted_guest(id)) {
        add(*guest, if users.contains(guest) { &inside } else { users });
    }
}

/// What is new, by whom it is about.
#[derive(Default)]
struct News {
    gained: BTreeMap<UserId, BTreeSet<UserId>>,
    lost: BTreeMap<UserId, BTreeSet<UserId>>,
    shown: BTreeMap<UserId, BTreeSet<UserId>>,
    hidden: BTreeMap<UserId, BTreeSet<UserId>>,
}

impl News {
    fn compare(&mut self, moment: &Moment<'_>, was: &User, is: &User, about: &User) {
        // Somebody who is new was announced to those who may know.
        let Some(before) = moment.before().user(about.id).filter(|_| about.id != is.id) else { return };
        let address = |directory, viewer, user| shown_delivery_email(directory, Some(viewer), user).is_some();
        let list = match (sees_user(moment.before(), was, before), sees_user(moment.after, is, about)) {
            (false, true) => &mut self.gained,
            (true, false) => &mut self.lost,
            (false, false) => return,
            (true, true) => {
                let is_shown = address(moment.after, is, about);
                match (address(moment.before(), was, before), is_shown) {
                    (false, true) => &mut self.shown,
                    (true, false) => &mut self.hidden,
                    _ => return,
                }
            }
        };
        list.entry(about.id).or_default().insert(is.id);
    }

    fn tell(self, moment: &Moment<'_>, out: &mut Announcements) {
        for (about, viewers) in self.lost {
            out.to(viewers, EventBody::UserRemoved(about));
        }
        for (about, viewers) in self.gained {
            if let Some(user) = moment.after.user(about) {
                out.to(viewers.iter().copied(), EventBody::UserAdded(user.clone()));
                personal::status_shown(moment, user, viewers.into_iter().collect(), out);
            }
        }
        let address = |about: UserId| moment.after.user(about).map(|user| user.delivery_email.clone());
        let shown = self.shown.into_iter().map(|(about, viewers)| (about, viewers, address(about)));
        let hidden = self.hidden.into_iter().map(|(about, viewers)| (about, viewers, None));
        for (user, viewers, address) in shown.chain(hidden) {
            let change = UserChange::DeliveryEmail(address);
            out.to(viewers.iter().copied(), EventBody::UserChanged { user, change });
            if let Some(about) = moment.after.user(user) {
                pictures::address_shown_or_hidden(moment.after, about, viewers.into_iter().collect(), out);
            }
        }
    }
}
