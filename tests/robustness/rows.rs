//! The rows: for each route parameters that would do, which of them it cannot do without, and what is JSON.

/// One route.
pub struct Row {
    /// As in the table of routes.
    pub route: &'static str,
    /// Parameters that would do, `name=value`.
    pub given: &'static str,
    /// Those of them that must be there.
    pub required: &'static str,
    /// What is JSON, `name:type`: those that are given, and optional ones.
    pub typed: &'static str,
}

const fn row(route: &'static str, given: &'static str, required: &'static str, typed: &'static str) -> Row {
    Row { route, given, required, typed }
}

const WINDOW: &str = "anchor=newest num_before=1 num_after=0 narrow=[] op=add flag=read";
const NEW_CHANNEL: &str = "announce:bool invite_only:bool is_web_public:bool is_default_stream:bool \
                           history_public_to_subscribers:bool folder_id:int";

pub const ROWS: &[Row] = &[
    row("GET /health", "", "", ""),
    row("GET /metrics", "", "", ""),
    row("GET /static/generated/emoji/emoji_api.json", "", "", ""),
    row("GET /api/v1/server_settings", "", "", ""),
    row("POST /api/v1/fetch_api_key", "username=a@b.example password=x", "username password", ""),
    row("POST /api/v1/dev_fetch_api_key", "username=iago@zulip.com", "username", ""),
    row("GET /api/v1/dev_list_users", "", "", ""),
    row(
        "POST /api/v1/users",
        "email=new@zulip.com password=correcthorse full_name=New",
        "email password full_name",
        "",
    ),
    row(
        "GET /api/v1/messages",
        "anchor=newest num_before=1 num_after=0",
        "anchor",
        "num_before:int num_after:int include_anchor:bool client_gravatar:bool apply_markdown:bool \
         allow_empty_topic_name:bool",
    ),
    row(
        "POST /api/v1/messages",
        "type=stream to=Verona topic=t content=x",
        "type to topic content",
        "read_by_sender:bool",
    ),
    row("POST /api/v1/messages/render", "content=x", "content", ""),
    row(
        "POST /api/v1/messages/flags",
        "messages=[1] op=add flag=starred",
        "messages op flag",
        "messages:list",
    ),
    row(
        "POST /api/v1/messages/flags/narrow",
        WINDOW,
        "anchor num_before num_after narrow op flag",
        "num_before:int num_after:int include_anchor:bool",
    ),
    row("GET /api/v1/messages/matches_narrow", "msg_ids=[1] narrow=[]", "msg_ids narrow", "msg_ids:list"),
    row("GET /api/v1/messages/{message_id:int}", "", "", "apply_markdown:bool allow_empty_topic_name:bool"),
    row(
        "PATCH /api/v1/messages/{message_id:int}",
        "content=x",
        "",
        "stream_id:int send_notification_to_old_thread:bool send_notification_to_new_thread:bool",
    ),
    row("DELETE /api/v1/messages/{message_id:int}", "", "", ""),
    row("GET /api/v1/messages/{message_id:int}/history", "", "", "allow_empty_topic_name:bool"),
    row("GET /api/v1/messages/{message_id:int}/read_receipts", "", "", ""),
    row("POST /api/v1/messages/{message_id:int}/reactions", "emoji_name=heart", "emoji_name", ""),
    row("DELETE /api/v1/messages/{message_id:int}/reactions", "emoji_name=heart", "", ""),
    row(
        "POST /api/v1/submessage",
        "message_id=1 msg_type=widget content={}",
        "message_id msg_type content",
        "message_id:int",
    ),
    row("POST /api/v1/streams/{stream_id:int}/delete_topic", "topic_name=x", "topic_name", ""),
    row("POST /api/v1/mark_all_as_read", "", "", ""),
    row("POST /api/v1/mark_stream_as_read", "stream_id=1", "stream_id", "stream_id:int"),
    row(
        "POST /api/v1/mark_topic_as_read",
        "stream_id=1 topic_name=x",
        "stream_id topic_name",
        "stream_id:int",
    ),
    row(
        "GET /api/v1/events",
        "queue_id=x last_event_id=-1 dont_block=false",
        "queue_id last_event_id",
        "last_event_id:int dont_block:bool",
    ),
    row("DELETE /api/v1/events", "queue_id=x", "queue_id", ""),
    row("POST /api/v1/typing", "op=start to=[1]", "op to", "to:list stream_id:int"),
    row(
        "POST /api/v1/users/me/presence",
        "status=active",
        "status",
        "ping_only:bool new_user_input:bool slim_presence:bool last_update_id:int history_limit_days:int",
    ),
    row("GET /api/v1/users/{user_id:int}/presence", "", "", ""),
    row("GET /api/v1/users/{email:text}/presence", "", "", ""),
    row("GET /api/v1/realm/presence", "", "", ""),
    row("POST /api/v1/users/me/status", "status_text=x", "", "away:bool"),
    row("GET /api/v1/users/{user_id:int}/status", "", "", ""),
    row("POST /api/v1/users/{user_id:int}/status", "status_text=x", "", "away:bool"),
    row("POST /api/v1/users/me/muted_users/{user_id:int}", "", "", ""),
    row("DELETE /api/v1/users/me/muted_users/{user_id:int}", "", "", ""),
    row("PATCH /api/v1/users/me/profile_data", "data=[]", "data", "data:list"),
    row("DELETE /api/v1/users/me/profile_data", "data=[]", "data", "data:list"),
    row("GET /api/v1/navigation_views", "", "", ""),
    row(
        "POST /api/v1/navigation_views",
        "fragment=inbox is_pinned=true",
        "fragment is_pinned",
        "is_pinned:bool",
    ),
    row("PATCH /api/v1/navigation_views/{fragment:rest}", "is_pinned=true", "", "is_pinned:bool"),
    row("DELETE /api/v1/navigation_views/{fragment:rest}", "", "", ""),
    row(
        "POST /api/v1/register",
        "",
        "",
        "apply_markdown:bool client_gravatar:bool slim_presence:bool all_public_streams:bool \
         include_subscribers:bool client_capabilities:dict event_types:list fetch_event_types:list \
         queue_lifespan_secs:int presence_history_limit_days:int",
    ),
    row("GET /api/v1/users", "", "", "client_gravatar:bool include_custom_profile_fields:bool user_ids:list"),
    row("GET /api/v1/users/me", "", "", ""),
    row("GET /api/v1/users/me/alert_words", "", "", ""),
    row("POST /api/v1/users/me/alert_words", "alert_words=[]", "alert_words", "alert_words:list"),
    row("DELETE /api/v1/users/me/alert_words", "alert_words=[]", "alert_words", "alert_words:list"),
    row("DELETE /api/v1/users/me", "", "", ""),
    row("POST /api/v1/users/me/api_key/regenerate", "", "", ""),
    row("PATCH /api/v1/users/{user_id:int}", "full_name=x", "", "role:int profile_data:list"),
    row("PATCH /api/v1/users/{email:text}", "full_name=x", "", "role:int profile_data:list"),
    row("DELETE /api/v1/users/{user_id:int}", "", "", ""),
    row("POST /api/v1/users/{user_id:int}/reactivate", "", "", ""),
    row("PATCH /api/v1/realm/user_settings_defaults", "enter_sends=true", "", "enter_sends:bool color_scheme:int"),
    row("GET /api/v1/users/{user_id:int}", "", "", "client_gravatar:bool include_custom_profile_fields:bool"),
    row("GET /api/v1/users/{email:text}", "", "", "client_gravatar:bool include_custom_profile_fields:bool"),
    row(
        "GET /api/v1/streams",
        "",
        "",
        "include_public:bool include_web_public:bool include_subscribed:bool exclude_archived:bool \
         include_all:bool include_all_active:bool include_default:bool include_owner_subscribed:bool \
         include_can_access_content:bool",
    ),
    row("GET /api/v1/get_stream_id", "stream=Verona", "stream", ""),
    row("GET /api/v1/streams/{stream_id:int}", "", "", ""),
    row("GET /api/v1/streams/{stream_id:int}/members", "", "", ""),
    row(
        "PATCH /api/v1/streams/{stream_id:int}",
        "description=x",
        "",
        "is_private:bool is_web_public:bool history_public_to_subscribers:bool is_default_stream:bool \
         is_archived:bool folder_id:int can_send_message_group:dict can_subscribe_group:dict",
    ),
    row("DELETE /api/v1/streams/{stream_id:int}", "", "", ""),
    row("POST /api/v1/default_streams", "stream_id=1", "stream_id", "stream_id:int"),
    row("DELETE /api/v1/default_streams", "stream_id=1", "stream_id", "stream_id:int"),
    row("GET /api/v1/channel_folders", "", "", "include_archived:bool"),
    row("PATCH /api/v1/channel_folders", "order=[]", "order", "order:list"),
    row("POST /api/v1/channel_folders/create", "name=new description=x", "name description", ""),
    row("PATCH /api/v1/channel_folders/{channel_folder_id:int}", "name=new", "", "is_archived:bool"),
    row("POST /api/v1/channels/create", "name=new subscribers=[]", "name subscribers", NEW_CHANNEL),
    row("GET /api/v1/users/me/{stream_id:int}/topics", "", "", "allow_empty_topic_name:bool"),
    row("GET /api/v1/users/me/subscriptions", "", "", "include_subscribers:bool"),
    row(
        "POST /api/v1/users/me/subscriptions",
        "subscriptions=[{\"name\":\"new\"}]",
        "subscriptions",
        "subscriptions:list authorization_errors_fatal:bool send_new_subscription_messages:bool \
         announce:bool invite_only:bool is_web_public:bool is_default_stream:bool \
         history_public_to_subscribers:bool",
    ),
    row("PATCH /api/v1/users/me/subscriptions", "add=[{\"name\":\"new\"}]", "add", "add:list delete:list"),
    row(
        "DELETE /api/v1/users/me/subscriptions",
        "subscriptions=[\"Verona\"]",
        "subscriptions",
        "subscriptions:list",
    ),
    row(
        "POST /api/v1/users/me/subscriptions/properties",
        "subscription_data=[]",
        "subscription_data",
        "subscription_data:list",
    ),
    row(
        "PATCH /api/v1/users/me/subscriptions/muted_topics",
        "stream_id=1 topic=x op=add",
        "stream_id topic op",
        "stream_id:int",
    ),
    row(
        "POST /api/v1/user_topics",
        "stream_id=1 topic=x visibility_policy=1",
        "stream_id topic visibility_policy",
        "stream_id:int visibility_policy:int",
    ),
    row("GET /api/v1/users/{user_id:int}/subscriptions/{stream_id:int}", "", "", ""),
    row("GET /api/v1/user_groups", "", "", "include_deactivated_groups:bool"),
    row(
        "POST /api/v1/user_groups/create",
        "name=new description=new members=[]",
        "name description members",
        "members:list subgroups:list",
    ),
    row(
        "PATCH /api/v1/user_groups/{user_group_id:int}",
        "",
        "",
        "deactivated:bool can_add_members_group:dict can_join_group:dict can_leave_group:dict \
         can_manage_group:dict can_mention_group:dict can_remove_members_group:dict",
    ),
    row("POST /api/v1/user_groups/{user_group_id:int}/deactivate", "", "", ""),
    row("GET /api/v1/user_groups/{user_group_id:int}/members", "", "", "direct_member_only:bool"),
    row(
        "POST /api/v1/user_groups/{user_group_id:int}/members",
        "add=[1]",
        "add",
        "add:list delete:list add_subgroups:list delete_subgroups:list",
    ),
    row(
        "GET /api/v1/user_groups/{user_group_id:int}/members/{user_id:int}",
        "",
        "",
        "direct_member_only:bool",
    ),
    row("GET /api/v1/user_groups/{user_group_id:int}/subgroups", "", "", "direct_subgroup_only:bool"),
    row("POST /api/v1/user_groups/{user_group_id:int}/subgroups", "add=[1]", "add", "add:list delete:list"),
    row("POST /api/v1/realm/deactivate", "deletion_delay_days=30", "", "deletion_delay_days:int"),
    row("GET /api/v1/realm/domains", "", "", ""),
    row("POST /api/v1/realm/domains", "domain=new.example", "domain", "allow_subdomains:bool"),
    row("PATCH /api/v1/realm/domains/{domain:text}", "", "", "allow_subdomains:bool"),
    row("DELETE /api/v1/realm/domains/{domain:text}", "", "", ""),
    row("GET /api/v1/realm/linkifiers", "", "", ""),
    row(
        "PATCH /api/v1/realm/linkifiers",
        "ordered_linkifier_ids=[7]",
        "ordered_linkifier_ids",
        "ordered_linkifier_ids:list",
    ),
    row(
        "POST /api/v1/realm/filters",
        "pattern=x url_template=https://x.example/",
        "pattern url_template",
        "",
    ),
    row(
        "PATCH /api/v1/realm/filters/{filter_id:int}",
        "pattern=x url_template=https://x.example/",
        "pattern url_template",
        "",
    ),
    row("DELETE /api/v1/realm/filters/{filter_id:int}", "", "", ""),
    row(
        "POST /api/v1/realm/playgrounds",
        "name=n pygments_language=C url_template=https://x.example/{code}",
        "name pygments_language url_template",
        "",
    ),
    row("DELETE /api/v1/realm/playgrounds/{playground_id:int}", "", "", ""),
    row("GET /api/v1/realm/profile_fields", "", "", ""),
    row(
        "POST /api/v1/realm/profile_fields",
        "name=new field_type=1",
        "field_type",
        "field_type:int field_data:dict display_in_profile_summary:bool required:bool editable_by_user:bool",
    ),
    row("PATCH /api/v1/realm/profile_fields", "order=[]", "order", "order:list"),
    row(
        "PATCH /api/v1/realm/profile_fields/{field_id:int}",
        "name=new",
        "",
        "field_data:dict display_in_profile_summary:bool required:bool editable_by_user:bool",
    ),
    row("DELETE /api/v1/realm/profile_fields/{field_id:int}", "", "", ""),
    row(
        "PATCH /api/v1/realm",
        "",
        "",
        "allow_message_editing:bool enable_read_receipts:bool mandatory_topics:bool digest_weekday:int \
         waiting_period_threshold:int new_stream_announcements_stream_id:int",
    ),
    row(
        "PATCH /api/v1/settings",
        "",
        "",
        "twenty_four_hour_time:bool enter_sends:bool presence_enabled:bool color_scheme:int web_font_size_px:int \
         email_notifications_batching_period_seconds:int email_address_visibility:int",
    ),
    row(
        "PATCH /api/v1/settings/display",
        "",
        "",
        "twenty_four_hour_time:bool enter_sends:bool presence_enabled:bool color_scheme:int web_font_size_px:int \
         email_notifications_batching_period_seconds:int email_address_visibility:int",
    ),
    row(
        "PATCH /api/v1/settings/notifications",
        "",
        "",
        "twenty_four_hour_time:bool enter_sends:bool presence_enabled:bool color_scheme:int web_font_size_px:int \
         email_notifications_batching_period_seconds:int email_address_visibility:int",
    ),
];
