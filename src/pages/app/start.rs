//! Who gets the page that starts the app: users who are logged in, with a browser or a current desktop app.

use super::conversation::HomeQuery;
use super::desktop::DesktopApp;
use super::page::{Chosen, Page};
use crate::http::admission::Admission;
use crate::http::call::{Call, FromCall};
use crate::http::{ApiError, App, Audience, Caller, Cookies, FormToken, HandlerResult, RawQuery};
use crate::pages::login::go_to;
use crate::pages::{MessagePage, login_path, page};
use crate::web_app::Bundle;
use actix_web::http::StatusCode;
use actix_web::http::header::USER_AGENT;
use actors::RealmHandle;
use rules::permissions::spectators::has_public_access;
use std::sync::Arc;

/// What the page depends on besides the account.
pub struct Visit {
    pub audience: Audience,
    query: String,
    desktop: DesktopApp,
    /// The language that a spectator without an account chose.
    language: Option<String>,
    language_cookie: &'static str,
}

impl FromCall for Visit {
    fn from_call(call: &mut Call<'_>) -> Result<Self, ApiError> {
        let language_cookie = Cookies::of(&App::from_call(call)?).language();
        Ok(Self {
            audience: Audience::from_call(call)?,
            language: call.cookie(language_cookie).map(str::to_owned),
            language_cookie,
            desktop: DesktopApp::of(call.header(USER_AGENT).unwrap_or_default()),
            query: RawQuery::from_call(call)?.0,
        })
    }
}

/// The page of the app. Browsers that are not logged in are sent to log in, unless there are channels that they may read.
pub async fn start(
    admission: &Admission,
    bundle: Arc<Bundle>,
    (realm, realm_url, caller): (RealmHandle, String, Option<Caller>),
    token: FormToken,
    (visit, query): (Visit, HomeQuery),
) -> HandlerResult {
    let is_open = realm.is_active() && has_public_access(&realm.directory());
    if caller.is_none() && !is_open {
        return to_login(&visit.query);
    }
    if visit.desktop == DesktopApp::Refused {
        let name = realm.directory().realm().name.clone();
        let text =
            "It has known security problems. Install the current version from https://zulip.com/apps/.";
        let title = "This version of the desktop app is too old";
        return page(StatusCode::FORBIDDEN, &MessagePage { organization: &name, title, text, link: None });
    }
    let page = Page { bundle, realm_url, csrf_token: token.text, desktop: visit.desktop, query };
    match caller {
        Some(caller) => page.for_user(admission, caller).await,
        None => {
            let chosen = Chosen { cookie: visit.language_cookie, language: visit.language.as_deref() };
            Ok(page.for_spectator(admission, &realm, chosen).await?.with_headers(token.cookie))
        }
    }
}

/// To the page for logging in, and from there back here.
fn to_login(query: &str) -> HandlerResult {
    let joint = if query.is_empty() { "" } else { "?" };
    go_to(&login_path(&format!("/{joint}{query}")), Vec::new())
}
