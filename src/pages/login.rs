//! `/login/`, `/accounts/login/` and `/accounts/logout/`: a browser logs in and out with a form
//! (docs/api/server-additions.md#pages).

use super::open_to::can_sign_up;
use super::{LOGIN_PAGE, MessagePage, SCRIPT_PATH, deactivated, page, scripted_page};
use crate::api::account::fetch_api_key::{LoginFailure, check_login};
use crate::api::account::new_login::note_login;
use crate::http::{
    Address, ApiError, App, Caller, Code, Cookies, Fields, FormToken, FromFields, HandlerResult, OwnSession,
    Params, Realm, Reply, UserAgent,
};
use crate::units::counted;
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderName, HeaderValue};
use actors::login::{random_secret, web_session_key};
use actors::{EndedSessions, RealmHandle, commands};
use askama::Template;
use model::{User, WebSessionKey};
use rules::client::{browser, client_name};
use rules::web_sessions::device;
use std::sync::Arc;

/// Longest path to go to after a login, in bytes.
const NEXT_BYTES_MAX: usize = 2000;

/// The title of pages on a host without an organization.
pub(super) const NO_ORGANIZATION: &str = "There is no organization here";

/// What to do about a forgotten password on a server without mail.
pub(super) const RESET_BY_OPERATOR: &str = "This server sends no email. Ask its operator, who can set a new password with `millstream user set-password`.";

#[derive(Template)]
#[template(path = "login.html", config = "src/pages/askama.toml")]
struct LoginPage<'p> {
    organization: &'p str,
    token: &'p str,
    next: &'p str,
    username: &'p str,
    problem: Option<&'p str>,
    has_passwords: bool,
    /// User names are e-mail addresses.
    is_address: bool,
    has_reset: bool,
    /// Without mail only the operator can set a password.
    is_reset_by_operator: bool,
    reset_by_operator: &'static str,
    /// People can make an account without an invitation.
    can_sign_up: bool,
    is_development: bool,
    script: &'static str,
}

/// Where to go after a login: a path of this host.
pub struct Next(pub String);

impl FromFields for Next {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self(own_path(fields.optional_str("next").unwrap_or_default()).to_owned()))
    }
}

/// The submitted form.
pub struct LoginForm {
    username: String,
    password: String,
    next: Next,
}

impl FromFields for LoginForm {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let text = |name| fields.optional(name).unwrap_or_default();
        // The button has a name, too.
        let _ = fields.optional_str("button");
        Ok(Self { username: text("username"), password: text("password"), next: Next::from_fields(fields)? })
    }
}

/// A path of this host as it was given; `/` for anything else, so that no link to the login redirects to another host.
fn own_path(next: &str) -> &str {
    let is_elsewhere = next.starts_with("//") || next.contains('\\');
    let is_plain = next.len() <= NEXT_BYTES_MAX && next.bytes().all(|byte| byte.is_ascii_graphic());
    if next.starts_with('/') && !is_elsewhere && is_plain { next } else { "/" }
}

/// A redirect to a path of this host.
pub(super) fn go_to(path: &str, headers: Vec<(HeaderName, HeaderValue)>) -> HandlerResult {
    let location = HeaderValue::from_str(path).map_err(|_| ApiError::not_found())?;
    let own =
        vec![(header::LOCATION, location), (header::CACHE_CONTROL, HeaderValue::from_static("no-store"))];
    Ok(Reply::bare(StatusCode::FOUND, own).with_headers(headers))
}

/// The page of a host without an organization.
pub(super) fn no_organization() -> HandlerResult {
    let text = "This server has no organization at this address. Check the address.";
    let title = NO_ORGANIZATION;
    page(StatusCode::NOT_FOUND, &MessagePage { organization: "", title, text, link: None })
}

/// The organization of a page; otherwise the page that says that there is none, or that it is deactivated.
pub(super) fn active_realm(realm: Option<Realm>) -> Result<RealmHandle, Box<HandlerResult>> {
    let Realm(realm) = realm.ok_or_else(|| Box::new(no_organization()))?;
    match deactivated(&realm) {
        Some(page) => Err(Box::new(page)),
        None => Ok(realm),
    }
}

/// Shows the form; who is logged in already is led on.
pub async fn show(
    app: App,
    realm: Option<Realm>,
    caller: Option<Caller>,
    token: FormToken,
    Params(Next(next)): Params<Next>,
) -> HandlerResult {
    let realm = match active_realm(realm) {
        Ok(realm) => realm,
        Err(shown) => return *shown,
    };
    if caller.is_some() {
        return go_to(&next, Vec::new());
    }
    form(&app, &realm, token, (&next, ""), None)
}

fn form(
    app: &App,
    realm: &RealmHandle,
    token: FormToken,
    (next, username): (&str, &str),
    problem: Option<(StatusCode, &str)>,
) -> HandlerResult {
    let methods = app.config.login_methods();
    let directory = realm.directory();
    let template = LoginPage {
        organization: &directory.realm().name,
        token: &token.text,
        next,
        username,
        problem: problem.map(|(_, text)| text),
        has_passwords: methods.password || methods.ldap,
        is_address: !methods.ldap,
        can_sign_up: can_sign_up(app, realm),
        has_reset: methods.password && app.mail.sends(),
        is_reset_by_operator: methods.password && !app.mail.sends(),
        reset_by_operator: RESET_BY_OPERATOR,
        is_development: app.is_development,
        script: SCRIPT_PATH,
    };
    let status = problem.map_or(StatusCode::OK, |(status, _)| status);
    Ok(scripted_page(status, &template)?.with_headers(token.cookie))
}

