//! The e-mails of a development server, kept in memory for people and tests (`/emails`).

use super::Email;
use actors::outbox::DeliveryAttempt;
use parking_lot::Mutex;
use serde::Serialize;
use std::collections::VecDeque;

/// Maximum number of e-mails; the oldest is dropped first.
pub const MAILS_KEPT_MAX: usize = 200;

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

/// The newest e-mails.
#[derive(Debug, Default)]
pub struct MailList(Mutex<VecDeque<KeptMail>>);

impl MailList {
    /// Adds an e-mail. One that is sent again is not added twice.
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
