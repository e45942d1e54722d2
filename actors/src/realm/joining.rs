//! New accounts: created by an administrator, a directory or on the command line, or from an invitation. The messages that
//! welcome the user and announce the account are decided with it.

use super::commands::NewUser;
use super::frame_draft::FrameDraft;
use super::invitations::{fact, revoked};
use super::serialized::{DecisionContext, SerializedCommand};
use crate::bot_notices::{notification_bot, welcome_bot};
use crate::draft::Draft;
use crate::error::DomainError;
use crate::shard::Sequencer;
use model::{
    ChannelId, Directory, Fact, GroupFact, GroupId, Invitation, InvitationFact, InvitationId, Role,
    Subscription, SubscriptionFact, Timestamp, User, UserFact, UserId,
};
use rules::RuleError;
use rules::bot_notices::{SIGNUPS_TOPIC, invitation_accepted_text, signed_up_text, welcome_text};
use rules::colors::ColorUses;
use rules::error::InvitationError;
use rules::invitations::{check_new_address, open_invitation, superseded_invitations};
use rules::names::{check_full_name_free, parse_full_name};
use rules::permissions::roles::system_groups_of;
use rules::settings::{realm_int, realm_text};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Creates an account.
pub struct CreateUser {
    pub user: NewUser,
    /// Whether messages welcome the user and announce the account.
    pub sends_messages: bool,
}

impl SerializedCommand for CreateUser {
    type Outcome = Arc<User>;

    fn decide(self, context: &mut DecisionContext<'_>) -> Result<(Arc<User>, Vec<Fact>), DomainError> {
        let (new, now) = (self.user, context.now);
        let mut frame = FrameDraft::new(context);
        if frame.directory.user_by_email(&new.email).is_some() {
            return Err(DomainError::EmailInUse(new.email));
        }
        let gets_defaults = new.bot.is_none() && new.role != Role::Guest;
        let channels = first_channels(&frame.directory, &new.channels, gets_defaults);
        let (user, facts) = account(&frame.directory, &new, &channels, &mut frame.context.ids, now)?;
        frame.extend(facts);
        if new.bot.is_none() {
            let superseded = superseded_invitations(&frame.context.directory, &new.email, None);
            frame.extend(revoked(superseded));
        }
        if self.sends_messages {
            welcome(&mut frame, &user, None);
        }
        Ok((Arc::new(user), frame.facts))
    }
}

/// A user who accepts an invitation.
#[derive(Clone)]
pub struct Joining {
    pub invitation: InvitationId,
    /// The user's address; that of the invitation, if it has one, takes precedence.
    pub address: String,
    pub full_name: String,
    /// The argon2id hash of the chosen password.
    pub password_hash: String,
    /// Ids of the chosen groups of default channels; unknown ones are ignored.
    pub default_groups: Vec<u32>,
}

/// Creates an account from an invitation. Of two users with the same invitation or address, the second is refused.
pub struct AcceptInvitation {
    pub joining: Joining,
}

impl SerializedCommand for AcceptInvitation {
    type Outcome = Arc<User>;

    /// All other invitations for the address are revoked.
    fn decide(self, context: &mut DecisionContext<'_>) -> Result<(Arc<User>, Vec<Fact>), DomainError> {
        let now = context.now;
        let mut frame = FrameDraft::new(context);
        let groups = self.joining.default_groups.clone();
        let (invitation, new) = check_joining(&frame.directory, self.joining, now)?;
        let chosen = chosen_groups(&frame.directory, &invitation, &groups);
        let (named, with_defaults) =
            (invitation.channels.iter().chain(&chosen), invitation.includes_default_channels);
        let channels = first_channels(&frame.directory, named, with_defaults);
        let (user, facts) = account(&frame.directory, &new, &channels, &mut frame.context.ids, now)?;
        frame.extend(facts);
        for id in &invitation.groups {
            if frame.directory.group(*id).is_some_and(|group| !group.is_deactivated) {
                frame.push(joined(*id, user.id));
            }
        }
        frame.push(fact(InvitationFact::Accepted { invitation: invitation.id, user: user.id }));
        let superseded = superseded_invitations(&frame.context.directory, &new.email, Some(invitation.id));
        frame.extend(revoked(superseded));
        welcome(&mut frame, &user, Some(&invitation));
        Ok((Arc::new(user), frame.facts))
    }
}

