//! All options, as a tree of structs. `default.toml` explains each of them.

use super::networks::ProxyNetwork;
use super::texts::parse_listen;
use crate::rate_limit::{Bucket, Rule, Rules};
use model::push::Hidden;
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

/// The commented configuration file with every option at its default.
pub const DEFAULT_TOML: &str = include_str!("default.toml");

/// All options. See `default.toml` for their meaning.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Address and port to listen on; port 0 takes any free one.
    #[serde(deserialize_with = "listen_address")]
    pub listen: SocketAddr,
    pub data: PathBuf,
    /// Public URL of the server; empty for the listening address.
    pub external_url: String,
    pub http: Http,
    pub actors: Actors,
    pub storage: Storage,
    pub memory: Memory,
    pub queues: Queues,
    /// Rate limits by account and IP address.
    pub limits: LimitSettings,
    pub login: Login,
    pub ldap: Ldap,
    pub push: Push,
    pub invitations: Invitations,
    /// Delivery of e-mails, webhook calls and push notifications.
    pub outbox: Outbox,
    pub mail: Mail,
    pub webhooks: Webhooks,
    pub blobs: BlobSettings,
    /// Format and filter of the log.
    pub log: Log,
    /// Every option as it was set, to compare configurations.
    #[serde(skip)]
    pub(super) values: OptionValues,
}

/// Option path → value. Its debug output contains no values: some are passwords.
#[derive(Clone, Default)]
pub(super) struct OptionValues(pub(super) BTreeMap<String, toml::Value>);

impl fmt::Debug for OptionValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.keys()).finish()
    }
}

/// `[blobs]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlobSettings {
    /// Folder or S3.
    pub kind: BlobKind,
    pub bucket: String,
    /// URL of the S3 service; empty for Amazon S3.
    pub endpoint: String,
    pub region: String,
    pub path_style: bool,
    /// Access key ID; empty for the instance's own credentials.
    pub access_key_id: String,
    pub secret_access_key: model::push::Hidden<String>,
    /// Timeout of a request including its retries, in seconds.
    pub request_secs_max: NonZeroU64,
}

/// The storage of uploaded files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BlobKind {
    /// The folder `blobs` in the data folder.
    Local,
    /// A service with an S3-compatible API.
    S3,
}

/// `[http]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Http {
    /// HTTP threads; 0 for a default.
    pub workers: usize,
    /// Maximum number of connections per thread.
    pub connections_max: NonZeroUsize,
    pub backlog: u32,
    /// Keep-alive timeout, in seconds.
    pub keep_alive_secs: u64,
    /// Timeout for a request's head, in seconds.
    pub head_secs_max: u64,
    /// Timeout for a request's body, in seconds.
    pub body_secs_max: u64,
    /// Timeout for a client that does not read a response, in seconds.
    pub write_secs_max: NonZeroU64,
    /// Maximum number of running or waiting registrations.
    pub registers_waiting_max: NonZeroUsize,
    /// Maximum size of an ordinary body, in bytes.
    pub body_bytes_max: usize,
    /// Maximum size of a body without credentials, in bytes.
    pub anonymous_body_bytes_max: usize,
    /// Proxies whose forwarding headers are trusted.
    pub trusted_proxies: Vec<ProxyNetwork>,
    /// Seconds after which one request to delete a topic returns.
    pub topic_deletion_secs_max: u64,
    /// Shutdown timeout, in seconds.
    pub stop_secs_max: u64,
}

/// `[actors]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Actors {
    /// Number of shards; 0 for a default.
    pub shards: usize,
    /// Interval of the message-retention job, in seconds.
    pub sweep_secs: NonZeroU64,
}

/// `[storage]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Storage {
    /// Size of a journal segment, in bytes.
    pub segment_bytes: u64,
    /// Database cache, in bytes.
    pub cache_bytes: u64,
    /// Free disk space below which changes are refused, in bytes; 0 for a default.
    pub free_bytes_min: u64,
    /// Free disk space below which the server warns, in bytes; 0 for a default.
    pub free_bytes_warn: u64,
}

/// `[memory]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// Memory for all clients together, in bytes.
    pub in_flight_bytes_max: NonZeroU64,
    /// Memory for one account or IP address, in bytes.
    pub share_bytes_max: NonZeroU64,
    /// Seconds that a large response waits for memory.
    pub wait_secs_max: u64,
}

