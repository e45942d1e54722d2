//! The columns that are known here. Others come from newer or changed servers: they are ignored, and the report names them.

use crate::transfer::rows::Row;
use rules::settings::{REALM_PERMISSIONS, REALM_SETTINGS, USER_SETTINGS};
use serde_json::Value;
use std::collections::BTreeMap;

/// Tables with the columns that are carried over, derived, or deliberately dropped (docs/import-export.md).
const TABLES: [(&str, &str); 35] = [
    ("zerver_alertword", "id realm user_profile word deactivated"),
    (
        "zerver_attachment",
        "id file_name path_id owner realm create_time size content_type is_realm_public is_web_public messages scheduled_messages",
    ),
    ("zerver_botconfigdata", "id bot_profile key value"),
    ("zerver_botstoragedata", "id bot_profile key value"),
    (
        "zerver_channelfolder",
        "id realm name description rendered_description date_created creator creator_id is_archived order",
    ),
    (
        "zerver_customprofilefield",
        "id realm name hint order display_in_profile_summary required editable_by_user field_type field_data use_for_user_matching",
    ),
    ("zerver_customprofilefieldvalue", "id user_profile field value rendered_value"),
    ("zerver_defaultstream", "id realm stream"),
    ("zerver_defaultstreamgroup", "id realm name description streams"),
    ("zerver_draft", "id user_profile recipient topic content last_edit_time to"),
    ("zerver_groupgroupmembership", "id supergroup subgroup"),
    ("zerver_huddle", "id huddle_hash recipient group_size"),
    ("zerver_directmessagegroup", "id huddle_hash recipient group_size"),
    ("zerver_muteduser", "id user_profile muted_user date_muted"),
    (
        "zerver_namedusergroup",
        "id usergroup_ptr name description date_created creator is_system_group can_add_members_group can_join_group can_leave_group can_manage_group can_mention_group can_remove_members_group realm_for_sharding realm deactivated",
    ),
    ("zerver_navigationview", "id user fragment is_pinned name"),
    ("zerver_onboardingstep", "id user onboarding_step timestamp"),
    (
        "zerver_realm",
        "id name description string_id date_created deactivated uuid uuid_owner_secret push_notifications_enabled push_notifications_enabled_end_timestamp demo_organization_scheduled_deletion_date deactivated_redirect _max_invites mandatory_topics allow_edit_history invite_to_realm_policy invite_to_stream_policy wildcard_mention_policy bot_creation_policy new_stream_announcements_stream signup_announcements_stream zulip_update_announcements_stream zulip_update_announcements_level moderation_request_channel message_visibility_limit first_visible_message_id plan_type custom_upload_quota_gb icon_source icon_version logo_source logo_version night_logo_source night_logo_version presence_disabled",
    ),
    ("zerver_realmdomain", "id realm domain allow_subdomains"),
    ("zerver_realmemoji", "id author realm name file_name is_animated deactivated"),
    (
        "zerver_realmfilter",
        "id realm pattern url_template order example_input reverse_template alternative_url_templates",
    ),
    ("zerver_realmplayground", "id realm url_template name pygments_language"),
    ("zerver_realmuserdefault", "id realm dense_mode"),
    ("zerver_savedsnippet", "id realm user_profile title content date_created"),
    (
        "zerver_scheduledmessage",
        "id sender recipient subject content rendered_content sending_client stream realm scheduled_timestamp read_by_sender delivered delivered_message has_attachment failed failure_message delivery_type request_timestamp reminder_target_message_id reminder_note",
    ),
    ("zerver_service", "id name user_profile base_url token interface"),
    (
        "zerver_stream",
        "id name realm date_created creator deactivated description rendered_description recipient invite_only history_public_to_subscribers is_web_public stream_post_policy is_in_zephyr_realm message_retention_days first_message_id folder topics_policy is_recently_active subscriber_count can_add_subscribers_group can_administer_channel_group can_create_topic_group can_delete_any_message_group can_delete_own_message_group can_move_messages_out_of_channel_group can_move_messages_within_channel_group can_remove_subscribers_group can_resolve_topics_group can_send_message_group can_subscribe_group",
    ),
    ("zerver_usergroup", "id realm"),
    ("zerver_usergroupmembership", "id user_group user_profile"),
    ("zerver_userprofile", USER_COLUMNS),
    ("zerver_userprofile_crossrealm", "email id recipient_id"),
    ("zerver_userprofile_mirrordummy", USER_COLUMNS),
    (
        "zerver_userstatus",
        "id reaction_type user_profile timestamp client emoji_name emoji_code status_text status away",
    ),
    ("zerver_submessage", "id message sender msg_type content"),
    ("zerver_recipient", "id type type_id"),
];

/// The columns of a user besides the settings.
const USER_COLUMNS: &str = "id last_login is_superuser dense_mode delivery_email email realm recipient full_name date_joined tos_version is_staff is_active is_billing_admin is_bot bot_type bot_owner role long_term_idle last_active_message_id is_mirror_dummy can_forge_sender can_create_users can_change_user_emails last_reminder rate_limits default_sending_stream default_events_register_stream default_all_public_streams timezone avatar_source avatar_version avatar_hash zoom_token groups user_permissions third_party_api_state is_imported_stub is_guest is_realm_admin api_key_rotation";

/// Tables that are read apart from the others.
const APART: [&str; 4] = ["zerver_subscription", "zerver_usertopic", "zerver_reaction", "zerver_client"];

/// Whether a table is carried over.
pub fn is_known_table(table: &str) -> bool {
    APART.contains(&table) || TABLES.iter().any(|(known, _)| *known == table)
}

fn is_known(table: &str, column: &str) -> bool {
    let own = TABLES.iter().find(|(known, _)| *known == table).map(|(_, columns)| *columns);
    if own.is_some_and(|columns| columns.split(' ').any(|known| known == column)) {
        return true;
    }
    let is_user = table.starts_with("zerver_userprofile") || table == "zerver_realmuserdefault";
    if is_user {
        return USER_SETTINGS.iter().any(|setting| setting.name == column);
    }
    table == "zerver_realm"
        && (REALM_SETTINGS.iter().any(|setting| setting.name == column)
            || REALM_PERMISSIONS.iter().any(|rule| rule.name == column))
}

/// Counts unknown columns with a value, and removes what is not needed: the text of HTML that is made anew, and settings
/// at their default.
pub fn prune(table: &str, row: &mut Row, unknown: &mut BTreeMap<String, u64>) {
    for (column, value) in &row.0 {
        if !value.is_null() && !is_known(table, column) {
            *unknown.entry(column.clone()).or_default() += 1;
        }
    }
    let is_user = table.starts_with("zerver_userprofile");
    row.0.retain(|column, value| {
        let is_default = is_user && matches!(value, Value::Null);
        !column.starts_with("rendered_") && !is_default
    });
}
