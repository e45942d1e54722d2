//! An LDAP directory that knows people and their passwords.
//!
//! Each question has a connection of its own on a blocking thread, a few at once, and a time after which it is given
//! up: a directory that is slow or gone holds nobody up but those who ask for it. Passwords go there and nowhere
//! else; they are in no message and in no log.

use crate::config::Ldap;
use ldap3::{
    LdapConn, LdapConnSettings, LdapError, LdapResult, Scope, SearchEntry, SearchOptions, ldap_escape,
};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::{Duration, Instant};
use thiserror::Error;
use tokio::sync::{Mutex, OwnedMutexGuard, OwnedSemaphorePermit, Semaphore};

/// Questions at once.
const TURNS_MAX: usize = 8;
/// Questions that wait for their turn. Past it: busy.
const WAITING_MAX: usize = 256;
/// Logins of one name go one after the other; so many names at once do not wait for each other.
const LANES: usize = 64;
/// Longest user name, in bytes.
const NAME_BYTES_MAX: usize = 320;

/// What a user name is replaced for in the filter.
pub const PLACEHOLDER: &str = "{user}";

// Result codes (RFC 4511, appendix A).
const SIZE_LIMIT_EXCEEDED: u32 = 4;
const CONSTRAINT_VIOLATION: u32 = 19;
const NO_SUCH_OBJECT: u32 = 32;
const INAPPROPRIATE_AUTHENTICATION: u32 = 48;
const INVALID_CREDENTIALS: u32 = 49;
const UNWILLING_TO_PERFORM: u32 = 53;

/// Somebody the directory knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LdapPerson {
    /// E-mail address.
    pub email: String,
    /// Full name; the user name where the directory has none.
    pub full_name: String,
}

/// What the directory says of a user name, with or without a password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LdapAnswer {
    /// It knows nobody of this name.
    Unknown,
    /// It knows somebody, but the password is another, or may not be used.
    Refused,
    /// This is who it is.
    Person(LdapPerson),
}

/// Why the directory gave no answer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LdapFailure {
    /// More wait for it than may.
    #[error("too many wait for the directory")]
    Busy,
    /// It does not answer, or not as it should. For the log; says no password.
    #[error("{0}")]
    Unavailable(String),
}

impl From<LdapError> for LdapFailure {
    fn from(error: LdapError) -> Self {
        Self::Unavailable(error.to_string())
    }
}

/// The directory, and who asks it at the moment.
pub struct LdapDirectory {
    settings: Arc<Ldap>,
    turns: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
    lanes: Vec<Arc<Mutex<()>>>,
}

/// The right to ask one question.
pub struct LdapTurn {
    settings: Arc<Ldap>,
    _permit: OwnedSemaphorePermit,
    _lane: OwnedMutexGuard<()>,
}

impl LdapDirectory {
    /// The directory of a configuration; none where it names none.
    pub fn of(settings: &Ldap) -> Option<Self> {
        if settings.url.is_empty() {
            return None;
        }
        Some(Self {
            settings: Arc::new(settings.clone()),
            turns: Arc::new(Semaphore::new(TURNS_MAX)),
            waiting: Arc::new(Semaphore::new(WAITING_MAX)),
            lanes: (0..LANES).map(|_| Arc::default()).collect(),
        })
    }

    /// Waits for one's turn to ask about a user name. Whoever asks about the same name waits for its end.
    ///
    /// # Errors
    /// `Busy`, also when it takes longer than a question may.
    pub async fn turn(&self, name: &str) -> Result<LdapTurn, LdapFailure> {
        let _place = self.waiting.clone().try_acquire_owned().map_err(|_| LdapFailure::Busy)?;
        let mut hasher = DefaultHasher::new();
        name.to_lowercase().hash(&mut hasher);
        let lane = self.lanes[hasher.finish() as usize % LANES].clone();
        let waited = tokio::time::timeout(self.settings.time_max(), async {
            let lane = lane.lock_owned().await;
            let permit = self.turns.clone().acquire_owned().await.map_err(|_| LdapFailure::Busy)?;
            Ok::<_, LdapFailure>((lane, permit))
        });
        let (lane, permit) = waited.await.map_err(|_| LdapFailure::Busy)??;
        Ok(LdapTurn { settings: self.settings.clone(), _permit: permit, _lane: lane })
    }
}

