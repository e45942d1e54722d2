//! The e-mails of a development server, kept in memory for people and tests (`/emails`).

use super::Email;
use actors::outbox::DeliveryAttempt;
use model::RealmId;
use parking_lot::Mutex;
use serde::Serialize;
use std::collections::VecDeque;
use std::sync::Arc;

/// Maximum number of e-mails of an organization; the oldest is dropped first.
pub const MAILS_KEPT_MAX: usize = 200;
/// Maximum number of e-mails of all organizations together.
const ALL_MAILS_KEPT_MAX: usize = 2000;
/// Maximum size of the e-mails of an organization in bytes, unless the newest alone is larger.
pub const BYTES_KEPT_MAX: usize = 4 * MIB;
/// Maximum size of the e-mails of all organizations together in bytes.
const ALL_BYTES_KEPT_MAX: usize = 16 * MIB;
const MIB: usize = 1024 * 1024;

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

impl KeptMail {
    /// Approximate size in memory, in bytes.
    fn bytes(&self) -> usize {
        size_of::<Self>()
            + [&self.id, &self.to, &self.subject, &self.text, &self.html]
                .map(String::len)
                .iter()
                .sum::<usize>()
    }
}

/// The newest e-mails, each with its organization.
#[derive(Debug, Default)]
pub struct MailList(Mutex<VecDeque<(RealmId, Arc<KeptMail>)>>);

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
            push(&mut mails, attempt.realm.id(), Arc::new(mail));
        }
    }

    /// Those of an organization, newest first.
    pub fn of(&self, realm: RealmId) -> Vec<Arc<KeptMail>> {
        let mails = self.0.lock();
        mails.iter().filter(|(of, _)| *of == realm).map(|(_, mail)| mail.clone()).collect()
    }

    /// Drops those of an organization.
    pub fn clear(&self, realm: RealmId) {
        self.0.lock().retain(|(of, _)| *of != realm);
    }
}

fn push(mails: &mut VecDeque<(RealmId, Arc<KeptMail>)>, realm: RealmId, mail: Arc<KeptMail>) {
    if mails.iter().any(|(_, known)| known.id == mail.id) {
        return;
    }
    mails.push_front((realm, mail));
    let (mut own, mut all) = (Size::default(), Size::default());
    let mut is_newest = true;
    mails.retain(|(of, mail)| {
        let fits_own = *of != realm || own.add(mail, MAILS_KEPT_MAX, BYTES_KEPT_MAX);
        let fits = fits_own && all.add(mail, ALL_MAILS_KEPT_MAX, ALL_BYTES_KEPT_MAX);
        std::mem::take(&mut is_newest) || fits
    });
}

/// The size of a list, the newest first.
#[derive(Default)]
struct Size {
    count: usize,
    bytes: usize,
}

impl Size {
    /// Adds the next older e-mail. Returns whether the list is within the bounds with it.
    fn add(&mut self, mail: &KeptMail, count_max: usize, bytes_max: usize) -> bool {
        self.count += 1;
        self.bytes += mail.bytes();
        self.count <= count_max && self.bytes <= bytes_max
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mail(id: usize) -> Arc<KeptMail> {
        mail_of(id, 0)
    }

    fn mail_of(id: usize, bytes: usize) -> Arc<KeptMail> {
        let (text, html) = (String::new, "x".repeat(bytes));
        Arc::new(KeptMail { id: id.to_string(), sent: 0, to: text(), subject: text(), text: text(), html })
    }

    #[test]
    fn bytes_of_mails_are_bounded_for_an_organization_and_in_all() {
        let list = MailList::default();
        let add = |realm, id, bytes| push(&mut list.0.lock(), RealmId(realm), mail_of(id, bytes));
        (0..9).for_each(|id| add(1, id, MIB));
        // Four would be beyond the bound with their other fields.
        let ids = |realm| list.of(RealmId(realm)).iter().map(|mail| mail.id.clone()).collect::<Vec<_>>();
        assert_eq!(ids(1), ["8", "7", "6"]);
        // The newest one is kept, whatever its size, and nothing older.
        add(1, 10, 5 * MIB);
        assert_eq!(ids(1), ["10"]);
        (2..9).for_each(|realm| (0..3).for_each(|id| add(realm, realm as usize * 10 + id, MIB)));
        let all: usize = list.0.lock().iter().map(|(_, mail)| mail.bytes()).sum();
        assert!(all <= ALL_BYTES_KEPT_MAX && all > ALL_BYTES_KEPT_MAX - 2 * MIB, "{all}");
        assert_eq!((ids(1).len(), ids(8).len()), (0, 3));
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
