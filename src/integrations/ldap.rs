//! Logins with an LDAP directory.
//!
//! Each query has a connection of its own on a blocking thread, a few at a time, and a timeout: a slow or unreachable
//! directory delays only those who log in with it. Passwords are sent to the directory only; they are in no error and
//! in no log.

use crate::config::{Ldap, USER_PLACEHOLDER};
use crate::integrations::certificate_problem::certificate_problem;
use ldap3::{
    LdapConn, LdapConnSettings, LdapError, LdapResult, Scope, SearchEntry, SearchOptions, ldap_escape,
};
use metrics::counter;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::{Duration, Instant};
use thiserror::Error;
use tokio::sync::{Mutex, OwnedMutexGuard, OwnedSemaphorePermit, Semaphore};

/// Queries at a time.
const PERMITS_MAX: usize = 8;
/// Maximum number of waiting queries. Beyond it: busy.
const WAITING_MAX: usize = 256;
/// Logins with one user name run one after the other; that many names do not wait for each other.
const LANES: usize = 64;
/// Maximum length of a user name, in bytes.
const NAME_BYTES_MAX: usize = 320;

// Result codes (RFC 4511, appendix A).
const OPERATIONS_ERROR: u32 = 1;
const TIME_LIMIT_EXCEEDED: u32 = 3;
const SIZE_LIMIT_EXCEEDED: u32 = 4;
const STRONGER_AUTH_REQUIRED: u32 = 8;
const CONFIDENTIALITY_REQUIRED: u32 = 13;
const CONSTRAINT_VIOLATION: u32 = 19;
const NO_SUCH_OBJECT: u32 = 32;
const INVALID_DN_SYNTAX: u32 = 34;
const INAPPROPRIATE_AUTHENTICATION: u32 = 48;
const INVALID_CREDENTIALS: u32 = 49;
const INSUFFICIENT_ACCESS_RIGHTS: u32 = 50;
const BUSY: u32 = 51;
const UNAVAILABLE: u32 = 52;
const UNWILLING_TO_PERFORM: u32 = 53;

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

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LdapFailure {
    #[error("too many queries are waiting for the directory")]
    Busy,
    /// The directory cannot be reached. For the log; contains no password.
    #[error("{0}")]
    Unavailable(String),
    /// The directory answered a query with an error. For the log; contains no password.
    #[error("{0}")]
    Refused(String),
}

impl From<LdapError> for LdapFailure {
    fn from(error: LdapError) -> Self {
        Self::Unavailable(certificate_problem(&error).unwrap_or_else(|| error.to_string()))
    }
}

/// The directory, with permits for queries.
pub struct LdapDirectory {
    settings: Arc<Ldap>,
    permits: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
    lanes: Vec<Arc<Mutex<()>>>,
}

/// Permission to make one query.
pub struct LdapPermit {
    settings: Arc<Ldap>,
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
        Ok(LdapPermit { settings: self.settings.clone(), _permit: permit, _lane: lane })
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
        let (settings, name) = (self.settings.clone(), name.to_owned());
        let password = password.map(str::to_owned);
        let asked = actix_web::web::block(move || ask(&settings, &name, password.as_deref()));
        let answer =
            asked.await.unwrap_or_else(|_| Err(LdapFailure::Unavailable("the server is stopping".into())));
        if answer.is_err() {
            counter!(FAILURES).increment(1);
        }
        answer
    }
}

