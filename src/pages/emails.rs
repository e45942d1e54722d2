//! `GET /emails` and `GET /emails.json`: the e-mails sent by a development server, for people and for tests. On other
//! servers the paths do not exist.

use super::page;
use crate::http::{ApiError, App, HandlerResult, reply};
use crate::integrations::mail::{KeptMail, MAILS_KEPT_MAX, MailList};
use actix_web::http::StatusCode;
use askama::Template;
use serde::Serialize;

#[derive(Template)]
#[template(path = "emails.html", config = "src/pages/askama.toml")]
struct EmailsPage<'p> {
    mails: &'p [KeptMail],
    kept_max: usize,
}

#[derive(Serialize)]
struct Emails {
    emails: Vec<KeptMail>,
}

/// A page of all e-mails, newest first, with working links.
pub async fn emails_html(app: App) -> HandlerResult {
    page(StatusCode::OK, &EmailsPage { mails: &list(&app)?.all(), kept_max: MAILS_KEPT_MAX })
}

/// All e-mails, newest first, as JSON.
pub async fn emails_json(app: App) -> HandlerResult {
    reply(&Emails { emails: list(&app)?.all() })
}

fn list(app: &App) -> Result<&MailList, ApiError> {
    app.mail.list().ok_or_else(ApiError::not_found)
}
