//! Who may call an operation and how, in words and as security requirements.

use crate::http::Login;
use crate::http::route::{Limit, Offered, Route};
use serde_json::{Value, json};

/// The name of authentication with an API key.
pub const KEY: &str = "apiKey";
/// The name of authentication with an API key in the URL.
pub const KEY_IN_URL: &str = "apiKeyInUrl";
/// The name of authentication with a web session.
pub const SESSION: &str = "webSession";
/// The name of the token that a web session needs for changes.
pub const CSRF: &str = "csrfToken";

/// Who may call a row of the table of routes, as a sentence.
pub fn who(login: Login) -> &'static str {
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

/// The rate limit of a row, as words after "counts as".
pub fn limit(limit: Limit) -> Option<&'static str> {
    match limit {
        Limit::Free => None,
        Limit::Api => Some("calls"),
        Limit::Events => Some("polls of event queues"),
        Limit::Login => Some("logins"),
        Limit::Page => Some("pages"),
        Limit::Picture => Some("pictures"),
    }
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
