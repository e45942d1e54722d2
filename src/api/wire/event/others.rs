//! Every event but messages: one struct for each shape, as in the catalogue (events.md 3).

use super::{EventWriter, flags};
use crate::api::wire::channel::{ChannelJson, SubscriberLists, SubscriptionJson, channel, subscription};
use crate::api::wire::group::{GroupJson, group};
use crate::api::wire::presence::{LegacyClientPresence, modern, shown};
use crate::api::wire::user::{UserForm, UserJson, unknown_user, user};
use model::event::{SubscribedChannel, TypingPlace};
use model::{ChannelId, EventBody, GroupId, Timestamp, User, UserId};
use rules::permissions::users::{api_email, sees_user};
use rules::topics::shown_topic;
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The shapes, without the number.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum EventJson<'e> {
    Heartbeat {},
    Stream(StreamJson<'e>),
    Subscription(SubscriptionEventJson<'e>),
    DefaultStreams { default_streams: &'e [ChannelId] },
    UserTopic { stream_id: ChannelId, topic_name: &'e str, last_updated: u64, visibility_policy: u8 },
    MutedTopics { muted_topics: Vec<(&'e str, &'e str, u64)> },
    Typing(TypingJson<'e>),
    Presence(PresenceJson<'e>),
    RealmUser { op: &'static str, person: Box<UserJson<'e>> },
    UserGroup(GroupEventJson<'e>),
}

#[derive(Serialize)]
#[serde(tag = "op", rename_all = "snake_case")]
enum StreamJson<'e> {
    Create {
        streams: Vec<ChannelJson<'e>>,
    },
    /// `streams` is for older clients.
    Delete {
        stream_ids: &'e [ChannelId],
        streams: Vec<StreamIdJson>,
    },
}

#[derive(Serialize)]
struct StreamIdJson {
    stream_id: ChannelId,
}

#[derive(Serialize)]
#[serde(tag = "op", rename_all = "snake_case")]
enum SubscriptionEventJson<'e> {
    Add { subscriptions: Vec<SubscriptionJson<'e>> },
    Remove { subscriptions: Vec<RemovedJson<'e>> },
    PeerAdd { stream_ids: [ChannelId; 1], user_ids: &'e [UserId] },
    PeerRemove { stream_ids: [ChannelId; 1], user_ids: &'e [UserId] },
}

#[derive(Serialize)]
struct RemovedJson<'e> {
    stream_id: ChannelId,
    name: &'e str,
}

#[derive(Serialize)]
struct TypingJson<'e> {
    op: &'static str,
    message_type: &'static str,
    sender: TypistJson<'e>,
    #[serde(skip_serializing_if = "Option::is_none")]
    recipients: Option<Vec<TypistJson<'e>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_id: Option<ChannelId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    topic: Option<&'e str>,
}

#[derive(Serialize)]
struct TypistJson<'e> {
    user_id: UserId,
    email: Cow<'e, str>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum PresenceJson<'e> {
    Modern {
        presences: BTreeMap<UserId, crate::api::wire::presence::ModernPresence>,
    },
    Legacy {
        user_id: UserId,
        #[serde(skip_serializing_if = "Option::is_none")]
        email: Option<Cow<'e, str>>,
        server_timestamp: f64,
        presence: BTreeMap<&'static str, LegacyClientPresence>,
    },
}

#[derive(Serialize)]
#[serde(tag = "op", rename_all = "snake_case")]
enum GroupEventJson<'e> {
    Add { group: Box<GroupJson<'e>> },
    AddMembers { group_id: GroupId, user_ids: &'e [UserId] },
    RemoveMembers { group_id: GroupId, user_ids: &'e [UserId] },
}

impl EventWriter<'_> {
    /// An event up to its number.
    pub(super) fn other(&self, body: &EventBody) -> Vec<u8> {
        let mut out = Vec::with_capacity(128);
        if let EventBody::Flags { flag, op, messages, details } = body {
            let knows_empty_topic = self.options.capabilities.empty_topic_name;
            flags::push_open(&mut out, *flag, *op, messages, details, knows_empty_topic);
            return out;
        }
        if self.push_message_change(&mut out, body) || self.push_change(&mut out, body) {
            return out;
        }
        if let Some(shape) = self.shape(body) {
            crate::api::wire::json::push_value(&mut out, &shape);
            // The brace comes behind the number.
            out.pop();
        }
        out
    }

    fn shape<'e>(&'e self, body: &'e EventBody) -> Option<EventJson<'e>> {
        let topic_name = |topic: &'e str| shown_topic(topic, self.options.capabilities.empty_topic_name);
        Some(match body {
            EventBody::Heartbeat => EventJson::Heartbeat {},
            EventBody::ChannelsCreated(_) | EventBody::ChannelsLost(_) => {
                EventJson::Stream(self.of_channels(body)?)
            }
            EventBody::SubscriptionsAdded(_)
            | EventBody::SubscriptionsRemoved(_)
            | EventBody::PeersAdded { .. }
            | EventBody::PeersRemoved { .. } => EventJson::Subscription(self.of_subscriptions(body)?),
            EventBody::DefaultChannels(ids) => EventJson::DefaultStreams { default_streams: ids },
            EventBody::UserTopic { channel, topic, updated, policy } => EventJson::UserTopic {
                stream_id: *channel,
                topic_name: topic_name(topic),
                last_updated: updated.secs(),
                visibility_policy: policy.code(),
            },
            EventBody::MutedTopics(topics) => {
                let entry = |(channel, topic, at): &'e (String, String, Timestamp)| {
                    (channel.as_str(), topic_name(topic), at.secs())
                };
                EventJson::MutedTopics { muted_topics: topics.iter().map(entry).collect() }
            }
            EventBody::Typing { sender, is_start, place } => {
                EventJson::Typing(self.typing(sender, *is_start, place))
            }
            EventBody::Presence { .. } => EventJson::Presence(self.presence(body)?),
            EventBody::UserAdded(person) => self.user_added(person),
            EventBody::UnknownUserAdded(person) => self.unknown_user_added(person),
            EventBody::GroupAdded(_)
            | EventBody::GroupMembersAdded { .. }
            | EventBody::GroupMembersRemoved { .. } => EventJson::UserGroup(self.of_groups(body)?),
            // Written elsewhere.
            _ => return None,
        })
    }

    fn of_channels<'e>(&'e self, body: &'e EventBody) -> Option<StreamJson<'e>> {
        Some(match body {
            EventBody::ChannelsCreated(summaries) => {
                let streams = summaries.iter().map(|summary| channel(self.directory, summary)).collect();
                StreamJson::Create { streams }
            }
            EventBody::ChannelsLost(ids) => {
                let streams = ids.iter().map(|id| StreamIdJson { stream_id: *id }).collect();
                StreamJson::Delete { stream_ids: ids, streams }
            }
            _ => return None,
        })
    }

    fn of_subscriptions<'e>(&'e self, body: &'e EventBody) -> Option<SubscriptionEventJson<'e>> {
        Some(match body {
            EventBody::SubscriptionsAdded(added) => {
                let subscriptions = added.iter().map(|added| self.subscribed(added)).collect();
                SubscriptionEventJson::Add { subscriptions }
            }
            EventBody::SubscriptionsRemoved(removed) => {
                let entry = |(id, name): &'e (ChannelId, String)| RemovedJson { stream_id: *id, name };
                SubscriptionEventJson::Remove { subscriptions: removed.iter().map(entry).collect() }
            }
            EventBody::PeersAdded { channel, users } => {
                SubscriptionEventJson::PeerAdd { stream_ids: [*channel], user_ids: users }
            }
            EventBody::PeersRemoved { channel, users } => {
                SubscriptionEventJson::PeerRemove { stream_ids: [*channel], user_ids: users }
            }
            _ => return None,
        })
    }

    fn of_groups<'e>(&'e self, body: &'e EventBody) -> Option<GroupEventJson<'e>> {
        Some(match body {
            EventBody::GroupAdded(record) => {
                GroupEventJson::Add { group: Box::new(group(self.directory, record)) }
            }
            EventBody::GroupMembersAdded { group, users } => {
                GroupEventJson::AddMembers { group_id: *group, user_ids: users }
            }
            EventBody::GroupMembersRemoved { group, users } => {
                GroupEventJson::RemoveMembers { group_id: *group, user_ids: users }
            }
            _ => return None,
        })
    }

    fn subscribed<'e>(&'e self, added: &'e SubscribedChannel) -> SubscriptionJson<'e> {
        let null_notifications = self.options.capabilities.notification_settings_null;
        let subscribers = SubscriberLists { all: Some(&added.subscribers), partial: None };
        subscription(
            self.directory,
            self.owner,
            &added.summary,
            &added.subscription,
            null_notifications,
            subscribers,
        )
    }

    fn typing<'e>(&'e self, sender: &'e User, is_start: bool, place: &'e TypingPlace) -> TypingJson<'e> {
        let typist = |user: &'e User| TypistJson { user_id: user.id, email: self.email_of(user) };
        let op = if is_start { "start" } else { "stop" };
        match place {
            TypingPlace::Direct(users) => TypingJson {
                op,
                message_type: "direct",
                sender: typist(sender),
                recipients: Some(users.iter().map(|user| typist(user)).collect()),
                stream_id: None,
                topic: None,
            },
            TypingPlace::Channel { channel, topic } => TypingJson {
                op,
                message_type: "stream",
                sender: typist(sender),
                recipients: None,
                stream_id: Some(*channel),
                topic: Some(shown_topic(topic, self.options.capabilities.empty_topic_name)),
            },
        }
    }

    /// The address of somebody who does something, for whom they may be nobody.
    fn email_of<'e>(&'e self, user: &'e User) -> Cow<'e, str> {
        match self.is_restricted && !sees_user(self.directory, self.owner, user) {
            true => Cow::Owned(self.directory.made_up_email(user.id)),
            false => api_email(self.directory, user),
        }
    }

    fn presence<'e>(&'e self, body: &'e EventBody) -> Option<PresenceJson<'e>> {
        let EventBody::Presence { user, active, idle, server, .. } = body else { return None };
        let seen = shown(*active, *idle);
        if self.options.capabilities.simplified_presence_events {
            return Some(PresenceJson::Modern { presences: BTreeMap::from([(user.id, modern(seen))]) });
        }
        let email = (!self.options.slim_presence).then(|| api_email(self.directory, user));
        let presence = BTreeMap::from([("website", LegacyClientPresence::of(seen))]);
        let server_timestamp = server.0 as f64 / 1000.0;
        Some(PresenceJson::Legacy { user_id: user.id, email, server_timestamp, presence })
    }

    fn user_added<'e>(&'e self, person: &'e User) -> EventJson<'e> {
        let person = Box::new(user(self.directory, Some(self.owner), person, self.form_of_people()));
        EventJson::RealmUser { op: "add", person }
    }

    fn unknown_user_added<'e>(&'e self, person: &'e User) -> EventJson<'e> {
        let person = Box::new(unknown_user(self.directory, person, self.form_of_people()));
        EventJson::RealmUser { op: "add", person }
    }

    fn form_of_people(&self) -> UserForm {
        UserForm { client_gravatar: self.options.client_gravatar, profile_data: true, is_active: true }
    }
}
