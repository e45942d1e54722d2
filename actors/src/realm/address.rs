//! The addresses that people are written to: another one is asked for, confirmed by whoever reads it, and the old one is told.
//! And what is written to people about their own account.

use super::groups::actor;
use super::settled::{Moment, SettledCommand};
use crate::error::DomainError;
use crate::outbox::job;
use crate::shared::RealmShared;
use model::job::{MailTask, Task, TaskKind};
use model::picture::PictureFact;
use model::{Directory, Fact, Timestamp, User, UserId};
use rules::settings::{realm_bool, user_bool};

/// Whether a user may have another address, by what the organization has decided.
pub(super) fn may_change_address(directory: &Directory, user: &User) -> bool {
    !realm_bool(directory.realm(), "email_changes_disabled") || user.is_administrator()
}

/// The fact that asks the owner of an address whether it shall be a user's new one.
///
/// # Errors
/// `EmailInUse`; `Overloaded` when too many mails wait.
pub(super) fn ask_for_address(
    moment: &Moment<'_>,
    user: UserId,
    address: String,
) -> Result<Fact, DomainError> {
    check_free(&moment.directory, &address)?;
    moment.realm.check_outbox(TaskKind::Mail)?;
    let task = MailTask::ConfirmAddress { user, address, asked: moment.now };
    Ok(job(moment.now, Task::Mail(task)))
}

fn check_free(directory: &Directory, address: &str) -> Result<(), DomainError> {
    match directory.user_by_email(address) {
        Some(_) => Err(DomainError::EmailInUse(address.to_owned())),
        None => Ok(()),
    }
}

/// The facts that give somebody another address: the record, the picture that the address stood for, and a mail to the old
/// address where mail is sent. For whoever changes nothing else in the record; `after` is the record with everything.
pub(crate) fn address_changed(
    realm: &RealmShared,
    directory: &Directory,
    before: &User,
    after: User,
    now: Timestamp,
) -> Vec<Fact> {
    let user = after.id;
    let version = after.avatar_version.saturating_add(1);
    let mut facts = vec![Fact::UserChanged(Box::new(after))];
    if directory.avatar_file(user).is_none() {
        facts.push(Fact::Picture(Box::new(PictureFact::AvatarSet { user, file: None, version })));
    }
    if realm.carries(TaskKind::Mail) && !before.is_bot() {
        let task = MailTask::AddressChanged { user, old: before.delivery_email.clone() };
        facts.push(job(now, Task::Mail(task)));
    }
    facts
}

/// Give a user the address that its owner has confirmed.
pub(crate) struct ConfirmAddress {
    /// Whose account.
    pub user: UserId,
    /// The address when the link was made: it must still be the user's.
    pub old: String,
    /// The new address.
    pub address: String,
}

impl SettledCommand for ConfirmAddress {
    type Outcome = ();

    fn decide(self, moment: &mut Moment<'_>) -> Result<((), Vec<Fact>), DomainError> {
        let directory = &moment.directory;
        let before = actor(directory, self.user)?;
        if before.delivery_email != self.old || !may_change_address(directory, before) {
            return Err(DomainError::LinkUsed);
        }
        check_free(directory, &self.address)?;
        let after = User { delivery_email: self.address, ..User::clone(before) };
        Ok(((), address_changed(moment.realm, directory, before, after, moment.now)))
    }
}

/// Write to somebody that their account was logged in to, if they want that.
pub(crate) struct NoteLogin {
    /// Whose account.
    pub user: UserId,
    /// What the client calls itself.
    pub client: String,
    /// From where.
    pub ip: String,
}

impl SettledCommand for NoteLogin {
    type Outcome = ();

    fn decide(self, moment: &mut Moment<'_>) -> Result<((), Vec<Fact>), DomainError> {
        let user = actor(&moment.directory, self.user)?;
        if !user_bool(user, "enable_login_emails") || !moment.realm.carries(TaskKind::Mail) {
            return Ok(((), Vec::new()));
        }
        let Self { user, client, ip } = self;
        let task = MailTask::NewLogin { user, at: moment.now, client, ip };
        Ok(((), vec![job(moment.now, Task::Mail(task))]))
    }
}
