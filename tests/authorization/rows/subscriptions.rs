//! Subscribing and unsubscribing oneself and others, and what belongs to a subscription.

use super::Place::{Nowhere, Private, PrivateIn, Public, PublicIn};
use super::{Row, row};

#[rustfmt::skip]
pub fn rows() -> Vec<Row> {
    vec![
        //                                                                       guest member full   moder  admin  owner  bot    warden
        row("GET /api/v1/users/me/subscriptions", Nowhere, "",                   "ok"),

        row("POST /api/v1/users/me/subscriptions", Public,  "subscriptions=[{\"name\":\"{name}\"}]",
                                                                                 "guest ok     ok     ok     ok     ok     ok     ok"),
        row("POST /api/v1/users/me/subscriptions", Private, "subscriptions=[{\"name\":\"{name}\"}]",
                                                                                 "guest access access access access access access access"),
        row("POST /api/v1/users/me/subscriptions", Public,  "subscriptions=[{\"name\":\"{name}\"}] principals=[{other}]",
                                                                                 "guest ok     ok     ok     ok     ok     ok     ok"),
        row("POST /api/v1/users/me/subscriptions", PrivateIn, "subscriptions=[{\"name\":\"{name}\"}] principals=[{other}]",
                                                                                 "guest ok     ok     ok     ok     ok     ok     ok"),

        row("PATCH /api/v1/users/me/subscriptions", Public,  "add=[{\"name\":\"{name}\"}]",
                                                                                 "guest ok     ok     ok     ok     ok     ok     ok"),
        row("PATCH /api/v1/users/me/subscriptions", PublicIn, "delete=[\"{name}\"]", "ok"),

        row("DELETE /api/v1/users/me/subscriptions", PublicIn, "subscriptions=[\"{name}\"]", "ok"),
        row("DELETE /api/v1/users/me/subscriptions", Public,   "subscriptions=[\"{name}\"] principals=[{user}]",
                                                                                 "perm  perm   perm   perm   ok     ok     perm   ok"),
        row("DELETE /api/v1/users/me/subscriptions", PrivateIn, "subscriptions=[\"{name}\"] principals=[{user}]",
                                                                                 "perm  perm   perm   perm   ok     ok     perm   ok"),
        row("DELETE /api/v1/users/me/subscriptions", Private,  "subscriptions=[\"{name}\"] principals=[{user}]",
                                                                                 "perm  perm   perm   perm   ok     ok     perm   ok"),

        row("GET /api/v1/users/{user_id:int}/subscriptions/{stream_id:int}", Public,  "",
                                                                                 "id    ok     ok     ok     ok     ok     ok     ok"),
        row("GET /api/v1/users/{user_id:int}/subscriptions/{stream_id:int}", Private, "",
                                                                                 "id    id     id     id     ok     ok     id     id"),
    ]
}