/// `[queues]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Queues {
    /// Maximum number of events in a queue.
    pub events_max: usize,
    /// Maximum number of queues of a user.
    pub per_user_max: usize,
    /// Maximum size of all queues of a user, in bytes.
    pub per_user_bytes_max: usize,
    /// Seconds without a client after which a queue expires.
    pub idle_secs: u64,
    /// Maximum of that number that a client may ask for.
    pub lifespan_secs_max: u64,
}

/// `[limits]`. Each list contains rules `[seconds, calls]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitSettings {
    pub enabled: bool,
    /// Number of keys that are counted separately.
    pub keys_max: usize,
    pub api_by_user: Vec<[u32; 2]>,
    /// API calls without credentials, by IP address.
    pub api_by_ip: Vec<[u32; 2]>,
    pub events_by_user: Vec<[u32; 2]>,
    pub logins_by_ip: Vec<[u32; 2]>,
    pub joins_by_ip: Vec<[u32; 2]>,
    /// Calls with missing or wrong credentials, by IP address.
    pub unauthorized_by_ip: Vec<[u32; 2]>,
    /// Calls of unknown paths, by IP address.
    pub unknown_paths_by_ip: Vec<[u32; 2]>,
    /// Images without credentials, by IP address.
    pub pictures_by_ip: Vec<[u32; 2]>,
    /// Failed logins of an account from one IP address.
    pub authenticate_by_username: Vec<[u32; 2]>,
    /// Failed logins of an account from all IP addresses that it is not used from.
    pub authenticate_from_anywhere: Vec<[u32; 2]>,
    /// Changes of the e-mail address of an account.
    pub email_change_by_user: Vec<[u32; 2]>,
    /// Bytes that an account may add to the journal in 24 hours; 0 for no limit.
    pub write_bytes_by_user_daily: u64,
}

/// `[login]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Login {
    pub password: bool,
}

/// `[ldap]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ldap {
    /// URL of the LDAP directory; empty for none.
    pub url: String,
    pub starttls: bool,
    /// DN to bind with for searches; empty for anonymous search.
    pub bind_dn: String,
    /// Password of `bind_dn`.
    pub bind_password: Hidden<String>,
    pub search_base: String,
    /// Search filter with `{user}` for the user name.
    pub search_filter: String,
    pub full_name_attribute: String,
    pub email_attribute: String,
    /// Timeout for one login, in seconds.
    pub secs_max: NonZeroU64,
}

impl Ldap {
    /// Timeout for one login, from the first packet to the last.
    pub fn time_max(&self) -> Duration {
        Duration::from_secs(self.secs_max.get())
    }
}

/// The ways to log in with a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoginMethods {
    pub password: bool,
    pub ldap: bool,
}

/// `[push]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Push {
    /// URL of the push service; empty for none.
    pub service_url: String,
    /// ID of this server at the push service.
    pub org_id: String,
    /// Key of this server at the push service.
    pub org_key: model::push::Hidden<String>,
    /// Timeout for one request, in seconds.
    pub request_secs_max: u64,
}

/// `[invitations]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Invitations {
    /// Default validity of an invitation, in minutes.
    pub valid_minutes: NonZeroU64,
    /// Maximum number of invitations by e-mail per organization and day; 0 for no limit.
    pub daily_max: usize,
}

/// `[outbox]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outbox {
    /// Timeout for one delivery attempt, in seconds.
    pub delivery_secs_max: u64,
    /// Seconds after which a failing delivery is dropped.
    pub give_up_secs: u64,
}

/// `[webhooks]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Webhooks {
    /// Timeout for one request including its response, in seconds.
    pub request_secs_max: u64,
    /// Maximum number of attempts per message.
    pub tries_max: u32,
    /// Maximum size of a response, in bytes.
    pub answer_bytes_max: usize,
    /// Whether services may have private addresses.
    pub private_addresses: bool,
}

/// `[mail]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mail {
    /// Host name of the SMTP server; empty for none.
    pub host: String,
    pub port: u16,
    pub security: MailSecurity,
    /// User name; empty for no authentication.
    pub user: String,
    pub password: model::push::Hidden<String>,
    pub from: String,
    /// File with additional trusted CA certificates; empty for none.
    pub ca_file: PathBuf,
}

