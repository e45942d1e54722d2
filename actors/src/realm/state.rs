//! What an organization's actor must know to decide, ahead of the disk, and the decisions. No actor,
//! no clock, no storage.

use super::invitations::{Joining, fact, revoked};
use super::messages::NewUser;
use crate::error::DomainError;
use crate::shard::Sequencer;
use model::{
    ChannelId, Directory, Fact, Invitation, InvitationFact, QueueId, Role, Subscription, Timestamp, User,
    UserId,
};
use rules::RuleError;
use rules::error::InvitationError;
use rules::invitations::{check_new_address, check_open, superseded_invitations};
use rules::names::{check_full_name_free, parse_full_name};
use rules::permissions::roles::system_groups_of;
use std::collections::HashSet;
use std::sync::Arc;

/// What was decided about names and queues and is not durable yet.
#[derive(Clone, Debug, Default)]
pub struct RealmState {
    channel_names: HashSet<String>,
    emails: HashSet<String>,
    ended_queues: HashSet<QueueId>,
}

impl RealmState {
    /// Decides a new user: the record, the groups of the role, and the first subscriptions.
    ///
    /// # Errors
    /// `EmailInUse`.
    pub fn create_user(
        &self,
        directory: &Directory,
        new: NewUser,
        ids: &mut Sequencer,
        now: Timestamp,
    ) -> Result<(Arc<User>, Vec<Fact>), DomainError> {
        let is_taken = directory.user_by_email(&new.email).is_some();
        if is_taken || self.emails.contains(&new.email.to_lowercase()) {
            return Err(DomainError::EmailInUse(new.email));
        }
        let channels = first_channels(directory, &new);
        let (user, mut facts) = account(directory, &new, &channels, ids, now);
        if new.bot.is_none() {
            facts.extend(revoked(superseded_invitations(directory, &new.email, None)));
        }
        Ok((Arc::new(user), facts))
    }

    /// Decides what comes of an invitation: the account as the invitation says, and the end of all others for its
    /// address.
    ///
    /// # Errors
    /// `RealmDeactivated`, `InvitationError::Over` and `Address`, those of names; `EmailInUse` where the account is being
    /// made in another way.
    pub fn accept_invitation(
        &self,
        directory: &Directory,
        joining: Joining,
        ids: &mut Sequencer,
        now: Timestamp,
    ) -> Result<(Arc<User>, Vec<Fact>), DomainError> {
        let (invitation, new) = check_joining(directory, joining, now)?;
        if self.emails.contains(&new.email.to_lowercase()) {
            return Err(DomainError::EmailInUse(new.email));
        }
        let (user, mut facts) = account(directory, &new, &invited_channels(directory, invitation), ids, now);
        let groups = invitation.groups.iter().filter_map(|id| directory.group(*id));
        for group in groups.filter(|group| !group.is_deactivated) {
            facts.push(Fact::GroupMembersChanged { group: group.id, added: vec![user.id], removed: vec![] });
        }
        facts.push(fact(InvitationFact::Accepted { invitation: invitation.id, user: user.id }));
        facts.extend(revoked(superseded_invitations(directory, &new.email, Some(invitation.id))));
        Ok((Arc::new(user), facts))
    }

    /// Whether a channel name is taken, or about to be.
    pub fn is_channel_name_taken(&self, directory: &Directory, name: &str) -> bool {
        directory.channel_by_name(name).is_some() || self.channel_names.contains(&name.to_lowercase())
    }

    /// Whether a queue has ended, and the end is not durable yet.
    pub fn has_ended(&self, queue: &QueueId) -> bool {
        self.ended_queues.contains(queue)
    }

    /// Remembers names that are on their way to the disk, and forgets them when they have arrived.
    pub fn apply(&mut self, facts: &[Fact], is_durable: bool) {
        for fact in facts {
            if let Fact::QueueEnded(queue) = fact {
                if is_durable {
                    self.ended_queues.remove(queue);
                } else {
                    self.ended_queues.insert(queue.clone());
                }
            }
            let (set, name) = match fact {
                Fact::ChannelCreated(channel) | Fact::ChannelChanged(channel) => {
                    (&mut self.channel_names, &channel.name)
                }
                Fact::UserCreated(user) | Fact::UserChanged(user) => (&mut self.emails, &user.delivery_email),
                _ => continue,
            };
            if is_durable {
                set.remove(&name.to_lowercase());
            } else {
                set.insert(name.to_lowercase());
            }
        }
    }
}

