//! `default_stream_groups`: all groups of default channels.

use crate::api::wire::lists::{DefaultGroupJson, default_group};
use model::{DefaultChannelGroup, Listed};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct DefaultStreamGroups<'e> {
    default_stream_groups: Vec<DefaultGroupJson<'e>>,
}

pub(super) fn all(groups: &Listed<DefaultChannelGroup>) -> DefaultStreamGroups<'_> {
    DefaultStreamGroups { default_stream_groups: groups.items.iter().map(default_group).collect() }
}
