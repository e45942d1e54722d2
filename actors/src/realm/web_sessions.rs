//! Web sessions: starting, recording their use, ending (docs/api/sessions.md).

use super::groups::requester;
use super::serialized::{DecisionContext, SerializedChange, SerializedCommand};
use crate::error::DomainError;
use crate::outbox::job;
use model::job::{MailTask, Task, TaskKind};
use model::{
    Directory, Fact, PersonalFact, Timestamp, User, UserFact, UserId, WebSession, WebSessionFact,
    WebSessionKey,
};
use rules::RuleError;
use rules::error::AccountError;
use rules::permissions::roles::check_owner;
use rules::web_sessions::{ENDED_AT_ONCE_MAX, WebSessionLimits, is_use_due};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Logs a browser in.
pub struct StartWebSession {
    /// The account as it was when its password was checked: if the password has changed since, the login is refused.
    pub user: Arc<User>,
    pub key: WebSessionKey,
    /// The browser, as it calls itself.
    pub device: String,
    /// The session that the browser had before; it ends.
    pub replaced: Option<WebSessionKey>,
}

impl SerializedChange for StartWebSession {
    fn facts(self, context: &mut DecisionContext<'_>) -> Result<Vec<Fact>, DomainError> {
        let (directory, now) = (&context.directory, context.now);
        let user = requester(directory, self.user.id)?;
        if user.is_bot() || user.password_hash != self.user.password_hash {
            return Err(DomainError::WrongPassword);
        }
        if !directory.realm().is_active {
            return Err(DomainError::RealmDeactivated);
        }
        let mut facts = Vec::new();
        let mut ended = context.realm.web_session_limits.replaced(directory, user.id, now);
        let replaced = self.replaced.and_then(|key| Some((directory.web_session(&key)?.0, key)));
        match replaced {
            Some((owner, key)) if owner == user.id && !ended.contains(&key) => ended.push(key),
            Some((owner, key)) if owner != user.id => facts.extend(sessions_ended(owner, vec![key])),
            Some(_) | None => {}
        }
        facts.extend(sessions_ended(user.id, ended));
        let session = WebSession { created: now, used: now, device: self.device };
        let started = WebSessionFact::Started { key: self.key, session };
        facts.push(Fact::Personal(PersonalFact::WebSession { user: user.id, fact: started }));
        Ok(facts)
    }
}

/// Records that a web session is used.
pub struct UseWebSession {
    pub key: WebSessionKey,
}

impl SerializedChange for UseWebSession {
    fn facts(self, context: &mut DecisionContext<'_>) -> Result<Vec<Fact>, DomainError> {
        let (key, now) = (self.key, context.now);
        let used = context.directory.web_session(&key);
        let used = used.filter(|(_, session)| is_use_due(session, now));
        let fact = |user| {
            let fact = WebSessionFact::Used { key, at: now };
            Fact::Personal(PersonalFact::WebSession { user, fact })
        };
        Ok(used.map(|(user, _)| fact(user)).into_iter().collect())
    }
}

/// Which web sessions of a user end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndedSessions {
    All,
    /// All but the requester's own, if the request came with one.
    AllBut(Option<WebSessionKey>),
    One(WebSessionKey),
}

impl EndedSessions {
    fn has(self, key: WebSessionKey) -> bool {
        match self {
            Self::All => true,
            Self::AllBut(kept) => kept != Some(key),
            Self::One(ended) => ended == key,
        }
    }
}

/// Ends web sessions of a user.
pub struct EndWebSessions {
    pub by: UserId,
    /// The user whose sessions end: the requester, or for owners any user.
    pub user: UserId,
    pub which: EndedSessions,
}

impl SerializedChange for EndWebSessions {
    fn facts(self, context: &mut DecisionContext<'_>) -> Result<Vec<Fact>, DomainError> {
        let directory = &context.directory;
        let by = requester(directory, self.by)?;
        if self.by != self.user {
            check_owner(by)?;
            directory.user(self.user).ok_or(AccountError::NoSuchUser).map_err(RuleError::from)?;
        }
        Ok(end_sessions(directory, self.user, self.which).into_iter().collect())
    }
}

/// Ends web sessions of all users, as many as one frame may; returns how many.
pub(crate) struct EndAllWebSessions;

impl SerializedCommand for EndAllWebSessions {
    type Outcome = usize;

