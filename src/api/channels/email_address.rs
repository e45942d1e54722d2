//! `GET /streams/{stream_id}/email_address`: the e-mail address for sending to a channel
//! (docs/api/channels.md#e-mail-address).

use crate::http::{ApiError, App, Caller, Fields, FromFields, HandlerResult, Params, Path, reply};
use actors::gateway_bot;
use model::{ChannelId, Directory, User};
use rules::RuleError;
use rules::bots::access_bot;
use rules::permissions::channel::{Archived, ChannelRef, access_channel_content};
use serde::Serialize;
use std::sync::Arc;

/// The sender of what is mailed.
pub struct AddressSender {
    sender: Option<u32>,
}

impl FromFields for AddressSender {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self { sender: fields.optional_id("sender_id")? })
    }
}

#[derive(Serialize)]
struct EmailAddress {
    email: String,
}

/// Returns the caller's own address of a channel; empty where mail is not received.
pub async fn email_address(
    app: App,
    caller: Caller,
    Path(id): Path<ChannelId>,
    Params(request): Params<AddressSender>,
) -> HandlerResult {
    let directory = caller.realm.directory();
    let wanted = ChannelRef::Id(id.0.into());
    let readable = access_channel_content(&directory, &caller.user, wanted, Archived::Refused)?;
    let sender = sender(&directory, &caller.user, request.sender)?;
    let channel = readable.channel();
    let address = app.hosts.mail_addresses().map(|addresses| {
        addresses.of_channel(&caller.realm, (channel.id, &channel.name), &caller.user, &sender)
    });
    reply(&EmailAddress { email: address.unwrap_or_default() })
}

/// The e-mail gateway bot, the caller, or one of the caller's bots: for others, an address is as much as an API key.
fn sender(directory: &Directory, caller: &Arc<User>, wanted: Option<u32>) -> Result<Arc<User>, RuleError> {
    let gateway = gateway_bot(directory);
    let Some(id) = wanted.filter(|id| gateway.is_none_or(|bot| bot.id.0 != *id)) else {
        return gateway.cloned().ok_or(RuleError::InsufficientPermission);
    };
    if id == caller.id.0 {
        return Ok(caller.clone());
    }
    let bot = access_bot(directory, caller, id.into())?;
    let is_own = bot.owner() == Some(caller.id) && bot.is_active;
    if is_own { Ok(bot.clone()) } else { Err(RuleError::InsufficientPermission) }
}
