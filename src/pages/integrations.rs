//! `/integrations/` and `/integrations/{name}`: the services that can post here, and how to set each up (docs/webhooks.md).

use super::login::active_realm;
use super::page;
use crate::http::{ApiError, App, HandlerResult, Path, Realm, RealmUrl, no_realm};
use actix_web::http::StatusCode;
use askama::Template;

#[derive(Template)]
#[template(path = "integrations.html", config = "src/pages/askama.toml")]
struct ListPage<'p> {
    organization: &'p str,
    integrations: Vec<(&'p str, &'p str)>,
}

#[derive(Template)]
#[template(path = "integration.html", config = "src/pages/askama.toml")]
struct OnePage<'p> {
    organization: &'p str,
    display_name: &'p str,
    /// The URL to paste into the service.
    url: String,
    has_web_app: bool,
    /// The call that creates the bot.
    create_bot: String,
    /// The call that subscribes the bot to a private channel.
    subscribe_bot: String,
    events: Vec<&'p str>,
    knows_private: bool,
}

/// Lists all of the catalog.
pub async fn list(app: App, realm: Option<Realm>) -> HandlerResult {
    let realm = match active_realm(realm) {
        Ok(realm) => realm,
        Err(shown) => return *shown,
    };
    let all = app.incoming.integrations().map(|one| (one.name.as_str(), one.display_name.as_str()));
    let mut integrations: Vec<_> = all.collect();
    integrations.sort_by_key(|(_, shown)| shown.to_lowercase());
    page(StatusCode::OK, &ListPage { organization: &realm.directory().realm().name, integrations })
}

/// Shows how to set one up. Links of clients may have `doc/` before the name, and a slash after it.
pub async fn show(
    app: App,
    realm: Option<Realm>,
    url: Option<RealmUrl>,
    Path(name): Path<String>,
) -> HandlerResult {
    let realm = match active_realm(realm) {
        Ok(realm) => realm,
        Err(shown) => return *shown,
    };
    let RealmUrl(url) = url.ok_or_else(no_realm)?;
    let name = name.strip_prefix("doc/").unwrap_or(&name).trim_end_matches('/');
    let found = app.incoming.integration(name).ok_or_else(ApiError::not_found)?;
    let directory = realm.directory();
    let template = OnePage {
        organization: &directory.realm().name,
        display_name: &found.display_name,
        url: format!("{url}/api/v1/external/{}?api_key=API_KEY&stream=CHANNEL", found.name),
        has_web_app: app.web_app.current().is_some(),
        create_bot: create_bot(&url, &found.name, &found.display_name),
        subscribe_bot: subscribe_bot(&url),
        events: found.event_names(),
        knows_private: found.knows_private,
    };
    page(StatusCode::OK, &template)
}

/// The call that creates the bot of an integration.
fn create_bot(url: &str, name: &str, display_name: &str) -> String {
    let full_name = display_name.replace('\'', "'\\''");
    format!(
        "curl -u EMAIL:API_KEY -d bot_type=2 --data-urlencode 'full_name={full_name}' -d short_name={name} {url}/api/v1/bots"
    )
}

/// The call that subscribes a bot to a channel.
fn subscribe_bot(url: &str) -> String {
    format!(
        "curl -u EMAIL:API_KEY --data-urlencode 'subscriptions=[{{\"name\":\"CHANNEL\"}}]' -d 'principals=[USER_ID]' \
         {url}/api/v1/users/me/subscriptions"
    )
}
