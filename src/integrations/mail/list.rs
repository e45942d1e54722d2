//! The e-mails of a development server, kept in memory for people and tests (`/emails`).

use super::Email;
use actors::outbox::DeliveryAttempt;
use model::RealmId;
use parking_lot::Mutex;
use serde::Serialize;
use std::collections::VecDeque;

/// Maximum number of e-mails of an organization; the oldest is dropped first.
pub const MAILS_KEPT_MAX: usize = 200;
/// Maximum number of e-mails of all organizations together.
const ALL_MAILS_KEPT_MAX: usize = 2000;

/// A sent e-mail.
#[derive(Clone, Debug, Serialize)]
pub struct KeptMail {
    /// The header `Message-ID`.
    pub id: String,
    /// When it was sent, in seconds since 1970.
    pub sent: u64,
    pub to: String,
    pub subject: String,
    pub text: String,
    /// HTML part, without the document around it.
    pub html: String,
}

/// The newest e-mails, each with its organization.
#[derive(Debug, Default)]
pub struct MailList(Mutex<VecDeque<(RealmId, KeptMail)>>);

impl MailList {
    /// Adds an e-mail. One that is sent again is not added twice, and one from before a reset of its organization not at all.
    pub fn add(&self, attempt: &DeliveryAttempt, to: String, email: &Email) {
        let mail = KeptMail {
            id: attempt.key(),
            sent: attempt.realm.now().secs(),
            to,
            subject: email.subject.clone(),
            text: email.text(),
            html: email.html(),
        };
        let mut mails = self.0.lock();
        // With the lock: a reset clears the list when the job is gone.
        if attempt.is_waiting() {
            push(&mut mails, attempt.realm.id(), mail);
        }
    }

    /// Those of an organization, newest first.
    pub fn of(&self, realm: RealmId) -> Vec<KeptMail> {
        let mails = self.0.lock();
        mails.iter().filter(|(of, _)| *of == realm).map(|(_, mail)| mail.clone()).collect()
    }

    /// Drops those of an organization.
    pub fn clear(&self, realm: RealmId) {
        self.0.lock().retain(|(of, _)| *of != realm);
    }
}

fn push(mails: &mut VecDeque<(RealmId, KeptMail)>, realm: RealmId, mail: KeptMail) {
    if mails.iter().any(|(_, known)| known.id == mail.id) {
        return;
    }
    mails.push_front((realm, mail));
    let mut own = (0..mails.len()).filter(|position| mails[*position].0 == realm);
    let beyond = own.nth(MAILS_KEPT_MAX);
    drop(beyond.and_then(|oldest| mails.remove(oldest)));
    mails.truncate(ALL_MAILS_KEPT_MAX);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mail(id: usize) -> KeptMail {
        let text = String::new;
        KeptMail { id: id.to_string(), sent: 0, to: text(), subject: text(), text: text(), html: text() }
    }

    #[test]
    fn mails_are_bounded_for_an_organization_and_in_all() {
        let list = MailList::default();
        for id in 0..MAILS_KEPT_MAX + 50 {
            push(&mut list.0.lock(), RealmId(1), mail(id));
        }
        push(&mut list.0.lock(), RealmId(2), mail(9999));
        push(&mut list.0.lock(), RealmId(2), mail(9999));
        let kept = list.of(RealmId(1));
        assert_eq!((kept.len(), kept[0].id.as_str()), (MAILS_KEPT_MAX, "249"));
        assert_eq!(list.of(RealmId(2)).len(), 1);
        for number in 3..30 {
            (0..100)
                .for_each(|id| push(&mut list.0.lock(), RealmId(number), mail(number as usize * 100 + id)));
        }
        let all = list.0.lock().len();
        assert_eq!((all, list.of(RealmId(1)).len()), (ALL_MAILS_KEPT_MAX, 0));
        list.clear(RealmId(29));
        assert_eq!((list.of(RealmId(29)).len(), list.of(RealmId(28)).len()), (0, 100));
    }
}
