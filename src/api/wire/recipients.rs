//! `to` of texts that are not sent yet.

use model::{ChannelId, UserId};
use serde::Serialize;

/// Where a text is to be sent.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum To {
    /// To a topic of a channel, in a list.
    Channels([ChannelId; 1]),
    /// To users; empty: not decided.
    People(Vec<UserId>),
}

/// The other users of a conversation; the owner alone if there are none.
pub fn others(owner: UserId, users: &[UserId]) -> Vec<UserId> {
    let others: Vec<UserId> = users.iter().copied().filter(|user| *user != owner).collect();
    if others.is_empty() { vec![owner] } else { others }
}
