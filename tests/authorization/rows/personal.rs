//! Profiles and personal lists of users, and custom profile fields.
//!
//! Later rows depend on earlier ones: a user who was muted can be unmuted, and a configured navigation view can be
//! updated and removed.

use super::Place::Nowhere;
use super::{Row, row};

#[rustfmt::skip]
pub fn rows() -> Vec<Row> {
    vec![
        //                                                                       guest member full   moder  admin  owner  bot    warden
        row("POST /api/v1/users/me/status", Nowhere, "status_text=here",         "ok    ok     ok     ok     ok     ok     human  ok"),
        row("GET /api/v1/users/{user_id:int}/status", Nowhere, "",               "ok"),
        row("POST /api/v1/users/{user_id:int}/status", Nowhere, "status_text=x", "perm  perm   perm   perm   ok     ok     perm   perm"),

        row("POST /api/v1/users/me/muted_users/{user_id:int}", Nowhere, "",      "ok"),
        row("DELETE /api/v1/users/me/muted_users/{user_id:int}", Nowhere, "",    "ok"),

        row("POST /api/v1/users/me/apns_device_token", Nowhere, "token=c0ffee appid=org.zulip.Zulip",
                                                                                 "ok    ok     ok     ok     ok     ok     human  ok"),
        row("DELETE /api/v1/users/me/apns_device_token", Nowhere, "token=c0ffee", "ok    ok     ok     ok     ok     ok     human  ok"),
        row("POST /api/v1/users/me/android_gcm_reg_id", Nowhere, "token=android", "ok    ok     ok     ok     ok     ok     human  ok"),
        row("DELETE /api/v1/users/me/android_gcm_reg_id", Nowhere, "token=android", "ok    ok     ok     ok     ok     ok     human  ok"),
        row("POST /api/v1/mobile_push/register", Nowhere,
            "token_kind=fcm push_account_id=1 push_key=MTaUDJDMWypQ1WufZ1NRTHSSvgYtXh1qVNSjN3aBiEFt bouncer_public_key=k encrypted_push_registration=r",
                                                                                 "phone phone  phone  phone  phone  phone  human  phone"),
        row("POST /api/v1/mobile_push/test_notification", Nowhere, "token=other", "token token  token  token  token  token  human  token"),
        row("POST /api/v1/mobile_push/e2ee/test_notification", Nowhere, "",      "inert inert  inert  inert  inert  inert  human  inert"),

        row("POST /api/v1/users/me/onboarding_steps", Nowhere, "onboarding_step=intro_resolve_topic",
                                                                                 "ok    ok     ok     ok     ok     ok     human  ok"),
        row("POST /api/v1/zcommand", Nowhere, "command=/ping",                   "ok"),

        row("GET /api/v1/navigation_views", Nowhere, "",                         "ok"),
        row("POST /api/v1/navigation_views", Nowhere, "fragment=inbox is_pinned=true", "ok"),
        row("PATCH /api/v1/navigation_views/{fragment:rest}", Nowhere, "is_pinned=false", "ok"),
        row("DELETE /api/v1/navigation_views/{fragment:rest}", Nowhere, "",      "ok"),

        row("GET /api/v1/realm/profile_fields", Nowhere, "",                     "ok"),
        row("PATCH /api/v1/realm/profile_fields", Nowhere, "order=[]",           "admin admin  admin  admin  ok     ok     admin  admin"),
        row("POST /api/v1/realm/profile_fields", Nowhere, "name=new-{number} field_type=1",
                                                                                 "admin admin  admin  admin  ok     ok     admin  admin"),
        row("PATCH /api/v1/realm/profile_fields/{field_id:int}", Nowhere, "hint=x",
                                                                                 "admin admin  admin  admin  field  field  admin  admin"),
        row("DELETE /api/v1/realm/profile_fields/{field_id:int}", Nowhere, "",   "admin admin  admin  admin  field  field  admin  admin"),
        row("PATCH /api/v1/users/me/profile_data", Nowhere, "data=[]",           "ok    ok     ok     ok     ok     ok     human  ok"),
        row("DELETE /api/v1/users/me/profile_data", Nowhere, "data=[]",          "ok    ok     ok     ok     ok     ok     human  ok"),
    ]
}
