//! Logins, accounts, and public information of the server.

use super::Place::{Nowhere, Private, Public, PublicIn};
use super::{Row, open, row};

pub fn rows() -> Vec<Row> {
    let mut rows = pages();
    rows.extend(accounts());
    rows
}

fn pages() -> Vec<Row> {
    vec![
        open("GET /health", "", "ok"),
        open("GET /metrics", "", "ok"),
        open("GET /static/{path:rest}", "", "none"),
        open("GET /static/generated/emoji/emoji_api.json", "", "ok"),
        open("GET /emails", "", "none"),
        open("GET /emails.json", "", "none"),
        open("GET /confirm_email/{key:rest}", "", "page"),
        open("GET /", "", "ok"),
        open("GET /login", "", "found"),
        open("GET /login/", "", "ok"),
        open("GET /accounts/login/", "", "ok"),
        open("POST /accounts/login/", "", "csrf"),
        open("POST /accounts/logout/", "", "csrf"),
        // The test server sends no mail.
        open("GET /accounts/password/reset/", "", "ok"),
        open("POST /accounts/password/reset/", "", "csrf"),
        open("GET /accounts/password/reset/done/", "", "ok"),
        open("GET /accounts/password/reset/{key:rest}", "", "none"),
        open("POST /accounts/password/reset/{key:rest}", "", "csrf"),
        open("GET /register/", "", "ok"),
        open("POST /register/", "", "csrf"),
        open("GET /accounts/home/", "", "ok"),
        open("POST /accounts/home/", "", "csrf"),
        open("GET /accounts/send_confirm/", "", "ok"),
        open("GET /accounts/do_confirm/{key:rest}", "", "page"),
        open("POST /accounts/do_confirm/{key:rest}", "", "page"),
        open("GET /about", "", "ok"),
        open("GET /about/", "", "ok"),
        open("GET /integrations", "", "ok"),
        open("GET /integrations/", "", "ok"),
        open("GET /integrations/{name:rest}", "", "none"),
        open("GET /favicon.ico", "", "ok"),
        open("GET /static/millstream/conversation.js", "", "ok"),
        open("GET /api", "", "ok"),
        open("GET /api/", "", "ok"),
        open("GET /api/{operation:text}", "", "none"),
        open("GET /api/v1/openapi.json", "", "ok"),
        open("GET /static/millstream/reference.js", "", "ok"),
        open("GET /accounts/unsubscribe/{key:rest}", "", "page"),
        open("POST /accounts/unsubscribe/{key:rest}", "", "page"),
        open("GET /accounts/find/", "", "none"),
        open("POST /accounts/find/", "", "csrf"),
        open("GET /accounts/find/done/", "", "ok"),
        open("GET /accounts/go/", "", "ok"),
        open("POST /accounts/go/", "", "csrf"),
        open("GET /devlogin/", "", "none"),
        open("POST /devlogin/", "", "csrf"),
        open("GET /compatibility", "", "ok"),
        open("GET /desktop_home/", "", "found"),
        open("GET /help", "", "found"),
        open("GET /help/", "", "found"),
        open("GET /help/{page:rest}", "", "found"),
    ]
}

#[rustfmt::skip]
fn accounts() -> Vec<Row> {
    vec![
        open("GET /api/v1/server_settings", "", "ok"),
        open("POST /api/v1/fetch_api_key", "username=nobody@zulip.com password=x", "password"),
        open("POST /api/v1/jwt/fetch_api_key", "token=x", "jwt"),
        open("POST /api/v1/dev_fetch_api_key", "username=iago@zulip.com", "development"),
        open("GET /api/v1/dev_list_users", "", "development"),

        //                                                                       guest member full   moder  admin  owner  bot    warden
        row("POST /json/fetch_api_key",                  Nowhere, "password=x",  "wrong wrong  wrong  wrong  wrong  wrong  login  wrong"),
        row("GET /api/v1/users/me/sessions",             Nowhere, "",            "ok    ok     ok     ok     ok     ok     human  ok"),
        row("DELETE /api/v1/users/me/sessions",          Nowhere, "",            "ok    ok     ok     ok     ok     ok     human  ok"),
        row("DELETE /api/v1/users/me/sessions/{session_id:text}", Nowhere, "",   "nosess nosess nosess nosess nosess nosess human nosess"),
        row("DELETE /api/v1/users/{user_id:int}/sessions", Nowhere, "",          "owner owner  owner  owner  owner  ok     owner  owner"),
        row("POST /api/v1/users", Nowhere, "email=new{number}@zulip.com password=correcthorse full_name=New",
                                                                                "admin admin  admin  admin  create create admin  admin"),
        row("GET /api/v1/users",                 Nowhere, "",                    "ok"),
        row("GET /api/v1/users/me",              Nowhere, "",                    "ok"),
        row("GET /api/v1/users/{user_id:int}",   Nowhere, "",                    "ok"),
        row("GET /api/v1/users/{email:text}",    Nowhere, "",                    "ok"),

        row("POST /api/v1/users/me/presence",    Nowhere, "status=active",       "ok    ok     ok     ok     ok     ok     human  ok"),
        row("GET /api/v1/users/{user_id:int}/presence", Nowhere, "",             "presence"),
        row("GET /api/v1/users/{email:text}/presence",  Nowhere, "",             "absent"),
        row("GET /api/v1/realm/presence",        Nowhere, "",                    "ok"),

        row("POST /api/v1/typing", Nowhere,  "op=start to=[{user}]",                               "ok"),
        row("POST /api/v1/typing", PublicIn, "op=start type=stream stream_id={channel} topic=t",   "ok"),
        row("POST /api/v1/typing", Public,   "op=start type=stream stream_id={channel} topic=t",   "id    ok     ok     ok     ok     ok     ok     ok"),
        row("POST /api/v1/typing", Private,  "op=start type=stream stream_id={channel} topic=t",   "id    id     id     id     send   send   id     send"),
    ]
}
