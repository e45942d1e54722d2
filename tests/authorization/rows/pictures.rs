//! Avatars, the organization's icon and logos, and custom emoji. Uploads have no file here, which is an
//! error only for callers who may upload.

use super::Place::Nowhere;
use super::{Row, open, row};

#[rustfmt::skip]
pub fn rows() -> Vec<Row> {
    vec![
        open("GET /user_avatars/exports/{realm_id:int}/{file:rest}", "", "none"),
        open("GET /user_avatars/{path:rest}", "", "none"),
        //                                                                       guest member full   moder  admin  owner  bot    warden
        row("GET /avatar/{user_id:int}", Nowhere, "",                            "found"),
        row("GET /avatar/{user_id:int}/medium", Nowhere, "",                     "found"),
        row("GET /avatar/{email:text}", Nowhere, "",                             "found"),
        row("GET /avatar/{email:text}/medium", Nowhere, "",                      "found"),
        row("POST /api/v1/users/me/avatar", Nowhere, "",                         "avatar avatar avatar avatar avatar avatar human avatar"),
        row("DELETE /api/v1/users/me/avatar", Nowhere, "",                       "ok    ok     ok     ok     ok     ok     human  ok"),
        row("GET /api/v1/realm/icon", Nowhere, "",                               "found"),
        row("POST /api/v1/realm/icon", Nowhere, "",                              "admin admin  admin  admin  icon   icon   admin  admin"),
        row("DELETE /api/v1/realm/icon", Nowhere, "",                            "admin admin  admin  admin  ok     ok     admin  admin"),
        row("GET /api/v1/realm/logo", Nowhere, "night=true",                     "found"),
        row("POST /api/v1/realm/logo", Nowhere, "night=true",                    "admin admin  admin  admin  logo   logo   admin  admin"),
        row("DELETE /api/v1/realm/logo", Nowhere, "night=true",                  "admin admin  admin  admin  ok     ok     admin  admin"),
        row("GET /api/v1/realm/emoji", Nowhere, "",                              "ok"),
        row("POST /api/v1/realm/emoji/{emoji_name:rest}", Nowhere, "",           "guest letter letter letter letter letter letter letter"),
        row("DELETE /api/v1/realm/emoji/{emoji_name:rest}", Nowhere, "",         "emoji"),
    ]
}
