//! User groups, realm settings and user settings.
//!
//! `{group}` is managed by a member who is not a caller, and by the channel administrator; all members may join it.

use super::Place::Nowhere;
use super::{Row, row};

#[rustfmt::skip]
pub fn rows() -> Vec<Row> {
    vec![
        //                                                                       guest member full   moder  admin  owner  bot    warden
        row("GET /api/v1/user_groups", Nowhere, "",                              "guest ok     ok     ok     ok     ok     human  ok"),
        row("POST /api/v1/user_groups/create", Nowhere, "name=new-{number} description= members=[]",
                                                                                 "guest ok     ok     ok     ok     ok     ok     ok"),
        row("PATCH /api/v1/user_groups/{user_group_id:int}", Nowhere, "description=new",
                                                                                 "guest perm   perm   perm   perm   ok     perm   ok"),
        row("POST /api/v1/user_groups/{user_group_id:int}/deactivate", Nowhere, "",
                                                                                 "guest perm   perm   perm   perm   ok     perm   ok"),
        row("DELETE /api/v1/user_groups/{user_group_id:int}", Nowhere, "",
                                                                                 "guest perm   perm   perm   perm   ok     perm   ok"),
        row("GET /api/v1/user_groups/{user_group_id:int}/members", Nowhere, "",  "guest ok     ok     ok     ok     ok     human  ok"),
        row("POST /api/v1/user_groups/{user_group_id:int}/members", Nowhere, "add=[{other}]",
                                                                                 "perm  perm   perm   perm   perm   ok     perm   ok"),
        row("POST /api/v1/user_groups/{user_group_id:int}/members", Nowhere, "add=[{caller}]",
                                                                                 "perm  ok     ok     ok     ok     ok     ok     ok"),
        row("POST /api/v1/user_groups/{user_group_id:int}/members", Nowhere, "delete=[{user}]",
                                                                                 "perm  perm   perm   perm   perm   ok     perm   ok"),
        row("GET /api/v1/user_groups/{user_group_id:int}/members/{user_id:int}", Nowhere, "",
                                                                                 "guest ok     ok     ok     ok     ok     human  ok"),
        row("GET /api/v1/user_groups/{user_group_id:int}/subgroups", Nowhere, "", "guest ok    ok     ok     ok     ok     human  ok"),
        row("POST /api/v1/user_groups/{user_group_id:int}/subgroups", Nowhere, "add=[1]",
                                                                                 "guest perm   perm   perm   perm   ok     perm   ok"),

        row("PATCH /api/v1/realm", Nowhere, "inline_image_preview=false",        "admin admin  admin  admin  ok     ok     admin  admin"),
        row("PATCH /api/v1/realm", Nowhere, "invite_required=false",             "admin admin  admin  admin  owner  ok     admin  admin"),
        row("PATCH /api/v1/settings", Nowhere, "enter_sends=true",               "ok    ok     ok     ok     ok     ok     human  ok"),
        row("PATCH /api/v1/settings/display", Nowhere, "enter_sends=true",       "ok    ok     ok     ok     ok     ok     human  ok"),
        row("PATCH /api/v1/settings/notifications", Nowhere, "enter_sends=true", "ok    ok     ok     ok     ok     ok     human  ok"),
    ]
}
