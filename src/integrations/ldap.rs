//! Logins with an LDAP directory.
//!
//! Each query has a connection of its own, a few at a time, with a timeout and a bound of what the directory may send: a slow or
//! unreachable directory delays only those who log in with it. Passwords are sent to the directory only; they are in no error and
//! in no log.

mod ber;
mod connection;
mod failure;

pub use failure::LdapFailure;

use crate::config::{Ldap, USER_PLACEHOLDER};
use failure::{
    CONSTRAINT_VIOLATION, INAPPROPRIATE_AUTHENTICATION, INVALID_CREDENTIALS, NO_SUCH_OBJECT,
    SIZE_LIMIT_EXCEEDED, UNWILLING_TO_PERFORM, check_result,
};
use ldap3::{LdapConnAsync, LdapConnSettings, Scope, SearchEntry, SearchOptions, StdStream, ldap_escape};
use metrics::counter;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use tokio::sync::{Mutex, OnceCell, OwnedMutexGuard, OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio_rustls::TlsConnector;

/// Queries at a time.
const PERMITS_MAX: usize = 8;
/// Maximum number of waiting queries. Beyond it: busy.
const WAITING_MAX: usize = 256;
/// Logins with one user name run one after the other; that many names do not wait for each other.
const LANES: usize = 64;
/// Maximum length of a user name, in bytes.
const NAME_BYTES_MAX: usize = 320;

/// Queries without an answer, or with an error, in the metrics.
const FAILURES: &str = "millstream_ldap_failures_total";

/// A person of the directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LdapPerson {
    /// Distinguished name of the entry.
    pub dn: String,
    pub email: String,
    /// Full name; the user name if the directory has none.
    pub full_name: String,
}

/// The result of a query for a user name, with or without a password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LdapAnswer {
    Unknown,
    /// The user exists, but the password is wrong, or may not be used.
    Refused,
    /// The user exists, and the password, if given, is right.
    Person(LdapPerson),
}

/// The directory, with permits for queries.
pub struct LdapDirectory {
    settings: Arc<Ldap>,
    permits: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
    lanes: Vec<Arc<Mutex<()>>>,
    /// What encrypts connections, once it was needed.
    connector: Arc<OnceCell<TlsConnector>>,
}

/// Permission to make one query.
pub struct LdapPermit {
    settings: Arc<Ldap>,
    connector: Arc<OnceCell<TlsConnector>>,
    _permit: OwnedSemaphorePermit,
    _lane: OwnedMutexGuard<()>,
}

impl LdapDirectory {
    /// The directory of a configuration; none if it is not configured.
    pub fn of(settings: &Ldap) -> Option<Self> {
        // The metric begins with zero.
        counter!(FAILURES).increment(0);
        if settings.url.is_empty() {
            return None;
        }
        Some(Self {
            settings: Arc::new(settings.clone()),
            permits: Arc::new(Semaphore::new(PERMITS_MAX)),
            waiting: Arc::new(Semaphore::new(WAITING_MAX)),
            lanes: (0..LANES).map(|_| Arc::default()).collect(),
            connector: Arc::default(),
        })
    }

    /// Waits for a permit to query a user name, and for other queries of the same name. Fails with `Busy`, also after
    /// the timeout of a query.
    pub async fn acquire_permit(&self, name: &str) -> Result<LdapPermit, LdapFailure> {
        let _place = self.waiting.clone().try_acquire_owned().map_err(|_| LdapFailure::Busy)?;
        let mut hasher = DefaultHasher::new();
        name.to_lowercase().hash(&mut hasher);
        let lane = self.lanes[hasher.finish() as usize % LANES].clone();
        let waited = tokio::time::timeout(self.settings.time_max(), async {
            let lane = lane.lock_owned().await;
            let permit = self.permits.clone().acquire_owned().await.map_err(|_| LdapFailure::Busy)?;
            Ok::<_, LdapFailure>((lane, permit))
        });
        let (lane, permit) = waited.await.map_err(|_| LdapFailure::Busy)??;
        let (settings, connector) = (self.settings.clone(), self.connector.clone());
        Ok(LdapPermit { settings, connector, _permit: permit, _lane: lane })
    }
}

impl LdapPermit {
    /// The person with a user name and password. The permit is released when `self` is dropped.
    pub async fn login(&self, name: &str, password: &str) -> Result<LdapAnswer, LdapFailure> {
        self.ask(name, Some(password)).await
    }

    /// The person with a user name.
    pub async fn find(&self, name: &str) -> Result<LdapAnswer, LdapFailure> {
        self.ask(name, None).await
    }

    async fn ask(&self, name: &str, password: Option<&str>) -> Result<LdapAnswer, LdapFailure> {
        if name.is_empty() || name.len() > NAME_BYTES_MAX {
            return Ok(LdapAnswer::Unknown);
        }
        let time_max = self.settings.time_max();
        let answered = tokio::time::timeout(time_max, self.ask_directory(name, password)).await;
        let answer = answered.unwrap_or_else(|_| {
            Err(LdapFailure::Unavailable(format!("no answer within {} s", time_max.as_secs())))
        });
        if answer.is_err() {
            counter!(FAILURES).increment(1);
        }
        answer
    }

