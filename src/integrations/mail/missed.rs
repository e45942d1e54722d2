//! E-mails about missed messages: one for each conversation. `actors::notifications` decides which messages; those
//! that can still be read are described here.

use super::Email;
use super::emails::MailContext;
use super::unsubscribe::MailKind;
use model::{Message, MessageId, Place, RecipientId, SettingValue, User, UserId};
use rules::markdown::{ChannelRef, message_url};
use rules::notifications::Trigger;
use rules::plain_text::{cut, notification_text};
use rules::settings::{realm_bool, user_bool, user_setting, user_value};
use rules::topics::shown_topic;

/// Maximum number of characters of one message in an e-mail.
const TEXT_CHARS_MAX: usize = 4000;

impl MailContext<'_> {
    /// The messages that a user missed in one conversation.
    pub(super) fn missed(&self, user: UserId, messages: &[MessageId]) -> Result<(String, Email), String> {
        let reader = self.user(user)?;
        let missed = self.realm.missed_messages(user, messages).map_err(|error| error.to_string())?;
        let Some((first, reason)) = missed.first() else {
            return Err("everything was read meanwhile".into());
        };
        let conversation = (&first.place, first.recipient);
        let may_show = realm_bool(self.directory.realm(), "message_content_allowed_in_email_notifications");
        let shows_content = may_show && user_bool(reader, "message_content_in_email_notifications");
        let email = if shows_content {
            let email = Email::new(self.subject(reader, conversation));
            missed.iter().fold(email, |email, (message, _)| email.paragraph(self.excerpt(message)))
        } else {
            let hidden = match may_show {
                true => {
                    "This email does not include message content because you have chosen so in your settings."
                }
                false => {
                    "This email does not include message content because your organization does not allow it."
                }
            };
            Email::new(self.with_name(reader, "New messages"))
                .paragraph(format!("You have {} in {}.", new_messages(missed.len()), self.name()))
                .paragraph(hidden)
        };
        let trigger = missed.iter().map(|(_, trigger)| *trigger).min().unwrap_or(*reason);
        let reply_to = self.addresses.map(|addresses| addresses.of_reply(self.realm, reader, first.id));
        let reply = match reply_to {
            Some(_) => "Replies to this email are posted into the conversation, under your name.",
            None => "Please do not reply to this email: replies are not read.",
        };
        let email = email
            .link(
                format!("View or reply in {}", self.name()),
                self.message_url(first, conversation.1, shows_content),
            )
            .paragraph(format!(
                "{} You can choose in your notification settings which emails you receive. {reply}",
                why(trigger)
            ));
        let email = self.with_unsubscribe_link(email, reader, MailKind::of(trigger, &first.place));
        Ok((reader.delivery_email.clone(), email.with_replies_to(reply_to)))
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

    /// With the organization's name if the reader wants that. The server does not know whether a person is a member
    /// of several organizations: `automatic` omits the name.
    fn with_name(&self, reader: &User, subject: &str) -> String {
        let policy =
            user_setting("realm_name_in_email_notifications_policy").map(|row| user_value(reader, row));
        if policy == Some(SettingValue::Int(2)) {
            return format!("{subject} [{}]", self.name());
        }
        subject.to_owned()
    }

    fn name_of(&self, user: UserId) -> &str {
        self.directory.user(user).map_or("Unknown user", |user| &user.full_name)
    }

    fn excerpt(&self, message: &Message) -> String {
        let (text, _) = cut(&notification_text(&message.rendered), TEXT_CHARS_MAX);
        format!("{}:\n{text}", self.name_of(message.sender))
    }

    /// The link to a message. Names are in it only if the e-mail may have them.
    fn message_url(&self, message: &Message, recipient: RecipientId, shows_names: bool) -> String {
        match &message.place {
            Place::Channel { channel, topic } => {
                match self.directory.channel(*channel).filter(|_| shows_names) {
                    Some(found) => {
                        let channel = ChannelRef { id: channel.0.into(), name: found.name.clone() };
                        format!("{}{}", self.url, message_url(&channel, topic, message.id.0.into()))
                    }
                    None => format!("{}/#narrow/channel/{channel}/near/{}", self.url, message.id),
                }
            }
            Place::Direct => {
                let people = self.directory.direct(recipient).map(|direct| direct.users.as_slice());
                let people = people.unwrap_or_default();
                let ids: Vec<String> = people.iter().map(UserId::to_string).collect();
                let name = self.name_of(message.sender);
                // With one other person, clients show the name; it has no meaning.
                let name = match people.len() {
                    2 if name.is_ascii() && shows_names => {
                        name.replace(|c: char| !c.is_ascii_alphanumeric(), "-")
                    }
                    0..=2 => "dm".to_owned(),
                    _ => "group".to_owned(),
                };
                format!("{}/#narrow/dm/{}-{name}/near/{}", self.url, ids.join(","), message.id)
            }
        }
    }
}

fn new_messages(count: usize) -> String {
    if count == 1 { "1 new message".to_owned() } else { format!("{count} new messages") }
}

fn why(trigger: Trigger) -> &'static str {
    match trigger {
        Trigger::Direct => "You receive this email because you have unread direct messages.",
        Trigger::Mention => "You receive this email because you were mentioned.",
        Trigger::FollowedWildcard => {
            "You receive this email because everyone was mentioned in a topic that you follow."
        }
        Trigger::Wildcard => "You receive this email because everyone was mentioned.",
        Trigger::FollowedTopic => "You receive this email because you follow this topic.",
        Trigger::Channel => {
            "You receive this email because you have email notifications on for this channel."
        }
    }
}
