//! `GET /server_settings`: what a client needs to know before login (docs/api/account.md#server-settings).

use crate::api::wire::list::Object;
use crate::http::{App, HandlerResult, Realm, RealmUrl, reply};
use crate::version::{ZULIP_FEATURE_LEVEL, ZULIP_MERGE_BASE, ZULIP_VERSION};
use actors::RealmHandle;
use rules::avatar::realm_icon_url;
use rules::markdown::{ChannelRef, EmojiRef, GroupRef, MarkdownContext, UserRef};
use rules::permissions::visitors::has_public_access;
use serde::Serialize;

#[derive(Serialize)]
struct ServerSettings {
    /// Every method that clients know, and whether it is available.
    authentication_methods: Object<[(&'static str, bool); 12]>,
    zulip_version: &'static str,
    zulip_merge_base: &'static str,
    zulip_feature_level: u32,
    push_notifications_enabled: bool,
    /// No client is too old for this server.
    is_incompatible: bool,
    email_auth_enabled: bool,
    require_email_format_usernames: bool,
    #[serde(flatten)]
    realm: Option<RealmSettings>,
    realm_web_public_access_enabled: bool,
    /// None: single sign-on is not implemented.
    external_authentication_methods: [(); 0],
}

/// Present if the host name belongs to an organization.
#[derive(Serialize)]
struct RealmSettings {
    realm_url: String,
    /// The older name of `realm_url`.
    realm_uri: String,
    realm_name: String,
    realm_icon: String,
    realm_description: String,
}

/// Returns the settings; no login is required.
pub async fn server_settings(app: App, realm: Option<Realm>, url: Option<RealmUrl>) -> HandlerResult {
    let realm_web_public_access_enabled =
        realm.as_ref().is_some_and(|Realm(realm)| has_public_access(&realm.directory()));
    let realm = realm.zip(url).map(|(Realm(realm), RealmUrl(url))| realm_settings(&realm, url));
    let methods = app.config.login_methods();
    reply(&ServerSettings {
        authentication_methods: Object([
            ("password", methods.password || methods.ldap),
            ("dev", app.is_development),
            ("email", methods.password),
            ("ldap", methods.ldap),
            ("remoteuser", false),
            ("github", false),
            ("azuread", false),
            ("gitlab", false),
            ("google", false),
            ("apple", false),
            ("saml", false),
            ("openid connect", false),
        ]),
        zulip_version: ZULIP_VERSION,
        zulip_merge_base: ZULIP_MERGE_BASE,
        zulip_feature_level: ZULIP_FEATURE_LEVEL,
        push_notifications_enabled: app.push.is_some(),
        is_incompatible: false,
        email_auth_enabled: methods.password,
        // User names of an LDAP directory need not be addresses.
        require_email_format_usernames: !methods.ldap,
        realm,
        realm_web_public_access_enabled,
        external_authentication_methods: [],
    })
}

fn realm_settings(handle: &RealmHandle, url: String) -> RealmSettings {
    let directory = handle.directory();
    let realm = directory.realm();
    RealmSettings {
        realm_uri: url.clone(),
        realm_url: url,
        realm_name: realm.name.clone(),
        realm_icon: realm_icon_url(&directory),
        realm_description: render_description(&realm.description),
    }
}

/// The description as HTML for visitors without an account: mentions and channel links stay text. Empty if the HTML is
/// too long.
pub fn render_description(markdown: &str) -> String {
    rules::markdown::render(markdown, &Visitor).unwrap_or_default().html
}

/// A visitor without an account, for whom no name resolves.
struct Visitor;

impl MarkdownContext for Visitor {
    fn user_by_name(&self, _: &str) -> Option<UserRef> {
        None
    }

    fn user_by_id(&self, _: u64) -> Option<UserRef> {
        None
    }

    fn group_by_name(&self, _: &str) -> Option<GroupRef> {
        None
    }

    fn channel_by_name(&self, _: &str) -> Option<ChannelRef> {
        None
    }

    fn newest_message_in_topic(&self, _: u64, _: &str) -> Option<u64> {
        None
    }

    fn custom_emoji(&self, _: &str) -> Option<EmojiRef> {
        None
    }
}
