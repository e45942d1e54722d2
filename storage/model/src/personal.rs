//! Personal records of users: status and sidebar views.

use serde::{Deserialize, Serialize};

/// A user's status. At least one part is set; otherwise there is no record
/// (docs/api/presence-and-status.md#set-the-own-status).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserStatus {
    /// At most 60 characters; empty when not set.
    pub text: String,
    pub emoji: Option<StatusEmoji>,
}

/// The emoji of a status.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusEmoji {
    /// Name without colons.
    pub name: String,
    /// Code point, id or name, depending on the kind.
    pub code: String,
    /// `unicode_emoji`, `realm_emoji` or `zulip_extra_emoji`.
    pub kind: String,
}

/// A view in the left sidebar that the user configured. Its key is the URL fragment
/// (docs/api/users.md#navigation-views).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NavigationView {
    /// Shown in the sidebar, not only in the menu of further views.
    pub is_pinned: bool,
    /// Custom name; none for built-in views.
    pub name: Option<String>,
}

/// The parts of a status that a request named: events include them even if they did not change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedStatus {
    /// The legacy `away` parameter, if its value was already in effect.
    pub away: Option<bool>,
    pub text: bool,
    pub emoji: bool,
}
