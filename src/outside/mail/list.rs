//! The mails of a development server, kept in memory so that people and their tests can read them (`/emails`).

use super::Letter;
use actors::outbox::Parcel;
use parking_lot::Mutex;
use serde::Serialize;
use std::collections::VecDeque;

/// Mails that are kept; the oldest goes first.
pub const MAILS_KEPT_MAX: usize = 200;

/// A mail that was sent.
#[derive(Clone, Debug, Serialize)]
pub struct KeptMail {
    /// The same name as in `Message-ID`.
    pub id: String,
    /// When it was sent, in seconds since 1970.
    pub sent: u64,
    /// Its recipient.
    pub to: String,
    /// Its subject.
    pub subject: String,
    /// Its plain text.
    pub text: String,
    /// Its HTML, without the page around it.
    pub html: String,
}

/// The newest mails.
#[derive(Debug, Default)]
pub struct MailList(Mutex<VecDeque<KeptMail>>);

impl MailList {
    /// Adds one. A mail that is sent again stays once.
    pub fn add(&self, parcel: &Parcel, to: String, letter: &Letter) {
        let mail = KeptMail {
            id: parcel.key(),
            sent: parcel.realm.now().secs(),
            to,
            subject: letter.subject.clone(),
            text: letter.text(),
            html: letter.html(),
        };
        let mut mails = self.0.lock();
        if mails.iter().any(|known| known.id == mail.id) {
            return;
        }
        mails.push_front(mail);
        mails.truncate(MAILS_KEPT_MAX);
    }

    /// All of them, newest first.
    pub fn all(&self) -> Vec<KeptMail> {
        self.0.lock().iter().cloned().collect()
    }
}
