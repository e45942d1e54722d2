//! Process settings: where to listen, where the data is, how much of everything.
//!
//! What an organization's owner can change is not here. The defaults, and the words that explain each
//! option, are one file, `config/default.toml`; a test holds that it and the structs below agree.

mod load;

pub use load::{ConfigError, Overrides};

use crate::http::limits::{Bucket, Rule, Rules};
use model::push::Hidden;
use serde::Deserialize;
use std::net::SocketAddr;
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

/// The commented configuration file with every option at its default.
pub const DEFAULT_TOML: &str = include_str!("config/default.toml");

/// Every process setting. See `config/default.toml` for what each is for.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Address and port to listen on; port 0 takes any free one.
    pub listen: SocketAddr,
    /// The data folder.
    pub data: PathBuf,
    /// Base address for links; empty for the listening one.
    pub external_url: String,
    /// The HTTP server.
    pub http: Http,
    /// Who decides.
    pub actors: Actors,
    /// What is on disk.
    pub storage: Storage,
    /// Event queues.
    pub queues: Queues,
    /// Rate limits.
    pub limits: LimitSettings,
    /// How people log in.
    pub login: Login,
    /// The directory that knows people's passwords.
    pub ldap: Ldap,
    /// Where push notifications go through.
    pub push: Push,
    /// Inviting.
    pub invitations: Invitations,
    /// What is owed to the world outside.
    pub outbox: Outbox,
    /// The mail server.
    pub mail: Mail,
    /// Services of outgoing webhook bots.
    pub webhooks: Webhooks,
    /// Where files are kept.
    pub blobs: BlobSettings,
    /// What is logged.
    pub log: Log,
}

/// `[blobs]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlobSettings {
    /// Where.
    pub kind: BlobKind,
    /// The bucket.
    pub bucket: String,
    /// Address of the service; empty for Amazon's own.
    pub endpoint: String,
    /// The region.
    pub region: String,
    /// Whether the bucket stands in the path of addresses and not in the host name.
    pub path_style: bool,
    /// Name of the key; empty for what the machine has by itself.
    pub access_key_id: String,
    /// The key.
    pub secret_access_key: model::push::Hidden<String>,
    /// Seconds for one request, with those that are made again.
    pub request_secs_max: NonZeroU64,
}

/// Where files are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BlobKind {
    /// In a folder beside the journal.
    Local,
    /// At a service that speaks like S3.
    S3,
}

/// `[http]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Http {
    /// Threads; 0 chooses.
    pub workers: usize,
    /// Connections for each thread.
    pub connections_max: NonZeroUsize,
    /// Connections not yet accepted.
    pub backlog: u32,
    /// Seconds an idle connection is kept.
    pub keep_alive_secs: u64,
    /// Seconds for a request's head.
    pub head_secs_max: u64,
    /// Seconds for a request's body.
    pub body_secs_max: u64,
    /// Longest ordinary body, bytes.
    pub body_bytes_max: usize,
    /// Longest upload, bytes.
    pub upload_bytes_max: usize,
    /// Seconds that one request deletes a topic's messages.
    pub topic_deletion_secs_max: u64,
    /// Seconds to finish requests when stopping.
    pub stop_secs_max: u64,
}

/// `[actors]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Actors {
    /// Threads; 0 chooses.
    pub shards: usize,
    /// Seconds between two looks for messages to delete.
    pub sweep_secs: NonZeroU64,
}

/// `[storage]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Storage {
    /// Length of one journal segment, bytes.
    pub segment_bytes: u64,
    /// Cache of the trees, bytes.
    pub cache_bytes: u64,
}

/// `[queues]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Queues {
    /// Events one queue holds.
    pub events_max: usize,
    /// Queues one user has.
    pub per_user_max: usize,
    /// Seconds without a client before a queue ends.
    pub idle_secs: u64,
}

/// `[limits]`. Each list holds `[seconds, calls]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitSettings {
    /// Whether any limit applies.
    pub enabled: bool,
    /// Keys counted one by one.
    pub keys_max: usize,
    /// Calls of an account.
    pub api_by_user: Vec<[u32; 2]>,
    /// Calls without credentials, by address.
    pub api_by_ip: Vec<[u32; 2]>,
    /// Polls of an account.
    pub events_by_user: Vec<[u32; 2]>,
    /// Failed logins of a user name.
    pub authenticate_by_username: Vec<[u32; 2]>,
    /// Changes of address by an account.
    pub email_change_by_user: Vec<[u32; 2]>,
    /// Password resets of an e-mail address.
    pub password_reset_by_email: Vec<[u32; 2]>,
    /// Requests that send e-mail, by address.
    pub sends_email_by_ip: Vec<[u32; 2]>,
}

