//! `muted_users`: all users whom the user mutes.

use crate::api::wire::user::{MutedJson, muted};
use model::{Timestamp, UserId};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct MutedUsers {
    muted_users: Vec<MutedJson>,
}

pub(super) fn all(users: &[(UserId, Timestamp)]) -> MutedUsers {
    MutedUsers { muted_users: users.iter().map(|(user, since)| muted(*user, *since)).collect() }
}
