//! Profiles and personal lists of users, and custom profile fields.
//!
//! Later rows depend on earlier ones: a user who was muted can be unmuted, and a configured navigation view can be
//! updated and removed.

use super::Place::{Nowhere, Private, Public, PublicIn};
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

        row("GET /api/v1/drafts", Nowhere, "",                                   "ok"),
        row("POST /api/v1/drafts", Nowhere, "drafts=[]",                         "ok"),
        row("PATCH /api/v1/drafts/{draft_id:int}", Nowhere, r#"draft={"type":"","to":[],"topic":"","content":"x"}"#, "draft"),
        row("DELETE /api/v1/drafts/{draft_id:int}", Nowhere, "",                 "draft"),

        row("GET /api/v1/scheduled_messages", Nowhere, "",                       "ok"),
        row("POST /api/v1/scheduled_messages", Nowhere,  "type=direct to=[{user}] content=x scheduled_delivery_timestamp=9999999999", "ok"),
        row("POST /api/v1/scheduled_messages", Public,   "type=channel to={channel} topic=t content=x scheduled_delivery_timestamp=9999999999",
                                                                                 "none_id ok   ok     ok     ok     ok     ok     ok"),
        row("POST /api/v1/scheduled_messages", Private,  "type=channel to={channel} topic=t content=x scheduled_delivery_timestamp=9999999999",
                                                                                 "none_id none_id none_id none_id send send none_id send"),
        row("PATCH /api/v1/scheduled_messages/{scheduled_message_id:int}", Nowhere, "content=y", "later"),
        row("DELETE /api/v1/scheduled_messages/{scheduled_message_id:int}", Nowhere, "", "later"),
        row("GET /api/v1/reminders", Nowhere, "",                                "ok"),
        row("POST /api/v1/reminders", PublicIn, "message_id={message} scheduled_delivery_timestamp=9999999999", "ok"),
        row("POST /api/v1/reminders", Private, "message_id={message} scheduled_delivery_timestamp=9999999999", "msg"),
        row("DELETE /api/v1/reminders/{reminder_id:int}", Nowhere, "",           "remind"),

        row("GET /api/v1/saved_snippets", Nowhere, "",                           "ok"),
        row("POST /api/v1/saved_snippets", Nowhere, "title=a content=b",         "ok"),
        row("PATCH /api/v1/saved_snippets/{saved_snippet_id:int}", Nowhere, "title=c", "snippet"),
        row("DELETE /api/v1/saved_snippets/{saved_snippet_id:int}", Nowhere, "", "snippet"),

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
