//! The web pages for people without a client: plain HTML from the templates in this folder. Only the pages about the server and for
//! logging in, and those of the reference on a development server, have a script. Everything inserted into a template is escaped.

pub mod about;
pub mod account_form;
pub mod app;
pub mod confirm_email;
mod description;
pub mod devlogin;
pub mod emails;
pub mod favicon;
pub mod find;
pub mod home;
pub mod integrations;
pub mod join;
pub mod login;
mod open_to;
pub mod password_reset;
pub mod problem;
pub mod reference;
mod requested_mails;
pub mod sign_up;
pub mod static_files;
pub mod unsubscribe;

use crate::http::{ApiError, HandlerResult, Reply};
use crate::integrations::mail::SETTINGS_PAGE;
use actix_web::http::StatusCode;
use actors::RealmHandle;
use askama::Template;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// The path of the script that names the conversation of a link, and keeps it while a person logs in.
pub const SCRIPT_PATH: &str = "/static/millstream/conversation.js";
/// The path of the page to log in. Desktop apps recognize it by its end.
pub const LOGIN_PAGE: &str = "/login/";
/// What stays as it is in the parameter `next`.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'_').remove(b'.').remove(b'~');
/// Longest e-mail address that a form takes, in bytes.
const ADDRESS_BYTES_MAX: usize = 254;
/// The title of pages of an organization that is deactivated.
const DEACTIVATED_TITLE: &str = "This organization has been deactivated";

/// A page with a title and a text.
#[derive(Template)]
#[template(path = "message.html", config = "src/pages/askama.toml")]
pub struct MessagePage<'p> {
    /// Name of the organization; empty if it is unknown.
    organization: &'p str,
    title: &'p str,
    text: &'p str,
    /// What to do next, besides the start page.
    link: Option<Link<'p>>,
}

/// A link of a page: its path and its words.
#[derive(Clone, Copy)]
pub struct Link<'p> {
    path: &'p str,
    words: &'p str,
}

/// For people who may have an account already.
const LOG_IN: Link<'_> = Link { path: LOGIN_PAGE, words: "Log in" };
/// The link to how settings are changed.
const SETTINGS: Link<'_> = Link { path: SETTINGS_PAGE, words: "How to change your settings" };

/// The address of the page to log in, which leads back to a path of this host.
fn login_path(next: &str) -> String {
    format!("{LOGIN_PAGE}?next={}", utf8_percent_encode(next, PLAIN))
}

/// The page of an organization with a message.
pub fn message_of(
    realm: &RealmHandle,
    status: StatusCode,
    title: &str,
    text: &str,
    link: Option<Link<'_>>,
) -> HandlerResult {
    page(status, &MessagePage { organization: &realm.directory().realm().name, title, text, link })
}

/// The page of a deactivated organization; none if it is active.
fn deactivated(realm: &RealmHandle) -> Option<HandlerResult> {
    let text = "It cannot be used until the operator of the server reactivates it. What is in it is kept.";
    (!realm.is_active()).then(|| message_of(realm, StatusCode::FORBIDDEN, DEACTIVATED_TITLE, text, None))
}

/// A rendered page, which is never cached.
pub fn page(status: StatusCode, template: &impl Template) -> HandlerResult {
    Ok(Reply::page(status, rendered(template)?))
}

/// A rendered page with a script of this server, which is never cached.
fn scripted_page(status: StatusCode, template: &impl Template) -> HandlerResult {
    Ok(Reply::scripted_page(status, rendered(template)?))
}

/// A rendered page with a script that makes calls to this server, which is never cached.
fn calling_page(status: StatusCode, template: &impl Template) -> HandlerResult {
    Ok(Reply::calling_page(status, rendered(template)?))
}

fn rendered(template: &impl Template) -> Result<String, ApiError> {
    template.render().map_err(|error| {
        tracing::error!(%error, "a page could not be rendered");
        ApiError::internal()
    })
}
