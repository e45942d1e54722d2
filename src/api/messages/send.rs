//! `POST /messages`: sends a message to a topic or to users (docs/api/messages.md#send-a-message).
//!
//! Names are resolved and Markdown is rendered here, with a snapshot, so that the actor only decides.

use super::recipients::{ChannelName, PeopleNames, parse_channel, parse_people};
use crate::api::formulas;
use crate::http::params::check_length_max;
use crate::http::{
    ApiError, App, Caller, ClientName, Fields, FromFields, HandlerResult, Params, RealmUrl, reply,
};
use actors::{ChannelDraft, DirectDraft, Draft, RealmHandle, RealmMarkdown, Sent, owner_notice};
use model::fact::LocalEcho;
use model::{Directory, MessageId, QueueId, TopicLink, User};
use rules::RuleError;
use rules::client::is_read_by_sender;
use rules::content::parse_content;
use rules::markdown::{Rendered, render, topic_links};
use rules::permissions::channel::{ChannelRef, access_channel_to_post};
use rules::permissions::direct::{find_recipients_by_email, find_recipients_by_id};
use rules::topics::{check_topics_policy, parse_topic};
use rules::widgets::parse_widget;
use serde::Serialize;
use std::sync::Arc;

/// Maximum length of a client's `local_id`, in characters. It is stored with the message.
const LOCAL_ID_CHARS_MAX: usize = 200;

/// Maximum length of a queue id, in bytes; ids of this server are shorter.
const QUEUE_ID_BYTES_MAX: usize = 64;

/// A message to send.
pub struct SendMessage {
    to: To,
    text: Text,
}

enum To {
    Channel { channel: Option<ChannelName>, topic: Option<String> },
    People(PeopleNames),
}

/// The parts that do not depend on the recipient.
struct Text {
    content: String,
    echo: Option<LocalEcho>,
    read_by_sender: Option<bool>,
    /// `widget_content` as sent.
    widget: Option<String>,
}

impl FromFields for SendMessage {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let kind = fields.one_of("type", &["direct", "private", "stream", "channel"])?;
        let to = fields.optional_str("to");
        let to = match kind {
            "stream" | "channel" => {
                let channel = to.map(parse_channel).transpose()?;
                To::Channel { channel, topic: fields.alias("topic", "subject")? }
            }
            _ => {
                // Direct messages have no topic; a given one is ignored.
                fields.alias("topic", "subject")?;
                To::People(to.map(parse_people).transpose()?.unwrap_or(PeopleNames::Ids(Vec::new())))
            }
        };
        let content = fields.required("content")?;
        // No queue has an id longer than this.
        let queue = fields.optional_str("queue_id").filter(|queue| queue.len() <= QUEUE_ID_BYTES_MAX);
        let local_id = fields.optional_str("local_id");
        check_length_max("local_id", local_id.unwrap_or_default(), LOCAL_ID_CHARS_MAX)?;
        let echo = queue
            .zip(local_id)
            .map(|(queue, local_id)| LocalEcho { queue: QueueId(queue.into()), local_id: local_id.into() });
        let read_by_sender = fields.optional_bool("read_by_sender")?;
        let text = Text { content, echo, read_by_sender, widget: fields.optional("widget_content") };
        Ok(Self { to, text })
    }
}

#[derive(Serialize)]
struct SentMessage {
    id: MessageId,
    #[serde(skip_serializing_if = "Option::is_none")]
    automatic_new_visibility_policy: Option<u8>,
}

/// Sends a message; responds when it is durable.
pub async fn send(
    app: App,
    caller: Caller,
    client: ClientName,
    url: RealmUrl,
    Params(request): Params<SendMessage>,
) -> HandlerResult {
    formulas::prepare(&app, &caller, [request.text.content.as_str()]).await?;
    let writer = Writer { realm: &caller.realm, sender: &caller.user, client: client.0, url: &url };
    let sent = deliver(writer, request).await?;
    let automatic_new_visibility_policy = sent.new_policy.map(|policy| policy.code());
    reply(&SentMessage { id: sent.id, automatic_new_visibility_policy })
}

/// Where a message goes that an endpoint composes.
pub(in crate::api) enum Destination {
    /// A topic of a channel.
    Topic(ChannelName, String),
    People(PeopleNames),
}

/// Sends a message that an endpoint composes, with the rights of its caller.
pub(in crate::api) async fn post_message(
    app: &App,
    caller: &Caller,
    client: String,
    url: &RealmUrl,
    to: Destination,
    content: String,
) -> Result<(), ApiError> {
    formulas::prepare(app, caller, [content.as_str()]).await?;
    let writer = Writer { realm: &caller.realm, sender: &caller.user, client, url };
    let to = match to {
        Destination::Topic(channel, topic) => To::Channel { channel: Some(channel), topic: Some(topic) },
        Destination::People(people) => To::People(people),
    };
    let text = Text { content, echo: None, read_by_sender: None, widget: None };
    deliver(writer, SendMessage { to, text }).await.map(drop)
}

