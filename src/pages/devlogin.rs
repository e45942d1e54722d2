//! `/devlogin/`: on a development server, people log in without a password (docs/api/server-additions.md#pages). On other
//! servers the path does not exist.

use super::about::role_name;
use super::login::{Next, active_realm, go_to, start_session};
use super::{SCRIPT_PATH, scripted_page};
use crate::http::{
    ApiError, App, Fields, FormToken, FromFields, HandlerResult, OwnSession, Params, Realm, UserAgent,
};
use actix_web::http::StatusCode;
use actors::DomainError;
use askama::Template;

#[derive(Template)]
#[template(path = "devlogin.html", config = "src/pages/askama.toml")]
struct ChoosePage<'p> {
    organization: &'p str,
    token: &'p str,
    next: &'p str,
    people: Vec<Person<'p>>,
    script: &'static str,
}

struct Person<'p> {
    email: &'p str,
    name: &'p str,
    role: &'static str,
}

/// The chosen account, by its e-mail address.
pub struct Choice {
    email: String,
    next: Next,
}

impl FromFields for Choice {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let email = fields.optional("direct_email").unwrap_or_default();
        Ok(Self { email, next: Next::from_fields(fields)? })
    }
}

/// Lists the people to choose from.
pub async fn show(
    app: App,
    realm: Option<Realm>,
    token: FormToken,
    Params(Next(next)): Params<Next>,
) -> HandlerResult {
    check_development(&app)?;
    let realm = match active_realm(realm) {
        Ok(realm) => realm,
        Err(shown) => return *shown,
    };
    let directory = realm.directory();
    let people = directory.users().filter(|user| user.is_active && !user.is_bot());
    let mut people: Vec<_> = people.collect();
    people.sort_by_key(|user| (user.role, user.id));
    let people = people.into_iter().map(|user| Person {
        email: &user.delivery_email,
        name: &user.full_name,
        role: role_name(user.role),
    });
    let (organization, token_text) = (&directory.realm().name, &token.text);
    let template = ChoosePage {
        organization,
        token: token_text,
        next: &next,
        people: people.collect(),
        script: SCRIPT_PATH,
    };
    Ok(scripted_page(StatusCode::OK, &template)?.with_headers(token.cookie))
}

/// Logs in as the chosen user.
pub async fn log_in(
    app: App,
    realm: Option<Realm>,
    OwnSession(replaced): OwnSession,
    UserAgent(agent): UserAgent,
    Params(Choice { email, next: Next(next) }): Params<Choice>,
) -> HandlerResult {
    check_development(&app)?;
    let realm = match active_realm(realm) {
        Ok(realm) => realm,
        Err(shown) => return *shown,
    };
    let user = realm.directory().user_by_email(&email).cloned();
    let user = user.filter(|user| user.is_active && !user.is_bot()).ok_or(DomainError::WrongPassword)?;
    go_to(&next, start_session(&app, &realm, &user, &agent, replaced).await?)
}

fn check_development(app: &App) -> Result<(), ApiError> {
    app.is_development.then_some(()).ok_or_else(ApiError::not_found)
}