/// Makes a query, blocking: never on an async thread.
fn ask(settings: &Ldap, name: &str, password: Option<&str>) -> Result<LdapAnswer, LdapFailure> {
    if name.is_empty() || name.len() > NAME_BYTES_MAX {
        return Ok(LdapAnswer::Unknown);
    }
    let deadline = Instant::now() + settings.time_max();
    // Zero would mean no timeout.
    let left = || deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
    let connection = LdapConnSettings::new().set_conn_timeout(left()).set_starttls(settings.starttls);
    let mut ldap = LdapConn::with_settings(connection, &settings.url)?;
    if !settings.bind_dn.is_empty() {
        let bound = ldap.with_timeout(left()).simple_bind(&settings.bind_dn, &settings.bind_password.0)?;
        check_result("cannot bind as ldap.bind_dn", &bound)?;
    }
    let answer = match find(settings, &mut ldap, name, left())? {
        None => LdapAnswer::Unknown,
        Some(person) => match password {
            None => LdapAnswer::Person(person),
            // A bind with an empty password always succeeds, as anonymous.
            Some("") => LdapAnswer::Refused,
            Some(password) => {
                let bound = ldap.with_timeout(left()).simple_bind(&person.dn, password)?;
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
    let _ = ldap.with_timeout(left()).unbind();
    Ok(answer)
}

/// The only entry for a user name.
fn find(
    settings: &Ldap,
    ldap: &mut LdapConn,
    name: &str,
    time_max: Duration,
) -> Result<Option<LdapPerson>, LdapFailure> {
    let filter = filter_of(&settings.search_filter, name);
    let attributes = [settings.email_attribute.as_str(), settings.full_name_attribute.as_str()];
    let options = SearchOptions::new().sizelimit(2);
    let ldap = ldap.with_search_options(options).with_timeout(time_max);
    let found = ldap.search(&settings.search_base, Scope::Subtree, &filter, attributes)?;
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
        tracing::warn!(dn, attribute, "an entry has no e-mail address: login refused");
        return Ok(None);
    };
    let full_name = value(&settings.full_name_attribute).unwrap_or(name);
    let (email, full_name) = (email.to_owned(), full_name.to_owned());
    Ok(Some(LdapPerson { dn: entry.dn.clone(), email, full_name }))
}

fn filter_of(template: &str, name: &str) -> String {
    template.replace(USER_PLACEHOLDER, &ldap_escape(name))
}

fn check_result(what: &str, result: &LdapResult) -> Result<(), LdapFailure> {
    match result.rc {
        0 => Ok(()),
        code => Err(LdapFailure::Refused(failure_text(what, code, &result.text))),
    }
}

/// An error of the directory in words; `own_text` is what the directory says about it, or empty.
fn failure_text(what: &str, code: u32, own_text: &str) -> String {
    let meaning = match code {
        OPERATIONS_ERROR => "the directory may want ldap.bind_dn first",
        TIME_LIMIT_EXCEEDED => "it takes the directory too long",
        STRONGER_AUTH_REQUIRED | CONFIDENTIALITY_REQUIRED => {
            "the directory wants an encrypted connection (ldaps:// in ldap.url, or ldap.starttls)"
        }
        NO_SUCH_OBJECT => "the directory has no such entry",
        INVALID_DN_SYNTAX => "it is no distinguished name",
        INAPPROPRIATE_AUTHENTICATION => "the entry has no password",
        INVALID_CREDENTIALS => "the name or the password is wrong",
        INSUFFICIENT_ACCESS_RIGHTS => "the directory does not allow it",
        BUSY | UNAVAILABLE => "the directory is busy or stopping",
        UNWILLING_TO_PERFORM => "the directory refuses it",
        _ => "the directory answers with an error",
    };
    let own_text = own_text.trim();
    let separator = if own_text.is_empty() { "" } else { ": " };
    format!("{what}: {meaning} (result code {code}){separator}{own_text}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_names_are_escaped_in_filters() {
        let filter = |name| filter_of("(|(uid={user})(mail={user}))", name);
        assert_eq!(filter("ada"), "(|(uid=ada)(mail=ada))");
        assert_eq!(filter("*)(uid=*"), "(|(uid=\\2a\\29\\28uid=\\2a)(mail=\\2a\\29\\28uid=\\2a))");
        assert_eq!(filter_of("(uid={user})", "a\\\0"), "(uid=a\\5c\\00)");
    }

    #[test]
    fn errors_of_the_directory_are_words() {
        for (code, own_text, expected) in [
            (INVALID_CREDENTIALS, "", "x: the name or the password is wrong (result code 49)"),
            (NO_SUCH_OBJECT, " ", "x: the directory has no such entry (result code 32)"),
            (80, "bad\n", "x: the directory answers with an error (result code 80): bad"),
        ] {
            assert_eq!(failure_text("x", code, own_text), expected);
        }
    }
}