async fn deliver(writer: Writer<'_>, request: SendMessage) -> Result<Sent, ApiError> {
    let realm = writer.realm;
    let sent = match request.to {
        To::Channel { channel, topic } => {
            let mut notice = None;
            match writer.channel_draft(channel, topic, request.text, &mut notice) {
                Ok(draft) => realm.send_to_channel(ChannelDraft { owner_notice: notice, ..draft }).await?,
                Err(refusal) => {
                    if let Some(notice) = notice
                        && let Err(error) = realm.send_direct(*notice).await
                    {
                        tracing::warn!(%error, "the owner of a bot could not be notified");
                    }
                    return Err(refusal);
                }
            }
        }
        To::People(people) => {
            let draft = writer.direct_draft(people, request.text)?;
            realm.send_direct(draft).await?
        }
    };
    Ok(sent)
}

/// The sender and its client.
struct Writer<'c> {
    realm: &'c RealmHandle,
    sender: &'c Arc<User>,
    client: String,
    url: &'c RealmUrl,
}

impl Writer<'_> {
    /// Checks and renders a message to a topic. `notice` is set to the message for the owner of a bot, if there is one,
    /// also when the message is refused.
    fn channel_draft(
        self,
        channel: Option<ChannelName>,
        topic: Option<String>,
        text: Text,
        notice: &mut Option<Box<DirectDraft>>,
    ) -> Result<ChannelDraft, ApiError> {
        let directory = self.realm.directory();
        let channel = channel.or_else(|| default_channel(&directory, self.sender));
        let channel = channel.ok_or_else(|| ApiError::bad_request("Missing channel"))?;
        let topic = topic.ok_or_else(|| ApiError::bad_request("Missing topic"))?;
        let topic = parse_topic(&topic)?;
        let content = parse_content(&text.content)?;
        let wanted = match &channel {
            ChannelName::Id(id) => ChannelRef::Id(*id),
            ChannelName::Name(name) => ChannelRef::Name(name),
        };
        *notice = owner_notice(self.realm, &directory, self.sender, wanted);
        let channel = access_channel_to_post(&directory, self.sender, wanted)?;
        check_topics_policy(directory.realm(), channel, &topic)?;
        let links = topic_links(&topic, &self.realm.message_markdown(&directory, self.sender));
        let topic_links = links.into_iter().map(|link| TopicLink { text: link.text, url: link.url });
        Ok(ChannelDraft {
            channel: channel.id,
            topic_links: topic_links.collect(),
            topic,
            draft: self.draft(&directory, content, text)?,
            owner_notice: None,
        })
    }

    /// Renders a direct message. Permissions are checked by the actor of the conversation.
    fn direct_draft(self, people: PeopleNames, text: Text) -> Result<DirectDraft, ApiError> {
        let directory = self.realm.directory();
        let users = match people {
            PeopleNames::Ids(ids) => find_recipients_by_id(&directory, self.sender, &ids)?,
            PeopleNames::Emails(emails) => find_recipients_by_email(&directory, self.sender, &emails)?,
        };
        let content = parse_content(&text.content)?;
        Ok(DirectDraft { users, draft: self.draft(&directory, content, text)? })
    }

    fn draft(self, directory: &Directory, content: String, mut text: Text) -> Result<Draft, ApiError> {
        text.widget = text.widget.as_deref().map(parse_widget).transpose().map_err(RuleError::from)?;
        let context = self.realm.message_markdown(directory, self.sender).with_url(&self.url.0);
        let rendered = rendered(&content, &context)?;
        let read_by_sender = text.read_by_sender.unwrap_or_else(|| is_read_by_sender(&self.client));
        let (sender, client, echo) = (self.sender.clone(), self.client, text.echo);
        let (claims, widget) = (Vec::new(), text.widget);
        Ok(Draft { sender, content, rendered, client, read_by_sender, echo, claims, widget })
    }
}

/// The channel to which a bot sends by default.
fn default_channel(directory: &Directory, sender: &User) -> Option<ChannelName> {
    let channel = directory.bot_config(sender.id)?.sending_channel?;
    Some(ChannelName::Id(channel.0.into()))
}

/// Renders the content of a message.
pub(super) fn rendered(content: &str, context: &RealmMarkdown) -> Result<Rendered, ApiError> {
    render(content, context).map_err(|_| ApiError::bad_request("Unable to render message"))
}
