//! What the parts of an export share: the organization at one point, ids that exist only in exports, and how far it is.

use super::clients::Clients;
use super::scope::Scope;
use crate::transfer::problem::TransferError;
use actors::RealmHandle;
use model::{ChannelId, Directory, RealmId, RecipientId, Timestamp, UserId};
use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// What an export is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Messages were read, of this total.
    Messages(u64, u64),
    /// Everything else is being written.
    Rest,
}

/// What the parts of an export need.
pub struct Context<'r> {
    pub realm: &'r RealmHandle,
    pub scope: Scope,
    pub personal: Personal,
    pub folder: &'r Path,
    pub stop: &'r AtomicBool,
    pub progress: &'r dyn Fn(Step),
}

impl Context<'_> {
    /// Fails when the export is to end early.
    pub fn check_running(&self) -> Result<(), TransferError> {
        if self.stop.load(Ordering::Relaxed) { Err(TransferError::Stopped) } else { Ok(()) }
    }
}

/// The ids of recipients in an export. Those of single people, and of groups that have no message yet, exist only there: they come after the
/// ids of the organization at the beginning. Ids that are newer than the beginning are moved behind them.
#[derive(Clone, Copy, Debug)]
pub struct Personal {
    /// The newest recipient at the beginning.
    last: u32,
}

/// Ids for people and groups without messages.
const ROOM: u32 = 1 << 24;

impl Personal {
    /// After the recipients of an organization.
    pub fn new(directory: &Directory) -> Self {
        let channels = directory.channels().map(|channel| channel.recipient.0);
        let all = channels.chain(directory.directs().map(|direct| direct.recipient.0));
        Self { last: all.max().unwrap_or_default() }
    }

    /// The id of a channel's or conversation's recipient.
    pub fn kept(self, recipient: RecipientId) -> RecipientId {
        if recipient.0 > self.last { RecipientId(recipient.0.saturating_add(ROOM)) } else { recipient }
    }

    /// The recipient of a group without messages.
    pub fn of_group(self, number: u32) -> RecipientId {
        RecipientId(self.last.saturating_add(ROOM).saturating_sub(number))
    }

    /// The recipient of a person.
    pub fn of(self, user: UserId) -> RecipientId {
        RecipientId(self.last.saturating_add(user.0))
    }
}

/// The organization after the messages were read.
pub struct Snapshot<'s> {
    pub realm: &'s RealmHandle,
    pub directory: Directory,
    pub scope: &'s Scope,
    pub personal: Personal,
    pub clients: &'s Clients,
    pub folder: &'s Path,
    pub at: Timestamp,
    /// Groups of people to whom only scheduled messages are addressed.
    pub new_groups: BTreeMap<Vec<UserId>, RecipientId>,
    /// The channels that are exported.
    pub channels: HashSet<ChannelId>,
}

impl Snapshot<'_> {
    /// The organization's id.
    pub fn realm_id(&self) -> RealmId {
        self.directory.realm().id
    }

    /// The recipient of a person.
    pub fn personal(&self, user: UserId) -> RecipientId {
        self.personal.of(user)
    }

    /// Whether a channel is exported.
    pub fn has_channel(&self, channel: ChannelId) -> bool {
        self.channels.contains(&channel)
    }
}

/// A time as exports have it.
pub fn seconds(at: Timestamp) -> f64 {
    at.0 as f64 / 1000.0
}

/// The value beside the tables with the domain of the addresses of bots; only exports of this server have it.
pub const EMAIL_DOMAIN: &str = "millstream_email_domain";
