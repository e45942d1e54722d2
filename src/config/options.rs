//! The allowed values of each option: one table, which validates the configuration before anything uses it.
//!
//! Names, defaults and explanations are in `default.toml`; a test checks that both have the same options.

use super::networks::ProxyNetwork;
use crate::rate_limit::{EXACT_COUNT_MAX, RULES_MAX};
use toml::Value;

const MIB: i64 = 1 << 20;
const GIB: i64 = 1 << 30;
const DAY_SECS: i64 = 24 * 60 * 60;
const YEAR_SECS: i64 = 366 * DAY_SECS;

/// Maximum number of trusted proxies.
const NETWORKS_MAX: usize = 1_000;
/// Maximum length of a text, in bytes.
const TEXT_BYTES_MAX: usize = 4096;
/// Maximum number of calls of one rule of a rate limit.
const CALLS_MAX: i64 = 1_000_000_000;

/// The kind of values that an option accepts.
#[derive(Clone, Copy)]
pub enum Kind {
    Flag,
    /// An integer in a range, both ends included.
    Whole(i64, i64),
    Choice(&'static [&'static str]),
    Text,
    /// Text that a function accepts; its error follows the option's name.
    Checked(fn(&str) -> Result<(), String>),
    /// Rate limit rules: a list of `[seconds, calls]`.
    Rules,
    /// Rate limit rules with few calls, because each of them is stored.
    ExactRules,
    Networks,
}

impl Kind {
    /// Refuses a value that the option does not accept, with the reason.
    pub fn check(self, value: &Value) -> Result<(), String> {
        match (self, value) {
            (Self::Flag, Value::Boolean(_)) => Ok(()),
            (Self::Whole(min, max), Value::Integer(number)) if (min..=max).contains(number) => Ok(()),
            (Self::Choice(words), Value::String(word)) if words.contains(&word.as_str()) => Ok(()),
            (Self::Text | Self::Checked(_), Value::String(text)) if text.len() > TEXT_BYTES_MAX => {
                Err(format!("must not be longer than {TEXT_BYTES_MAX} bytes"))
            }
            (Self::Text | Self::Checked(_), Value::String(text)) if text.contains('\0') => {
                Err("must not contain a NUL character".to_owned())
            }
            (Self::Text, Value::String(_)) => Ok(()),
            (Self::Checked(check), Value::String(text)) => check(text),
            (Self::Rules, Value::Array(rules)) => check_rules(rules, CALLS_MAX),
            (Self::ExactRules, Value::Array(rules)) => check_rules(rules, i64::from(EXACT_COUNT_MAX)),
            (Self::Networks, Value::Array(networks)) => check_networks(networks),
            _ => Err(self.expectation()),
        }
    }

    /// Whether a value is written without quotes in a configuration file.
    pub fn is_text(self) -> bool {
        matches!(self, Self::Choice(_) | Self::Text | Self::Checked(_))
    }

    fn expectation(self) -> String {
        match self {
            Self::Flag => "must be true or false".to_owned(),
            Self::Whole(min, max) => format!("must be a whole number from {min} to {max}"),
            Self::Choice(words) => {
                let words: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
                format!("must be one of {}", words.join(", "))
            }
            Self::Text | Self::Checked(_) => "must be text in quotation marks".to_owned(),
            Self::Rules | Self::ExactRules => {
                "must be a list of [seconds, calls], such as [[60, 200]]".to_owned()
            }
            Self::Networks => {
                "must be a list of IP addresses and networks, such as [\"127.0.0.1\", \"10.0.0.0/8\"]"
                    .to_owned()
            }
        }
    }
}

fn check_rules(rules: &[Value], calls_max: i64) -> Result<(), String> {
    if rules.len() > RULES_MAX {
        return Err(format!("must not have more than {RULES_MAX} rules"));
    }
    let is_rule = |rule: &Value| match rule.as_array().map(Vec::as_slice) {
        Some([Value::Integer(secs), Value::Integer(calls)]) => {
            (1..=YEAR_SECS).contains(secs) && (1..=calls_max).contains(calls)
        }
        _ => false,
    };
    if rules.iter().all(is_rule) {
        return Ok(());
    }
    Err(format!(
        "must be a list of [seconds, calls], with 1 to {YEAR_SECS} seconds and 1 to {calls_max} calls"
    ))
}

fn check_networks(networks: &[Value]) -> Result<(), String> {
    let is_network =
        |value: &Value| value.as_str().is_some_and(|text| ProxyNetwork::try_from(text.to_owned()).is_ok());
    if networks.len() > NETWORKS_MAX {
        return Err(format!("must not have more than {NETWORKS_MAX} entries"));
    }
    match networks.iter().position(|network| !is_network(network)) {
        None => Ok(()),
        Some(at) => Err(format!(
            "must only have IP addresses and networks such as 10.0.0.0/8; entry {} is neither",
            at + 1
        )),
    }
}

