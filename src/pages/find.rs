//! `/accounts/find/` and `/accounts/go/`: people find the organizations of their accounts
//! (docs/api/server-additions.md#pages). Nothing tells whether an address has an account.

use super::login::{Next, go_to};
use super::requested_mails::count_mail;
use super::{ADDRESS_BYTES_MAX, MessagePage, page};
#[cfg(feature = "cluster")]
use crate::http::account_queries;
use crate::http::found_accounts;
use crate::http::{Address, ApiError, App, Fields, FormToken, FromFields, HandlerResult, Params};
use actix_web::http::StatusCode;
use actors::RealmHandle;
use askama::Template;
use rules::text::strip;

/// Addresses in one request.
const ADDRESSES_MAX: usize = 10;

#[derive(Template)]
#[template(path = "find.html", config = "src/pages/askama.toml")]
struct FindPage<'p> {
    token: &'p str,
    emails: &'p str,
    problem: Option<&'p str>,
}

#[derive(Template)]
#[template(path = "go.html", config = "src/pages/askama.toml")]
struct GoPage<'p> {
    token: &'p str,
    next: &'p str,
    subdomain: &'p str,
    /// The server's own name.
    host: &'p str,
    problem: Option<&'p str>,
    /// The address of the login, once the organization is known.
    found: Option<&'p str>,
    /// Whether the server can mail a list of organizations.
    has_mail: bool,
}

/// The addresses of the form.
pub struct FindRequest(String);

impl FromFields for FindRequest {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self(fields.optional("emails").unwrap_or_default()))
    }
}

/// The name of an organization, and the path to open there.
pub struct GoRequest {
    subdomain: String,
    next: Next,
}

impl FromFields for GoRequest {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let subdomain = strip(fields.optional_str("subdomain").unwrap_or_default()).to_lowercase();
        Ok(Self { subdomain, next: Next::from_fields(fields)? })
    }
}

/// Shows the form for the addresses.
pub async fn show(app: App, token: FormToken) -> HandlerResult {
    check_mail(&app)?;
    find_form(token, "", None)
}

fn find_form(token: FormToken, emails: &str, problem: Option<(StatusCode, &str)>) -> HandlerResult {
    let template = FindPage { token: &token.text, emails, problem: problem.map(|(_, text)| text) };
    let status = problem.map_or(StatusCode::OK, |(status, _)| status);
    Ok(page(status, &template)?.with_headers(token.cookie))
}

/// Sends the lists. The answer does not wait for them, and is the same without any account.
pub async fn find(
    app: App,
    token: FormToken,
    Address(from): Address,
    Params(FindRequest(text)): Params<FindRequest>,
) -> HandlerResult {
    check_mail(&app)?;
    let addresses: Vec<String> = text
        .split([',', ';', ' ', '\n'])
        .map(strip)
        .filter(|one| !one.is_empty())
        .map(str::to_lowercase)
        .collect();
    let is_address = |one: &String| one.contains('@') && one.len() <= ADDRESS_BYTES_MAX;
    if addresses.is_empty() || !addresses.iter().all(is_address) {
        return find_form(token, &text, Some((StatusCode::OK, "Enter valid email addresses.")));
    }
    if addresses.len() > ADDRESSES_MAX {
        return find_form(token, &text, Some((StatusCode::OK, "These are more than ten addresses.")));
    }
    for address in &addresses {
        if let Err(too_many) = count_mail(&app, from, "accounts", address) {
            return find_form(token, &text, Some(too_many.problem()));
        }
    }
    actix_rt::spawn(async move {
        for address in addresses {
            send_list(&app, address).await;
        }
    });
    go_to("/accounts/find/done/", Vec::new())
}

/// Sends the list of the organizations in which an address has an account; nothing without any.
async fn send_list(app: &App, address: String) {
    #[cfg(feature = "cluster")]
    if let Some(gateway) = &app.gateway {
        return account_queries::send_list(gateway, app, address).await;
    }
    let organizations = found_accounts::organizations(app, &address);
    found_accounts::send(app, &address, organizations).await;
}

/// Says that the lists were sent.
pub async fn sent() -> HandlerResult {
    let text = "Each of the addresses that has an account on this server gets a list of its organizations.";
    page(StatusCode::OK, &MessagePage { organization: "", title: "Check your email", text, link: None })
}

/// Shows the form for the name of an organization.
pub async fn ask(app: App, token: FormToken, Params(Next(next)): Params<Next>) -> HandlerResult {
    go_form(&app, token, (&next, ""), (None, None))
}

fn go_form(
    app: &App,
    token: FormToken,
    (next, subdomain): (&str, &str),
    (problem, found): (Option<&str>, Option<&str>),
) -> HandlerResult {
    let host = app.hosts.name();
    let template = GoPage {
        token: &token.text,
        next,
        subdomain,
        host: &host,
        problem,
        found,
        has_mail: app.mail.sends(),
    };
    Ok(page(StatusCode::OK, &template)?.with_headers(token.cookie))
}

/// Shows the address of an organization's login. Not a redirect: forms of our pages may not lead to other hosts.
pub async fn go(
    app: App,
    token: FormToken,
    Params(GoRequest { subdomain, next: Next(next) }): Params<GoRequest>,
) -> HandlerResult {
    let realm = app.server.realm_by_subdomain(&subdomain).filter(RealmHandle::is_active);
    // An organization on another node may be deactivated: its own pages say so.
    if realm.is_none() && !app.server.exists_elsewhere(&subdomain) {
        let problem = "There is no organization with this name on this server.";
        return go_form(&app, token, (&next, &subdomain), (Some(problem), None));
    }
    let path = percent_encoding::utf8_percent_encode(&next, percent_encoding::NON_ALPHANUMERIC);
    let url = format!("{}/login/?next={path}", app.hosts.url_of(&subdomain));
    go_form(&app, token, (&next, &subdomain), (None, Some(&url)))
}

/// Servers without mail do not have the page.
fn check_mail(app: &App) -> Result<(), ApiError> {
    app.mail.sends().then_some(()).ok_or_else(ApiError::not_found)
}
