//! Web sessions in requests: the cookies of a browser, the account that is logged in, and CSRF tokens.
//!
//! The cookie has the session's secret, of which only a hash is stored. The CSRF token is derived from the secret, so
//! that it belongs to one session; forms of pages without a login have a random token of their own in a cookie.

use super::app::App;
use super::caller::Caller;
use super::error::{ApiError, Code};
use super::params::Fields;
use actix_web::http::header::{
    COOKIE, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN, REFERER, SET_COOKIE,
};
use actors::RealmHandle;
use actors::login::csrf_token;
use model::WebSessionKey;
use subtle::ConstantTimeEq;

/// The header with the CSRF token.
const CSRF_HEADER: HeaderName = HeaderName::from_static("x-csrftoken");
/// The field that forms have instead.
pub const CSRF_FIELD: &str = "csrfmiddlewaretoken";
/// Maximum length of a cookie that this server sets, in bytes.
const COOKIE_BYTES_MAX: usize = 64;

/// Names and attributes of the cookies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cookies {
    /// Whether the server is reached through HTTPS: then only this host, and only over HTTPS, gets the cookies.
    pub is_secure: bool,
    /// Seconds for which a browser keeps them.
    pub age_secs: u64,
}

impl Cookies {
    /// The cookies of a server.
    pub fn of(app: &App) -> Self {
        Self { is_secure: app.hosts.is_https(), age_secs: app.config.sessions.idle_secs.get() }
    }

    fn session(self) -> &'static str {
        if self.is_secure { "__Host-sessionid" } else { "sessionid" }
    }

    pub(super) fn csrf(self) -> &'static str {
        if self.is_secure { "__Host-csrftoken" } else { "csrftoken" }
    }

    /// The cookie in which the web app keeps the language that a spectator chose.
    pub fn language(self) -> &'static str {
        if self.is_secure { "__Host-django_language" } else { "django_language" }
    }

    fn set(self, name: &str, value: &str, age_secs: u64) -> Option<(HeaderName, HeaderValue)> {
        let secure = if self.is_secure { "; Secure" } else { "" };
        let text = format!("{name}={value}; Path=/; Max-Age={age_secs}; HttpOnly; SameSite=Lax{secure}");
        // Our values are base64.
        Some((SET_COOKIE, HeaderValue::from_str(&text).ok()?))
    }

    /// The headers that log a browser in.
    pub fn log_in(self, secret: &str) -> Vec<(HeaderName, HeaderValue)> {
        let session = self.set(self.session(), secret, self.age_secs);
        session.into_iter().chain(self.set(self.csrf(), &csrf_token(secret), self.age_secs)).collect()
    }

    /// The headers that log a browser out.
    pub fn log_out(self) -> Vec<(HeaderName, HeaderValue)> {
        [self.session(), self.csrf()].into_iter().filter_map(|name| self.set(name, "", 0)).collect()
    }

    /// The header that gives a browser the token of forms without a login.
    pub(super) fn give_token(self, token: &str) -> Option<(HeaderName, HeaderValue)> {
        self.set(self.csrf(), token, self.age_secs)
    }
}

/// The value of a cookie of a request.
pub(super) fn cookie<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let lines = headers.get_all(COOKIE).filter_map(|line| line.to_str().ok());
    let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let mut values = pairs.filter(|(known, _)| *known == name).map(|(_, value)| value);
    values.next().filter(|value| !value.is_empty() && value.len() <= COOKIE_BYTES_MAX)
}

/// The web session that a request came with.
#[derive(Clone)]
pub struct OpenSession {
    pub key: WebSessionKey,
    secret: String,
    /// Whether its use is to be recorded, and the cookies to be renewed.
    pub is_use_due: bool,
}

impl OpenSession {
    /// The account that is logged in at the organization of the request; none without a valid session.
    ///
    /// # Errors
    /// REALM_DEACTIVATED, USER_DEACTIVATED.
    pub fn find(
        app: &App,
        realm: Option<&RealmHandle>,
        headers: &HeaderMap,
    ) -> Result<Option<(Caller, Self)>, ApiError> {
        let Some(secret) = cookie(headers, Cookies::of(app).session()) else { return Ok(None) };
        let Some(realm) = realm else { return Ok(None) };
        let Some(found) = realm.web_session(secret)? else { return Ok(None) };
        let session = Self { key: found.key, secret: secret.to_owned(), is_use_due: found.is_use_due };
        Ok(Some((Caller { realm: realm.clone(), user: found.user }, session)))
    }

    /// The CSRF token of the session.
    pub fn csrf_token(&self) -> String {
        csrf_token(&self.secret)
    }

    /// The headers that make the browser keep the session for longer.
    pub fn renewed(&self, app: &App) -> Vec<(HeaderName, HeaderValue)> {
        Cookies::of(app).log_in(&self.secret)
    }

