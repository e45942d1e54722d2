//! Changes of other users' accounts. The last row deactivates users.

use super::Place::Nowhere;
use super::{Row, row};

#[rustfmt::skip]
pub fn rows() -> Vec<Row> {
    vec![
        //                                                                       guest member full   moder  admin  owner  bot    warden
        row("PATCH /api/v1/users/{user_id:int}", Nowhere, "full_name=Cordelia",  "perm  perm   perm   perm   ok     ok     perm   perm"),
        row("PATCH /api/v1/users/{user_id:int}", Nowhere, "role=100",            "perm  perm   perm   perm   owner  ok     perm   perm"),
        row("PATCH /api/v1/users/{email:text}",  Nowhere, "full_name=Cordelia",  "perm  perm   perm   perm   ok     ok     perm   perm"),
        row("DELETE /api/v1/users/{user_id:int}", Nowhere, "@user={fresh}",      "perm  perm   perm   perm   ok     ok     perm   perm"),
        row("POST /api/v1/users/{user_id:int}/reactivate", Nowhere, "",          "perm  perm   perm   perm   ok     ok     perm   perm"),
        row("PATCH /api/v1/realm/user_settings_defaults", Nowhere, "enter_sends=true",
                                                                                 "admin admin  admin  admin  ok     ok     admin  admin"),
        row("POST /api/v1/users/me/api_key/regenerate", Nowhere, "",             "ok"),
        // Cordelia is the only owner at this point, and is demoted.
        row("PATCH /api/v1/users/{user_id:int}", Nowhere, "role=400",            "perm  perm   perm   perm   owner  ok     perm   perm"),
        row("DELETE /api/v1/users/me", Nowhere, "",                              "ok    ok     ok     ok     ok     last   human  ok"),
    ]
}
