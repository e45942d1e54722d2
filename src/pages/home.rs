//! `GET /`: the web app if it is installed, otherwise what this server is and how to connect clients; and the addresses that redirect
//! (docs/api/server-additions.md#pages).

use super::about;
use super::app::conversation::HomeQuery;
use super::app::start::{Visit, start};
use super::login::{NO_ORGANIZATION, go_to};
use super::{deactivated, page};
use crate::http::admission::Admission;
use crate::http::{
    ApiError, App, Caller, FormToken, HandlerResult, Params, Path, Realm, RealmUrl, no_realm, reply_ok,
};
use actix_web::http::StatusCode;
use askama::Template;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

/// What is encoded in the path of a redirect.
const ENCODED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'`')
    .add(b'{')
    .add(b'}')
    .add(b'%');

#[derive(Template)]
#[template(path = "no_organization.html", config = "src/pages/askama.toml")]
struct NoOrganizationPage {
    title: &'static str,
    /// Whether the server has no organization at all.
    is_empty: bool,
}

/// The start page of a host without an organization.
fn without_organization(app: &App) -> HandlerResult {
    // Other nodes of a cluster may have some.
    let is_empty = !app.config.cluster.is_on() && app.server.realms().is_empty();
    let title = if is_empty { "There is no organization yet" } else { NO_ORGANIZATION };
    page(StatusCode::NOT_FOUND, &NoOrganizationPage { title, is_empty })
}

/// Shows the page.
pub async fn show(
    admission: Admission,
    realm: Option<Realm>,
    url: Option<RealmUrl>,
    caller: Option<Caller>,
    token: FormToken,
    visit: Visit,
    Params(query): Params<HomeQuery>,
) -> HandlerResult {
    let (Some(Realm(realm)), Some(RealmUrl(url))) = (realm, url) else {
        return if visit.audience.wants_page {
            without_organization(&admission.app)
        } else {
            Err(no_realm())
        };
    };
    if let Some(bundle) = admission.app.web_app.current() {
        return match deactivated(&realm).filter(|_| visit.audience.wants_page) {
            Some(page) => page,
            None => start(&admission, bundle, (realm, url, caller), token, (visit, query)).await,
        };
    }
    about::of(&admission.app, (&realm, &url), caller.as_ref(), token, visit.audience)
}

/// `GET /desktop_home/`: an older address of the same page.
pub async fn desktop_home() -> HandlerResult {
    go_to("/", Vec::new())
}

/// `GET /login` and the like: browsers are led to the address with a slash.
pub async fn login() -> HandlerResult {
    go_to("/login/", Vec::new())
}

/// `GET /compatibility`: whether this server can be used by the asking client; it can by all.
pub async fn compatibility() -> HandlerResult {
    reply_ok()
}

/// `GET /help/`: redirects to the user documentation.
pub async fn help(app: App) -> HandlerResult {
    to_help(&app, "")
}

/// `GET /help/{page}`: the same page of the user documentation.
pub async fn help_page(app: App, Path(name): Path<String>) -> HandlerResult {
    to_help(&app, &name)
}

fn to_help(app: &App, name: &str) -> HandlerResult {
    let base = app.config.web.help_url.trim_end_matches('/');
    if base.is_empty() {
        return Err(ApiError::not_found());
    }
    go_to(&format!("{base}/{}", utf8_percent_encode(name, ENCODED)), Vec::new())
}
