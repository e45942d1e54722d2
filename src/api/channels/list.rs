//! `GET /streams`: channels the caller asks for and may see (api.md; endpoints.md 18).

use crate::api::wire::channel::channel;
use crate::api::wire::list::push_list;
use crate::http::{Answer, ApiError, Caller, Envelope, Fields, FromFields, Params};
use actors::queries::channel_snapshot;
use model::{Channel, Directory, User, UserId};
use rules::permissions::channel::{sees_channel, sees_content};

/// Which channels: each include adds some.
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

/// `streams`, by name.
pub async fn list_channels(caller: Caller, Params(params): Params<ListChannels>) -> Answer {
    let mut snapshot =
        channel_snapshot(&caller.realm, |directory, channel| params.wants(directory, &caller.user, channel));
    snapshot.channels.sort_by(|a, b| a.channel.name.cmp(&b.channel.name));
    let directory = &snapshot.directory;
    let mut envelope = Envelope::with_capacity(snapshot.channels.len() * 1024);
    let defaults = &directory.realm().default_channels;
    let items = snapshot.channels.iter().map(|summary| {
        let item = channel(directory, summary);
        match params.include_default {
            true => item.with_default(defaults.contains(&summary.channel.id)),
            false => item,
        }
    });
    push_list(envelope.open_field("streams"), items);
    envelope.reply()
}