/// Welcomes a new user, and notifies the inviter and the organization.
pub(super) fn welcome(frame: &mut FrameDraft<'_, '_>, user: &User, invitation: Option<&Invitation>) {
    frame.record_user_visibility();
    let organization = frame.directory.realm().clone();
    if let Some(bot) = welcome_bot(&frame.directory).cloned() {
        let draft = frame.notice(&bot, welcome_text(&organization.name));
        send(frame, &bot, user.id, draft);
        let own_text = invitation.and_then(|invitation| invitation.welcome_text.as_deref());
        let text = own_text.unwrap_or_else(|| realm_text(&organization, "welcome_message_custom_text"));
        if !text.trim().is_empty() {
            let draft = frame.own_text(&bot, text.to_owned());
            send(frame, &bot, user.id, draft);
        }
    }
    let Some(bot) = notification_bot(&frame.directory).cloned() else { return };
    let inviter = invitation.filter(|invitation| invitation.notifies_inviter).map(|found| found.inviter);
    if let Some(inviter) = inviter.filter(|inviter| frame.directory.is_active_user(*inviter)) {
        let draft = frame.notice(&bot, invitation_accepted_text(user));
        send(frame, &bot, inviter, draft);
    }
    let Some(channel) = frame.channel_of_setting("signup_announcements_stream_id") else { return };
    if let Some(draft) = frame.notice(&bot, signed_up_text(user)) {
        frame.send_to_channel(draft, channel, SIGNUPS_TOPIC);
    }
}

fn send(frame: &mut FrameDraft<'_, '_>, bot: &Arc<User>, to: UserId, draft: Option<Draft>) {
    match draft {
        Some(draft) => frame.send_direct(Draft { sender: bot.clone(), ..draft }, to),
        None => tracing::warn!("a direct message of a system bot could not be rendered"),
    }
}

/// Checks whether an invitation can be accepted, and returns it with the new account.
fn check_joining(
    directory: &Directory,
    joining: Joining,
    now: Timestamp,
) -> Result<(Invitation, NewUser), DomainError> {
    let rule = |error: InvitationError| DomainError::from(RuleError::from(error));
    if !directory.realm().is_active {
        return Err(DomainError::RealmDeactivated);
    }
    let invitation = directory.invitation(joining.invitation).ok_or(rule(InvitationError::Missing))?;
    let invitation =
        open_invitation(directory, invitation, now).map_err(|end| rule(InvitationError::Over(end)))?;
    let email = invitation.address.clone().unwrap_or(joining.address);
    check_new_address(directory, &email).map_err(|problem| rule(problem.into()))?;
    let full_name = parse_full_name(&joining.full_name)?;
    check_full_name_free(directory, full_name, None)?;
    let password_hash = Some(joining.password_hash);
    let new = NewUser { password_hash, ..NewUser::new(email, full_name, invitation.role) };
    Ok((invitation, new))
}

/// The facts of a new account: the record, the groups of its role, the first subscriptions.
pub(super) fn account(
    directory: &Directory,
    new: &NewUser,
    channels: &[ChannelId],
    ids: &mut Sequencer,
    now: Timestamp,
) -> Result<(User, Vec<Fact>), DomainError> {
    let last = ids.last_message();
    let mut user = new_user(ids.take_user()?, new, now);
    if !user.is_bot() {
        user.settings = rules::settings::starting_settings(directory.realm());
    }
    let mut facts = vec![Fact::User(UserFact::Created(Box::new(user.clone())))];
    facts.extend(join_groups(directory, &user, now));
    let mut colors = ColorUses::default();
    for channel in channels {
        let subscribers = vec![(user.id, Subscription::start(colors.take().to_owned(), last))];
        let (channel, by) = (*channel, user.id);
        facts.push(Fact::Subscription(SubscriptionFact::Added { channel, subscribers, by }));
    }
    Ok((user, facts))
}

