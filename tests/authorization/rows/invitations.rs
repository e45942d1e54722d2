//! Invitations. The test server sends no email, so callers who may invite get an error that says so; revoking the
//! invitations of others is tested in `api::invites::revoke`.

use super::Place::Nowhere;
use super::{Row, open, row};

#[rustfmt::skip]
pub fn rows() -> Vec<Row> {
    vec![
        //                                                                                guest member full   moder  admin  owner  bot    warden
        row("GET /api/v1/invites",           Nowhere, "",                                "guest ok     ok     ok     ok     ok     human  ok"),
        row("POST /api/v1/invites",          Nowhere, "invitee_emails=a@x.example stream_ids=[]",
                                                                                         "guest nomail nomail nomail nomail nomail human  nomail"),
        row("POST /api/v1/invites",          Nowhere, "invitee_emails=a@x.example stream_ids=[] invite_as=300",
                                                                                         "guest inviter inviter inviter nomail nomail human inviter"),
        row("POST /api/v1/invites",          Nowhere, "invitee_emails=a@x.example stream_ids=[] invite_as=100",
                                                                                         "guest owner  owner  owner  owner  nomail human  owner"),
        row("POST /api/v1/invites/multiuse", Nowhere, "",                                "guest perm   perm   perm   ok     ok     human  perm"),
        row("POST /api/v1/invites/multiuse", Nowhere, "invite_as=100",                   "guest perm   perm   perm   owner  ok     human  perm"),
        row("DELETE /api/v1/invites/multiuse/{invite_id:int}", Nowhere, "",              "guest uninvited uninvited uninvited uninvited uninvited human  uninvited"),
        row("DELETE /api/v1/invites/{invite_id:int}",          Nowhere, "",              "guest uninvited uninvited uninvited uninvited uninvited human  uninvited"),
        row("POST /api/v1/invites/{invite_id:int}/resend",     Nowhere, "",              "guest uninvited uninvited uninvited uninvited uninvited human  uninvited"),

        open("GET /join/{key:rest}",  "",                                         "page"),
        open("POST /join/{key:rest}", "email=a@x.example full_name=A password=x", "page"),
    ]
}