/// The security of the connection to the SMTP server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MailSecurity {
    /// TLS from the first byte on.
    Tls,
    /// STARTTLS, required before any e-mail is sent.
    Starttls,
    None,
}

/// `[log]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Log {
    pub format: LogFormat,
    pub filter: String,
}

/// The format of log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    Text,
    Json,
}

impl Config {
    /// The number of HTTP threads. On two cores a second one brings nothing, measured.
    pub fn http_workers(&self) -> usize {
        match self.http.workers {
            0 => (cores() / 2).max(1),
            workers => workers,
        }
    }

    /// The number of registrations that are encoded at a time.
    pub fn registers_at_once(&self) -> usize {
        (cores() / 2).max(1)
    }

    /// The number of lists and parts of large responses that are encoded at a time.
    pub fn pages_at_once(&self) -> usize {
        cores().max(2)
    }

    /// The ways to log in with a password.
    pub fn login_methods(&self) -> LoginMethods {
        LoginMethods { password: self.login.password, ldap: !self.ldap.url.is_empty() }
    }

    /// The same configuration with another data folder.
    pub fn with_data(self, data: PathBuf) -> Self {
        Self { data, ..self }
    }

    /// The rules of the rate limiter; none if rate limits are off.
    pub fn rate_limit_rules(&self) -> Rules {
        if self.limits.enabled { self.limits.rules() } else { Rules::default() }
    }

    /// Options that another configuration sets differently, without those that begin with one of `except`.
    pub fn changed_options(&self, other: &Self, except: &[&str]) -> Vec<&str> {
        let changed =
            self.values.0.iter().filter(|(option, value)| other.values.0.get(*option) != Some(*value));
        let names = changed.map(|(option, _)| option.as_str());
        names.filter(|option| !except.iter().any(|start| option.starts_with(start))).collect()
    }

    /// The number of shards.
    pub fn shards(&self) -> usize {
        match self.actors.shards {
            0 => (cores() / 2).max(1),
            shards => shards,
        }
    }
}

impl LimitSettings {
    /// Every list with its bucket and option.
    pub(crate) fn lists(&self) -> [(Bucket, &'static str, &[[u32; 2]]); 11] {
        use Bucket::*;
        [
            (ApiByUser, "limits.api_by_user", &self.api_by_user),
            (ApiByIp, "limits.api_by_ip", &self.api_by_ip),
            (EventsByUser, "limits.events_by_user", &self.events_by_user),
            (LoginsByIp, "limits.logins_by_ip", &self.logins_by_ip),
            (JoinsByIp, "limits.joins_by_ip", &self.joins_by_ip),
            (UnauthorizedByIp, "limits.unauthorized_by_ip", &self.unauthorized_by_ip),
            (UnknownPathsByIp, "limits.unknown_paths_by_ip", &self.unknown_paths_by_ip),
            (PicturesByIp, "limits.pictures_by_ip", &self.pictures_by_ip),
            (AuthenticateByUsername, "limits.authenticate_by_username", &self.authenticate_by_username),
            (AuthenticateFromAnywhere, "limits.authenticate_from_anywhere", &self.authenticate_from_anywhere),
            (EmailChangeByUser, "limits.email_change_by_user", &self.email_change_by_user),
        ]
    }

    /// Bytes that an account may add to the journal in 24 hours; 0 for no limit.
    pub fn write_bytes_daily_max(&self) -> u64 {
        if self.enabled { self.write_bytes_by_user_daily } else { 0 }
    }

    /// The rules of the rate limiter.
    pub fn rules(&self) -> Rules {
        let mut rules = Rules::default();
        for (bucket, _, list) in self.lists() {
            let list =
                list.iter().map(|[window_secs, count]| Rule { window_secs: *window_secs, count: *count });
            rules = rules.with(bucket, list.collect());
        }
        rules
    }
}

fn listen_address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SocketAddr, D::Error> {
    let text = String::deserialize(deserializer)?;
    parse_listen(&text).map_err(serde::de::Error::custom)
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZeroUsize::get)
}
