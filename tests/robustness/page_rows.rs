//! The rows of pages and files: forms show what is missing, so nothing is required of them.

use super::rows::{ROWS, Row, row};

/// All rows.
pub fn all() -> impl Iterator<Item = &'static Row> {
    ROWS.iter().chain(PAGES)
}

const PAGES: &[Row] = &[
    row("GET /", "", "", ""),
    row("GET /static/{path:rest}", "", "", ""),
    row("GET /login", "", "", ""),
    row("GET /login/", "", "", ""),
    row("GET /accounts/login/", "", "", ""),
    row("POST /accounts/login/", "", "", ""),
    row("POST /accounts/logout/", "", "", ""),
    row("GET /accounts/password/reset/", "", "", ""),
    row("POST /accounts/password/reset/", "", "", ""),
    row("GET /accounts/password/reset/done/", "", "", ""),
    row("GET /accounts/password/reset/{key:rest}", "", "", ""),
    row("POST /accounts/password/reset/{key:rest}", "", "", ""),
    row("GET /register/", "", "", ""),
    row("POST /register/", "", "", ""),
    row("GET /accounts/home/", "", "", ""),
    row("POST /accounts/home/", "", "", ""),
    row("GET /accounts/send_confirm/", "", "", ""),
    row("GET /accounts/do_confirm/{key:rest}", "", "", ""),
    row("POST /accounts/do_confirm/{key:rest}", "", "", ""),
    row("GET /about", "", "", ""),
    row("GET /about/", "", "", ""),
    row("GET /integrations", "", "", ""),
    row("GET /integrations/", "", "", ""),
    row("GET /integrations/{name:rest}", "", "", ""),
    row("GET /favicon.ico", "", "", ""),
    row("GET /static/millstream/conversation.js", "", "", ""),
    row("GET /api", "", "", ""),
    row("GET /api/", "", "", ""),
    row("GET /api/{operation:text}", "", "", ""),
    row("GET /api/v1/openapi.json", "", "", ""),
    row("GET /static/millstream/reference.js", "", "", ""),
    row("GET /accounts/unsubscribe/{key:rest}", "", "", ""),
    row("POST /accounts/unsubscribe/{key:rest}", "", "", ""),
    row("GET /accounts/find/", "", "", ""),
    row("POST /accounts/find/", "", "", ""),
    row("GET /accounts/find/done/", "", "", ""),
    row("GET /accounts/go/", "", "", ""),
    row("POST /accounts/go/", "", "", ""),
    row("GET /devlogin/", "", "", ""),
    row("POST /devlogin/", "", "", ""),
    row("GET /compatibility", "", "", ""),
    row("GET /desktop_home/", "", "", ""),
    row("GET /help", "", "", ""),
    row("GET /help/", "", "", ""),
    row("GET /help/{page:rest}", "", "", ""),
    row("GET /static/generated/emoji/emoji_api.json", "", "", ""),
];
