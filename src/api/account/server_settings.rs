//! `GET /server_settings`: what a client needs to know before login (docs/api/account.md#server-settings).

use crate::http::{App, HandlerResult, Realm, RealmUrl, reply};
use crate::version::{ZULIP_FEATURE_LEVEL, ZULIP_MERGE_BASE, ZULIP_VERSION};
use actors::RealmHandle;
use rules::avatar::realm_icon_url;
use rules::markdown::{ChannelRef, EmojiRef, GroupRef, MarkdownContext, UserRef};
use rules::settings::realm_bool;
use serde::Serialize;

#[derive(Serialize)]
struct ServerSettings {
    authentication_methods: AuthenticationMethods,
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
    /// None: accounts are those of this server.
    external_authentication_methods: [(); 0],
}

/// Which ways to log in there are, by the names that clients know.
#[derive(Serialize)]
struct AuthenticationMethods {
    password: bool,
    dev: bool,
    email: bool,
    ldap: bool,
    remoteuser: bool,
    github: bool,
    azuread: bool,
    gitlab: bool,
    google: bool,
    apple: bool,
    saml: bool,
    #[serde(rename = "openid connect")]
    openid_connect: bool,
}

/// Present where the host name is that of an organization.
#[derive(Serialize)]
struct RealmSettings {
    realm_url: String,
    /// The older name of `realm_url`.
    realm_uri: String,
    realm_name: String,
    realm_icon: String,
    realm_description: String,
}

/// Answers everybody.
pub async fn server_settings(app: App, realm: Option<Realm>, url: Option<RealmUrl>) -> HandlerResult {
    let realm_web_public_access_enabled =
        realm.as_ref().is_some_and(|Realm(realm)| has_public_channels(realm));
    let realm = realm.zip(url).map(|(Realm(realm), RealmUrl(url))| realm_settings(&realm, url));
    let methods = app.config.login_methods();
    reply(&ServerSettings {
        authentication_methods: AuthenticationMethods {
            password: methods.password || methods.ldap,
            dev: app.is_development,
            email: methods.password,
            ldap: methods.ldap,
            remoteuser: false,
            github: false,
            azuread: false,
            gitlab: false,
            google: false,
            apple: false,
            saml: false,
            openid_connect: false,
        },
        zulip_version: ZULIP_VERSION,
        zulip_merge_base: ZULIP_MERGE_BASE,
        zulip_feature_level: ZULIP_FEATURE_LEVEL,
        push_notifications_enabled: app.push.is_some(),
        is_incompatible: false,
        email_auth_enabled: methods.password,
        // A directory has names of its own.
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

/// Whether somebody without an account finds anything to read.
fn has_public_channels(handle: &RealmHandle) -> bool {
    let directory = handle.directory();
    realm_bool(directory.realm(), "enable_spectator_access")
        && directory.channels().any(|channel| channel.is_web_public && !channel.is_archived)
}

/// The organization presents itself to strangers: names of people and channels stay text. Too much HTML,
/// which an administrator would have to work for, gives none.
fn render_description(markdown: &str) -> String {
    rules::markdown::render(markdown, &Stranger).unwrap_or_default().html
}

/// Somebody who knows nobody here.
struct Stranger;

impl MarkdownContext for Stranger {
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
