//! Facts about personal records of users besides their accounts.

use crate::ids::{DraftId, SavedSnippetId, ScheduledMessageId, UserId};
use crate::personal::{NamedStatus, NavigationView, UserStatus};
use crate::texts::{SavedDraft, SavedSnippet, ScheduledMessage};
use crate::time::Timestamp;
use crate::web_session::WebSessionFact;
use serde::{Deserialize, Serialize};

/// A change of a personal record. Each leads to one event at most.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PersonalFact {
    /// A user's status is now this.
    StatusSet {
        user: UserId,
        status: Option<UserStatus>,
        /// The parts that the request named.
        named: NamedStatus,
    },
    /// A user muted or unmuted another.
    Muted {
        user: UserId,
        muted: UserId,
        /// The time of muting; none if unmuted.
        since: Option<Timestamp>,
    },
    /// A user's alert words are now these.
    AlertWordsSet { user: UserId, words: Vec<String> },
    /// A navigation view in a user's sidebar is now this.
    NavigationViewSet {
        user: UserId,
        /// The view's URL fragment, its key.
        fragment: String,
        /// The record before; none if it is new.
        before: Option<NavigationView>,
        /// The new record; none if it was removed.
        view: Option<NavigationView>,
    },
    /// A user has seen an onboarding step.
    OnboardingStepSeen {
        user: UserId,
        /// The names of all steps that the user has seen.
        steps: Vec<String>,
    },
    /// An account changed what it stores under keys. Clients receive no event of it.
    BotStorageChanged {
        user: UserId,
        /// Keys with their new values.
        set: Vec<(String, String)>,
        removed: Vec<String>,
    },
    /// A saved snippet of a user is now this.
    SavedSnippetSet {
        user: UserId,
        id: SavedSnippetId,
        /// The id was taken with it.
        is_new: bool,
        /// None: it was deleted.
        snippet: Option<SavedSnippet>,
    },
    /// A user's new drafts; their ids were taken with them.
    DraftsAdded {
        user: UserId,
        /// By id, ascending; at least one.
        drafts: Vec<(DraftId, SavedDraft)>,
    },
    /// A draft of a user is now this.
    DraftSet {
        user: UserId,
        id: DraftId,
        /// None: it was deleted.
        draft: Option<SavedDraft>,
    },
    /// All drafts of a user are deleted, because the user no longer wants them on the server. The event of the setting
    /// says so.
    DraftsForgotten { user: UserId },
    /// A scheduled message or a reminder of a user is now this.
    ScheduledMessageSet {
        user: UserId,
        id: ScheduledMessageId,
        /// The id was taken with it.
        is_new: bool,
        is_reminder: bool,
        /// None: deleted, or sent by the message in the same frame.
        message: Option<Box<ScheduledMessage>>,
    },
    /// A browser of a user was logged in or out. Clients receive no event of it.
    WebSession { user: UserId, fact: WebSessionFact },
}
