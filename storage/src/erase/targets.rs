//! What is to be erased.

use super::accounts::AccountErasure;
use model::MessageId;
use roaring::RoaringBitmap;
use std::collections::BTreeMap;

/// What is to be erased of an organization.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ErasureTargets {
    /// Deleted messages: all of their contents.
    pub messages: RoaringBitmap,
    /// Messages of which old versions are erased, with the oldest version that stays.
    pub histories: BTreeMap<u32, u32>,
    /// Deleted accounts: names, addresses and own texts.
    pub accounts: Vec<AccountErasure>,
    /// Frames up to this one keep their contents: on development servers the seed, which a reset reads.
    pub kept_until: u64,
}

impl ErasureTargets {
    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty() && self.histories.is_empty() && self.accounts.is_empty()
    }

    /// Whether a version of a message is to be erased. Version 0 is the content as sent.
    pub(super) fn has_version(&self, id: MessageId, number: u32) -> bool {
        self.messages.contains(id.0) || self.histories.get(&id.0).is_some_and(|kept| number < *kept)
    }

    /// Whether a part of the journal may have something of it.
    pub(super) fn may_be_in(&self, messages: &RoaringBitmap) -> bool {
        !self.messages.is_disjoint(messages)
            || self.histories.keys().any(|id| messages.contains(*id))
            || !self.accounts.is_empty()
    }
}
