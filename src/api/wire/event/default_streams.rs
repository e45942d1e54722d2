//! `default_streams`: all channels that new users are subscribed to.

use model::ChannelId;
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct DefaultStreams<'e> {
    pub default_streams: &'e [ChannelId],
}
