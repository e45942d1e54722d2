//! All options, as a tree of structs. `default.toml` explains each of them.

use super::backups::BackupSettings;
use super::cluster::ClusterSettings;
use super::incoming_mail::IncomingMail;
use super::invitations::InvitationSettings;
use super::journal::JournalSettings;
use super::listeners::{Metrics, TlsSettings};
use super::networks::ProxyNetwork;
use super::texts::parse_listen;
use crate::rate_limit::{Bucket, Rule, Rules};
use model::redacted::Redacted;
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};
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
    pub tls: TlsSettings,
    pub metrics: Metrics,
    pub actors: Actors,
    pub storage: Storage,
    pub journal: JournalSettings,
    pub cluster: ClusterSettings,
    pub search: Search,
    pub memory: Memory,
    pub queues: Queues,
    pub sessions: Sessions,
    pub web: Web,
    pub limits: LimitSettings,
    pub login: Login,
    pub ldap: Ldap,
    pub push: Push,
    pub invitations: InvitationSettings,
    pub outbox: Outbox,
    pub mail: Mail,
    pub webhooks: Webhooks,
    pub incoming_webhooks: IncomingWebhooks,
    pub blobs: BlobSettings,
    pub backups: BackupSettings,
    pub uploads: Uploads,
    pub web_app: WebAppSettings,
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

/// The section `[blobs]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlobSettings {
    pub kind: BlobKind,
    pub bucket: String,
    /// URL of the S3 service; empty for Amazon S3.
    pub endpoint: String,
    pub region: String,
    pub path_style: bool,
    /// Access key ID; empty for the instance's own credentials.
    pub access_key_id: String,
    pub secret_access_key: model::redacted::Redacted<String>,
    pub request_secs_max: NonZeroU64,
    /// Whether clients read uploaded files from S3 themselves.
    pub redirects: bool,
}

/// The section `[uploads]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Uploads {
    pub file_mib_max: NonZeroU64,
    /// MiB of all files of an organization; 0 for no limit.
    pub quota_mib: u64,
    pub unclaimed_days: NonZeroU64,
    pub released_hours: u64,
}

impl Uploads {
    /// Maximum size of a file, in bytes.
    pub fn file_bytes_max(&self) -> u64 {
        self.file_mib_max.get() << 20
    }

    /// Maximum of the bytes of all files of an organization; none for no limit.
    pub fn quota_bytes(&self) -> Option<u64> {
        (self.quota_mib > 0).then_some(self.quota_mib << 20)
    }
}

/// The section `[web_app]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WebAppSettings {
    /// The folder of the installed web app; empty for one in the data folder.
    pub dir: PathBuf,
}

/// The storage of uploaded files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BlobKind {
    Local,
    S3,
}

/// The section `[http]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Http {
    /// HTTP threads; 0 for a default.
    pub workers: usize,
    pub connections_max: NonZeroUsize,
    pub backlog: u32,
    pub keep_alive_secs: u64,
    pub head_secs_max: u64,
    pub body_secs_max: u64,
    pub write_secs_max: NonZeroU64,
    pub registers_waiting_max: NonZeroUsize,
    pub body_bytes_max: usize,
    pub anonymous_body_bytes_max: usize,
    pub trusted_proxies: Vec<ProxyNetwork>,
    pub topic_deletion_secs_max: u64,
    pub stop_secs_max: u64,
}

/// The section `[sessions]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sessions {
    pub idle_secs: NonZeroU64,
    pub lifetime_secs: NonZeroU64,
    pub per_user_max: NonZeroUsize,
}

/// The section `[web]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Web {
    /// URL of the user documentation, without a slash at its end.
    pub help_url: String,
}

/// The section `[actors]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Actors {
    /// Number of shards; 0 for a default.
    pub shards: usize,
    pub sweep_secs: NonZeroU64,
}

/// The section `[storage]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Storage {
    pub segment_bytes: u64,
    pub cache_bytes: u64,
    pub checkpoint_frames: u64,
    pub scrub_bytes_per_sec: u64,
    pub compact_bytes_per_sec: u64,
    pub segment_kept_secs: u64,
    pub erase_interval_secs: u64,
    /// Free disk space below which changes are refused, in bytes; 0 for a default.
    pub free_bytes_min: u64,
    /// Free disk space below which the server warns, in bytes; 0 for a default.
    pub free_bytes_warn: u64,
}

/// The section `[search]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Search {
    pub enabled: bool,
    pub write_secs: u64,
}

/// The section `[memory]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    pub in_flight_bytes_max: NonZeroU64,
    pub share_bytes_max: NonZeroU64,
    pub wait_secs_max: u64,
}

/// The section `[queues]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Queues {
    pub events_max: usize,
    pub per_user_max: usize,
    pub per_user_bytes_max: usize,
    pub idle_secs: u64,
    /// Maximum of that number that a client may ask for.
    pub lifespan_secs_max: u64,
}

