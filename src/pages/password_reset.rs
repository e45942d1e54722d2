//! `/accounts/password/reset/`: a forgotten password is replaced with a link sent by mail
//! (docs/api/server-additions.md#pages). Nothing tells whether an address has an account.

use super::login::{RESET_BY_OPERATOR, active_realm, go_to};
use super::requested_mails::count_mail;
use super::{ADDRESS_BYTES_MAX, LOGIN_PAGE, Link, message_of, page};
use crate::http::{
    Address, ApiError, App, Fields, FormToken, FromFields, HandlerResult, Params, Path, Realm,
};
use crate::integrations::mail::parse_reset_key;
use actix_web::http::StatusCode;
use actors::{DomainError, RealmHandle, commands};
use askama::Template;
use model::User;
use rules::passwords::{PASSWORD_LENGTH_MAX, PASSWORD_LENGTH_MIN, is_strong_password};
use rules::text::strip;
use std::sync::Arc;

#[derive(Template)]
#[template(path = "reset_request.html", config = "src/pages/askama.toml")]
struct RequestPage<'p> {
    organization: &'p str,
    token: &'p str,
    email: &'p str,
    problem: Option<&'p str>,
}

#[derive(Template)]
#[template(path = "reset_form.html", config = "src/pages/askama.toml")]
struct NewPasswordPage<'p> {
    organization: &'p str,
    token: &'p str,
    email: &'p str,
    problem: Option<&'p str>,
}

/// The address of the form.
pub struct ResetRequest(String);

impl FromFields for ResetRequest {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self(strip(fields.optional_str("email").unwrap_or_default()).to_owned()))
    }
}

/// The new password, twice.
pub struct NewPasswords(String, String);

impl FromFields for NewPasswords {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let text = |name| fields.optional(name).unwrap_or_default();
        Ok(Self(text("new_password1"), text("new_password2")))
    }
}

/// Shows the form for the address.
pub async fn show(app: App, realm: Option<Realm>, token: FormToken) -> HandlerResult {
    let realm = match active_realm(realm) {
        Ok(realm) => realm,
        Err(shown) => return *shown,
    };
    if let Some(shown) = by_operator(&app, &realm) {
        return shown;
    }
    check_offered(&app)?;
    request_form(&realm, token, "", None)
}

fn request_form(
    realm: &RealmHandle,
    token: FormToken,
    email: &str,
    problem: Option<(StatusCode, &str)>,
) -> HandlerResult {
    let directory = realm.directory();
    let organization = &directory.realm().name;
    let text = problem.map(|(_, text)| text);
    let template = RequestPage { organization, token: &token.text, email, problem: text };
    let status = problem.map_or(StatusCode::OK, |(status, _)| status);
    Ok(page(status, &template)?.with_headers(token.cookie))
}

/// Sends the link, if the address has an account. The answer does not wait for it, and is the same without one.
pub async fn request(
    app: App,
    realm: Option<Realm>,
    token: FormToken,
    Address(from): Address,
    Params(ResetRequest(email)): Params<ResetRequest>,
) -> HandlerResult {
    let realm = match active_realm(realm) {
        Ok(realm) => realm,
        Err(shown) => return *shown,
    };
    check_offered(&app)?;
    if email.is_empty() || email.len() > ADDRESS_BYTES_MAX || !email.contains('@') {
        return request_form(&realm, token, &email, Some((StatusCode::OK, "Enter a valid email address.")));
    }
    if let Err(too_many) = count_mail(&app, from, ("new password", realm.id()), &email) {
        return request_form(&realm, token, &email, Some(too_many.problem()));
    }
    let has_directory = app.ldap.is_some();
    actix_rt::spawn(async move {
        let command = commands::RequestPasswordReset { address: email, has_directory };
        if let Err(error) = realm.execute(command).await {
            tracing::warn!(%error, "a mail for a new password could not be sent");
        }
    });
    go_to("/accounts/password/reset/done/", Vec::new())
}

/// Says that the link was sent.
pub async fn sent(realm: Option<Realm>) -> HandlerResult {
    let realm = match active_realm(realm) {
        Ok(realm) => realm,
        Err(shown) => return *shown,
    };
    let text = "If there is an account with this address, a link to choose a new password is on its way to it. \
                The link is valid for one day.";
    message_of(&realm, StatusCode::OK, "Check your email", text, None)
}

