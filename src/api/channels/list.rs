//! `GET /streams`: the requested channels that the requester may see (docs/api/channels.md#list-channels).

use crate::api::encoded_lists::EncodedLists;
use crate::api::wire::json::push_field;
use crate::http::admission::Admission;
use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params};
use actors::queries::channel_snapshot;
use model::{Channel, Directory, User, UserId};
use rules::permissions::channel::{sees_channel, sees_content};

/// The channels to list: each `include` adds some.
pub struct ListChannels {
    include_public: bool,
    include_web_public: bool,
    include_subscribed: bool,
    exclude_archived: bool,
    include_all: bool,
    include_default: bool,
    include_owner_subscribed: bool,
    include_can_access_content: bool,
}

impl FromFields for ListChannels {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let include_all = fields.bool_or("include_all", false)?;
        Ok(Self {
            include_public: fields.bool_or("include_public", true)?,
            include_web_public: fields.bool_or("include_web_public", false)?,
            include_subscribed: fields.bool_or("include_subscribed", true)?,
            exclude_archived: fields.bool_or("exclude_archived", true)?,
            include_all: fields.bool_or("include_all_active", false)? || include_all,
            include_default: fields.bool_or("include_default", false)?,
            include_owner_subscribed: fields.bool_or("include_owner_subscribed", false)?,
            include_can_access_content: fields.bool_or("include_can_access_content", false)?,
        })
    }
}

impl ListChannels {
    fn wants(&self, directory: &Directory, caller: &User, channel: &Channel) -> bool {
        if self.exclude_archived && channel.is_archived {
            return false;
        }
        if self.include_all {
            return sees_channel(directory, caller, channel);
        }
        let owner: Option<UserId> = caller.bot.as_ref().and_then(|bot| bot.owner);
        let is_of_owner = || owner.is_some_and(|owner| directory.is_subscribed(channel.id, owner));
        self.include_subscribed && directory.is_subscribed(channel.id, caller.id)
            || self.include_public && !channel.invite_only && !caller.is_guest()
            || self.include_web_public && channel.is_web_public && !channel.is_archived
            || self.include_can_access_content && sees_content(directory, caller, channel)
            || self.include_owner_subscribed && is_of_owner()
    }
}

/// With more channels than this, the list is written off the HTTP threads.
const CHANNELS_INLINE_MAX: usize = 100;

/// Lists `streams` by name.
pub async fn list_channels(
    admission: Admission,
    caller: Caller,
    Params(params): Params<ListChannels>,
) -> HandlerResult {
    let shared = admission.app.encoded_lists.clone();
    if caller.realm.directory().channel_count() <= CHANNELS_INLINE_MAX {
        return write_channels(&caller, &params, &shared);
    }
    admission.enter_pages()?.work(move || write_channels(&caller, &params, &shared)).await?
}

fn write_channels(caller: &Caller, params: &ListChannels, shared: &EncodedLists) -> HandlerResult {
    let snapshot =
        channel_snapshot(&caller.realm, |directory, channel| params.wants(directory, &caller.user, channel));
    let encoded = shared.channels(&snapshot.directory).encode(&snapshot.channels);
    let mut by_name: Vec<usize> = (0..snapshot.channels.len()).collect();
    by_name.sort_by(|a, b| snapshot.channels[*a].channel.name.cmp(&snapshot.channels[*b].channel.name));
    let defaults = &snapshot.directory.realm().default_channels;
    let mut envelope = shared.envelope(1024);
    envelope.open_field("streams").push(b'[');
    for (position, index) in by_name.into_iter().enumerate() {
        if position > 0 {
            envelope.buffer().push(b',');
        }
        envelope.splice(encoded.object(index));
        if params.include_default {
            let id = snapshot.channels[index].channel.id;
            push_field(envelope.buffer(), "is_default", &defaults.contains(&id));
        }
        envelope.buffer().push(b'}');
    }
    envelope.buffer().push(b']');
    envelope.reply()
}