    /// Whether it has ended since the request came.
    pub fn has_ended(&self, caller: &Caller) -> bool {
        !matches!(caller.realm.web_session(&self.secret), Ok(Some(_)))
    }
}

/// Refuses a request that a page of another site may have caused: the CSRF token of the session, or without one that
/// of the cookie, must be in the header or in the form.
///
/// # Errors
/// CSRF_FAILED, status 403.
pub fn check_csrf(
    app: &App,
    headers: &HeaderMap,
    session: Option<&OpenSession>,
    fields: Option<&Fields>,
) -> Result<(), ApiError> {
    check_source(app, headers)?;
    let expected = match session {
        Some(session) => session.csrf_token(),
        None => match cookie(headers, Cookies::of(app).csrf()) {
            Some(token) => token.to_owned(),
            None => return Err(refusal("CSRF cookie not set.")),
        },
    };
    let in_form = fields.and_then(|fields| fields.optional_str(CSRF_FIELD));
    let in_header = headers.get(CSRF_HEADER).map(|token| token.to_str().unwrap_or_default());
    let (given, wrong) = match (in_form, in_header) {
        (_, Some(token)) => (token, "CSRF token from the 'X-Csrftoken' HTTP header incorrect."),
        (Some(token), None) => (token, "CSRF token from POST incorrect."),
        (None, None) => return Err(refusal("CSRF token missing.")),
    };
    let is_same: bool = given.as_bytes().ct_eq(expected.as_bytes()).into();
    if is_same { Ok(()) } else { Err(refusal(wrong)) }
}

/// Refuses requests of pages of other sites that browsers name; programs name none.
fn check_source(app: &App, headers: &HeaderMap) -> Result<(), ApiError> {
    let text = |name| headers.get(name).map(|value: &HeaderValue| value.to_str().unwrap_or_default());
    let host = text(HOST).unwrap_or_default();
    let is_own = |url: &str| {
        let rest = url.split_once("://").map(|(_, rest)| rest).unwrap_or_default();
        let authority = rest.split('/').next().unwrap_or_default();
        (!authority.is_empty() && authority.eq_ignore_ascii_case(host)) || app.hosts.is_external_origin(url)
    };
    match (text(ORIGIN), text(REFERER)) {
        (Some(origin), _) if !is_own(origin) => {
            Err(refusal(&format!("Origin checking failed - {origin} does not match any trusted origins.")))
        }
        (None, Some(referer)) if app.hosts.is_https() && !is_own(referer) => {
            Err(refusal("Referer checking failed - the referring page does not match any trusted origins."))
        }
        (Some(_) | None, _) => Ok(()),
    }
}

fn refusal(reason: &str) -> ApiError {
    ApiError::new(Code::CSRF_FAILED, format!("CSRF error: {reason}")).with("reason", reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies_are_found_by_name() {
        let mut headers = HeaderMap::new();
        headers.append(COOKIE, HeaderValue::from_static("a=1; sessionid=xyz;csrftoken=; b"));
        headers.append(COOKIE, HeaderValue::from_static("sessionid=second; long=x"));
        assert_eq!(cookie(&headers, "sessionid"), Some("xyz"));
        assert_eq!(cookie(&headers, "long"), Some("x"));
        for absent in ["csrftoken", "b", "session", "c"] {
            assert_eq!(cookie(&headers, absent), None, "{absent}");
        }
        let endless = format!("a={}", "x".repeat(COOKIE_BYTES_MAX + 1));
        headers.insert(COOKIE, HeaderValue::from_str(&endless).unwrap());
        assert_eq!(cookie(&headers, "a"), None);
    }

    #[test]
    fn cookies_over_https_are_for_this_host_only() {
        let text = |cookies: Cookies| {
            let lines = cookies.log_in("secret").into_iter().chain(cookies.log_out());
            lines.map(|(_, value)| value.to_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        let token = csrf_token("secret");
        assert_eq!(
            text(Cookies { is_secure: true, age_secs: 60 }),
            [
                "__Host-sessionid=secret; Path=/; Max-Age=60; HttpOnly; SameSite=Lax; Secure".to_owned(),
                format!("__Host-csrftoken={token}; Path=/; Max-Age=60; HttpOnly; SameSite=Lax; Secure"),
                "__Host-sessionid=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure".to_owned(),
                "__Host-csrftoken=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure".to_owned(),
            ]
        );
        let plain = text(Cookies { is_secure: false, age_secs: 60 });
        assert_eq!(plain[0], "sessionid=secret; Path=/; Max-Age=60; HttpOnly; SameSite=Lax");
        assert!(plain.iter().all(|line| !line.contains("__Host-") && !line.contains("Secure")));
    }
}
