//! The web pages for people without a client: plain HTML from the templates in this folder. Only the page
//! about the server has a script. Everything inserted into a template is escaped.

pub mod about;
pub mod account_form;
pub mod app;
pub mod confirm_email;
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
pub mod sign_up;
pub mod static_files;

use crate::http::{ApiError, HandlerResult, Reply};
use actix_web::http::StatusCode;
use actors::RealmHandle;
use askama::Template;

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

/// The page of an organization with a message.
fn message_of(
    realm: &RealmHandle,
    status: StatusCode,
    title: &str,
    text: &str,
    link: Option<Link<'_>>,
) -> HandlerResult {
    page(status, &MessagePage { organization: &realm.directory().realm().name, title, text, link })
}

/// A rendered page, which is never cached.
pub fn page(status: StatusCode, template: &impl Template) -> HandlerResult {
    let html = template.render().map_err(|error| {
        tracing::error!(%error, "a page could not be rendered");
        ApiError::internal()
    })?;
    Ok(Reply::page(status, html))
}
