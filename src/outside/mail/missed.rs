//! Mails about messages that somebody has not read for a while: one for each conversation.
//!
//! When a while is over, it is looked at who of those who were away has still not read what; each such conversation
//! becomes a job of its own, which is the mail.

use super::Letter;
use super::letters::About;
use actors::RealmHandle;
use actors::noticing::missed_messages;
use actors::outbox::{Decide, Delivery, Followup, job};
use model::job::{MailTask, Task};
use model::{
    Directory, Fact, Message, MessageId, Place, RecipientId, SettingValue, Timestamp, TopicKey, User, UserId,
};
use rules::notifications::Trigger;
use rules::plain_text::{cut, plain_text};
use rules::settings::{realm_bool, user_bool, user_setting, user_value};
use rules::topics::shown_topic;
use std::sync::Arc;

/// Messages that one look for missed ones takes in.
const MESSAGES_MAX: usize = 200;
/// Conversations of one period that somebody gets a mail about; their client shows the others.
const CONVERSATIONS_MAX: usize = 20;
/// Longest text of one message in a mail, in characters.
const TEXT_CHARS_MAX: usize = 4000;

/// A while is over: what is left of it becomes mails.
pub(super) fn split(realm: &RealmHandle, users: &[UserId], from: MessageId, until: Timestamp) -> Delivery {
    let mut mails: Vec<MailTask> = Vec::new();
    for user in users {
        let missed = match missed_messages(realm, *user, from, until, MESSAGES_MAX) {
            Ok(missed) => missed,
            Err(error) => return Delivery::failed(error.to_string()),
        };
        let before = mails.len();
        for (message, _) in missed {
            let is_known = mails[before..].iter().any(|mail| is_about(mail, &message));
            if !is_known && mails.len() < before + CONVERSATIONS_MAX {
                let (place, recipient) = (message.place.clone(), message.recipient);
                mails.push(MailTask::MissedIn { user: *user, place, recipient, from, until });
            }
        }
    }
    if mails.is_empty() {
        return Delivery::dropped("everything was read meanwhile");
    }
    let decide: Decide = Arc::new(move |_: &Directory| -> Vec<Fact> {
        mails.iter().map(|mail| job(until, Task::Mail(mail.clone()))).collect()
    });
    Delivery::Done(Some(Followup::Decide(decide)))
}

fn is_about(mail: &MailTask, message: &Message) -> bool {
    match mail {
        MailTask::MissedIn { place, recipient, .. } => is_same_place((place, *recipient), message),
        _ => false,
    }
}

fn is_same_place((place, recipient): (&Place, RecipientId), message: &Message) -> bool {
    match (place, &message.place) {
        (Place::Direct, Place::Direct) => recipient == message.recipient,
        (Place::Channel { channel, topic }, Place::Channel { channel: other, topic: other_topic }) => {
            channel == other && TopicKey::new(topic) == TopicKey::new(other_topic)
        }
        _ => false,
    }
}

