//! New accounts: created by an administrator, a directory or on the command line, or made from an invitation. The messages
//! that greet the user and announce the account are decided with it.

use super::commands::NewUser;
use super::frame_draft::FrameDraft;
use super::invitations::{fact, revoked};
use super::serialized::{DecisionContext, SerializedCommand};
use crate::bot_notices::{notification_bot, welcome_bot};
use crate::error::DomainError;
use crate::shard::Sequencer;
use model::{
    ChannelId, Directory, Fact, GroupFact, Invitation, InvitationFact, InvitationId, Role, Subscription,
    SubscriptionFact, Timestamp, User, UserFact, UserId,
};
use rules::RuleError;
use rules::bot_notices::{SIGNUPS_TOPIC, invitation_accepted_text, signed_up_text, welcome_text};
use rules::error::InvitationError;
use rules::invitations::{check_new_address, open_invitation, superseded_invitations};
use rules::names::{check_full_name_free, parse_full_name};
use rules::permissions::roles::system_groups_of;
use rules::settings::{realm_int, realm_text};
use std::sync::Arc;

/// Create an account.
pub struct CreateUser {
    /// The account.
    pub user: NewUser,
    /// Whether messages greet the user and announce the account.
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
        let channels = first_channels(&frame.directory, &new);
        let (user, facts) = account(&frame.directory, &new, &channels, &mut frame.context.ids, now);
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
    /// The invitation.
    pub invitation: InvitationId,
    /// The user's address; that of the invitation, if it has one, takes precedence.
    pub address: String,
    /// Display name, as typed.
    pub full_name: String,
    /// argon2id hash of the chosen password.
    pub password_hash: String,
}

/// Make an account from an invitation. Of two users with one invitation or one address, the second is refused.
pub struct AcceptInvitation {
    /// The new user.
    pub joining: Joining,
}

impl SerializedCommand for AcceptInvitation {
    type Outcome = Arc<User>;

    /// The account has what the invitation grants; all others for its address are revoked.
    fn decide(self, context: &mut DecisionContext<'_>) -> Result<(Arc<User>, Vec<Fact>), DomainError> {
        let now = context.now;
        let mut frame = FrameDraft::new(context);
        let (invitation, new) = check_joining(&frame.directory, self.joining, now)?;
        let channels = invited_channels(&frame.directory, &invitation);
        let (user, facts) = account(&frame.directory, &new, &channels, &mut frame.context.ids, now);
        frame.extend(facts);
        for id in &invitation.groups {
            if frame.directory.group(*id).is_some_and(|group| !group.is_deactivated) {
                let added = vec![user.id];
                frame.push(Fact::Group(GroupFact::MembersChanged { group: *id, added, removed: vec![] }));
            }
        }
        frame.push(fact(InvitationFact::Accepted { invitation: invitation.id, user: user.id }));
        let superseded = superseded_invitations(&frame.context.directory, &new.email, Some(invitation.id));
        frame.extend(revoked(superseded));
        welcome(&mut frame, &user, Some(&invitation));
        Ok((Arc::new(user), frame.facts))
    }
}

/// Greets a new user, and tells the inviter and the organization.
fn welcome(frame: &mut FrameDraft<'_, '_>, user: &User, invitation: Option<&Invitation>) {
    frame.record_user_visibility();
    let organization = frame.directory.realm().clone();
    if let Some(bot) = welcome_bot(&frame.directory).cloned() {
        send(frame, &bot, user.id, welcome_text(&organization.name));
        let own_text = invitation.and_then(|invitation| invitation.welcome_text.as_deref());
        let text = own_text.unwrap_or_else(|| realm_text(&organization, "welcome_message_custom_text"));
        if !text.trim().is_empty() {
            send(frame, &bot, user.id, text.to_owned());
        }
    }
    let Some(bot) = notification_bot(&frame.directory).cloned() else { return };
    let inviter = invitation.filter(|invitation| invitation.notifies_inviter).map(|found| found.inviter);
    if let Some(inviter) = inviter.filter(|inviter| frame.directory.is_active_user(*inviter)) {
        send(frame, &bot, inviter, invitation_accepted_text(user));
    }
    let id = realm_int(&organization, "signup_announcements_stream_id");
    let id = id.and_then(|id| u32::try_from(id).ok()).map(ChannelId);
    let channel = id.and_then(|id| frame.directory.channel(id)).filter(|channel| !channel.is_archived);
    let Some(channel) = channel.map(|channel| channel.id) else { return };
    if let Some(draft) = frame.notice(&bot, signed_up_text(user)) {
        frame.send_to_channel(draft, channel, SIGNUPS_TOPIC);
    }
}

fn send(frame: &mut FrameDraft<'_, '_>, bot: &Arc<User>, to: UserId, text: String) {
    match frame.notice(bot, text) {
        Some(draft) => frame.send_direct(crate::draft::Draft { sender: bot.clone(), ..draft }, to),
        None => tracing::warn!("a direct message of a system bot could not be rendered"),
    }
}

/// Checks whether an invitation can be accepted, and gives the account that results.
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
    let mut facts = vec![Fact::User(UserFact::Created(Box::new(user.clone())))];
    facts.extend(join_groups(directory, &user, now));
    let mut used: Vec<&str> = Vec::new();
    for channel in channels {
        let color = rules::colors::pick_color(used.iter().copied());
        used.push(color);
        let subscribers = vec![(user.id, Subscription::start(color.to_owned(), last))];
        facts.push(Fact::Subscription(SubscriptionFact::Added {
            channel: *channel,
            subscribers,
            by: user.id,
        }));
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
        .map(|group| {
            Fact::Group(GroupFact::MembersChanged {
                group: group.id,
                added: vec![user.id],
                removed: Vec::new(),
            })
        })
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
        facts.push(Fact::Group(GroupFact::MembersChanged { group: group.id, added, removed }));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, HAMLET, VERONA};
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
        NewUser {
            email: "cordelia@test.example".into(),
            full_name: "Cordelia".into(),
            role: Role::Member,
            bot: None,
            password_hash: None,
            timezone: String::new(),
            channels: Vec::new(),
        }
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
    fn inviters_are_told_in_the_frame_of_the_account() {
        let (realm, ..) = fixture::shared();
        let id = realm.directory().next_invitation();
        let invitation = Invitation {
            id,
            address: None,
            inviter: HAMLET,
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
        };
        let (user, facts) = decide(&realm, AcceptInvitation { joining }).unwrap();
        let sent = messages(&facts);
        // The welcome text of the invitation is empty.
        assert_eq!(sent.len(), 2);
        assert_eq!(sent[1].content, invitation_accepted_text(&user));
    }

    #[test]
    fn accounts_of_the_command_line_are_not_welcomed() {
        let (realm, ..) = fixture::shared();
        let command = CreateUser { user: new_user(), sends_messages: false };
        assert!(messages(&decide(&realm, command).unwrap().1).is_empty());
    }
}