impl LdapTurn {
    /// Who logs in with a user name and a password. The turn is over when `self` is dropped.
    ///
    /// # Errors
    /// `Unavailable`.
    pub async fn login(&self, name: &str, password: &str) -> Result<LdapAnswer, LdapFailure> {
        self.ask(name, Some(password)).await
    }

    /// Who has a user name.
    ///
    /// # Errors
    /// `Unavailable`.
    pub async fn find(&self, name: &str) -> Result<LdapAnswer, LdapFailure> {
        self.ask(name, None).await
    }

    async fn ask(&self, name: &str, password: Option<&str>) -> Result<LdapAnswer, LdapFailure> {
        let (settings, name) = (self.settings.clone(), name.to_owned());
        let password = password.map(str::to_owned);
        let asked = actix_web::web::block(move || ask(&settings, &name, password.as_deref()));
        asked.await.unwrap_or_else(|_| Err(LdapFailure::Unavailable("the server is stopping".into())))
    }
}

/// Asks, and waits for the answer: never on an async thread.
fn ask(settings: &Ldap, name: &str, password: Option<&str>) -> Result<LdapAnswer, LdapFailure> {
    if name.is_empty() || name.len() > NAME_BYTES_MAX {
        return Ok(LdapAnswer::Unknown);
    }
    let deadline = Instant::now() + settings.time_max();
    // Zero would be no limit.
    let left = || deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
    let connection = LdapConnSettings::new().set_conn_timeout(left()).set_starttls(settings.starttls);
    let mut ldap = LdapConn::with_settings(connection, &settings.url)?;
    if !settings.bind_dn.is_empty() {
        let bound = ldap.with_timeout(left()).simple_bind(&settings.bind_dn, &settings.bind_password.0)?;
        check_result("cannot bind as ldap.bind_dn", &bound)?;
    }
    let answer = match find(settings, &mut ldap, name, left())? {
        None => LdapAnswer::Unknown,
        Some((dn, person)) => match password {
            None => LdapAnswer::Person(person),
            // To bind without a password always succeeds: it means to be nobody.
            Some("") => LdapAnswer::Refused,
            Some(password) => {
                let bound = ldap.with_timeout(left()).simple_bind(&dn, password)?;
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

/// The one entry that a user name finds, with its distinguished name.
fn find(
    settings: &Ldap,
    ldap: &mut LdapConn,
    name: &str,
    time_max: Duration,
) -> Result<Option<(String, LdapPerson)>, LdapFailure> {
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
            tracing::warn!("ldap.search_filter finds several entries for one user name: nobody is logged in");
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
        tracing::warn!(attribute = settings.email_attribute, "an entry has no address: nobody is logged in");
        return Ok(None);
    };
    let full_name = value(&settings.full_name_attribute).unwrap_or(name);
    let person = LdapPerson { email: email.to_owned(), full_name: full_name.to_owned() };
    Ok(Some((entry.dn.clone(), person)))
}

/// The filter that finds a user name, whatever characters it has.
fn filter_of(template: &str, name: &str) -> String {
    template.replace(PLACEHOLDER, &ldap_escape(name))
}

/// Whether a filter can find anybody: it is one, and has a place for the user name.
pub fn is_filter(template: &str) -> bool {
    template.contains(PLACEHOLDER) && ldap3::parse_filter(filter_of(template, "x")).is_ok()
}

fn check_result(what: &str, result: &LdapResult) -> Result<(), LdapFailure> {
    match result.rc {
        0 => Ok(()),
        code => Err(LdapFailure::Unavailable(format!("{what}: result code {code} {}", result.text))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_text_in_filters() {
        let filter = |name| filter_of("(|(uid={user})(mail={user}))", name);
        assert_eq!(filter("ada"), "(|(uid=ada)(mail=ada))");
        assert_eq!(filter("*)(uid=*"), "(|(uid=\\2a\\29\\28uid=\\2a)(mail=\\2a\\29\\28uid=\\2a))");
        assert_eq!(filter_of("(uid={user})", "a\\\0"), "(uid=a\\5c\\00)");
        assert!(is_filter("(uid={user})") && is_filter("(&(objectClass=person)(uid={user}))"));
        assert!(!is_filter("(uid=x)") && !is_filter("(uid={user}") && !is_filter(""));
    }
}
