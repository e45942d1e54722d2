//! Commands of the server's operator, without a requester: roles, passwords, activity, sessions, deliveries
//! (docs/operating.md#commands-on-a-running-server).

use super::accounts::{active_set, role_facts};
use super::invitations::revoke_invitations_of;
use super::joining::system_group_facts;
use super::serialized::{DecisionContext, SerializedChange, SerializedCommand};
use super::web_sessions::{EndedSessions, end_sessions};
use crate::error::DomainError;
use crate::outbox::job;
use model::job::{Job, JobOutcome, Task};
use model::picture::PictureFact;
use model::push::PushFact;
use model::{
    Directory, Fact, JobFact, JobId, NamedStatus, NavigationView, PersonalFact, Role, User, UserFact, UserId,
};
use rules::RuleError;
use rules::accounts::accounts_to_deactivate;
use rules::error::AccountError;

fn account(directory: &Directory, user: UserId) -> Result<&User, DomainError> {
    let user = directory.user(user).filter(|user| !user.is_system_bot());
    Ok(&**user.ok_or(AccountError::NoSuchUser).map_err(RuleError::from)?)
}

/// Refuses changes that leave an organization without an active owner.
fn check_not_last_owner(
    directory: &Directory,
    user: &User,
    refusal: AccountError,
) -> Result<(), DomainError> {
    let is_owner = |user: &User| user.is_active && user.role == Role::Owner && !user.is_bot();
    if is_owner(user) && directory.users().filter(|user| is_owner(user)).count() == 1 {
        return Err(RuleError::from(refusal).into());
    }
    Ok(())
}

/// Changes a person's role, with everything that follows from it.
pub struct OperatorSetRole {
    pub user: UserId,
    pub role: Role,
}

impl SerializedCommand for OperatorSetRole {
    /// Whether that was a change.
    type Outcome = bool;

    fn decide(self, context: &mut DecisionContext<'_>) -> Result<(bool, Vec<Fact>), DomainError> {
        let directory = &context.directory;
        let before = account(directory, self.user)?;
        if before.is_bot() {
            return Err(RuleError::from(AccountError::NoSuchUser).into());
        }
        if before.role == self.role {
            return Ok((false, Vec::new()));
        }
        if self.role != Role::Owner {
            check_not_last_owner(directory, before, AccountError::OnlyOwnerRole)?;
        }
        let after = User { role: self.role, ..before.clone() };
        let groups = role_facts(context, &after, self.user);
        let mut facts = vec![Fact::User(UserFact::Changed(Box::new(after)))];
        facts.extend(groups);
        Ok((true, facts))
    }
}

/// Replaces a person's password; all web sessions end.
pub struct OperatorSetPassword {
    pub user: UserId,
    pub password_hash: String,
}

impl SerializedChange for OperatorSetPassword {
    fn facts(self, context: &mut DecisionContext<'_>) -> Result<Vec<Fact>, DomainError> {
        let before = account(&context.directory, self.user)?;
        if before.is_bot() {
            return Err(RuleError::from(AccountError::NoSuchUser).into());
        }
        let after = User { password_hash: Some(self.password_hash), ..before.clone() };
        let mut facts = vec![Fact::User(UserFact::Changed(Box::new(after)))];
        facts.extend(end_sessions(&context.directory, self.user, EndedSessions::All));
        Ok(facts)
    }
}

/// Ends all web sessions of an account, and replaces its API key.
pub struct OperatorEndSessions {
    pub user: UserId,
}

impl SerializedChange for OperatorEndSessions {
    fn facts(self, context: &mut DecisionContext<'_>) -> Result<Vec<Fact>, DomainError> {
        let mut after = account(&context.directory, self.user)?.clone();
        after.api_key_rotation = after.api_key_rotation.wrapping_add(1);
        let mut facts = vec![Fact::User(UserFact::Changed(Box::new(after)))];
        facts.extend(end_sessions(&context.directory, self.user, EndedSessions::All));
        Ok(facts)
    }
}

/// Deactivates an account with its bots, or reactivates it.
pub struct OperatorSetActive {
    pub user: UserId,
    pub is_active: bool,
}

impl SerializedCommand for OperatorSetActive {
    /// Whether that was a change.
    type Outcome = bool;

    fn decide(self, context: &mut DecisionContext<'_>) -> Result<(bool, Vec<Fact>), DomainError> {
        let directory = &context.directory;
        let user = account(directory, self.user)?;
        if user.is_active == self.is_active {
            return Ok((false, Vec::new()));
        }
        if self.is_active {
            if user.is_deleted() {
                return Err(RuleError::from(AccountError::NoSuchUser).into());
            }
            // A bot must have an active owner.
            if user.is_bot() && !user.owner().is_some_and(|owner| directory.is_active_user(owner)) {
                return Err(RuleError::from(AccountError::NoSuchUser).into());
            }
            let mut facts = vec![active_set(context, self.user, true)];
            facts.extend(system_group_facts(directory, user, context.now));
            return Ok((true, facts));
        }
        check_not_last_owner(directory, user, AccountError::OnlyOwner)?;
        let accounts = accounts_to_deactivate(directory, self.user);
        let mut facts: Vec<Fact> = accounts.iter().map(|user| active_set(context, *user, false)).collect();
        facts.extend(accounts.iter().filter_map(|user| end_sessions(directory, *user, EndedSessions::All)));
        let inviters = accounts.iter().filter_map(|user| directory.user(*user));
        facts.extend(inviters.filter_map(|user| revoke_invitations_of(directory, user)));
        Ok((true, facts))
    }
}

