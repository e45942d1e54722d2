//! `GET /emails` and `GET /emails.json`: what a development server has sent, for people and for their tests. Elsewhere
//! there is no such path.

use crate::http::{Answer, ApiError, App, reply};
use crate::outside::mail::{KeptMail, MailList};
use crate::pages::emails::emails_page;
use serde::Serialize;

/// The fields.
#[derive(Serialize)]
struct Emails {
    emails: Vec<KeptMail>,
}

/// A page of all mails, newest first, with links that work.
pub async fn emails_html(app: App) -> Answer {
    emails_page(&list(&app)?.all())
}

/// The same for programs.
pub async fn emails_json(app: App) -> Answer {
    reply(&Emails { emails: list(&app)?.all() })
}

fn list(app: &App) -> Result<&MailList, ApiError> {
    app.mail.list().ok_or_else(ApiError::not_found)
}
