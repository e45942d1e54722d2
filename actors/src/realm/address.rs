//! E-mail addresses of accounts: a change is requested, confirmed by a link to the new address, and the old one is notified.
//! Also other e-mails to users about their own account.

use super::groups::requester;
use super::serialized::{DecisionContext, SerializedChange};
use crate::error::DomainError;
use crate::outbox::job;
use crate::shared::RealmShared;
use model::job::{MailTask, Task, TaskKind};
use model::picture::PictureFact;
use model::{Directory, Fact, Timestamp, User, UserFact, UserId};
use rules::settings::{realm_bool, user_bool};

/// Whether the organization's settings let a user change the address.
pub(super) fn may_change_address(directory: &Directory, user: &User) -> bool {
    !realm_bool(directory.realm(), "email_changes_disabled") || user.is_administrator()
}

/// The job that sends a confirmation link for a user's new address to it.
///
/// # Errors
/// `EmailInUse`; `Overloaded` when too many mails wait.
pub(super) fn ask_for_address(
    context: &DecisionContext<'_>,
    user: UserId,
    address: String,
) -> Result<Fact, DomainError> {
    check_free(&context.directory, &address)?;
    context.realm.check_outbox(TaskKind::Mail)?;
    let task = MailTask::ConfirmAddress { user, address, asked: context.now };
    Ok(job(context.now, Task::Mail(task)))
}

fn check_free(directory: &Directory, address: &str) -> Result<(), DomainError> {
    match directory.user_by_email(address) {
        Some(_) => Err(DomainError::EmailInUse(address.to_owned())),
        None => Ok(()),
    }
}

/// The facts that change a user's e-mail address: the record, the avatar derived from the address, and an e-mail to the old
/// address where e-mail is configured. `after` is the complete new record.
pub(crate) fn address_changed(
    realm: &RealmShared,
    directory: &Directory,
    before: &User,
    after: User,
    now: Timestamp,
) -> Vec<Fact> {
    let user = after.id;
    let version = after.avatar_version.saturating_add(1);
    let mut facts = vec![Fact::User(UserFact::Changed(Box::new(after)))];
    if directory.avatar_file(user).is_none() {
        facts.push(Fact::Picture(Box::new(PictureFact::AvatarSet { user, file: None, version })));
    }
    if realm.supports(TaskKind::Mail) && !before.is_bot() {
        let task = MailTask::AddressChanged { user, old: before.delivery_email.clone() };
        facts.push(job(now, Task::Mail(task)));
    }
    facts
}

/// Sets a confirmed address.
pub struct ConfirmAddress {
    pub user: UserId,
    /// The address when the link was made: it must still be the user's.
    pub old: String,
    pub address: String,
}

impl SerializedChange for ConfirmAddress {
    fn facts(self, context: &mut DecisionContext<'_>) -> Result<Vec<Fact>, DomainError> {
        let directory = &context.directory;
        let before = requester(directory, self.user)?;
        if before.delivery_email != self.old || !may_change_address(directory, before) {
            return Err(DomainError::LinkUsed);
        }
        check_free(directory, &self.address)?;
        let after = User { delivery_email: self.address, ..User::clone(before) };
        Ok(address_changed(context.realm, directory, before, after, context.now))
    }
}

/// Sends a login notification by e-mail, if the user wants it.
pub struct NoteLogin {
    pub user: UserId,
    pub client: String,
    pub ip: String,
}

impl SerializedChange for NoteLogin {
    fn facts(self, context: &mut DecisionContext<'_>) -> Result<Vec<Fact>, DomainError> {
        let user = requester(&context.directory, self.user)?;
        if !user_bool(user, "enable_login_emails") || !context.realm.supports(TaskKind::Mail) {
            return Ok(Vec::new());
        }
        let Self { user, client, ip } = self;
        let task = MailTask::NewLogin { user, at: context.now, client, ip };
        Ok(vec![job(context.now, Task::Mail(task))])
    }
}