    async fn ask_directory(&self, name: &str, password: Option<&str>) -> Result<LdapAnswer, LdapFailure> {
        let directory = connection::connect(&self.settings, self.connector().await?).await?;
        let (library, own) = UnixStream::pair()?;
        own.set_nonblocking(true)?;
        let relay = connection::relay(directory, tokio::net::UnixStream::from_std(own)?);
        // A task of its own, because the LDAP library panics on some answers.
        let mut query = JoinSet::new();
        let (settings, name) = (self.settings.clone(), name.to_owned());
        let password = password.map(str::to_owned);
        query.spawn(async move { ask(&settings, library, &name, password.as_deref()).await });
        // Each ends when the other has closed its side.
        let (answer, relayed) = tokio::join!(query.join_next(), relay);
        let answer = answer.unwrap_or_else(|| Ok(Err(io::Error::from(io::ErrorKind::BrokenPipe).into())))?;
        match (answer, relayed) {
            (Err(LdapFailure::Unavailable(_)), Err(error)) => Err(error.into()),
            (answer, _) => answer,
        }
    }

    /// What encrypts the connection, if it is to be encrypted.
    async fn connector(&self) -> Result<Option<TlsConnector>, LdapFailure> {
        if !connection::is_encrypted(&self.settings) {
            return Ok(None);
        }
        let made = self.connector.get_or_try_init(|| async {
            let made = tokio::task::spawn_blocking(connection::connector).await.map_err(io::Error::other)?;
            made.map_err(io::Error::other)
        });
        Ok(Some(made.await?.clone()))
    }
}

/// Makes a query over a connection.
async fn ask(
    settings: &Ldap,
    stream: UnixStream,
    name: &str,
    password: Option<&str>,
) -> Result<LdapAnswer, LdapFailure> {
    let connection = LdapConnSettings::new().set_std_stream(StdStream::Unix(stream));
    let (connection, mut ldap) = LdapConnAsync::with_settings(connection, "ldapi:///").await?;
    ldap3::drive!(connection);
    if !settings.bind_dn.is_empty() {
        let bound = ldap.simple_bind(&settings.bind_dn, &settings.bind_password.0).await?;
        check_result("cannot bind as ldap.bind_dn", &bound)?;
    }
    let answer = match find(settings, &mut ldap, name).await? {
        None => LdapAnswer::Unknown,
        Some(person) => match password {
            None => LdapAnswer::Person(person),
            // A bind with an empty password always succeeds, as anonymous.
            Some("") => LdapAnswer::Refused,
            Some(password) => {
                let bound = ldap.simple_bind(&person.dn, password).await?;
                match bound.rc {
                    INVALID_CREDENTIALS
                    | INAPPROPRIATE_AUTHENTICATION
                    | CONSTRAINT_VIOLATION
                    | NO_SUCH_OBJECT
                    | UNWILLING_TO_PERFORM => LdapAnswer::Refused,
                    _ => {
                        check_result("cannot bind as a person", &bound)?;
                        LdapAnswer::Person(person)
                    }
                }
            }
        },
    };
    let _ = ldap.unbind().await;
    Ok(answer)
}

/// The only entry for a user name.
async fn find(
    settings: &Ldap,
    ldap: &mut ldap3::Ldap,
    name: &str,
) -> Result<Option<LdapPerson>, LdapFailure> {
    let filter = filter_of(&settings.search_filter, name);
    let attributes = [settings.email_attribute.as_str(), settings.full_name_attribute.as_str()];
    let options = SearchOptions::new().sizelimit(2);
    let ldap = ldap.with_search_options(options);
    let found = ldap.search(&settings.search_base, Scope::Subtree, &filter, attributes).await?;
    if found.1.rc != SIZE_LIMIT_EXCEEDED {
        check_result("cannot search ldap.search_base", &found.1)?;
    }
    let mut entries = found.0.into_iter().filter(|entry| !entry.is_ref() && !entry.is_intermediate());
    let entry = match (entries.next(), entries.next()) {
        (None, _) => return Ok(None),
        (Some(entry), None) if found.1.rc != SIZE_LIMIT_EXCEEDED => SearchEntry::construct(entry),
        _ => {
            tracing::warn!("ldap.search_filter matches several entries for one user name: login refused");
            return Ok(None);
        }
    };
    let value = |attribute: &str| {
        let mut attributes = entry.attrs.iter();
        let found = attributes.find(|(known, _)| known.eq_ignore_ascii_case(attribute));
        found
            .and_then(|(_, values)| values.first())
            .map(|value| value.trim())
            .filter(|value| !value.is_empty())
    };
    let Some(email) = value(&settings.email_attribute).or(Some(name).filter(|name| name.contains('@')))
    else {
        let (dn, attribute) = (&entry.dn, &settings.email_attribute);
        tracing::warn!(dn, attribute, "an entry of the LDAP directory has no e-mail address: login refused");
        return Ok(None);
    };
    let full_name = value(&settings.full_name_attribute).unwrap_or(name);
    let (email, full_name) = (email.to_owned(), full_name.to_owned());
    Ok(Some(LdapPerson { dn: entry.dn.clone(), email, full_name }))
}

fn filter_of(template: &str, name: &str) -> String {
    template.replace(USER_PLACEHOLDER, &ldap_escape(name))
}

#[cfg(test)]
mod tests;
