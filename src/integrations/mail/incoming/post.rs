//! Posts an e-mail: into the channel of its address, or into the conversation that it replies to.

use super::Incoming;
use super::address::{Options, Recipient};
use super::duplicates::DuplicateState;
use super::files;
use super::parse::{ParsedMail, Unreadable, parse};
use crate::hosts::Hosts;
use crate::http::{App, Caller};
use actors::{ChannelDraft, DirectDraft, DomainError, Draft, RealmHandle, gateway_bot};
use model::{Channel, ChannelId, Directory, GroupId, Message, MessageId, Place, TopicLink, User};
use rules::RuleError;
use rules::content::parse_content;
use rules::markdown::{Rendered, render, topic_links};
use rules::permissions::channel::{ChannelRef, access_channel_to_post};
use rules::permissions::message::{Wildcard, check_group_mention, check_wildcard};
use rules::topics::{check_topics_policy, parse_topic};
use std::sync::Arc;

/// The client that messages name.
const CLIENT: &str = "Internal";

/// What became of an e-mail, for the reply to the client that delivered it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PostOutcome {
    /// The message is durable.
    Posted,
    /// Never; with the reason.
    Refused(String),
    /// Later; the sender's server tries again.
    Later,
}

/// Whether e-mails to a recipient can be posted now.
pub fn accepts(recipient: &Recipient) -> bool {
    match recipient {
        Recipient::Channel { realm, channel, creator, sender, .. } => {
            let directory = realm.directory();
            let writer = writer(&directory, creator, sender);
            let wanted = ChannelRef::Id(channel.0.into());
            writer.is_some_and(|writer| access_channel_to_post(&directory, writer, wanted).is_ok())
        }
        Recipient::Reply { realm, user, message } => realm.message_snapshot(Some(user), *message).is_some(),
    }
}

/// Posts an e-mail, once however often it arrives. Durable when this returns `Posted`.
pub async fn post(incoming: &Incoming, recipient: Recipient, bytes: Arc<Vec<u8>>) -> PostOutcome {
    let options = recipient.options();
    let parsed = tokio::task::spawn_blocking(move || parse_accepted(&bytes, options)).await;
    let mail = match parsed.unwrap_or(Err(Refusal::Domain(DomainError::Overloaded))) {
        Ok(mail) => mail,
        Err(refusal) => return refusal.outcome(),
    };
    let Some(message_id) = mail.message_id.clone() else { return send(&incoming.app, recipient, mail).await };
    match incoming.duplicates.begin(recipient.conversation(), &message_id, incoming.app.moment()) {
        DuplicateState::Posted => PostOutcome::Posted,
        DuplicateState::Posting => PostOutcome::Later,
        DuplicateState::New(key) => {
            let outcome = send(&incoming.app, recipient, mail).await;
            incoming.duplicates.end(key, outcome == PostOutcome::Posted, incoming.app.moment());
            outcome
        }
    }
}

fn parse_accepted(bytes: &[u8], options: Options) -> Result<ParsedMail, Refusal> {
    let mail = parse(bytes, options).map_err(|error| match error {
        Unreadable::NotMail => Refusal::Mail("this is not an e-mail"),
        Unreadable::NoText => Refusal::Mail("the e-mail has no text"),
        Unreadable::TooManyHeaders => Refusal::Mail("the e-mail has too many headers or parts"),
    })?;
    if mail.is_automatic {
        return Err(Refusal::Mail("e-mails of programs are not accepted"));
    }
    Ok(mail)
}

