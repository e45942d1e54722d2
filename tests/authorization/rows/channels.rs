//! Channels: list, create, update.

use super::Place::{Archived, Nowhere, Private, PrivateIn, Public, PublicIn};
use super::{Row, row};

#[expect(clippy::too_many_lines, reason = "a table has a row for each case, and nothing else")]
#[rustfmt::skip]
pub fn rows() -> Vec<Row> {
    vec![
        //                                                                       guest member full   moder  admin  owner  bot    warden
        row("GET /api/v1/streams", Nowhere, "include_all=true",                  "ok"),
        row("GET /api/v1/get_stream_id", Public,    "stream={name}",             "named ok     ok     ok     ok     ok     ok     ok"),
        // Its administrators know that the channel exists.
        row("GET /api/v1/get_stream_id", Private,   "stream={name}",             "named"),
        row("GET /api/v1/get_stream_id", PrivateIn, "stream={name}",             "ok"),
        row("GET /api/v1/streams/{stream_id:int}", Public,    "",                "id    ok     ok     ok     ok     ok     ok     ok"),
        row("GET /api/v1/streams/{stream_id:int}", Private,   "",                "id    id     id     id     ok     ok     id     ok"),
        row("GET /api/v1/streams/{stream_id:int}", PrivateIn, "",                "ok"),
        row("GET /api/v1/streams/{stream_id:int}/members", Public,    "",        "id    ok     ok     ok     ok     ok     ok     ok"),
        row("GET /api/v1/streams/{stream_id:int}/members", Private,   "",        "id    id     id     id     ok     ok     id     id"),
        row("GET /api/v1/streams/{stream_id:int}/members", PrivateIn, "",        "ok"),
        row("GET /api/v1/streams/{stream_id:int}/email_address", Public,    "",  "id    ok     ok     ok     ok     ok     ok     ok"),
        row("GET /api/v1/streams/{stream_id:int}/email_address", PublicIn,  "",  "ok"),
        row("GET /api/v1/streams/{stream_id:int}/email_address", Private,   "",  "id"),
        row("GET /api/v1/streams/{stream_id:int}/email_address", PrivateIn, "",  "ok"),
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

        row("PATCH /api/v1/streams/{stream_id:int}", Public, "description=x",    "id    manage manage manage ok     ok     manage ok"),
        row("PATCH /api/v1/streams/{stream_id:int}", PublicIn, "description=x",  "manage manage manage manage ok     ok     manage ok"),
        row("PATCH /api/v1/streams/{stream_id:int}", Private, "description=x",   "id    id     id     id     ok     ok     id     ok"),
        row("PATCH /api/v1/streams/{stream_id:int}", PrivateIn, "description=x", "manage manage manage manage ok     ok     manage ok"),
        row("PATCH /api/v1/streams/{stream_id:int}", Archived, "is_archived=false",
                                                                                 "id    manage manage manage ok     ok     manage ok"),
        // Users who can change the privacy of a channel can read it.
        row("PATCH /api/v1/streams/{stream_id:int}", Private, "is_private=false",
                                                                                 "id    id     id     id     content content id     content"),
        row("PATCH /api/v1/streams/{stream_id:int}", PrivateIn, "is_private=false",
                                                                                 "manage manage manage manage ok     ok     manage ok"),
        row("PATCH /api/v1/streams/{stream_id:int}", Public, "is_default_stream=true",
                                                                                 "id    manage manage manage ok     ok     manage default"),
        row("PATCH /api/v1/streams/{stream_id:int}", Public, "message_retention_days=5",
                                                                                 "id    manage manage manage owner  ok     manage owner"),
        row("PATCH /api/v1/streams/{stream_id:int}", Public, "topics_policy=disable_empty_topic",
                                                                                 "id    manage manage manage ok     ok     manage ok"),
        row("PATCH /api/v1/streams/{stream_id:int}", Public, "can_delete_any_message_group={\"new\":4}",
                                                                                 "id    manage manage manage ok     ok     manage perm"),
        row("DELETE /api/v1/streams/{stream_id:int}", Public, "",                "id    manage manage manage ok     ok     manage ok"),
        row("DELETE /api/v1/streams/{stream_id:int}", Private, "",               "id    id     id     id     ok     ok     id     ok"),
        row("DELETE /api/v1/streams/{stream_id:int}", Archived, "",              "id    manage manage manage gone   gone   manage gone"),
        row("POST /api/v1/default_streams", Public, "stream_id={channel}",       "admin admin  admin  admin  ok     ok     admin  admin"),
        row("POST /api/v1/default_streams", Private, "stream_id={channel}",      "admin admin  admin  admin  id     id     admin  admin"),
        row("DELETE /api/v1/default_streams", Public, "stream_id={channel}",     "admin admin  admin  admin  ok     ok     admin  admin"),

        row("POST /api/v1/default_stream_groups/create", Nowhere, "group_name=g{number} description=x stream_names=[]",
                                                                                 "admin admin  admin  admin  ok     ok     admin  admin"),
        row("POST /api/v1/default_stream_groups/create", Private, "group_name=p{number} description=x stream_names=[\"{name}\"]",
                                                                                 "admin admin  admin  admin  named  named  admin  admin"),
        row("PATCH /api/v1/default_stream_groups/{group_id:int}", Nowhere, "new_description=x",
                                                                                 "admin admin  admin  admin  defgrp defgrp admin  admin"),
        row("PATCH /api/v1/default_stream_groups/{group_id:int}/streams", Nowhere, "op=add stream_names=[]",
                                                                                 "admin admin  admin  admin  defgrp defgrp admin  admin"),
        row("DELETE /api/v1/default_stream_groups/{group_id:int}", Nowhere, "",  "admin admin  admin  admin  defgrp defgrp admin  admin"),

        row("GET /api/v1/channel_folders", Nowhere, "",                          "ok"),
        // There are none at first; the next row creates those with the ids 1 and 2.
        row("PATCH /api/v1/channel_folders", Nowhere, "order=[]",                "admin admin  admin  admin  ok     ok     admin  admin"),
        row("POST /api/v1/channel_folders/create", Nowhere, "name=new-{number} description=",
                                                                                 "admin admin  admin  admin  ok     ok     admin  admin"),
        row("PATCH /api/v1/channel_folders/{channel_folder_id:int}", Nowhere, "description=new",
                                                                                 "admin admin  admin  admin  ok     ok     admin  admin"),
    ]
}