/// `[limits]`. Each list contains rules `[seconds, calls]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitSettings {
    pub enabled: bool,
    pub keys_max: usize,
    pub api_by_user: Vec<[u32; 2]>,
    pub api_by_ip: Vec<[u32; 2]>,
    pub events_by_user: Vec<[u32; 2]>,
    pub logins_by_ip: Vec<[u32; 2]>,
    pub joins_by_ip: Vec<[u32; 2]>,
    pub unauthorized_by_ip: Vec<[u32; 2]>,
    pub unknown_paths_by_ip: Vec<[u32; 2]>,
    pub pictures_by_ip: Vec<[u32; 2]>,
    pub authenticate_by_username: Vec<[u32; 2]>,
    pub authenticate_from_anywhere: Vec<[u32; 2]>,
    pub email_change_by_user: Vec<[u32; 2]>,
    pub mails_by_address: Vec<[u32; 2]>,
    pub reset_mails_by_address: Vec<[u32; 2]>,
    pub reset_mails_by_ip: Vec<[u32; 2]>,
    pub sign_ups_by_organization: Vec<[u32; 2]>,
    /// Bytes that an account may add to the journal in 24 hours; 0 for no limit.
    pub write_bytes_by_user_daily: u64,
    /// Direct conversations that an account may start in 24 hours; 0 for no limit.
    pub direct_conversations_by_user_daily: u64,
}

/// The section `[login]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Login {
    pub password: bool,
}

/// The section `[ldap]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ldap {
    /// URL of the LDAP directory; empty for none.
    pub url: String,
    pub starttls: bool,
    /// DN to bind with for searches; empty for anonymous search.
    pub bind_dn: String,
    pub bind_password: Redacted<String>,
    pub search_base: String,
    /// Search filter with `{user}` for the user name.
    pub search_filter: String,
    pub full_name_attribute: String,
    pub email_attribute: String,
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

/// The section `[push]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Push {
    /// URL of the push service; empty for none.
    pub service_url: String,
    pub org_id: String,
    pub org_key: model::redacted::Redacted<String>,
    pub request_secs_max: u64,
}

/// The section `[outbox]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outbox {
    pub delivery_secs_max: u64,
    pub give_up_secs: u64,
}

/// The section `[webhooks]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Webhooks {
    pub request_secs_max: u64,
    pub tries_max: u32,
    pub answer_bytes_max: usize,
    pub private_addresses: bool,
}

/// The section `[incoming_webhooks]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IncomingWebhooks {
    pub body_bytes_max: usize,
    /// Folder with further integrations; empty for none.
    pub catalog_dir: PathBuf,
}

impl IncomingWebhooks {
    /// The folder with further integrations, if there is one.
    pub fn catalog_dir(&self) -> Option<&Path> {
        Some(self.catalog_dir.as_path()).filter(|path| !path.as_os_str().is_empty())
    }
}

/// The section `[mail]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mail {
    /// Host name of the SMTP server; empty for none.
    pub host: String,
    pub port: u16,
    pub security: MailSecurity,
    /// User name; empty for no authentication.
    pub user: String,
    pub password: model::redacted::Redacted<String>,
    pub from: String,
    /// File with additional trusted CA certificates; empty for none.
    pub ca_file: PathBuf,
    pub incoming: IncomingMail,
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

/// The section `[log]`.
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

    /// Whether the thread of the only shard serves the connections, too: on few cores it is cheaper to do a request's work in
    /// one thread than to wake another one for it, measured.
    pub fn serves_on_shard(&self) -> bool {
        self.http.workers == 0 && cores() <= SHARED_CORES_MAX
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

    /// The folder of the installed web app.
    pub fn web_app_folder(&self) -> PathBuf {
        if self.names_web_app() { self.web_app.dir.clone() } else { self.data.join("web-app") }
    }

    /// Whether the configuration names the folder of the web app.
    pub fn names_web_app(&self) -> bool {
        !self.web_app.dir.as_os_str().is_empty()
    }

    /// This configuration with another data folder.
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

    /// The folder below which uploaded files are, unless they are in S3.
    pub fn files(&self) -> &Path {
        self.cluster.shared_folder().unwrap_or(&self.data)
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
    pub(crate) fn lists(&self) -> [(Bucket, &'static str, &[[u32; 2]]); 15] {
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
            (MailsByAddress, "limits.mails_by_address", &self.mails_by_address),
            (ResetMailsByAddress, "limits.reset_mails_by_address", &self.reset_mails_by_address),
            (ResetMailsByIp, "limits.reset_mails_by_ip", &self.reset_mails_by_ip),
            (SignUpsByOrganization, "limits.sign_ups_by_organization", &self.sign_ups_by_organization),
        ]
    }

    /// A bound of 24 hours, unless limits are switched off; 0 for no limit.
    pub fn daily(&self, max: u64) -> u64 {
        if self.enabled { max } else { 0 }
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

/// On machines with up to this many cores, the thread of the shard serves the connections.
const SHARED_CORES_MAX: usize = 2;

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZeroUsize::get)
}
