//! Connecting to the host of the database that accepts changes.
//!
//! All hosts are asked at once, each with its own time limit: a frozen host must not delay the others. After a failover the
//! former primary may still answer, so the host on the newest timeline is taken.

use crate::error::PgError;
use crate::tls::Tls;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::{AsyncMessage, Client, Config, Connection, NoTls};

/// How long one host may take to answer.
const HOST_TIMEOUT: Duration = Duration::from_secs(2);
/// After the first answer, how long the other hosts have to show that they are on a newer timeline.
const OTHERS_TIMEOUT: Duration = Duration::from_millis(100);
/// A host that acknowledges nothing for so long is given up.
const SILENCE_MAX: Duration = Duration::from_secs(6);

/// The timeline of a host that accepts changes; NULL on a standby.
const TIMELINE: &str = "SELECT CASE WHEN pg_is_in_recovery() THEN NULL
     ELSE ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int END";

/// Where the database is, and how to connect.
#[derive(Clone)]
pub struct Database {
    hosts: Vec<Config>,
    tls: Option<Tls>,
}

/// A connection to the primary.
pub(crate) struct Session {
    pub client: Client,
    driver: JoinHandle<()>,
}

impl Drop for Session {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

impl Database {
    /// Reads a URL such as `postgres://user:password@a,b:5433/name?sslmode=verify-full&sslrootcert=/etc/ca.pem`. Without
    /// `sslmode` TLS is required.
    ///
    /// # Errors
    /// [`PgError::Url`], [`PgError::Certificates`].
    pub fn parse(url: &str) -> Result<Self, PgError> {
        let (base, query) = url.split_once('?').unwrap_or((url, ""));
        let (mut mode, mut authorities, mut others) = ("require".to_owned(), None, Vec::new());
        for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
            match &*name {
                "sslmode" => mode = value.into_owned(),
                "sslrootcert" => authorities = Some(value.into_owned()),
                _ => others.push(format!("{name}={value}")),
            }
        }
        let url = if others.is_empty() { base.to_owned() } else { format!("{base}?{}", others.join("&")) };
        let mut config: Config =
            url.parse().map_err(|error: tokio_postgres::Error| PgError::Url(error.to_string()))?;
        let tls = match mode.as_str() {
            "disable" => None,
            "require" | "verify-ca" | "verify-full" => Some(Tls::new(authorities.as_deref())?),
            other => {
                return Err(PgError::Url(format!("sslmode is disable, require or verify-full, not {other}")));
            }
        };
        config.ssl_mode(if tls.is_some() { SslMode::Require } else { SslMode::Disable });
        Ok(Self { hosts: one_by_one(&config)?, tls })
    }

    /// Connects to the primary. `notified` is woken by notifications.
    pub(crate) async fn connect(&self, notified: Option<Arc<Notify>>) -> Result<Session, PgError> {
        let mut asked: FuturesUnordered<_> =
            self.hosts.iter().map(|host| self.ask(host, notified.clone())).collect();
        let (mut best, mut failures) = (None::<(i32, Session)>, Vec::new());
        loop {
            let answered = match &best {
                None => asked.next().await,
                Some(_) => timeout(OTHERS_TIMEOUT, asked.next()).await.unwrap_or_default(),
            };
            match answered {
                None => break,
                Some(Ok(found)) if best.as_ref().is_none_or(|best| best.0 < found.0) => best = Some(found),
                Some(Ok(_)) => {}
                Some(Err(error)) => failures.push(error.to_string()),
            }
        }
        failures.dedup();
        best.map(|(_, session)| session).ok_or_else(|| PgError::Unreachable(failures.join("; ")))
    }

    /// Connects to the primary, as often as it takes.
    pub(crate) async fn connect_at_last(&self) -> Session {
        let mut wait = Duration::from_millis(50);
        loop {
            match self.connect(None).await {
                Ok(session) => return session,
                Err(error) => tracing::warn!(%error, "the database cannot be reached"),
            }
            sleep(wait).await;
            wait = (wait * 2).min(Duration::from_secs(1));
        }
    }

    async fn ask(&self, host: &Config, notified: Option<Arc<Notify>>) -> Result<(i32, Session), PgError> {
        let asking = async {
            let session = match &self.tls {
                Some(tls) => {
                    let (client, connection) = host.connect(tls.clone()).await?;
                    Session { client, driver: drive(connection, notified) }
                }
                None => {
                    let (client, connection) = host.connect(NoTls).await?;
                    Session { client, driver: drive(connection, notified) }
                }
            };
            let timeline: Option<i32> = session.client.query_one(TIMELINE, &[]).await?.get(0);
            timeline.map(|timeline| (timeline, session)).ok_or_else(|| PgError::Unreachable("standby".into()))
        };
        let answer = timeout(HOST_TIMEOUT, asking).await;
        answer.unwrap_or(Err(PgError::Timeout(HOST_TIMEOUT.as_secs())))
    }
}

/// One configuration for each host.
fn one_by_one(config: &Config) -> Result<Vec<Config>, PgError> {
    let (hosts, ports) = (config.get_hosts(), config.get_ports());
    let mut found = Vec::new();
    for (index, host) in hosts.iter().enumerate() {
        let mut one = without_hosts(config);
        match host {
            Host::Tcp(name) => one.host(name),
            #[cfg(unix)]
            Host::Unix(path) => one.host_path(path),
        };
        if let Some(port) = ports.get(index).or(ports.first()) {
            one.port(*port);
        }
        found.push(one);
    }
    if found.is_empty() { Err(PgError::Url("it names no host".to_owned())) } else { Ok(found) }
}

fn without_hosts(config: &Config) -> Config {
    let mut one = Config::new();
    if let Some(user) = config.get_user() {
        one.user(user);
    }
    if let Some(password) = config.get_password() {
        one.password(password);
    }
    if let Some(name) = config.get_dbname() {
        one.dbname(name);
    }
    if let Some(options) = config.get_options() {
        one.options(options);
    }
    one.ssl_mode(config.get_ssl_mode()).connect_timeout(HOST_TIMEOUT);
    one.keepalives_idle(Duration::from_secs(5)).keepalives_interval(Duration::from_secs(2));
    one.tcp_user_timeout(SILENCE_MAX).application_name("millstream");
    one
}

/// Runs the connection until its client is dropped or it fails.
fn drive<S, T>(mut connection: Connection<S, T>, notified: Option<Arc<Notify>>) -> JoinHandle<()>
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
    T: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
    Connection<S, T>: Send,
{
    tokio::spawn(async move {
        while let Some(Ok(message)) =
            futures_util::future::poll_fn(|context| connection.poll_message(context)).await
        {
            if let (AsyncMessage::Notification(_), Some(notified)) = (message, &notified) {
                notified.notify_one();
            }
        }
    })
}
