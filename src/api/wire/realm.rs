//! The organization and the server as clients read them: the `realm` fields of `/register` (docs/api/events.md#state).

mod constants;
mod permission_settings;

use super::group::group_setting_owned;
use super::list::Object;
use super::settings::setting;
use crate::api::emoji::EMOJI_PATH;
use crate::config::LoginMethods;
use crate::http::{ApiError, Envelope};
use bytes::Bytes;
pub use constants::PROFILE_FIELD_TYPES;
use constants::{DELETION_DAYS_MIN, EXTERNAL_ACCOUNTS, GIF_RATINGS, VIDEO_CHAT_PROVIDERS};
use constants::{LIMITS, SERVER, report_types};
use model::Directory;
use model::picture::RealmPicture;
use permission_settings::SUPPORTED_PERMISSION_SETTINGS;
use rules::avatar::{realm_icon_url, realm_logo_url, realm_picture_source};
use rules::permissions::group_setting::realm_group_setting;
use rules::posting;
use rules::settings::{RealmPermission, realm_text, realm_values};
use rules::topics::EMPTY_TOPIC_DISPLAY_NAME;
use serde::Serialize;
use std::sync::LazyLock;
use std::time::{SystemTime, UNIX_EPOCH};

/// Unix time of the first use in this process; clients reload when it changes.
static SERVER_GENERATION: LazyLock<u64> =
    LazyLock::new(|| SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs());

/// Properties of the server that the fields depend on.
#[derive(Clone, Debug)]
pub struct ServerFacts {
    /// URL of the organization, without a trailing slash.
    pub realm_url: String,
    pub login: LoginMethods,
    /// Whether this is a development server.
    pub is_development: bool,
    /// Whether a push service is configured.
    pub has_push: bool,
    /// Maximum size of an uploaded file, in MiB.
    pub file_mib_max: u64,
    /// Maximum of all files of an organization, in MiB; none for no limit.
    pub quota_mib: Option<u64>,
    /// The integrations of incoming webhooks, as JSON.
    pub webhooks: Bytes,
}

/// Adds every `realm_*` and server field.
pub fn realm_fields(
    envelope: Envelope,
    directory: &Directory,
    facts: &ServerFacts,
) -> Result<Envelope, ApiError> {
    let envelope = identity_fields(envelope, directory, facts)?;
    let envelope = setting_fields(envelope, directory)?;
    let envelope = derived_fields(envelope, directory, facts)?;
    server_fields(envelope, facts)
}

#[derive(Serialize)]
struct Identity<'a> {
    realm_name: &'a str,
    realm_description: &'a str,
    realm_icon_url: &'a str,
    realm_icon_source: &'static str,
    realm_logo_url: &'a str,
    realm_logo_source: &'static str,
    realm_night_logo_url: &'a str,
    realm_night_logo_source: &'static str,
    realm_url: &'a str,
    /// The older name of `realm_url`.
    realm_uri: &'a str,
    realm_bot_domain: &'a str,
    realm_date_created: u64,
    realm_plan_type: u8,
}

fn identity_fields(
    envelope: Envelope,
    directory: &Directory,
    facts: &ServerFacts,
) -> Result<Envelope, ApiError> {
    let realm = directory.realm();
    let source = |which| realm_picture_source(directory, which);
    let icon = realm_icon_url(directory);
    let [logo, night_logo] =
        [RealmPicture::Logo, RealmPicture::NightLogo].map(|which| realm_logo_url(directory, which));
    envelope.fields(&Identity {
        realm_name: &realm.name,
        realm_description: &realm.description,
        realm_icon_url: &icon,
        realm_icon_source: source(RealmPicture::Icon),
        realm_logo_url: &logo,
        realm_logo_source: source(RealmPicture::Logo),
        realm_night_logo_url: &night_logo,
        realm_night_logo_source: source(RealmPicture::NightLogo),
        realm_url: &facts.realm_url,
        realm_uri: &facts.realm_url,
        realm_bot_domain: &realm.email_domain,
        realm_date_created: realm.created.secs(),
        // Self-hosted: nothing is limited by a plan.
        realm_plan_type: 1,
    })
}

/// All settings of the tables, with the prefix `realm_`.
fn setting_fields(mut envelope: Envelope, directory: &Directory) -> Result<Envelope, ApiError> {
    for (name, value) in realm_values(directory.realm()) {
        envelope = envelope.field(&format!("realm_{name}"), &setting(directory, &value))?;
    }
    for permission in RealmPermission::ALL {
        let value = realm_group_setting(directory, permission);
        let name = permission.rule().name;
        envelope = envelope.field(&format!("realm_{name}"), &group_setting_owned(directory, value))?;
    }
    Ok(envelope)
}

