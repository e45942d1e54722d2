//! `GET /users/me/{stream_id}/topics`: the topics of a channel, newest first (endpoints.md 16).

use crate::api::wire::list::push_list;
use crate::http::host::Realm;
use crate::http::{Answer, ApiError, Caller, Envelope, Fields, FromFields, Params, Path};
use actors::queries::{TopicSummary, topics};
use model::{ChannelId, MessageId};
use rules::permissions::channel::{
    Archived, ChannelRef, History, access_channel_content, access_web_public_channel,
};
use rules::settings::realm_bool;
use rules::topics::shown_topic;
use serde::Serialize;

/// The parameter.
pub struct ListTopics {
    allow_empty_topic_name: bool,
}

impl FromFields for ListTopics {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self { allow_empty_topic_name: fields.bool_or("allow_empty_topic_name", false)? })
    }
}

#[derive(Serialize)]
struct Topic<'a> {
    name: &'a str,
    max_id: MessageId,
}

/// `topics`. Of a channel with protected history only those of messages that the caller was given; without an
/// account only those of web-public channels.
pub async fn list_topics(
    caller: Option<Caller>,
    Realm(realm): Realm,
    Path(id): Path<ChannelId>,
    Params(params): Params<ListTopics>,
) -> Answer {
    let directory = realm.directory();
    let wanted = ChannelRef::Id(id.0.into());
    let found = match &caller {
        Some(caller) => {
            let user = &caller.user;
            let readable = access_channel_content(&directory, user, wanted, Archived::Allowed)?;
            let is_protected = matches!(readable.history(), History::Delivered(_));
            topics(&realm, id, is_protected.then_some(user))
        }
        None if !realm_bool(directory.realm(), "enable_spectator_access") => {
            return Err(ApiError::not_logged_in());
        }
        None => {
            access_web_public_channel(&directory, wanted)?;
            topics(&realm, id, None)
        }
    };
    let items = found.iter().map(|TopicSummary { name, max_id }| Topic {
        name: shown_topic(name, params.allow_empty_topic_name),
        max_id: *max_id,
    });
    let mut envelope = Envelope::with_capacity(found.len() * 64);
    push_list(envelope.open_field("topics"), items);
    envelope.reply()
}