impl About<'_> {
    /// What somebody missed in one conversation.
    pub(super) fn missed(
        &self,
        user: UserId,
        conversation: (&Place, RecipientId),
        from: MessageId,
        until: Timestamp,
    ) -> Result<(String, Letter), String> {
        let reader = self.user(user)?;
        let missed = missed_messages(self.realm, user, from, until, MESSAGES_MAX);
        let missed = missed.map_err(|error| error.to_string())?.into_iter();
        let missed: Vec<(Arc<Message>, Trigger)> =
            missed.filter(|(message, _)| is_same_place(conversation, message)).collect();
        let Some((first, _)) = missed.first() else { return Err("everything was read meanwhile".into()) };
        let may_show = realm_bool(self.directory.realm(), "message_content_allowed_in_email_notifications");
        let letter = if may_show && user_bool(reader, "message_content_in_email_notifications") {
            let letter = Letter::new(self.subject(reader, conversation));
            missed.iter().fold(letter, |letter, (message, _)| letter.paragraph(self.said(message)))
        } else {
            let hidden = match may_show {
                true => {
                    "This email does not include message content because you have chosen so in your settings."
                }
                false => {
                    "This email does not include message content because your organization does not allow it."
                }
            };
            Letter::new(self.with_name(reader, "New messages"))
                .paragraph(format!("You have {} in {}.", messages(missed.len()), self.name()))
                .paragraph(hidden)
        };
        let why = missed.iter().map(|(_, trigger)| *trigger).min().map_or("", why);
        let letter = letter
            .link(format!("View or reply in {}", self.name()), self.message_url(first, conversation.1))
            .paragraph(format!(
                "{why} You can choose in your notification settings which emails you get. Please do not answer this email: \
                 nobody reads what is sent back to it."
            ));
        Ok((reader.delivery_email.clone(), letter))
    }

    fn subject(&self, reader: &User, (place, recipient): (&Place, RecipientId)) -> String {
        let subject = match place {
            Place::Channel { channel, topic } => {
                let name = self.directory.channel(*channel).map_or("", |channel| &channel.name);
                format!("#{name} > {}", shown_topic(topic, false))
            }
            Place::Direct => {
                let people = self.directory.direct(recipient).map(|direct| direct.users.as_slice());
                let others = people.unwrap_or_default().iter().filter(|user| **user != reader.id);
                let names: Vec<&str> = others.map(|user| self.name_of(*user)).collect();
                match names.as_slice() {
                    [name] => format!("DMs with {name}"),
                    [one, two] => format!("Group DMs with {one} and {two}"),
                    [one, two, three] => format!("Group DMs with {one}, {two}, and {three}"),
                    [one, two, rest @ ..] => {
                        format!("Group DMs with {one}, {two}, and {} others", rest.len())
                    }
                    [] => "DMs".to_owned(),
                }
            }
        };
        self.with_name(reader, &subject)
    }

    /// With the organization's name where the reader wants that. Whether somebody is in several is nothing that an
    /// organization knows: `automatic` leaves the name out.
    fn with_name(&self, reader: &User, subject: &str) -> String {
        let policy =
            user_setting("realm_name_in_email_notifications_policy").map(|row| user_value(reader, row));
        match policy {
            Some(SettingValue::Int(2)) => format!("{subject} [{}]", self.name()),
            _ => subject.to_owned(),
        }
    }

    fn name_of(&self, user: UserId) -> &str {
        self.directory.user(user).map_or("Unknown user", |user| &user.full_name)
    }

    fn said(&self, message: &Message) -> String {
        let (text, _) = cut(&plain_text(&message.rendered), TEXT_CHARS_MAX);
        format!("{}:\n{text}", self.name_of(message.sender))
    }

    fn message_url(&self, message: &Message, recipient: RecipientId) -> String {
        match &message.place {
            Place::Channel { channel, .. } => {
                format!("{}/#narrow/channel/{channel}/near/{}", self.url, message.id)
            }
            Place::Direct => {
                let people = self.directory.direct(recipient).map(|direct| direct.users.as_slice());
                let ids: Vec<String> = people.unwrap_or_default().iter().map(UserId::to_string).collect();
                format!("{}/#narrow/dm/{}/near/{}", self.url, ids.join(","), message.id)
            }
        }
    }
}

fn messages(count: usize) -> String {
    if count == 1 { "1 new message".to_owned() } else { format!("{count} new messages") }
}

fn why(trigger: Trigger) -> &'static str {
    match trigger {
        Trigger::Direct => "You get this because you have unread direct messages.",
        Trigger::Mention => "You get this because you were mentioned.",
        Trigger::FollowedWildcard => {
            "You get this because everybody was mentioned in a topic that you follow."
        }
        Trigger::Wildcard => "You get this because everybody was mentioned.",
        Trigger::FollowedTopic => "You get this because you follow this topic.",
        Trigger::Channel => "You get this because you have email notifications on for this channel.",
    }
}
