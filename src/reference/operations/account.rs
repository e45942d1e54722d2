//! The server, logging in, the own keys, sessions and settings.

use super::settings::{personal_settings, preset_settings};
use crate::reference::operation::Kind::{Bool, Text};
use crate::reference::operation::{Operation, may, need, operation};

/// The operations of this family.
pub fn operations() -> Vec<Operation> {
    let mut all = logins();
    all.extend(own());
    all.extend(settings());
    all
}

fn logins() -> Vec<Operation> {
    vec![
        operation(
            "get-server-settings",
            "GET /api/v1/server_settings",
            "Get server settings",
            "What a client needs before a login: versions, ways to log in, and the organization of the host.",
        ),
        operation(
            "fetch-api-key",
            "POST /api/v1/fetch_api_key",
            "Fetch an API key",
            "The key of an account, with its password. A login from a new address or client sends a mail.",
        )
        .with([
            need("username", Text, "The e-mail address, or the name in the LDAP directory."),
            need("password", Text, "The password."),
        ]),
        operation(
            "jwt-fetch-api-key",
            "POST /api/v1/jwt/fetch_api_key",
            "Fetch an API key by token",
            "Always refused: this server has no single sign-on by token.",
        )
        .with([
            may("token", Text, "The token."),
            may("include_profile", Bool, "Whether the answer has the user, too."),
        ]),
        operation(
            "dev-fetch-api-key",
            "POST /api/v1/dev_fetch_api_key",
            "Fetch an API key without a password",
            "On development servers only, and from the same machine only.",
        )
        .with([need("username", Text, "The e-mail address.")]),
        operation(
            "dev-list-users",
            "GET /api/v1/dev_list_users",
            "List accounts to log in with",
            "On development servers only, and from the same machine only.",
        ),
        operation(
            "fetch-own-api-key",
            "POST /json/fetch_api_key",
            "Fetch your own API key",
            "With a web session and the password of its account. A browser that logs in (POST /accounts/login/) gets both as \
             cookies: sessionid has the session, and csrftoken the token for the header X-CSRFToken. Over HTTPS their names begin \
             with __Host-. Programs use POST /api/v1/fetch_api_key instead, which needs neither.",
        )
        .with([need("password", Text, "The password.")]),
    ]
}

fn own() -> Vec<Operation> {
    vec![
        operation(
            "regenerate-own-api-key",
            "POST /api/v1/users/me/api_key/regenerate",
            "Regenerate the API key",
            "The old key stops at once; event queues continue with the new one.",
        )
        .sends(&["realm_bot"]),
        operation(
            "get-sessions",
            "GET /api/v1/users/me/sessions",
            "List web sessions",
            "The browsers that are logged in to the account, the one used last first.",
        ),
        operation(
            "end-other-sessions",
            "DELETE /api/v1/users/me/sessions",
            "End other web sessions",
            "All but the one that the request came with.",
        ),
        operation(
            "end-session",
            "DELETE /api/v1/users/me/sessions/{session_id:text}",
            "End a web session",
            "One of your own sessions.",
        ),
        operation(
            "end-sessions-of-user",
            "DELETE /api/v1/users/{user_id:int}/sessions",
            "End the web sessions of a user",
            "All of them.",
        ),
        operation(
            "execute-command",
            "POST /api/v1/zcommand",
            "Execute a command",
            "What a user typed into the box for messages: /ping, /light, /dark, /automatic, /fluid-width, /fixed-width. The text of \
             the answer says what changed.",
        )
        .with([need("command", Text, "The command, with its slash.")])
        .sends(&["user_settings"]),
    ]
}

fn settings() -> Vec<Operation> {
    let update = |id, route, summary| {
        operation(
            id,
            route,
            summary,
            "Either all changes are made or none. Every setting given causes an event, also where the value stays the same.",
        )
        .with([
            may("full_name", Text, "The new name; ignored if the organization does not let people change theirs."),
            may("email", Text, "The new address, to which a link is sent that confirms it."),
            may("old_password", Text, "The present password, for a new one."),
            may("new_password", Text, "The new password. The API key stays."),
        ])
        .with(personal_settings())
        .sends(&["user_settings", "realm_user", "user_status", "update_display_settings", "update_global_notifications"])
    };
    vec![
        update("update-settings", "PATCH /api/v1/settings", "Change your own settings"),
        update(
            "update-display-settings",
            "PATCH /api/v1/settings/display",
            "Change your own settings, at an older path",
        )
        .deprecated(),
        update(
            "update-notification-settings",
            "PATCH /api/v1/settings/notifications",
            "Change your own settings, at another older path",
        )
        .deprecated(),
        operation(
            "update-realm-user-settings-defaults",
            "PATCH /api/v1/realm/user_settings_defaults",
            "Change the settings of new users",
            "Existing accounts keep theirs.",
        )
        .with(preset_settings())
        .sends(&["realm_user_settings_defaults"]),
    ]
}