/// Whether somebody can join, and as whom.
fn check_joining(
    directory: &Directory,
    joining: Joining,
    now: Timestamp,
) -> Result<(&Arc<Invitation>, NewUser), DomainError> {
    let rule = |error: InvitationError| DomainError::from(RuleError::from(error));
    if !directory.realm().is_active {
        return Err(DomainError::RealmDeactivated);
    }
    let invitation = directory.invitation(joining.invitation).ok_or(rule(InvitationError::Missing))?;
    check_open(invitation, now).map_err(|end| rule(InvitationError::Over(end)))?;
    let email = invitation.address.clone().unwrap_or(joining.address);
    check_new_address(directory, &email).map_err(|problem| rule(problem.into()))?;
    let full_name = parse_full_name(&joining.full_name)?;
    check_full_name_free(directory, full_name, None)?;
    let new = NewUser {
        email,
        full_name: full_name.to_owned(),
        role: invitation.role,
        bot: None,
        password_hash: Some(joining.password_hash),
        timezone: String::new(),
        channels: Vec::new(),
    };
    Ok((invitation, new))
}

/// The facts of a new account: the record, the groups of its role, the first subscriptions.
fn account(
    directory: &Directory,
    new: &NewUser,
    channels: &[ChannelId],
    ids: &mut Sequencer,
    now: Timestamp,
) -> (User, Vec<Fact>) {
    let last = ids.last_message();
    let mut user = new_user(ids.take_user(), new, now);
    if !user.is_bot() {
        user.settings = rules::settings::starting_settings(directory.realm());
    }
    let mut facts = vec![Fact::UserCreated(Box::new(user.clone()))];
    facts.extend(join_groups(directory, &user, now));
    let mut used: Vec<&str> = Vec::new();
    for channel in channels {
        let color = rules::colors::pick_color(used.iter().copied());
        used.push(color);
        let subscribers = vec![(user.id, Subscription::start(color.to_owned(), last))];
        facts.push(Fact::Subscribed { channel: *channel, subscribers, by: user.id });
    }
    (user, facts)
}

/// A user's record.
pub(crate) fn new_user(id: UserId, new: &NewUser, now: Timestamp) -> User {
    User {
        bot: new.bot.clone(),
        timezone: new.timezone.clone(),
        password_hash: new.password_hash.clone(),
        ..User::new(id, &new.email, &new.full_name, new.role, now)
    }
}

/// The facts that make a new user a direct member of the system groups of the role.
pub(crate) fn join_groups(directory: &Directory, user: &User, now: Timestamp) -> Vec<Fact> {
    let waiting_days = rules::settings::realm_int(directory.realm(), "waiting_period_threshold").unwrap_or(0);
    let names = system_groups_of(user, waiting_days.unsigned_abs(), now);
    let groups = names.iter().filter_map(|name| directory.group_by_name(name));
    groups
        .map(|group| Fact::GroupMembersChanged { group: group.id, added: vec![user.id], removed: Vec::new() })
        .collect()
}

/// The facts that make a user a direct member of the system groups of the role, and of no others.
pub(crate) fn system_group_facts(directory: &Directory, user: &User, now: Timestamp) -> Vec<Fact> {
    let waiting_days = rules::settings::realm_int(directory.realm(), "waiting_period_threshold").unwrap_or(0);
    let names = system_groups_of(user, waiting_days.unsigned_abs(), now);
    let mut facts = Vec::new();
    for group in directory.groups().filter(|group| group.is_system) {
        let (is_in, belongs) = (group.members.contains(&user.id), names.contains(&group.name.as_str()));
        let (added, removed) = match (is_in, belongs) {
            (false, true) => (vec![user.id], Vec::new()),
            (true, false) => (Vec::new(), vec![user.id]),
            _ => continue,
        };
        facts.push(Fact::GroupMembersChanged { group: group.id, added, removed });
    }
    facts
}

/// Default channels for people who are not guests, and the ones asked for.
fn first_channels(directory: &Directory, new: &NewUser) -> Vec<ChannelId> {
    let mut channels = new.channels.clone();
    if new.bot.is_none() && new.role != Role::Guest {
        channels.extend(&directory.realm().default_channels);
    }
    usable(directory, channels)
}

/// What an invitation names, and the default channels if it says so; guests get these only then, too.
fn invited_channels(directory: &Directory, invitation: &Invitation) -> Vec<ChannelId> {
    let mut channels = invitation.channels.clone();
    if invitation.includes_default_channels {
        channels.extend(&directory.realm().default_channels);
    }
    usable(directory, channels)
}

/// Each once, without archived ones.
fn usable(directory: &Directory, mut channels: Vec<ChannelId>) -> Vec<ChannelId> {
    channels.sort();
    channels.dedup();
    channels.retain(|id| directory.channel(*id).is_some_and(|channel| !channel.is_archived));
    channels
}