/// The kind of an option; none for an unknown option.
pub fn kind_of(option: &str) -> Option<Kind> {
    OPTIONS.iter().find(|(name, _)| *name == option).map(|(_, kind)| *kind)
}

pub const OPTIONS: &[(&str, Kind)] = &[
    ("listen", Kind::Checked(super::texts::check_listen)),
    ("data", Kind::Checked(super::texts::check_not_empty)),
    ("external_url", Kind::Checked(super::texts::check_external_url)),
    ("http.workers", Kind::Whole(0, 256)),
    ("http.connections_max", Kind::Whole(1, 1_000_000)),
    ("http.backlog", Kind::Whole(1, 65_535)),
    ("http.keep_alive_secs", Kind::Whole(1, DAY_SECS)),
    ("http.head_secs_max", Kind::Whole(1, 3_600)),
    ("http.body_secs_max", Kind::Whole(1, DAY_SECS)),
    ("http.body_bytes_max", Kind::Whole(1_024, GIB)),
    ("http.write_secs_max", Kind::Whole(1, DAY_SECS)),
    ("http.registers_waiting_max", Kind::Whole(1, 100_000)),
    ("http.anonymous_body_bytes_max", Kind::Whole(64, GIB)),
    ("http.trusted_proxies", Kind::Networks),
    ("http.topic_deletion_secs_max", Kind::Whole(0, 3_600)),
    ("http.stop_secs_max", Kind::Whole(0, 3_600)),
    ("tls.cert_file", Kind::Text),
    ("tls.key_file", Kind::Text),
    ("tls.handshake_secs_max", Kind::Whole(1, 300)),
    ("tls.handshakes_max", Kind::Whole(1, 100_000)),
    ("metrics.listen", Kind::Checked(super::texts::check_optional_listen)),
    ("metrics.token", Kind::Checked(super::texts::check_token)),
    ("actors.shards", Kind::Whole(0, 256)),
    ("actors.sweep_secs", Kind::Whole(1, YEAR_SECS)),
    ("storage.segment_bytes", Kind::Whole(MIB, 16 * GIB)),
    ("storage.cache_bytes", Kind::Whole(MIB, 1_024 * GIB)),
    ("storage.checkpoint_frames", Kind::Whole(1, 150_000)),
    ("storage.scrub_bytes_per_sec", Kind::Whole(0, 16 * GIB)),
    ("storage.compact_bytes_per_sec", Kind::Whole(0, 16 * GIB)),
    ("storage.segment_kept_secs", Kind::Whole(0, DAY_SECS)),
    ("storage.erase_interval_secs", Kind::Whole(0, 30 * DAY_SECS)),
    ("storage.free_bytes_min", Kind::Whole(0, 1_024 * GIB)),
    ("storage.free_bytes_warn", Kind::Whole(0, 1_024 * GIB)),
    ("cluster.database", Kind::Text),
    ("cluster.node", Kind::Checked(super::cluster::check_node)),
    ("cluster.advertise", Kind::Checked(super::cluster::check_advertise)),
    ("cluster.allow_single_copy", Kind::Flag),
    ("cluster.shared_folder", Kind::Text),
    ("cluster.log_keep", Kind::Checked(super::journal::check_keep)),
    ("cluster.standbys", Kind::Whole(0, 8)),
    ("journal.keep", Kind::Checked(super::journal::check_keep)),
    ("search.enabled", Kind::Flag),
    ("search.write_secs", Kind::Whole(0, DAY_SECS)),
    ("memory.in_flight_bytes_max", Kind::Whole(MIB, 1_024 * GIB)),
    ("memory.share_bytes_max", Kind::Whole(64 * 1_024, 1_024 * GIB)),
    ("memory.wait_secs_max", Kind::Whole(0, 3_600)),
    ("queues.events_max", Kind::Whole(1, 10_000_000)),
    ("queues.per_user_max", Kind::Whole(1, 100_000)),
    ("queues.per_user_bytes_max", Kind::Whole(64 * 1_024, GIB)),
    ("queues.lifespan_secs_max", Kind::Whole(1, YEAR_SECS)),
    ("queues.idle_secs", Kind::Whole(1, YEAR_SECS)),
    ("sessions.idle_secs", Kind::Whole(60, 10 * YEAR_SECS)),
    ("sessions.lifetime_secs", Kind::Whole(60, 10 * YEAR_SECS)),
    ("sessions.per_user_max", Kind::Whole(1, 1_000)),
    ("web.help_url", Kind::Checked(super::texts::check_service_url)),
    ("limits.enabled", Kind::Flag),
    ("limits.keys_max", Kind::Whole(1, 100_000_000)),
    ("limits.api_by_user", Kind::Rules),
    ("limits.api_by_ip", Kind::Rules),
    ("limits.events_by_user", Kind::Rules),
    ("limits.write_bytes_by_user_daily", Kind::Whole(0, 1_024 * GIB)),
    ("limits.direct_conversations_by_user_daily", Kind::Whole(0, 1_000_000_000)),
    ("limits.logins_by_ip", Kind::Rules),
    ("limits.joins_by_ip", Kind::Rules),
    ("limits.unauthorized_by_ip", Kind::Rules),
    ("limits.unknown_paths_by_ip", Kind::Rules),
    ("limits.pictures_by_ip", Kind::Rules),
    ("limits.authenticate_by_username", Kind::ExactRules),
    ("limits.authenticate_from_anywhere", Kind::ExactRules),
    ("limits.email_change_by_user", Kind::ExactRules),
    ("limits.mails_by_address", Kind::Rules),
    ("limits.reset_mails_by_address", Kind::ExactRules),
    ("limits.reset_mails_by_ip", Kind::ExactRules),
    ("limits.sign_ups_by_organization", Kind::ExactRules),
    ("login.password", Kind::Flag),
    ("ldap.url", Kind::Checked(super::texts::check_ldap_url)),
    ("ldap.starttls", Kind::Flag),
    ("ldap.bind_dn", Kind::Text),
    ("ldap.bind_password", Kind::Text),
    ("ldap.search_base", Kind::Text),
    ("ldap.search_filter", Kind::Checked(super::texts::check_ldap_filter)),
    ("ldap.full_name_attribute", Kind::Checked(super::texts::check_not_empty)),
    ("ldap.email_attribute", Kind::Checked(super::texts::check_not_empty)),
    ("ldap.secs_max", Kind::Whole(1, 300)),
    ("push.service_url", Kind::Checked(super::texts::check_service_url)),
    ("push.org_id", Kind::Text),
    ("push.org_key", Kind::Text),
    ("push.request_secs_max", Kind::Whole(1, 300)),
    ("invitations.valid_minutes", Kind::Whole(1, 10 * YEAR_SECS / 60)),
    ("invitations.daily_max", Kind::Whole(0, 1_000_000_000)),
    ("invitations.member_daily_max", Kind::Whole(0, 1_000_000_000)),
    ("invitations.resends_hourly_max", Kind::Whole(0, 1_000_000_000)),
    ("outbox.delivery_secs_max", Kind::Whole(1, 3_600)),
    ("outbox.give_up_secs", Kind::Whole(0, YEAR_SECS)),
    ("webhooks.request_secs_max", Kind::Whole(1, 3_600)),
    ("webhooks.tries_max", Kind::Whole(1, 1_000)),
    ("webhooks.answer_bytes_max", Kind::Whole(1, GIB)),
    ("webhooks.private_addresses", Kind::Flag),
    ("incoming_webhooks.body_bytes_max", Kind::Whole(1_024, 25 * MIB)),
    ("incoming_webhooks.catalog_dir", Kind::Text),
    ("mail.host", Kind::Checked(super::texts::check_host_name)),
    ("mail.port", Kind::Whole(1, 65_535)),
    ("mail.security", Kind::Choice(&["starttls", "tls", "none"])),
    ("mail.user", Kind::Text),
    ("mail.password", Kind::Text),
    ("mail.from", Kind::Checked(super::texts::check_mailbox)),
    ("mail.ca_file", Kind::Text),
    ("mail.incoming.listen", Kind::Checked(super::texts::check_optional_listen)),
    ("mail.incoming.address_pattern", Kind::Checked(super::texts::check_address_pattern)),
    ("mail.incoming.bytes_max", Kind::Whole(65_536, 64 * MIB)),
    ("mail.incoming.tls_cert_file", Kind::Text),
    ("mail.incoming.tls_key_file", Kind::Text),
    ("blobs.kind", Kind::Choice(&["local", "s3"])),
    ("blobs.bucket", Kind::Checked(super::texts::check_bucket)),
    ("blobs.endpoint", Kind::Checked(super::texts::check_service_url)),
    ("blobs.region", Kind::Text),
    ("blobs.path_style", Kind::Flag),
    ("blobs.access_key_id", Kind::Text),
    ("blobs.secret_access_key", Kind::Text),
    ("blobs.request_secs_max", Kind::Whole(1, 3_600)),
    ("blobs.redirects", Kind::Flag),
    ("backups.endpoint", Kind::Checked(super::texts::check_service_url)),
    ("backups.region", Kind::Text),
    ("backups.path_style", Kind::Flag),
    ("backups.access_key_id", Kind::Text),
    ("backups.secret_access_key", Kind::Text),
    ("backups.request_secs_max", Kind::Whole(1, 3_600)),
    ("uploads.file_mib_max", Kind::Whole(1, 1_024 * 1_024)),
    ("uploads.quota_mib", Kind::Whole(0, 1_024 * 1_024 * 1_024)),
    ("uploads.unclaimed_days", Kind::Whole(1, 10 * 366)),
    ("uploads.released_hours", Kind::Whole(0, 10 * 366 * 24)),
    ("web_app.dir", Kind::Text),
    ("log.format", Kind::Choice(&["text", "json"])),
    ("log.filter", Kind::Checked(super::texts::check_filter)),
];