#[derive(Serialize)]
struct Derived {
    realm_allow_edit_history: bool,
    realm_mandatory_topics: bool,
    realm_wildcard_mention_policy: u8,
    realm_create_public_stream_policy: u8,
    realm_create_private_stream_policy: u8,
    realm_create_web_public_stream_policy: u8,
    realm_empty_topic_display_name: &'static str,
    realm_email_auth_enabled: bool,
    realm_password_auth_enabled: bool,
    realm_push_notifications_enabled: bool,
    realm_push_notifications_enabled_end_timestamp: Option<u64>,
    realm_upload_quota_mib: Option<u64>,
    realm_owner_full_content_access: bool,
    realm_authentication_methods: AuthenticationMethods,
}

#[derive(Serialize)]
struct AuthenticationMethods {
    #[serde(rename = "Email")]
    email: AuthenticationMethod,
    #[serde(rename = "LDAP")]
    ldap: AuthenticationMethod,
    #[serde(rename = "Dev", skip_serializing_if = "Option::is_none")]
    dev: Option<AuthenticationMethod>,
}

#[derive(Serialize)]
struct AuthenticationMethod {
    enabled: bool,
    available: bool,
}

/// A method that is enabled for every organization if the server offers it.
fn available(is_available: bool) -> AuthenticationMethod {
    AuthenticationMethod { enabled: is_available, available: is_available }
}

fn derived_fields(
    envelope: Envelope,
    directory: &Directory,
    facts: &ServerFacts,
) -> Result<Envelope, ApiError> {
    let realm = directory.realm();
    let envelope = envelope.fields(&Derived {
        realm_allow_edit_history: realm_text(realm, "message_edit_history_visibility_policy") != "none",
        realm_mandatory_topics: realm_text(realm, "topics_policy") == "disable_empty_topic",
        realm_wildcard_mention_policy: posting::wildcard_mention_policy(directory),
        realm_create_public_stream_policy: posting::create_public_policy(directory),
        realm_create_private_stream_policy: posting::create_private_policy(directory),
        realm_create_web_public_stream_policy: posting::create_web_public_policy(directory),
        realm_empty_topic_display_name: EMPTY_TOPIC_DISPLAY_NAME,
        realm_email_auth_enabled: facts.login.password,
        realm_password_auth_enabled: facts.login.password || facts.login.ldap,
        realm_push_notifications_enabled: facts.has_push,
        realm_push_notifications_enabled_end_timestamp: None,
        realm_upload_quota_mib: facts.quota_mib,
        realm_owner_full_content_access: false,
        realm_authentication_methods: AuthenticationMethods {
            email: available(facts.login.password),
            ldap: available(facts.login.ldap),
            dev: facts.is_development.then_some(available(true)),
        },
    })?;
    Ok(envelope
        .raw_field("realm_default_external_accounts", EXTERNAL_ACCOUNTS)
        .raw_field("realm_available_video_chat_providers", VIDEO_CHAT_PROVIDERS))
}

#[derive(Serialize)]
struct Server<'a> {
    max_file_upload_size_mib: u64,
    server_generation: u64,
    server_emoji_data_url: &'a str,
    server_min_deactivated_realm_deletion_days: u32,
    server_max_deactivated_realm_deletion_days: Option<u32>,
    development_environment: bool,
}

fn server_fields(envelope: Envelope, facts: &ServerFacts) -> Result<Envelope, ApiError> {
    let mut envelope = envelope.fields(&Object(LIMITS))?;
    for (name, json) in SERVER {
        envelope = envelope.raw_field(name, json.as_bytes());
    }
    let envelope = envelope.fields(&Server {
        max_file_upload_size_mib: facts.file_mib_max,
        server_generation: *SERVER_GENERATION,
        server_emoji_data_url: &format!("{}{EMOJI_PATH}", facts.realm_url),
        server_min_deactivated_realm_deletion_days: DELETION_DAYS_MIN,
        server_max_deactivated_realm_deletion_days: None,
        development_environment: facts.is_development,
    })?;
    Ok(envelope
        .field("server_report_message_types", &report_types())?
        .raw_field("giphy_rating_options", GIF_RATINGS)
        .raw_field("server_supported_permission_settings", &SUPPORTED_PERMISSION_SETTINGS))
}