/// Stores the attachments, and sends the message that names them.
async fn send(app: &App, recipient: Recipient, mut mail: ParsedMail) -> PostOutcome {
    let owner = Caller { realm: recipient.realm().clone(), user: recipient.sender().clone() };
    let files = std::mem::take(&mut mail.files);
    // What is refused below is not stored before.
    let files = if accepts(&recipient) { files } else { Vec::new() };
    let Ok(stored) = files::store(app, &owner, files).await else {
        return PostOutcome::Later;
    };
    let (prepared, hosts, content) = (recipient.clone(), app.hosts.clone(), mail.content(&stored.lines));
    // Rendering, and reading the message that is answered, take a while.
    let prepared =
        tokio::task::spawn_blocking(move || prepare(&prepared, &mail.topic, &content, &hosts)).await;
    let sent = match prepared.unwrap_or(Err(Refusal::Domain(DomainError::Overloaded))) {
        Ok(Prepared::Channel(draft)) => owner.realm.send_to_channel(*draft).await.map_err(Refusal::Domain),
        Ok(Prepared::Direct(draft)) => owner.realm.send_direct(*draft).await.map_err(Refusal::Domain),
        Err(refusal) => Err(refusal),
    };
    match sent {
        Ok(_) => PostOutcome::Posted,
        Err(refusal) => {
            stored.discard(app, &owner).await;
            refusal.outcome()
        }
    }
}

enum Prepared {
    Channel(Box<ChannelDraft>),
    Direct(Box<DirectDraft>),
}

/// Why an e-mail is not posted.
enum Refusal {
    Mail(&'static str),
    Domain(DomainError),
}

impl From<RuleError> for Refusal {
    fn from(error: RuleError) -> Self {
        Self::Domain(error.into())
    }
}

impl From<DomainError> for Refusal {
    fn from(error: DomainError) -> Self {
        Self::Domain(error)
    }
}

/// The user whose rights count: the sender, or for the e-mail gateway bot the user who made the address. None if one of
/// them is deactivated.
fn writer<'u>(directory: &Directory, creator: &'u User, sender: &'u User) -> Option<&'u User> {
    let is_gateway = gateway_bot(directory).is_some_and(|bot| bot.id == sender.id);
    let is_active = creator.is_active && (is_gateway || sender.is_active);
    is_active.then_some(if is_gateway { creator } else { sender })
}

fn prepare(recipient: &Recipient, topic: &str, content: &str, hosts: &Hosts) -> Result<Prepared, Refusal> {
    match recipient {
        Recipient::Channel { realm, channel, creator, sender, .. } => {
            let directory = realm.directory();
            let writer = writer(&directory, creator, sender).ok_or(DomainError::UserDeactivated)?;
            let composer =
                Composer { realm, directory: &directory, writer, sender, url: hosts.url(realm, None) };
            composer.channel_draft(*channel, topic, content).map(Prepared::Channel)
        }
        Recipient::Reply { realm, user, message } => {
            let directory = realm.directory();
            let composer = Composer {
                realm,
                directory: &directory,
                writer: user,
                sender: user,
                url: hosts.url(realm, None),
            };
            let message = answered(realm, user, *message)?;
            composer.reply(&message, content)
        }
    }
}

/// The message that is answered, where it is now.
fn answered(realm: &RealmHandle, user: &User, id: MessageId) -> Result<Arc<Message>, DomainError> {
    let snapshot = realm.message_snapshot(Some(user), id).ok_or(DomainError::InvalidMessages)?;
    let found = snapshot.read(realm)?.into_iter().next();
    found.map(|found| found.message).ok_or(DomainError::InvalidMessages)
}

/// Makes drafts of one sender.
struct Composer<'c> {
    realm: &'c RealmHandle,
    directory: &'c Directory,
    /// The user whose rights count.
    writer: &'c User,
    sender: &'c Arc<User>,
    url: String,
}

