//! An organization.

use crate::ids::{ChannelId, RealmId};
use crate::setting::Settings;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// What the names of personal settings have in front of them among the settings of an organization, where they say
/// what new people start with.
pub const USER_DEFAULT_PREFIX: &str = "user_default/";

/// An organization: a closed world of people, channels and messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Realm {
    /// Unique on this server.
    pub id: RealmId,
    /// The short name in the host name (`sender_realm_str` on the wire); empty for the root organization.
    pub subdomain: String,
    /// What people call it.
    pub name: String,
    /// Markdown source.
    pub description: String,
    /// Domain of made-up addresses: `user12@{email_domain}`, bots' addresses.
    pub email_domain: String,
    /// When it was created.
    pub created: Timestamp,
    /// False once deactivated.
    pub is_active: bool,
    /// Changed settings by wire name without the `realm_` prefix; and, behind [`USER_DEFAULT_PREFIX`], personal
    /// settings with which new people start.
    pub settings: Settings,
    /// Channels that new people are subscribed to.
    pub default_channels: Vec<ChannelId>,
}

impl Realm {
    /// An open organization in which nobody changed anything yet.
    pub fn new(
        id: RealmId,
        subdomain: impl Into<String>,
        name: impl Into<String>,
        email_domain: impl Into<String>,
        created: Timestamp,
    ) -> Self {
        Self {
            id,
            subdomain: subdomain.into(),
            name: name.into(),
            description: String::new(),
            email_domain: email_domain.into(),
            created,
            is_active: true,
            settings: Settings::default(),
            default_channels: Vec::new(),
        }
    }
}