/// Replaces a deactivated account by a placeholder: name, addresses, profile, picture, drafts and everything else that is the
/// user's own. Deliveries to the user are dropped. Messages are not deleted by this.
pub struct OperatorDeleteAccount {
    pub user: UserId,
}

impl SerializedCommand for OperatorDeleteAccount {
    /// Whether that was a change.
    type Outcome = bool;

    fn decide(self, context: &mut DecisionContext<'_>) -> Result<(bool, Vec<Fact>), DomainError> {
        let directory = &context.directory;
        let before = account(directory, self.user)?;
        if before.is_deleted() {
            return Ok((false, Vec::new()));
        }
        if before.is_active {
            return Err(DomainError::Storage("the account is active again".to_owned()));
        }
        let after = before.deleted(directory.deleted_email(self.user));
        let version = after.avatar_version;
        let mut facts = vec![Fact::User(UserFact::DataErased { user: self.user })];
        facts.push(Fact::User(UserFact::Changed(Box::new(after))));
        let avatar = PictureFact::AvatarSet { user: self.user, file: None, version };
        facts.push(Fact::Picture(Box::new(avatar)));
        facts.extend(own_records_removed(directory, self.user));
        let view = context.realm.view.read();
        let address = before.delivery_email.to_lowercase();
        let says_address = |job: &Job| {
            job.failure.as_ref().is_some_and(|failure| failure.why.to_lowercase().contains(&address))
        };
        let jobs = view.jobs.all().filter(|job| job.task.is_for(self.user, &address) || says_address(job));
        facts.extend(jobs.map(|job| ended(job.id, "the account was deleted".to_owned())));
        Ok((true, facts))
    }
}

/// The facts that remove what a user has stored for the own use.
fn own_records_removed(directory: &Directory, user: UserId) -> Vec<Fact> {
    let mut facts = Vec::new();
    if directory.status(user).is_some() {
        facts.push(PersonalFact::StatusSet { user, status: None, named: NamedStatus::default() });
    }
    if !directory.alert_words(user).is_empty() {
        facts.push(PersonalFact::AlertWordsSet { user, words: Vec::new() });
    }
    facts.push(PersonalFact::DraftsForgotten { user });
    facts.extend(directory.saved_snippets(user).map(|(id, _)| PersonalFact::SavedSnippetSet {
        user,
        id,
        is_new: false,
        snippet: None,
    }));
    facts.extend(directory.scheduled_messages(user).map(|(id, message)| PersonalFact::ScheduledMessageSet {
        user,
        id,
        is_new: false,
        is_reminder: message.reminder.is_some(),
        message: None,
    }));
    facts.extend(directory.navigation_views(user).map(|(fragment, view)| PersonalFact::NavigationViewSet {
        user,
        fragment: fragment.to_owned(),
        before: Some(NavigationView::clone(view)),
        view: None,
    }));
    let mut facts: Vec<Fact> = facts.into_iter().map(Fact::Personal).collect();
    if !directory.push_tokens(user).is_empty() {
        facts.push(Fact::Push(Box::new(PushFact::TokensSet { user, tokens: Vec::new() })));
    }
    if !directory.push_devices(user).is_empty() {
        let gone = PushFact::DevicesSet { user, devices: Vec::new(), changed: Vec::new() };
        facts.push(Fact::Push(Box::new(gone)));
    }
    facts
}

/// Delivers a job again at once, as a new one.
pub struct RetryJob {
    pub job: JobId,
}

impl SerializedChange for RetryJob {
    fn facts(self, context: &mut DecisionContext<'_>) -> Result<Vec<Fact>, DomainError> {
        let Some(task) = task(context, self.job) else { return Ok(Vec::new()) };
        context.realm.check_outbox(task.kind())?;
        let why = "delivered again by the operator".to_owned();
        Ok(vec![ended(self.job, why), job(context.now, task)])
    }
}

/// Removes a job.
pub struct DropJob {
    pub job: JobId,
}

impl SerializedChange for DropJob {
    fn facts(self, context: &mut DecisionContext<'_>) -> Result<Vec<Fact>, DomainError> {
        let known = task(context, self.job);
        Ok(known.map(|_| ended(self.job, "dropped by the operator".to_owned())).into_iter().collect())
    }
}

/// The task of a pending or failed job.
fn task(context: &DecisionContext<'_>, job: JobId) -> Option<Task> {
    let view = context.realm.view.read();
    let failed = view.jobs.failed().find(|known| known.id == job);
    view.jobs.get(job).or(failed).map(|job| job.task.clone())
}

fn ended(job: JobId, why: String) -> Fact {
    Fact::Job(JobFact::Ended { job, outcome: JobOutcome::Dropped { why } })
}
