//! `/emails`: the mails of a development server.

use super::page;
use crate::http::Answer;
use crate::outside::mail::{KeptMail, MAILS_KEPT_MAX};
use actix_web::http::StatusCode;
use askama::Template;

#[derive(Template)]
#[template(path = "emails.html", config = "src/pages/askama.toml")]
struct EmailsPage<'p> {
    mails: &'p [KeptMail],
    kept_max: usize,
}

/// All mails, newest first.
pub fn emails_page(mails: &[KeptMail]) -> Answer {
    page(StatusCode::OK, &EmailsPage { mails, kept_max: MAILS_KEPT_MAX })
}