    fn decide(self, context: &mut DecisionContext<'_>) -> Result<(usize, Vec<Fact>), DomainError> {
        let all = context.directory.web_sessions().map(|(user, key, _)| (user, key));
        let ended: Vec<_> = all.take(ENDED_AT_ONCE_MAX).collect();
        Ok((ended.len(), by_user(ended)))
    }
}

/// Replaces a forgotten password; all web sessions of the user end.
pub struct ResetPassword {
    pub user: UserId,
    /// The hash that was stored when the link was made.
    pub old_hash: Option<String>,
    pub new_hash: String,
}

impl SerializedChange for ResetPassword {
    fn facts(self, context: &mut DecisionContext<'_>) -> Result<Vec<Fact>, DomainError> {
        let directory = &context.directory;
        let before = requester(directory, self.user)?;
        if before.password_hash != self.old_hash || before.is_bot() {
            return Err(DomainError::LinkUsed);
        }
        let after = User { password_hash: Some(self.new_hash), ..User::clone(before) };
        let mut facts = vec![Fact::User(UserFact::Changed(Box::new(after)))];
        facts.extend(end_sessions(directory, self.user, EndedSessions::All));
        Ok(facts)
    }
}

/// Sends a link for a new password to an address, if an account has it. Otherwise nothing happens.
pub struct RequestPasswordReset {
    pub address: String,
    /// Whether accounts without a password here have one in an LDAP directory, so that it is not replaced.
    pub has_directory: bool,
}

impl SerializedChange for RequestPasswordReset {
    fn facts(self, context: &mut DecisionContext<'_>) -> Result<Vec<Fact>, DomainError> {
        let directory = &context.directory;
        let user = directory.user_by_email(&self.address).filter(|user| {
            let is_elsewhere = self.has_directory && user.password_hash.is_none();
            user.is_active && !user.is_bot() && !is_elsewhere
        });
        let user = user.filter(|user| user.delivery_email.eq_ignore_ascii_case(&self.address));
        let Some(user) = user.filter(|_| directory.realm().is_active) else { return Ok(Vec::new()) };
        if !context.realm.supports(TaskKind::Mail) {
            return Ok(Vec::new());
        }
        context.realm.check_outbox(TaskKind::Mail)?;
        let task = MailTask::PasswordReset { user: user.id, asked: context.now };
        Ok(vec![job(context.now, Task::Mail(task))])
    }
}

/// Sends a user a list of the organizations in which their address has an account.
pub struct SendFoundAccounts {
    pub user: UserId,
    /// Name and URL of each.
    pub organizations: Vec<(String, String)>,
}

impl SerializedChange for SendFoundAccounts {
    fn facts(self, context: &mut DecisionContext<'_>) -> Result<Vec<Fact>, DomainError> {
        let Self { user, organizations } = self;
        requester(&context.directory, user)?;
        if !context.realm.supports(TaskKind::Mail) {
            return Ok(Vec::new());
        }
        context.realm.check_outbox(TaskKind::Mail)?;
        Ok(vec![job(context.now, Task::Mail(MailTask::FoundAccounts { user, organizations }))])
    }
}

/// The fact that ends web sessions of a user; none if there are none.
pub(super) fn end_sessions(directory: &Directory, user: UserId, which: EndedSessions) -> Option<Fact> {
    let own = directory.web_sessions_of(user).map(|(key, _)| key);
    sessions_ended(user, own.filter(|key| which.has(*key)).collect())
}

/// The facts that end the web sessions that have expired by a time, as many as one frame may.
pub(super) fn expired_sessions(
    directory: &Directory,
    limits: &WebSessionLimits,
    now: Timestamp,
) -> Vec<Fact> {
    let expired = directory.web_sessions().filter(|(_, _, session)| limits.has_expired(session, now));
    by_user(expired.map(|(user, key, _)| (user, key)).take(ENDED_AT_ONCE_MAX).collect())
}

fn by_user(ended: Vec<(UserId, WebSessionKey)>) -> Vec<Fact> {
    let mut users: BTreeMap<UserId, Vec<WebSessionKey>> = BTreeMap::new();
    for (user, key) in ended {
        users.entry(user).or_default().push(key);
    }
    users.into_iter().filter_map(|(user, keys)| sessions_ended(user, keys)).collect()
}

fn sessions_ended(user: UserId, keys: Vec<WebSessionKey>) -> Option<Fact> {
    let fact = (!keys.is_empty()).then_some(WebSessionFact::Ended(keys))?;
    Some(Fact::Personal(PersonalFact::WebSession { user, fact }))
}
