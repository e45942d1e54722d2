//! E-mails about missed messages: one for each conversation. `actors::notifications` decides which messages; those
//! that can still be read are described here.

use super::Email;
use super::email::Run;
use super::emails::MailContext;
use super::unsubscribe::MailKind;
use actors::notifications::{Mention, mention_of};
use model::{Message, MessageId, Place, RecipientId, SettingValue, User, UserId};
use rules::markdown::{ChannelRef, message_url};
use rules::notifications::Trigger;
use rules::permissions::users::shown_name;
use rules::plain_text::{TextMark, linked_text};
use rules::settings::{realm_bool, user_bool, user_setting, user_value};
use rules::topics::shown_topic;
use std::sync::Arc;

/// Maximum number of characters of one message in an e-mail.
const TEXT_CHARS_MAX: usize = 4000;
/// Before what a sender does.
const ME: &str = "/me ";

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
            missed.iter().fold(email, |email, (message, _)| email.paragraph_of(self.excerpt(reader, message)))
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
        let reason = match trigger {
            Trigger::Mention => self.why_mentioned(user, &missed, shows_content),
            _ => why(trigger).to_owned(),
        };
        let email = email
            .link(
                format!("View or reply in {}", self.name()),
                self.message_url(reader, (first, conversation.1), shows_content),
            )
            .paragraph_of(vec![
                Run::plain(format!("You receive this email because {reason}. ")),
                self.link_to_settings(),
                Run::plain(format!(". {reply}")),
            ]);
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
                let names: Vec<&str> =
                    others.map(|user| shown_name(&self.directory, reader, *user)).collect();
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

    /// A message with its sender. What begins with `/me` is about the sender.
    fn excerpt(&self, reader: &User, message: &Message) -> Vec<Run> {
        let found = linked_text(&message.rendered).cut(TEXT_CHARS_MAX);
        let sender = shown_name(&self.directory, reader, message.sender);
        let is_me = message.traits.is_me && found.text.starts_with(ME);
        let mut at = if is_me { ME.len() } else { 0 };
        let mut runs = vec![Run::plain(if is_me { format!("{sender} ") } else { format!("{sender}:\n") })];
        let piece = |from: usize, to: usize| found.text.get(from..to).unwrap_or_default().to_owned();
        let marks = found.marks.iter().map(|TextMark { piece: range, kind }| {
            (range.clone(), Run::mark(piece(range.start, range.end), *kind))
        });
        let links = found.links.iter().filter_map(|link| {
            let url = safe_url(&self.url, &link.url)?;
            let words = piece(link.words.start, link.words.end);
            let shows_url = !link.is_reference && !names(&words, &url);
            Some((link.words.clone(), Run { words, url: Some(url), shows_url, mark: None }))
        });
        let mut special: Vec<_> = marks.chain(links).collect();
        special.sort_by_key(|(range, _)| range.start);
        for (range, run) in special {
            if range.start >= at {
                runs.push(Run::plain(piece(at, range.start)));
                runs.push(run);
                at = range.end;
            }
        }
        runs.push(Run::plain(piece(at, found.text.len())));
        runs
    }

    /// Why a mail about mentions was sent. A group is named only if the mail may have names.
    fn why_mentioned(&self, user: UserId, missed: &[(Arc<Message>, Trigger)], shows_names: bool) -> String {
        let mentioning = missed.iter().filter(|(_, trigger)| *trigger == Trigger::Mention);
        let mentions = mentioning.map(|(message, _)| mention_of(&self.directory, &message.rendered, user));
        let mut group = None;
        for mention in mentions {
            match mention {
                Some(Mention::Group(found)) => group = group.or(Some(found)),
                Some(Mention::Name) | None => return why(Trigger::Mention).to_owned(),
            }
        }
        match group.and_then(|id| self.directory.group(id)) {
            Some(group) if shows_names => format!("@*{}* was mentioned", group.name),
            Some(_) => "a group that you are in was mentioned".to_owned(),
            None => why(Trigger::Mention).to_owned(),
        }
    }

    /// The link to a message. Names are in it only if the e-mail may have them.
    fn message_url(
        &self,
        reader: &User,
        (message, recipient): (&Message, RecipientId),
        shows_names: bool,
    ) -> String {
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
                let name = shown_name(&self.directory, reader, message.sender);
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
        Trigger::Direct => "you have unread direct messages",
        Trigger::Mention => "you were mentioned",
        Trigger::FollowedWildcard => "everyone was mentioned in a topic that you follow",
        Trigger::Wildcard => "everyone was mentioned",
        Trigger::FollowedTopic => "you follow this topic",
        Trigger::Channel => "you have email notifications on for this channel",
    }
}

/// The complete address of a link, if a mail program may open it.
fn safe_url(organization: &str, url: &str) -> Option<String> {
    if url.starts_with('/') && !url.starts_with("//") {
        return Some(format!("{organization}{url}"));
    }
    if url.starts_with('#') {
        return Some(format!("{organization}/{url}"));
    }
    let (scheme, _) = url.split_once(':')?;
    let is_safe = ["http", "https", "mailto"].iter().any(|known| scheme.eq_ignore_ascii_case(known));
    let is_plain = !url.contains(|point: char| point.is_control() || point.is_whitespace());
    (is_safe && is_plain).then(|| url.to_owned())
}

/// Whether words are the address itself, perhaps without its scheme.
fn names(words: &str, url: &str) -> bool {
    let bare = |text: &str| {
        let schemes = ["https://", "http://", "mailto:"];
        let text = schemes.iter().find_map(|scheme| text.strip_prefix(scheme)).unwrap_or(text);
        text.trim_end_matches('/').to_owned()
    };
    bare(words) == bare(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_that_mail_programs_may_open_are_links() {
        let of = |url| safe_url("https://chat.example.com", url);
        assert_eq!(of("/user_uploads/1/a").as_deref(), Some("https://chat.example.com/user_uploads/1/a"));
        assert_eq!(of("#narrow/dm/8").as_deref(), Some("https://chat.example.com/#narrow/dm/8"));
        for url in ["https://example.com/?a=1&b=2", "HTTP://example.com", "mailto:a@example.com"] {
            assert_eq!(of(url).as_deref(), Some(url));
        }
        for url in
            ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "//example.com", "x", "tel:1"]
        {
            assert_eq!(of(url), None, "{url}");
        }
        assert!(names("example.com", "https://example.com/") && !names("here", "https://example.com"));
    }
}