/// `[login]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Login {
    /// Whether accounts have passwords of their own.
    pub password: bool,
}

/// `[ldap]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ldap {
    /// Address of the directory; empty for none.
    pub url: String,
    /// Whether to encrypt the connection before anything else.
    pub starttls: bool,
    /// Who looks people up; empty for nobody in particular.
    pub bind_dn: String,
    /// The password of that.
    pub bind_password: Hidden<String>,
    /// Below which entry people are.
    pub search_base: String,
    /// What finds somebody by user name.
    pub search_filter: String,
    /// Which attribute is the full name.
    pub full_name_attribute: String,
    /// Which attribute is the e-mail address.
    pub email_attribute: String,
    /// Seconds for one login.
    pub secs_max: NonZeroU64,
}

impl Ldap {
    /// How long a question may take, from the first packet to the last.
    pub fn time_max(&self) -> Duration {
        Duration::from_secs(self.secs_max.get())
    }
}

/// In which ways passwords let people in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoginMethods {
    /// With one that is stored here.
    pub password: bool,
    /// With that of a directory.
    pub ldap: bool,
}

/// `[push]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Push {
    /// Address of the push service; empty for none.
    pub service_url: String,
    /// The name of this server there.
    pub org_id: String,
    /// Its key there.
    pub org_key: model::push::Hidden<String>,
    /// Seconds for one request.
    pub request_secs_max: u64,
}

/// `[invitations]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Invitations {
    /// Minutes an invitation is good where its sender does not say.
    pub valid_minutes: NonZeroU64,
    /// Invitations by mail that an organization sends in a day; 0 for any number.
    pub daily_max: usize,
}

/// `[outbox]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outbox {
    /// Seconds for one try.
    pub delivery_secs_max: u64,
    /// Seconds after which a job that fails is given up.
    pub give_up_secs: u64,
}

/// `[webhooks]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Webhooks {
    /// Seconds for one request, its answer included.
    pub request_secs_max: u64,
    /// How often a service is asked about one message.
    pub tries_max: u32,
    /// Bytes of an answer.
    pub answer_bytes_max: usize,
    /// Whether services may be in the network of this server.
    pub private_addresses: bool,
}

/// `[mail]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mail {
    /// Name of the mail server; empty for none.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// How the connection is kept from others.
    pub security: MailSecurity,
    /// Whom to log in as; empty for nobody.
    pub user: String,
    /// The password for that.
    pub password: model::push::Hidden<String>,
    /// Whom mails come from.
    pub from: String,
    /// Certificates that are trusted besides the usual ones; empty for none.
    pub ca_file: PathBuf,
}

/// How the connection to the mail server is kept from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MailSecurity {
    /// TLS from the first byte on.
    Tls,
    /// In the clear first; mails only once it is TLS.
    Starttls,
    /// Not at all.
    None,
}

/// `[log]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Log {
    /// How a line looks.
    pub format: LogFormat,
    /// Which lines there are, as directives.
    pub filter: String,
}

/// How a log line looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

impl Config {
    /// How many HTTP threads to start. On two cores a second one brings nothing, measured.
    pub fn http_workers(&self) -> usize {
        match self.http.workers {
            0 => (cores() / 2).max(1),
            workers => workers,
        }
    }

    /// In which ways passwords let people in.
    pub fn login_methods(&self) -> LoginMethods {
        LoginMethods { password: self.login.password, ldap: !self.ldap.url.is_empty() }
    }

    /// How many shards to start.
    pub fn shards(&self) -> usize {
        match self.actors.shards {
            0 => (cores() / 2).max(1),
            shards => shards,
        }
    }
}

impl LimitSettings {
    /// Every list with its bucket and the option it stands in.
    pub(crate) fn lists(&self) -> [(Bucket, &'static str, &[[u32; 2]]); 7] {
        [
            (Bucket::ApiByUser, "limits.api_by_user", &self.api_by_user),
            (Bucket::ApiByIp, "limits.api_by_ip", &self.api_by_ip),
            (Bucket::EventsByUser, "limits.events_by_user", &self.events_by_user),
            (
                Bucket::AuthenticateByUsername,
                "limits.authenticate_by_username",
                &self.authenticate_by_username,
            ),
            (Bucket::EmailChangeByUser, "limits.email_change_by_user", &self.email_change_by_user),
            (Bucket::PasswordResetByEmail, "limits.password_reset_by_email", &self.password_reset_by_email),
            (Bucket::SendsEmailByIp, "limits.sends_email_by_ip", &self.sends_email_by_ip),
        ]
    }

    /// The rules for the limiter.
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

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZeroUsize::get)
}
