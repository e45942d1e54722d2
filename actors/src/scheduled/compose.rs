//! Scheduled messages as drafts: checked and rendered by the state of now, when they are scheduled and again when they are
//! sent.

use crate::bot_notices::{draft_notice_with, notification_bot};
use crate::channel::{SendContext, load_state, participants};
use crate::direct::{DirectContext, message_facts};
use crate::draft::{ChannelDraft, DirectDraft, Draft};
use crate::error::DomainError;
use crate::markdown::RealmMarkdown;
use crate::queries;
use crate::shard::Sequencer;
use crate::shared::RealmShared;
use model::{Directory, Reminder, ScheduledMessage, ScheduledTo, TopicKey, TopicLink, User, UserId};
use rules::RuleError;
use rules::bot_notices::{lost_reminder_text, reminder_text};
use rules::markdown::{render, topic_links};
use rules::permissions::channel::{ChannelRef, access_channel_to_post};
use rules::scheduling::check_not_late;
use rules::topics::check_topics_policy;
use std::sync::Arc;

/// A message that can be sent.
pub(super) enum Composed {
    /// To a topic.
    Channel(ChannelDraft),
    /// A message to users.
    Direct(DirectDraft),
}

/// Checks a message as if it was sent now, and sets its HTML.
///
/// # Errors
/// Those of sending.
pub(crate) fn check_and_render(
    realm: &RealmShared,
    sender: &Arc<User>,
    message: &mut ScheduledMessage,
) -> Result<(), DomainError> {
    let directory = realm.directory();
    message.rendered = match compose(realm, &directory, sender, message)? {
        Composed::Channel(draft) => {
            let html = draft.draft.rendered.html.clone();
            check_channel_draft(realm, &directory, draft)?;
            html
        }
        Composed::Direct(draft) => {
            let html = draft.draft.rendered.html.clone();
            check_direct_draft(realm, &directory, draft)?;
            html
        }
    };
    Ok(())
}

/// Composes a due message with the sender's current rights. May read the disk.
///
/// # Errors
/// Those of sending; `TooLate`, `UserDeactivated`, `RealmDeactivated`.
pub(super) fn compose_due(
    realm: &RealmShared,
    user: UserId,
    message: &ScheduledMessage,
) -> Result<Composed, DomainError> {
    let directory = realm.directory();
    if !directory.realm().is_active {
        return Err(DomainError::RealmDeactivated);
    }
    let sender = directory.user(user).filter(|user| user.is_active).ok_or(DomainError::UserDeactivated)?;
    if let Some(reminder) = &message.reminder {
        return remind(realm, &directory, sender, (message, reminder)).map(Composed::Direct);
    }
    // In this order: a clock that is moved in between makes nothing late.
    let now = realm.clock.now();
    check_not_late(message.due, now, realm.clock.moved_forward())?;
    compose(realm, &directory, sender, message)
}

fn compose(
    realm: &RealmShared,
    directory: &Directory,
    sender: &Arc<User>,
    message: &ScheduledMessage,
) -> Result<Composed, DomainError> {
    let context = RealmMarkdown::of_message(realm, directory, sender).with_url(&message.url);
    let draft = || -> Result<Draft, DomainError> {
        let rendered = render(&message.content, &context).map_err(|_| RuleError::Unrenderable)?;
        let (client, read_by_sender) = (message.client.clone(), message.read_by_sender);
        let (sender, content) = (sender.clone(), message.content.clone());
        Ok(Draft {
            sender,
            content,
            rendered,
            client,
            read_by_sender,
            echo: None,
            claims: Vec::new(),
            widget: None,
        })
    };
    match &message.to {
        ScheduledTo::Channel { channel, topic } => {
            let wanted = ChannelRef::Id(channel.0.into());
            let channel = access_channel_to_post(directory, sender, wanted)?;
            check_topics_policy(directory.realm(), channel, topic)?;
            let links = topic_links(topic, &context).into_iter();
            let topic_links = links.map(|link| TopicLink { text: link.text, url: link.url }).collect();
            let (channel, topic) = (channel.id, topic.clone());
            let (draft, owner_notice) = (draft()?, None);
            Ok(Composed::Channel(ChannelDraft { draft, channel, topic, topic_links, owner_notice }))
        }
        ScheduledTo::People(users) => {
            Ok(Composed::Direct(DirectDraft { draft: draft()?, users: users.clone() }))
        }
    }
}

/// What sending to a channel would refuse now.
fn check_channel_draft(
    realm: &RealmShared,
    directory: &Directory,
    draft: ChannelDraft,
) -> Result<(), DomainError> {
    let view = realm.view.read();
    let missing = RuleError::ChannelIdDoesNotExist { id: draft.channel.0.into() };
    let state = load_state(&view, directory, draft.channel).ok_or(missing)?;
    let participants = match draft.draft.rendered.mentions.topic_wildcard {
        true => participants(&view, draft.channel, &TopicKey::new(&draft.topic)),
        false => Vec::new(),
    };
    let (id, now, durable) = (view.messages.last.next(), realm.clock.now(), view.progress.sequence);
    let context = SendContext { directory, participants: &participants, id, now, durable };
    state.send(draft, None, &context).map(drop)
}

/// Checks whether a direct message could be sent now.
fn check_direct_draft(
    realm: &RealmShared,
    directory: &Directory,
    draft: DirectDraft,
) -> Result<(), DomainError> {
    let mut ids = Sequencer::after(&realm.view.read());
    let recipient = directory.direct_by_users(&draft.users).map(|direct| direct.recipient);
    let context = DirectContext { realm, directory, now: realm.clock.now(), recipient };
    message_facts(&context, draft, &mut ids).map(drop)
}

/// The notification bot's message to the user, with the message as it is now, if the user may still read it.
fn remind(
    realm: &RealmShared,
    directory: &Directory,
    user: &Arc<User>,
    (message, reminder): (&ScheduledMessage, &Reminder),
) -> Result<DirectDraft, DomainError> {
    let is_readable = queries::locate(&realm.view.read(), Some(user), reminder.message).is_some();
    let target = if is_readable { realm.message(reminder.message)? } else { None };
    let text = match target {
        Some(target) => reminder_text(directory, user, &target, &reminder.note, &message.url),
        None => lost_reminder_text(&reminder.note),
    };
    let context = RealmMarkdown::of_message(realm, directory, user).with_url(&message.url);
    let draft = draft_notice_with(&context, directory, text).ok_or(RuleError::Unrenderable)?;
    let bot = notification_bot(directory).map_or(draft.sender.id, |bot| bot.id);
    let mut users = vec![bot, user.id];
    users.sort_unstable();
    Ok(DirectDraft { draft, users })
}