/// The record of a new user.
pub(crate) fn new_user(id: UserId, new: &NewUser, now: Timestamp) -> User {
    User {
        bot: new.bot.clone(),
        timezone: new.timezone.clone(),
        password_hash: new.password_hash.clone(),
        ..User::new(id, &new.email, &new.full_name, new.role, now)
    }
}

/// The system groups of a user's role, by name.
fn role_groups(directory: &Directory, user: &User, now: Timestamp) -> Vec<&'static str> {
    let waiting_days = realm_int(directory.realm(), "waiting_period_threshold").unwrap_or(0);
    system_groups_of(user, waiting_days.unsigned_abs(), now)
}

/// The fact that makes a user a direct member of a group.
fn joined(group: GroupId, user: UserId) -> Fact {
    Fact::Group(GroupFact::MembersChanged { group, added: vec![user], removed: Vec::new() })
}

/// The facts that make a new user a direct member of the system groups of the role.
pub(crate) fn join_groups(directory: &Directory, user: &User, now: Timestamp) -> Vec<Fact> {
    let names = role_groups(directory, user, now).into_iter();
    let groups = names.filter_map(|name| directory.group_by_name(name));
    groups.map(|group| joined(group.id, user.id)).collect()
}

/// The facts that make a user a direct member of the system groups of the role, and of no others.
pub(crate) fn system_group_facts(directory: &Directory, user: &User, now: Timestamp) -> Vec<Fact> {
    let names = role_groups(directory, user, now);
    let mut facts = Vec::new();
    for group in directory.groups().filter(|group| group.is_system) {
        let (is_in, belongs) = (group.members.contains(&user.id), names.contains(&group.name.as_str()));
        let (added, removed) = match (is_in, belongs) {
            (false, true) => (vec![user.id], Vec::new()),
            (true, false) => (Vec::new(), vec![user.id]),
            _ => continue,
        };
        facts.push(Fact::Group(GroupFact::MembersChanged { group: group.id, added, removed }));
    }
    facts
}

/// The channels of the groups of default channels that a new user chose. Guests get none.
fn chosen_groups(directory: &Directory, invitation: &Invitation, groups: &[u32]) -> Vec<ChannelId> {
    let is_chosen = |id: &u32| invitation.role != Role::Guest && groups.contains(id);
    let chosen = directory.default_groups().items.iter().filter(|group| is_chosen(&group.id));
    chosen.flat_map(|group| group.channels.iter().copied()).collect()
}

