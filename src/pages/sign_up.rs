//! `/register/` and `/accounts/home/`: people make an account without an invitation, where the organization lets them
//! (docs/api/server-additions.md#pages). The address is confirmed by mail; nothing tells whether it has an account.

use super::account_form::{Entry, JoinForm, address_refused, address_text};
use super::login::{active_realm, go_to, no_organization};
use super::open_to::why_not;
use super::requested_mails::{count_mail, count_sign_up};
use super::{ADDRESS_BYTES_MAX, Link, message_of, page};
use crate::http::{
    Address, ApiError, App, Fields, FormToken, FromFields, HandlerResult, Params, Path, Realm, RealmUrl,
};
use crate::integrations::mail::parse_sign_up_key;
use actix_web::http::StatusCode;
use actors::{DomainError, RealmHandle, commands};
use askama::Template;
use rules::invitations::check_new_address;
use rules::text::strip;

/// Where to get another link.
const ANOTHER: Option<Link<'_>> = Some(Link { path: "/register/", words: "Request another link" });

#[derive(Template)]
#[template(path = "sign_up.html", config = "src/pages/askama.toml")]
struct SignUpPage<'p> {
    organization: &'p str,
    token: &'p str,
    email: &'p str,
    problem: Option<&'p str>,
}

#[derive(Template)]
#[template(path = "sign_up_sent.html", config = "src/pages/askama.toml")]
struct SentPage<'p> {
    organization: &'p str,
    is_development: bool,
}

/// The address of the form.
pub struct SignUpRequest(String);

impl FromFields for SignUpRequest {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self(strip(fields.optional_str("email").unwrap_or_default()).to_owned()))
    }
}

fn refusal(realm: &RealmHandle, status: StatusCode, (title, text): (&str, &str)) -> HandlerResult {
    message_of(realm, status, title, text, None)
}

/// Shows the form for the address.
pub async fn show(app: App, realm: Option<Realm>, token: FormToken) -> HandlerResult {
    let realm = match active_realm(realm) {
        Ok(realm) => realm,
        Err(shown) => return *shown,
    };
    match why_not(&app, &realm) {
        Some(why) => refusal(&realm, StatusCode::OK, why),
        None => address_form(&realm, token, "", None),
    }
}

fn address_form(
    realm: &RealmHandle,
    token: FormToken,
    email: &str,
    problem: Option<(StatusCode, &str)>,
) -> HandlerResult {
    let directory = realm.directory();
    let text = problem.map(|(_, text)| text);
    let organization = &directory.realm().name;
    let template = SignUpPage { organization, token: &token.text, email, problem: text };
    let status = problem.map_or(StatusCode::OK, |(status, _)| status);
    Ok(page(status, &template)?.with_headers(token.cookie))
}

/// Sends the link, or to an address that has an account a note about that. The answer is the same.
pub async fn request(
    app: App,
    realm: Option<Realm>,
    token: FormToken,
    Address(from): Address,
    Params(SignUpRequest(address)): Params<SignUpRequest>,
) -> HandlerResult {
    let Some(Realm(realm)) = realm else { return no_organization() };
    if let Some(why) = why_not(&app, &realm) {
        return refusal(&realm, StatusCode::FORBIDDEN, why);
    }
    let is_long = address.len() > ADDRESS_BYTES_MAX;
    let checked = check_new_address(&realm.directory(), &address);
    if let Some(problem) = checked.err().filter(|problem| !problem.is_known()) {
        return address_form(&realm, token, &address, Some((StatusCode::OK, address_text(problem))));
    }
    if is_long {
        return address_form(&realm, token, "", Some((StatusCode::OK, "This address is too long.")));
    }
    let counted = count_mail(&app, from, ("sign up", realm.id()), &address);
    if let Err(too_many) = counted.and_then(|()| count_sign_up(&app, &realm)) {
        return address_form(&realm, token, &address, Some(too_many.problem()));
    }
    realm.execute(commands::RequestSignUp { address }).await?;
    go_to("/accounts/send_confirm/", Vec::new())
}

/// Says that the link was sent.
pub async fn sent(app: App, realm: Option<Realm>) -> HandlerResult {
    let realm = match active_realm(realm) {
        Ok(realm) => realm,
        Err(shown) => return *shown,
    };
    let directory = realm.directory();
    let template = SentPage { organization: &directory.realm().name, is_development: app.is_development };
    page(StatusCode::OK, &template)
}

/// Shows the form for name and password.
pub async fn choose(app: App, realm: Option<Realm>, Path(key): Path<String>) -> HandlerResult {
    match find(&app, realm, &key) {
        Ok(entry) => entry.empty_form(),
        Err(shown) => *shown,
    }
}

/// Creates the account, and shows how to log in.
pub async fn create(
    app: App,
    realm: Option<Realm>,
    url: Option<RealmUrl>,
    Path(key): Path<String>,
    Params(form): Params<JoinForm>,
) -> HandlerResult {
    let entry = match find(&app, realm, &key) {
        Ok(entry) => entry,
        Err(shown) => return *shown,
    };
    let (address, password_hash) = match entry.check(&app, &form).await? {
        Ok(checked) => checked,
        Err(shown) => return shown,
    };
    let command = commands::SignUp {
        address: address.clone(),
        full_name: form.full_name.clone(),
        password_hash,
        default_groups: form.groups.clone(),
    };
    match entry.realm.execute(command).await {
        Ok(user) => entry.welcome(&app, &user, &url.map(|RealmUrl(url)| url).unwrap_or_default()),
        Err(DomainError::LinkUsed) => invalid_link(&entry.realm),
        Err(error) => entry.refused(error, &address, &form),
    }
}

/// The address of a valid link, or the page that says why it cannot be used.
fn find(app: &App, realm: Option<Realm>, key: &str) -> Result<Entry, Box<HandlerResult>> {
    let Realm(realm) = realm.ok_or_else(|| Box::new(no_organization()))?;
    let known = parse_sign_up_key(&realm, key.trim_end_matches('/'));
    let (address, asked) = known.ok_or_else(|| Box::new(invalid_link(&realm)))?;
    if let Some(why) = why_not(app, &realm) {
        return Err(Box::new(refusal(&realm, StatusCode::FORBIDDEN, why)));
    }
    let directory = realm.directory();
    if directory.realm().has_link_expired(asked, realm.now()) {
        let (title, text) = ("This link has expired", "It was valid for one day.");
        return Err(Box::new(message_of(&realm, StatusCode::GONE, title, text, ANOTHER)));
    }
    if let Err(problem) = check_new_address(&directory, &address) {
        return Err(Box::new(address_refused(&directory.realm().name, problem)));
    }
    let greeting = "Create your account".to_owned();
    let (address, sends_mail) = (Some(address), app.mail.sends());
    Ok(Entry { realm, directory, address, greeting, offers_groups: true, sends_mail })
}

fn invalid_link(realm: &RealmHandle) -> HandlerResult {
    let text = "A part of it may be missing. Copy the complete link, or request another one.";
    message_of(realm, StatusCode::NOT_FOUND, "This link is not valid", text, ANOTHER)
}
