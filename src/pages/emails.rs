//! `GET /emails` and `GET /emails.json`: the e-mails that a development server has sent for an organization, for people and for
//! tests. On other servers the paths do not exist.

use super::page;
use crate::api::dev::NoParameters;
use crate::http::{ApiError, App, HandlerResult, Params, Realm, reply};
use crate::integrations::mail::{BYTES_KEPT_MAX, KeptMail, MAILS_KEPT_MAX, MailList};
use actix_web::http::StatusCode;
use askama::Template;
use serde::Serialize;
use std::sync::Arc;

#[derive(Template)]
#[template(path = "emails.html", config = "src/pages/askama.toml")]
struct EmailsPage<'p> {
    mails: &'p [Arc<KeptMail>],
    kept_max: usize,
    kept_mib_max: usize,
}

#[derive(Serialize)]
struct Emails {
    emails: Vec<Arc<KeptMail>>,
}

/// A page of the organization's e-mails, newest first, with working links.
pub async fn emails_html(app: App, Realm(realm): Realm) -> HandlerResult {
    let mails = &list(&app)?.of(realm.id());
    page(StatusCode::OK, &EmailsPage { mails, kept_max: MAILS_KEPT_MAX, kept_mib_max: BYTES_KEPT_MAX >> 20 })
}

/// The organization's e-mails, newest first, as JSON.
pub async fn emails_json(
    app: App,
    Realm(realm): Realm,
    Params(NoParameters): Params<NoParameters>,
) -> HandlerResult {
    reply(&Emails { emails: list(&app)?.of(realm.id()) })
}

fn list(app: &App) -> Result<&MailList, ApiError> {
    app.mail.list().ok_or_else(ApiError::not_found)
}
