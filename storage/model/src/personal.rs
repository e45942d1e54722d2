//! What people keep for themselves or show to others: a status, views in the sidebar.

use serde::{Deserialize, Serialize};

/// What somebody says about themselves (endpoints.md 12). At least one part is set; without any there is no record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserStatus {
    /// At most 60 characters; empty when not set.
    pub text: String,
    /// Empty when not set.
    pub emoji: Option<StatusEmoji>,
}

/// The emoji of a status.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusEmoji {
    /// Its name.
    pub name: String,
    /// Its code, by kind.
    pub code: String,
    /// `unicode_emoji`, `realm_emoji` or `zulip_extra_emoji`.
    pub kind: String,
}

/// A view in the left sidebar that somebody configured (endpoints.md 17). Its fragment is its key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NavigationView {
    /// Visible in the sidebar, not only in the menu of more views.
    pub is_pinned: bool,
    /// Own name; none for built-in views.
    pub name: Option<String>,
}

/// Which parts of a status a request named: clients are told of these, be they what they were or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedStatus {
    /// The older way to hide one's presence, where the request repeated what it is already.
    pub away: Option<bool>,
    /// The text.
    pub text: bool,
    /// The emoji.
    pub emoji: bool,
}
