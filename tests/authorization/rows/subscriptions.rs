//! Subscribing and unsubscribing oneself and others, and properties of subscriptions.

use super::Place::{Archived, Nowhere, Private, PrivateIn, Public, PublicIn};
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
                                                                                 "unnamed perm perm   perm   ok     ok     perm   ok"),
        row("DELETE /api/v1/users/me/subscriptions", PrivateIn, "subscriptions=[\"{name}\"] principals=[{user}]",
                                                                                 "perm  perm   perm   perm   ok     ok     perm   ok"),
        row("DELETE /api/v1/users/me/subscriptions", Private,  "subscriptions=[\"{name}\"] principals=[{user}]",
                                                                                 "unnamed unnamed unnamed unnamed ok ok  unnamed ok"),

        row("POST /api/v1/users/me/subscriptions/properties", PublicIn, "subscription_data=[{\"stream_id\":{channel},\"property\":\"is_muted\",\"value\":true}]", "ok"),
        row("POST /api/v1/users/me/subscriptions/properties", Public, "subscription_data=[{\"stream_id\":{channel},\"property\":\"is_muted\",\"value\":true}]",
                                                                                 "id    inside inside inside inside inside inside inside"),
        row("POST /api/v1/users/me/subscriptions/properties", Private, "subscription_data=[{\"stream_id\":{channel},\"property\":\"is_muted\",\"value\":true}]",
                                                                                 "id    id     id     id     inside inside id     inside"),

        row("PATCH /api/v1/users/me/subscriptions/{stream_id:int}", PublicIn, "property=is_muted value=true", "ok"),
        row("PATCH /api/v1/users/me/subscriptions/{stream_id:int}", Public, "property=is_muted value=true",
                                                                                 "id    inside inside inside inside inside inside inside"),
        row("PATCH /api/v1/users/me/subscriptions/{stream_id:int}", Private, "property=is_muted value=true",
                                                                                 "id    id     id     id     inside inside id     inside"),

        row("PATCH /api/v1/users/me/subscriptions/muted_topics", Public,  "stream_id={channel} topic=t op=add",
                                                                                 "id    ok     ok     ok     ok     ok     ok     ok"),
        row("PATCH /api/v1/users/me/subscriptions/muted_topics", Private, "stream={name} topic=t op=add", "named"),
        row("PATCH /api/v1/users/me/subscriptions/muted_topics", Private, "stream={name} topic=t op=remove",
                                                                                 "unmuted unmuted unmuted unmuted ok ok  unmuted ok"),
        row("POST /api/v1/user_topics", Public,  "stream_id={channel} topic=t visibility_policy=3",
                                                                                 "id    ok     ok     ok     ok     ok     ok     ok"),
        row("POST /api/v1/user_topics", PrivateIn, "stream_id={channel} topic=t visibility_policy=2", "ok"),
        row("POST /api/v1/user_topics", Private, "stream_id={channel} topic=t visibility_policy=1", "id"),
        row("POST /api/v1/user_topics", Archived, "stream_id={channel} topic=t visibility_policy=1", "id"),
        row("POST /api/v1/user_topics", Private, "stream_id={channel} topic=t visibility_policy=0",
                                                                                 "id    id     id     id     ok     ok     id     ok"),

        row("GET /api/v1/users/me/alert_words",    Nowhere, "",                        "ok"),
        row("POST /api/v1/users/me/alert_words",   Nowhere, "alert_words=[\"word\"]", "ok"),
        row("DELETE /api/v1/users/me/alert_words", Nowhere, "alert_words=[\"word\"]", "ok"),

        row("GET /api/v1/users/{user_id:int}/subscriptions/{stream_id:int}", Public,  "",
                                                                                 "id    ok     ok     ok     ok     ok     ok     ok"),
        row("GET /api/v1/users/{user_id:int}/subscriptions/{stream_id:int}", Private, "",
                                                                                 "id    id     id     id     ok     ok     id     id"),
    ]
}
