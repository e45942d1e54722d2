//! `presence`: when a user was last online.

use super::writer::EventWriter;
use crate::api::wire::presence::{LegacyClientPresence, ModernPresence, modern, shown};
use model::{Timestamp, User, UserId};
use rules::permissions::users::api_email;
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeMap;

#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Presence<'e> {
    Modern {
        presences: BTreeMap<UserId, ModernPresence>,
    },
    Legacy {
        user_id: UserId,
        #[serde(skip_serializing_if = "Option::is_none")]
        email: Option<Cow<'e, str>>,
        server_timestamp: f64,
        presence: BTreeMap<&'static str, LegacyClientPresence>,
    },
}

pub(super) fn form(writer: &EventWriter<'_>) -> usize {
    match writer.options.capabilities.simplified_presence_events {
        true => 2,
        false => usize::from(writer.options.slim_presence),
    }
}

/// The form that the queue was registered for; `server` is the time of the report.
pub(super) fn report<'e>(
    writer: &EventWriter<'_>,
    user: &'e User,
    active: Option<Timestamp>,
    idle: Option<Timestamp>,
    server: Timestamp,
) -> Presence<'e> {
    let seen = shown(active, idle);
    if writer.options.capabilities.simplified_presence_events {
        return Presence::Modern { presences: BTreeMap::from([(user.id, modern(seen))]) };
    }
    Presence::Legacy {
        user_id: user.id,
        email: (!writer.options.slim_presence).then(|| api_email(writer.directory, user)),
        server_timestamp: server.0 as f64 / 1000.0,
        presence: BTreeMap::from([("website", LegacyClientPresence::of(seen))]),
    }
}