/// Shows the form for the new password.
pub async fn choose(
    app: App,
    realm: Option<Realm>,
    token: FormToken,
    Path(key): Path<String>,
) -> HandlerResult {
    let realm = match active_realm(realm) {
        Ok(realm) => realm,
        Err(shown) => return *shown,
    };
    check_offered(&app)?;
    match find(&realm, &key) {
        Some(user) => new_form(&realm, token, &user, None),
        None => invalid_link(&realm),
    }
}

/// Replaces the password.
pub async fn set(
    app: App,
    realm: Option<Realm>,
    token: FormToken,
    Path(key): Path<String>,
    Params(NewPasswords(new, again)): Params<NewPasswords>,
) -> HandlerResult {
    let realm = match active_realm(realm) {
        Ok(realm) => realm,
        Err(shown) => return *shown,
    };
    check_offered(&app)?;
    let Some(user) = find(&realm, &key) else { return invalid_link(&realm) };
    let chars = new.chars().count();
    let problem = match chars {
        _ if new != again => Some("The two passwords differ."),
        chars if chars < PASSWORD_LENGTH_MIN => Some("The password is too short: at least 6 characters."),
        chars if chars > PASSWORD_LENGTH_MAX => Some("The password is too long: at most 100 characters."),
        _ => None,
    };
    if problem.is_some() {
        return new_form(&realm, token, &user, problem);
    }
    let (address, name) = (user.delivery_email.clone(), user.full_name.clone());
    let permit = app.passwords.acquire_permit().await?;
    let hashed = permit.run(move |hasher| {
        let is_strong = is_strong_password(&new, &[&address, &name]);
        if is_strong { hasher.hash(&new).map(Some) } else { Ok(None) }
    });
    let Some(new_hash) = hashed.await?? else {
        let text = "This password is too easy to guess. Add another word or two.";
        return new_form(&realm, token, &user, Some(text));
    };
    let old_hash = user.password_hash.clone();
    match realm.execute(commands::ResetPassword { user: user.id, old_hash, new_hash }).await {
        Ok(()) => message_of(
            &realm,
            StatusCode::OK,
            "Your password is set",
            "You can log in with it now, here or in an app.",
            Some(Link { path: LOGIN_PAGE, words: "Log in" }),
        ),
        Err(DomainError::LinkUsed | DomainError::UserDeactivated) => invalid_link(&realm),
        Err(error) => Err(error.into()),
    }
}

/// The active user of a valid link.
fn find(realm: &RealmHandle, key: &str) -> Option<Arc<User>> {
    let (user, asked) = parse_reset_key(realm, key.trim_end_matches('/'))?;
    let directory = realm.directory();
    let is_over = directory.realm().has_link_expired(asked, realm.now());
    (user.is_active && !user.is_bot() && directory.realm().is_active && !is_over).then_some(user)
}

fn new_form(realm: &RealmHandle, token: FormToken, user: &User, problem: Option<&str>) -> HandlerResult {
    let directory = realm.directory();
    let organization = &directory.realm().name;
    let template = NewPasswordPage { organization, token: &token.text, email: &user.delivery_email, problem };
    Ok(page(StatusCode::OK, &template)?.with_headers(token.cookie))
}

fn invalid_link(realm: &RealmHandle) -> HandlerResult {
    let text = "It was already used, has expired, or was not copied completely.";
    let another = Link { path: "/accounts/password/reset/", words: "Request another link" };
    message_of(realm, StatusCode::NOT_FOUND, "This link is not valid", text, Some(another))
}

/// The page that says what to do on a server without mail; none with mail.
fn by_operator(app: &App, realm: &RealmHandle) -> Option<HandlerResult> {
    let is_by_operator = app.config.login.password && !app.mail.sends();
    let back = Some(Link { path: LOGIN_PAGE, words: "Log in" });
    is_by_operator
        .then(|| message_of(realm, StatusCode::OK, "Forgot your password?", RESET_BY_OPERATOR, back))
}

/// Servers without passwords or without mail do not have the other pages.
fn check_offered(app: &App) -> Result<(), ApiError> {
    let is_offered = app.config.login.password && app.mail.sends();
    is_offered.then_some(()).ok_or_else(ApiError::not_found)
}
