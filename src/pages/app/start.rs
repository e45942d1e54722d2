//! Who gets the page that starts the app: users who are logged in, with a browser or a current desktop app.

use super::conversation::HomeQuery;
use super::desktop::DesktopApp;
use super::page::Page;
use super::params::LOGIN_PAGE;
use crate::http::admission::Admission;
use crate::http::call::{Call, FromCall};
use crate::http::{ApiError, Caller, HandlerResult, RawQuery};
use crate::pages::login::go_to;
use crate::pages::{MessagePage, page};
use crate::web_app::Bundle;
use actix_web::http::StatusCode;
use actix_web::http::header::USER_AGENT;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use std::sync::Arc;

/// What stays as it is in the parameter `next`.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// What the page depends on besides the account.
pub struct Visit {
    query: String,
    desktop: DesktopApp,
}

impl FromCall for Visit {
    fn from_call(call: &mut Call) -> Result<Self, ApiError> {
        Ok(Self {
            desktop: DesktopApp::of(call.header(USER_AGENT).unwrap_or_default()),
            query: RawQuery::from_call(call)?.0,
        })
    }
}

/// The page of the app; visitors who are not logged in are sent to log in.
pub async fn start(
    admission: &Admission,
    bundle: Arc<Bundle>,
    (caller, realm_url, csrf_token): (Option<Caller>, String, String),
    visit: Visit,
    query: HomeQuery,
) -> HandlerResult {
    let Some(caller) = caller else { return to_login(&visit.query) };
    if visit.desktop == DesktopApp::Refused {
        let name = caller.realm.directory().realm().name.clone();
        let text =
            "It has known security problems. Install the current version from https://zulip.com/apps/.";
        let title = "This version of the desktop app is too old";
        return page(StatusCode::FORBIDDEN, &MessagePage { organization: &name, title, text });
    }
    Page { bundle, realm_url, csrf_token, desktop: visit.desktop, query }.for_user(admission, caller).await
}

/// To the page for logging in, and from there back here.
fn to_login(query: &str) -> HandlerResult {
    let joint = if query.is_empty() { "" } else { "?" };
    let next = format!("/{joint}{query}");
    go_to(&format!("{LOGIN_PAGE}?next={}", utf8_percent_encode(&next, PLAIN)), Vec::new())
}