impl Composer<'_> {
    fn channel_draft(
        &self,
        channel: ChannelId,
        topic: &str,
        content: &str,
    ) -> Result<Box<ChannelDraft>, Refusal> {
        let channel = access_channel_to_post(self.directory, self.writer, ChannelRef::Id(channel.0.into()))?;
        let mut topic = parse_topic(topic)?;
        match check_topics_policy(self.directory.realm(), channel, &topic) {
            Ok(()) => {}
            // The channel has one topic.
            Err(RuleError::NamedTopicRefused) => topic.clear(),
            Err(error) => return Err(error.into()),
        }
        let context = self.realm.message_markdown(self.directory, self.writer);
        let links = topic_links(&topic, &context).into_iter();
        let topic_links = links.map(|link| TopicLink { text: link.text, url: link.url }).collect();
        let draft = self.draft(content)?;
        self.check_mentions(channel, &draft.rendered)?;
        Ok(Box::new(ChannelDraft { channel: channel.id, topic_links, topic, draft, owner_notice: None }))
    }

    fn reply(&self, message: &Message, content: &str) -> Result<Prepared, Refusal> {
        match &message.place {
            Place::Channel { channel, topic } => {
                self.channel_draft(*channel, topic, content).map(Prepared::Channel)
            }
            Place::Direct => {
                let direct = self.directory.direct(message.recipient).ok_or(DomainError::InvalidMessages)?;
                let users = direct.users.to_vec();
                Ok(Prepared::Direct(Box::new(DirectDraft { draft: self.draft(content)?, users })))
            }
        }
    }

    fn draft(&self, content: &str) -> Result<Draft, Refusal> {
        let content = parse_content(content)?;
        let context = self.realm.message_markdown(self.directory, self.writer).with_url(&self.url);
        let rendered = render(&content, &context).map_err(|_| RuleError::Unrenderable)?;
        let (sender, client) = (self.sender.clone(), CLIENT.to_owned());
        Ok(Draft {
            sender,
            content,
            rendered,
            client,
            read_by_sender: true,
            echo: None,
            claims: Vec::new(),
            widget: None,
        })
    }

    /// The gateway bot may mention everyone; the user who made the address may not.
    fn check_mentions(&self, channel: &Channel, rendered: &Rendered) -> Result<(), RuleError> {
        let people = self.directory.subscriber_ids(channel.id).count();
        let mentions = &rendered.mentions;
        if mentions.channel_wildcard {
            check_wildcard(self.directory, self.writer, Wildcard::Channel, people)?;
        }
        if mentions.topic_wildcard {
            check_wildcard(self.directory, self.writer, Wildcard::Topic, people)?;
        }
        let groups = mentions.groups.iter().filter_map(|id| u32::try_from(*id).ok());
        for group in groups.filter_map(|id| self.directory.group(GroupId(id))) {
            check_group_mention(self.directory, self.writer, group)?;
        }
        Ok(())
    }
}

impl Refusal {
    fn outcome(self) -> PostOutcome {
        let error = match self {
            Self::Mail(why) => return PostOutcome::Refused(why.to_owned()),
            Self::Domain(error) => error,
        };
        match error {
            DomainError::Rule(rule) => PostOutcome::Refused(rule.to_string()),
            DomainError::UserDeactivated
            | DomainError::RealmDeactivated
            | DomainError::InvalidMessages
            | DomainError::TooLarge => PostOutcome::Refused(error.to_string()),
            DomainError::Overloaded
            | DomainError::Memory(_)
            | DomainError::Storage(_)
            | DomainError::Paused(_)
            | DomainError::WriteBudgetSpent { .. }
            | DomainError::ConversationBudgetSpent { .. }
            | DomainError::Stopping
            | DomainError::BadEventQueue(_)
            | DomainError::EventsPruned(_)
            | DomainError::EventUnknown(_)
            | DomainError::TooManyQueues
            | DomainError::EmailInUse(_)
            | DomainError::LinkUsed
            | DomainError::WrongPassword
            | DomainError::NotSeeded
            | DomainError::SearchNotReady
            | DomainError::SearchTooBroad
            | DomainError::InvalidApiKey => {
                tracing::warn!(%error, "an e-mail could not be posted; its server will try again");
                PostOutcome::Later
            }
        }
    }
}