/// The named channels and, if `with_defaults`, the default ones: each once, without archived ones.
pub(super) fn first_channels<'c>(
    directory: &'c Directory,
    named: impl IntoIterator<Item = &'c ChannelId>,
    with_defaults: bool,
) -> Vec<ChannelId> {
    let defaults = directory.realm().default_channels.iter().filter(|_| with_defaults);
    let channels: BTreeSet<ChannelId> = named.into_iter().chain(defaults).copied().collect();
    let is_usable = |id: &ChannelId| directory.channel(*id).is_some_and(|channel| !channel.is_archived);
    channels.into_iter().filter(is_usable).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, IAGO, VERONA};
    use crate::realm::testing::decide;
    use model::invitation::InvitationState;
    use model::{EventNumber, Frame, Message, MessageFact, Realm, RealmFact, SettingValue};

    fn messages(facts: &[Fact]) -> Vec<&Message> {
        let sent = facts.iter().filter_map(|fact| match fact {
            Fact::Message(MessageFact::Sent { message, .. }) => Some(&**message),
            _ => None,
        });
        sent.collect()
    }

    fn new_user() -> NewUser {
        NewUser::new("cordelia@test.example", "Cordelia", Role::Member)
    }

    #[test]
    fn welcome_messages_are_in_the_frame_of_the_account() {
        let (realm, ..) = fixture::shared();
        let mut settings = Realm::clone(realm.directory().realm());
        settings.settings.insert("signup_announcements_stream_id".into(), SettingValue::Int(VERONA.0.into()));
        settings
            .settings
            .insert("welcome_message_custom_text".into(), SettingValue::Text("Read the rules.".into()));
        let before = realm.view.read().progress;
        let facts = vec![Fact::Realm(RealmFact::Changed(Box::new(settings)))];
        let frame = Frame { at: realm.clock.now(), first_event: before.last_event.next(), facts };
        realm.view.write().apply(before.sequence.next(), &frame).unwrap();
        let command = CreateUser { user: new_user(), sends_messages: true };
        let (user, facts) = decide(&realm, command).unwrap();
        let sent = messages(&facts);
        assert_eq!(sent.len(), 3, "{sent:?}");
        assert!(sent[0].content.starts_with("Hello, and welcome to **Test**"));
        assert_eq!((sent[1].content.as_str(), sent[1].recipient), ("Read the rules.", sent[0].recipient));
        assert_eq!(sent[2].place.channel(), Some(VERONA));
        assert!(sent[2].rendered.contains("Cordelia"), "{}", sent[2].rendered);
        assert!(sent.is_sorted_by_key(|message| message.id));
        let at = facts.iter().position(|fact| matches!(fact, Fact::User(UserFact::Created(_))));
        assert_eq!(at, Some(0));
        // The frame can be applied as it is.
        let before = realm.view.read().progress;
        let frame = Frame {
            at: realm.clock.now(),
            first_event: EventNumber(before.last_event.0 + 1),
            facts: facts.clone(),
        };
        realm.view.write().apply(before.sequence.next(), &frame).unwrap();
        assert_eq!(realm.directory().user(user.id).unwrap().full_name, "Cordelia");
    }

    #[test]
    fn inviter_is_notified_in_the_frame_of_the_account() {
        let (realm, ..) = fixture::shared();
        let id = realm.directory().next_invitation();
        let invitation = Invitation {
            id,
            address: None,
            inviter: IAGO,
            role: Role::Member,
            channels: Vec::new(),
            groups: Vec::new(),
            includes_default_channels: false,
            notifies_inviter: true,
            welcome_text: Some(String::new()),
            sent: realm.clock.now(),
            expires: None,
            state: InvitationState::Pending,
            has_expired: false,
        };
        let before = realm.view.read().progress;
        let created = fact(InvitationFact::Created { first: invitation, others: Vec::new() });
        let frame =
            Frame { at: realm.clock.now(), first_event: before.last_event.next(), facts: vec![created] };
        realm.view.write().apply(before.sequence.next(), &frame).unwrap();
        let joining = Joining {
            invitation: id,
            address: "cordelia@test.example".into(),
            full_name: "Cordelia".into(),
            password_hash: "hash".into(),
            default_groups: Vec::new(),
        };
        let (user, facts) = decide(&realm, AcceptInvitation { joining }).unwrap();
        let sent = messages(&facts);
        // The welcome text of the invitation is empty.
        assert_eq!(sent.len(), 2);
        assert_eq!(sent[1].content, invitation_accepted_text(&user));
    }

    #[test]
    fn command_line_account_gets_no_welcome() {
        let (realm, ..) = fixture::shared();
        let command = CreateUser { user: new_user(), sends_messages: false };
        assert!(messages(&decide(&realm, command).unwrap().1).is_empty());
    }
}
