//! The few pages for people without a client: plain HTML from the templates beside this file, nothing to run in the
//! browser, no cookies. Everything that is filled into a template is escaped.

pub mod confirm_email;
pub mod emails;
pub mod join;

use crate::http::{Answer, ApiError, Reply};
use actix_web::http::StatusCode;
use askama::Template;

/// A page that says one thing.
#[derive(Template)]
#[template(path = "message.html", config = "src/pages/askama.toml")]
struct MessagePage<'p> {
    /// Whose page it is; empty where that is not known.
    organization: &'p str,
    title: &'p str,
    text: &'p str,
}

/// Answers a page with a status.
fn page(status: StatusCode, template: &impl Template) -> Answer {
    let html = template.render().map_err(|error| {
        tracing::error!(%error, "a page could not be written");
        ApiError::internal()
    })?;
    Ok(Reply::page(status, html))
}
