//! `stream`: channels that the user can see.

use super::writer::EventWriter;
use crate::api::wire::channel::{ChannelJson, channel};
use crate::api::wire::group::{GroupSettingJson, group_setting};
use model::ChannelId;
use model::event::{ChannelChange, ChannelSummary};
use serde::Serialize;

#[derive(Serialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub(super) enum Stream<'e> {
    Create {
        streams: Vec<ChannelJson<'e>>,
    },
    /// `streams` repeats `stream_ids` for older clients.
    Delete {
        stream_ids: &'e [ChannelId],
        streams: Vec<StreamIdJson>,
    },
    Update(Updated<'e>),
}

#[derive(Serialize)]
pub(super) struct StreamIdJson {
    stream_id: ChannelId,
}

/// One property, with those that change together with it.
#[derive(Serialize)]
pub(super) struct Updated<'e> {
    stream_id: ChannelId,
    /// Before the change, if it is the name that changed.
    name: &'e str,
    property: &'e str,
    value: Value<'e>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rendered_description: Option<&'e str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    is_web_public: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    history_public_to_subscribers: Option<bool>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Value<'e> {
    Text(&'e str),
    Bool(bool),
    Number(Option<i64>),
    Group(GroupSettingJson<'e>),
}

pub(super) fn create<'e>(writer: &EventWriter<'_>, channels: &'e [ChannelSummary]) -> Stream<'e> {
    Stream::Create { streams: channels.iter().map(|summary| channel(writer.directory, summary)).collect() }
}

pub(super) fn delete(stream_ids: &[ChannelId]) -> Stream<'_> {
    let streams = stream_ids.iter().map(|id| StreamIdJson { stream_id: *id }).collect();
    Stream::Delete { stream_ids, streams }
}

pub(super) fn update<'e>(
    writer: &EventWriter<'_>,
    stream_id: ChannelId,
    name: &'e str,
    change: &'e ChannelChange,
) -> Stream<'e> {
    let number = |value: Option<u32>| Value::Number(value.map(i64::from));
    let (property, value) = match change {
        ChannelChange::Name(name) => ("name", Value::Text(name)),
        ChannelChange::Description { text, .. } => ("description", Value::Text(text)),
        ChannelChange::Privacy { invite_only, .. } => ("invite_only", Value::Bool(*invite_only)),
        ChannelChange::Permission(name, setting) => {
            (*name, Value::Group(group_setting(writer.directory, setting)))
        }
        ChannelChange::TopicsPolicy(policy) => ("topics_policy", Value::Text(policy.as_str())),
        ChannelChange::Retention(days) => ("message_retention_days", Value::Number(days.map(i64::from))),
        ChannelChange::Folder(folder) => ("folder_id", number(folder.map(|folder| folder.0))),
        ChannelChange::PostPolicy(policy) => ("stream_post_policy", number(Some(u32::from(*policy)))),
        ChannelChange::FirstMessage(message) => ("first_message_id", number(message.map(|id| id.0))),
        ChannelChange::AnnouncementOnly(is_set) => ("is_announcement_only", Value::Bool(*is_set)),
        ChannelChange::Archived(is_set) => ("is_archived", Value::Bool(*is_set)),
        ChannelChange::Activity(is_set) => ("is_recently_active", Value::Bool(*is_set)),
    };
    let mut updated = Updated {
        stream_id,
        name,
        property,
        value,
        rendered_description: None,
        is_web_public: None,
        history_public_to_subscribers: None,
    };
    if let ChannelChange::Description { rendered, .. } = change {
        updated.rendered_description = Some(rendered);
    }
    if let ChannelChange::Privacy { is_web_public, history_public_to_subscribers, .. } = change {
        updated.is_web_public = Some(*is_web_public);
        updated.history_public_to_subscribers = Some(*history_public_to_subscribers);
    }
    Stream::Update(updated)
}
