//! Channels: looking at them, making them, changing them.

use super::Place::{Nowhere, Private, PrivateIn, Public, PublicIn};
use super::{Row, row};

#[rustfmt::skip]
pub fn rows() -> Vec<Row> {
    vec![
        //                                                                       guest member full   moder  admin  owner  bot    warden
        row("GET /api/v1/streams", Nowhere, "include_all=true",                  "ok"),
        row("GET /api/v1/get_stream_id", Public,    "stream={name}",             "named ok     ok     ok     ok     ok     ok     ok"),
        // That it is there is known to those who administer it.
        row("GET /api/v1/get_stream_id", Private,   "stream={name}",             "named named  named  named  ok     ok     named  ok"),
        row("GET /api/v1/get_stream_id", PrivateIn, "stream={name}",             "ok"),
        row("GET /api/v1/streams/{stream_id:int}", Public,    "",                "id    ok     ok     ok     ok     ok     ok     ok"),
        row("GET /api/v1/streams/{stream_id:int}", Private,   "",                "id    id     id     id     ok     ok     id     ok"),
        row("GET /api/v1/streams/{stream_id:int}", PrivateIn, "",                "ok"),
        row("GET /api/v1/streams/{stream_id:int}/members", Public,    "",        "id    ok     ok     ok     ok     ok     ok     ok"),
        row("GET /api/v1/streams/{stream_id:int}/members", Private,   "",        "id    id     id     id     ok     ok     id     id"),
        row("GET /api/v1/streams/{stream_id:int}/members", PrivateIn, "",        "ok"),
        row("GET /api/v1/users/me/{stream_id:int}/topics", Public,    "",        "id    ok     ok     ok     ok     ok     ok     ok"),
        row("GET /api/v1/users/me/{stream_id:int}/topics", PublicIn,  "",        "ok"),
        row("GET /api/v1/users/me/{stream_id:int}/topics", Private,   "",        "id"),
        row("GET /api/v1/users/me/{stream_id:int}/topics", PrivateIn, "",        "ok"),

        row("POST /api/v1/channels/create", Nowhere, "name=new{number} subscribers=[]",
                                                                                 "guest ok     ok     ok     ok     ok     ok     ok"),
        row("POST /api/v1/channels/create", Nowhere, "name=new{number} subscribers=[] invite_only=true",
                                                                                 "guest ok     ok     ok     ok     ok     ok     ok"),
        row("POST /api/v1/channels/create", Nowhere, "name=new{number} subscribers=[] is_default_stream=true",
                                                                                 "guest perm   perm   perm   ok     ok     perm   perm"),
        row("POST /api/v1/channels/create", Nowhere, "name=new{number} subscribers=[] message_retention_days=5",
                                                                                 "guest owner  owner  owner  owner  ok     owner  owner"),
    ]
}
