//! Who may call an operation and how, in words and as security requirements.

use super::operation::Operation;
use super::permissions;
use crate::http::Login;
use crate::http::route::{Limit, Offered, Route};
use crate::rate_limit::{Bucket, Limits};
use serde_json::{Value, json};

/// The name of authentication with an API key.
pub const KEY: &str = "apiKey";
/// The name of authentication with an API key in the URL.
const KEY_IN_URL: &str = "apiKeyInUrl";
/// The name of authentication with a web session.
pub const SESSION: &str = "webSession";
/// The name of the token that a web session needs for changes.
pub const CSRF: &str = "csrfToken";

/// Who may call a row of the table of routes, as a sentence: that of the operation which the row belongs to, if it has one.
pub fn permission(route: &Route, operation: Option<&Operation>) -> &'static str {
    operation.and_then(|operation| permissions::text(operation.id)).unwrap_or_else(|| who(route.login))
}

fn who(login: Login) -> &'static str {
    match login {
        Login::None => "Needs no account.",
        Login::Spectator => {
            "For every account, and for visitors where the organization shows channels to them."
        }
        Login::SpectatorOrKeyInUrl => {
            "For every account, for visitors where the organization shows channels to them, and with a key in the URL."
        }
        Login::AccountOrBrowser => {
            "For every account; below /json also for visitors where the organization shows channels to them."
        }
        Login::Account => "For every account.",
        Login::KeyInUrl => "For every account, with its API key in the URL.",
        Login::Human => "For people; not for bots.",
        Login::NotGuest => "For accounts that are not guests.",
        Login::HumanNotGuest => "For people who are not guests; not for bots.",
        Login::Administrator => "For administrators and owners.",
        Login::Owner => "For owners.",
    }
}

/// What the calls of a row count as, for its rate limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    pub bucket: Bucket,
    /// In plural, such as "polls of event queues".
    pub what: &'static str,
    /// By what they are counted, such as "account".
    pub by: &'static str,
}

/// What the calls of a row count as; none for rows without a rate limit.
pub fn counted(route: &Route) -> Option<Counted> {
    let counted = |bucket, what, by| Some(Counted { bucket, what, by });
    match (route.limit, route.login) {
        (Limit::Free, _) => None,
        (Limit::Api | Limit::Events, Login::None) => {
            counted(Bucket::ApiByIp, "calls without an account", "IP address")
        }
        (Limit::Api, _) => counted(Bucket::ApiByUser, "calls", "account"),
        (Limit::Events, _) => counted(Bucket::EventsByUser, "polls of event queues", "account"),
        (Limit::Login, _) => counted(Bucket::LoginsByIp, "logins", "IP address"),
        (Limit::Page, _) => counted(Bucket::JoinsByIp, "pages", "IP address"),
        (Limit::Picture, _) => counted(Bucket::PicturesByIp, "pictures without an account", "IP address"),
    }
}

/// The rate limit of a row by the rules in force, as a sentence; none for rows without one.
pub fn rate(route: &Route, limits: &Limits) -> Option<String> {
    let Counted { bucket, what, by } = counted(route)?;
    let rules = limits.rules(bucket);
    let each: Vec<String> =
        rules.iter().map(|rule| format!("{} in {} seconds", rule.count, rule.window_secs)).collect();
    if each.is_empty() {
        return None;
    }
    Some(format!("Rate limit of {what}, all operations together, for each {by}: {}.", each.join(", and ")))
}

/// The security requirements of a row, as the document has them.
pub fn security(route: &Route) -> Value {
    let key = json!({KEY: []});
    let session = match route.method.is_safe() {
        true => json!({SESSION: []}),
        false => json!({SESSION: [], CSRF: []}),
    };
    let mut ways = match route.offered {
        Offered::Everywhere | Offered::WithKey => vec![key],
        Offered::WithSession => vec![session],
        Offered::File => vec![key, session],
        Offered::Page => vec![],
    };
    match route.login {
        Login::None => ways = vec![],
        Login::KeyInUrl => ways = vec![json!({KEY_IN_URL: []})],
        Login::SpectatorOrKeyInUrl => {
            ways.push(json!({KEY_IN_URL: []}));
            ways.push(json!({}));
        }
        Login::Spectator => ways.push(json!({})),
        Login::AccountOrBrowser
        | Login::Account
        | Login::Human
        | Login::NotGuest
        | Login::HumanNotGuest
        | Login::Administrator
        | Login::Owner => {}
    }
    Value::Array(ways)
}

/// The security schemes, as the document has them.
pub fn schemes() -> Value {
    json!({
        KEY: {
            "type": "http",
            "scheme": "basic",
            "description": "The e-mail address of the account as the name, and its API key as the password.",
        },
        KEY_IN_URL: {
            "type": "apiKey",
            "in": "query",
            "name": "api_key",
            "description": "The API key, for programs that cannot send headers.",
        },
        SESSION: {
            "type": "apiKey",
            "in": "cookie",
            "name": "sessionid",
            "description": "A browser that is logged in. Every path below /api/v1 that needs an account is offered at the same path \
                            below /json to web sessions. Over HTTPS the cookie is called __Host-sessionid.",
        },
        CSRF: {
            "type": "apiKey",
            "in": "header",
            "name": "X-CSRFToken",
            "description": "The token of the session, which every change needs.",
        },
    })
}
