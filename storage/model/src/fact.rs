//! Facts: decisions with all their results, so that nothing is ever decided again.
//!
//! Facts are stored permanently. Variants and fields are only added at the end, and an added field needs a new schema
//! version (see `storage::codec`).

mod bounds;
mod change;
mod channel;
mod directory_change;
mod group;
mod job;
mod message;
mod personal;
mod queue;
mod realm;
mod subscription;
mod user;

pub use change::{ArrivalFact, DeletedFrom, Delivery, MessageUpdate, Movement, NewTopic, RemainingReactions};
pub use channel::ChannelFact;
pub use directory_change::DirectoryChange;
pub use group::GroupFact;
pub use job::JobFact;
pub use message::{LocalEcho, MessageFact};
pub use personal::PersonalFact;
pub use queue::QueueFact;
pub use realm::RealmFact;
pub use subscription::SubscriptionFact;
pub use user::UserFact;

use crate::attachment::AttachmentFact;
use crate::audit::AuditEntry;
use crate::ids::{EventNumber, MessageId};
use crate::invitation::InvitationFact;
use crate::picture::PictureFact;
use crate::push::PushFact;
pub use crate::ranges::MessageRanges;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// All facts of one command: the unit of the log, stored atomically.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    pub at: Timestamp,
    /// Events of this frame have this number and the following ones.
    pub first_event: EventNumber,
    pub facts: Vec<Fact>,
}

/// Something that happened in an organization, by what it is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Fact {
    Realm(RealmFact),
    User(UserFact),
    Personal(PersonalFact),
    Group(GroupFact),
    Channel(ChannelFact),
    Subscription(SubscriptionFact),
    Message(MessageFact),
    Queue(QueueFact),
    Job(JobFact),
    Push(Box<PushFact>),
    Invitation(Box<InvitationFact>),
    Picture(Box<PictureFact>),
    /// The records that this frame changes, before the change, as facts that would restore them. Has no effect; the
    /// recipients of events depend on it, also when events are rebuilt after a restart.
    PreImages(Vec<Fact>),
    Attachment(AttachmentFact),
    /// Who changed what, for the audit log; in the frame of the changes. Clients receive no event of it.
    Audit(Box<AuditEntry>),
}

impl Fact {
    /// The message whose own record it changes, if it changes one that exists.
    pub fn changed_message(&self) -> Option<MessageId> {
        let Self::Message(fact) = self else { return None };
        fact.changed_message()
    }

    /// An upper bound of the number of events of this fact: this many event numbers are reserved for it.
    pub fn events_max(&self) -> u64 {
        match self {
            Self::Realm(fact) => fact.events_max(),
            Self::User(fact) => fact.events_max(),
            Self::Personal(_) => 1,
            Self::Group(fact) => fact.events_max(),
            Self::Channel(fact) => fact.events_max(),
            Self::Subscription(fact) => fact.events_max(),
            Self::Message(fact) => fact.events_max(),
            // One for each device whose status changed.
            Self::Push(fact) => fact.events_max(),
            Self::Invitation(fact) => fact.events_max(),
            // One for all users, one for the managers of a bot.
            Self::Picture(_) => 2,
            Self::Attachment(fact) => fact.events_max(),
            Self::Queue(_) | Self::Job(_) | Self::PreImages(_) | Self::Audit(_) => 0,
        }
    }
}
