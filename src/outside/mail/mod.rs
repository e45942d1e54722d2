//! E-mail: what the outbox owes becomes a letter, and the letter goes to the configured server by SMTP, or, in development,
//! into a list that can be looked at.

mod invitation;
mod letter;
mod letters;
mod list;
mod missed;
mod smtp;

pub use letter::Letter;
pub use letters::{confirm_path, parse_confirm_key};
pub use list::{KeptMail, MAILS_KEPT_MAX, MailList};

use crate::config::{ConfigError, Mail};
use crate::http::host::Hosts;
use actors::outbox::{Delivery, Parcel};
use model::job::MailTask;
use smtp::Smtp;
use std::sync::Arc;

/// Takes letters where they go.
pub struct Mailer {
    smtp: Option<Smtp>,
    list: Option<MailList>,
    hosts: Arc<Hosts>,
}

impl Mailer {
    /// As configured.
    ///
    /// # Errors
    /// For a sender that is no address.
    pub fn new(
        config: &Mail,
        secs_max: u64,
        hosts: Arc<Hosts>,
        is_development: bool,
    ) -> Result<Self, ConfigError> {
        let smtp = Smtp::new(config, secs_max)?;
        if smtp.is_none() && !is_development {
            tracing::warn!(
                "no mail server is configured (mail.host): invitations, confirmations and notices by e-mail are off"
            );
        }
        Ok(Self { smtp, list: is_development.then(MailList::default), hosts })
    }

    /// Whether mail goes anywhere at all.
    pub fn sends(&self) -> bool {
        self.smtp.is_some() || self.list.is_some()
    }

    /// What was sent, on a development server.
    pub fn list(&self) -> Option<&MailList> {
        self.list.as_ref()
    }

    /// One try to deliver a mail.
    pub async fn deliver(&self, parcel: &Parcel, task: &MailTask) -> Delivery {
        if let MailTask::Missed { users, from, until } = task {
            return missed::split(&parcel.realm, users, *from, *until);
        }
        let (to, letter) = match letters::compose(parcel, task, &self.hosts) {
            Ok(composed) => composed,
            Err(why) => return Delivery::dropped(why),
        };
        if let Some(smtp) = &self.smtp {
            let delivery = smtp.send(parcel, &to, &letter).await;
            if !matches!(delivery, Delivery::Done(_)) {
                return delivery;
            }
        }
        match (&self.smtp, &self.list) {
            // Configured away since the mail was owed: it waits for the configuration to come back.
            (None, None) => return Delivery::failed("no mail server is configured"),
            (_, Some(list)) => list.add(parcel, to, &letter),
            (_, None) => {}
        }
        Delivery::done()
    }
}
