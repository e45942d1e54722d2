//! What handlers get to know of the browser that calls: its web session, and the CSRF token for forms.

use super::call::{Call, FromCall};
use super::error::ApiError;
use super::web_session::{Cookies, cookie};
use actix_web::http::header::{HeaderName, HeaderValue};
use actors::login::random_secret;
use model::WebSessionKey;

/// The web session that a request came with, for endpoints that spare it or end it.
pub struct OwnSession(pub Option<WebSessionKey>);

impl FromCall for OwnSession {
    fn from_call(call: &mut Call<'_>) -> Result<Self, ApiError> {
        Ok(Self(call.session.as_ref().map(|session| session.key)))
    }
}

/// The CSRF token for the forms of a page.
pub struct FormToken {
    pub text: String,
    /// The header with which the browser receives a new one.
    pub cookie: Option<(HeaderName, HeaderValue)>,
}

impl FromCall for FormToken {
    fn from_call(call: &mut Call<'_>) -> Result<Self, ApiError> {
        if let Some(session) = &call.session {
            return Ok(Self { text: session.csrf_token(), cookie: None });
        }
        let cookies = Cookies::of(&call.app);
        if let Some(known) = cookie(call.request.headers(), cookies.csrf()) {
            return Ok(Self { text: known.to_owned(), cookie: None });
        }
        let text = random_secret()?;
        Ok(Self { cookie: cookies.give_token(&text), text })
    }
}
