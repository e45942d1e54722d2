//! `GET /server_settings`: what a client needs to know before login (docs/api/account.md#server-settings).

use crate::api::wire::encoded_cache::EncodedCache;
use crate::api::wire::list::Object;
use crate::http::{App, HandlerResult, Realm, RealmUrl, reply};
use crate::version::{ZULIP_FEATURE_LEVEL, ZULIP_MERGE_BASE, ZULIP_VERSION};
use actors::RealmHandle;
use rules::avatar::realm_icon_url;
use rules::markdown::NoNames;
use rules::permissions::spectators::has_public_access;
use serde::Serialize;
use std::cell::RefCell;
use std::sync::{Arc, Weak};

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
        realm_description: render_description(realm),
    }
}

/// Descriptions that a thread keeps as HTML, and the largest one in bytes.
const DESCRIPTIONS_MAX: usize = 128;
const DESCRIPTION_BYTES_MAX: usize = 32 << 10;

thread_local! {
    /// By organization, with the record that each was rendered from.
    static DESCRIPTIONS: RefCell<EncodedCache<Weak<model::Realm>>> =
        const { RefCell::new(EncodedCache::new(DESCRIPTIONS_MAX, DESCRIPTION_BYTES_MAX)) };
}

/// The description as HTML for spectators without an account: mentions and channel links stay text. Empty if the HTML is
/// too long. It is rendered once for each state of the organization's record, because anyone may ask for it.
pub fn render_description(realm: &Arc<model::Realm>) -> String {
    rendered_once(realm, |markdown| rules::markdown::render(markdown, &NoNames).unwrap_or_default().html)
}

fn rendered_once(realm: &Arc<model::Realm>, render: impl FnOnce(&str) -> String) -> String {
    let is_same = |known: &Weak<model::Realm>| std::ptr::eq(known.as_ptr(), Arc::as_ptr(realm));
    let encode = |out: &mut Vec<u8>| {
        out.extend_from_slice(render(&realm.description).as_bytes());
        Some(Arc::downgrade(realm))
    };
    let mut html = Vec::new();
    DESCRIPTIONS.with_borrow_mut(|kept| kept.push(&mut html, realm.id.0, is_same, encode));
    // It is what was rendered.
    String::from_utf8(html).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::wire::fixture;
    use model::Realm;

    #[test]
    fn description_is_rendered_once_for_each_record() {
        let realm = fixture::directory().realm().clone();
        let mut changed = Realm::clone(&realm);
        changed.description = "**new**".to_owned();
        let changed = Arc::new(changed);
        let renders = std::cell::Cell::new(0);
        let show = |realm: &Arc<Realm>| {
            rendered_once(realm, |markdown| {
                renders.set(renders.get() + 1);
                format!("<p>{markdown}</p>")
            })
        };
        let first = show(&realm);
        assert_eq!((first.clone(), renders.get()), (format!("<p>{}</p>", realm.description), 1));
        assert_eq!((show(&realm), renders.get()), (first, 1));
        assert_eq!((show(&changed), renders.get()), ("<p>**new**</p>".to_owned(), 2));
        assert_eq!(render_description(&Arc::new(Realm::clone(&changed))), "<p><strong>new</strong></p>");
    }
}