/// Logs in with a user name and a password. The session is a new one, whatever the browser had before.
pub async fn log_in(
    app: App,
    realm: Option<Realm>,
    token: FormToken,
    OwnSession(replaced): OwnSession,
    UserAgent(agent): UserAgent,
    Address(address): Address,
    Params(LoginForm { username, password, next: Next(next) }): Params<LoginForm>,
) -> HandlerResult {
    let Some(Realm(realm)) = realm else { return no_organization() };
    let checked = check_login(&app, &realm, address, (username.clone(), password)).await;
    let started = match checked {
        Ok(user) => {
            let session = start_session(&app, &realm, &user, &agent, replaced).await;
            session.map(|cookies| (user, cookies)).map_err(LoginFailure::from)
        }
        Err(failure) => Err(failure),
    };
    match started {
        Ok((user, cookies)) => {
            let client = browser(&agent).unwrap_or_else(|| client_name(None, Some(&agent)));
            note_login(&app, &realm, &user, client, address).await;
            go_to(&next, cookies)
        }
        Err(failure) => match problem_of(&failure) {
            Some(problem) => {
                let (status, text) = problem;
                form(&app, &realm, token, (&next, &username), Some((status, &text)))
            }
            None => Err(failure.into()),
        },
    }
}

/// The failure as the form says it; none for those that are not about the login.
fn problem_of(failure: &LoginFailure) -> Option<(StatusCode, String)> {
    let error = match failure {
        LoginFailure::Refused(error) => error,
        LoginFailure::NoAccount(error) => {
            let why = error.msg().trim_end_matches(['!', '.']);
            let text = format!(
                "Your account cannot be created: {why}. Contact an administrator of your organization."
            );
            return Some((StatusCode::OK, text));
        }
    };
    let text = match error.code()? {
        Code::AUTHENTICATION_FAILED | Code::BAD_REQUEST | Code::NONEXISTENT_SUBDOMAIN => {
            "The email address or the password is wrong. Both fields may be case-sensitive.".to_owned()
        }
        Code::USER_DEACTIVATED => {
            "This account is deactivated. Contact an administrator of your organization.".to_owned()
        }
        Code::REALM_DEACTIVATED => "This organization is deactivated.".to_owned(),
        Code::RATE_LIMIT_HIT => {
            let wait = error.extra("retry-after").and_then(serde_json::Value::as_f64).unwrap_or(60.0);
            let minutes = counted((wait / 60.0).ceil().max(1.0) as u64, "minute");
            let text = format!("Too many failed attempts. Try again in {minutes}.");
            return Some((StatusCode::TOO_MANY_REQUESTS, text));
        }
        _ => return None,
    };
    Some((StatusCode::OK, text))
}

/// Starts a web session; returns the headers with its cookies.
pub(super) async fn start_session(
    app: &App,
    realm: &RealmHandle,
    user: &Arc<User>,
    agent: &str,
    replaced: Option<WebSessionKey>,
) -> Result<Vec<(HeaderName, HeaderValue)>, ApiError> {
    let secret = random_secret()?;
    let key = web_session_key(&secret);
    let command = commands::StartWebSession { user: user.clone(), key, device: device(agent), replaced };
    realm.execute(command).await?;
    Ok(Cookies::of(app).log_in(&secret))
}

/// Ends the session that the request came with.
pub async fn log_out(app: App, caller: Option<Caller>, OwnSession(own): OwnSession) -> HandlerResult {
    if let (Some(Caller { realm, user }), Some(key)) = (caller, own) {
        let which = EndedSessions::One(key);
        realm.execute(commands::EndWebSessions { by: user.id, user: user.id, which }).await?;
    }
    go_to(LOGIN_PAGE, Cookies::of(&app).log_out())
}

#[cfg(test)]
mod tests {
    use super::super::login_path;
    use super::*;

    #[test]
    fn login_leads_back_to_a_path() {
        for path in ["/", "/?stream=a%20b&topic=c", "/user_uploads/1/ab/caf%C3%A9.txt"] {
            let fields = login_path(path);
            let (page, query) = fields.split_once('?').unwrap();
            let fields = Fields::parse(query.as_bytes(), &crate::http::BodyKind::Other, b"").unwrap();
            assert_eq!((page, Next::from_fields(&fields).unwrap().0.as_str()), (LOGIN_PAGE, path));
        }
    }

    #[test]
    fn only_paths_of_this_host_follow_a_login() {
        for path in ["/", "/#narrow/x", "/a/b?c=d&e=//f", "/?x=http://y"] {
            assert_eq!(own_path(path), path);
        }
        let long = format!("/{}", "x".repeat(NEXT_BYTES_MAX));
        for path in [
            "",
            "x",
            "//evil.example",
            "/\\evil.example",
            "\\\\evil",
            "https://evil.example/",
            "javascript:alert(1)",
            "/a\nb",
            "/ü",
            " /",
            &long,
        ] {
            assert_eq!(own_path(path), "/", "{path}");
        }
    }
}
