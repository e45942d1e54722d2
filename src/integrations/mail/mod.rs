//! E-mail: turns jobs of the outbox into e-mails, which are sent to the configured SMTP server or, in development,
//! added to a list.

mod email;
mod emails;
pub mod incoming;
mod invitation;
mod list;
mod missed;
mod password_reset;
mod sign_up;
pub mod smtp;
mod smtp_connection;
mod unsubscribe;

pub use email::Email;
pub use emails::{SETTINGS_PAGE, confirm_path, parse_confirm_key};
pub use list::{BYTES_KEPT_MAX, KeptMail, MAILS_KEPT_MAX, MailList};
pub use password_reset::parse_reset_key;
pub use sign_up::parse_sign_up_key;
pub use unsubscribe::{MailKind, MailSetting, parse_unsubscribe_link};

use crate::config::{Config, ConfigError};
use crate::hosts::Hosts;
use actors::outbox::{Delivery, DeliveryAttempt};
use model::job::MailTask;
use smtp::Smtp;
use std::sync::Arc;

/// Delivers e-mails by SMTP, or to a list.
pub struct Mailer {
    smtp: Option<Smtp>,
    list: Option<MailList>,
    hosts: Arc<Hosts>,
    /// Whether people have passwords here, which they can replace by mail.
    has_passwords: bool,
}

impl Mailer {
    /// The mailer of a configuration. Fails if the From address is invalid.
    pub fn new(config: &Config, hosts: Arc<Hosts>, is_development: bool) -> Result<Self, ConfigError> {
        let smtp = Smtp::new(&config.mail, config.outbox.delivery_secs_max)?;
        if smtp.is_none() && !is_development {
            tracing::warn!(
                "no mail server is configured (mail.host): invitations, confirmations and notifications by e-mail are disabled"
            );
        }
        let list = is_development.then(MailList::default);
        Ok(Self { smtp, list, hosts, has_passwords: config.login.password })
    }

    /// Whether e-mails can be sent at all.
    pub fn sends(&self) -> bool {
        self.smtp.is_some() || self.list.is_some()
    }

    /// The e-mails sent by a development server.
    pub fn list(&self) -> Option<&MailList> {
        self.list.as_ref()
    }

    /// One attempt to deliver an e-mail.
    pub async fn deliver(&self, attempt: &DeliveryAttempt, task: &MailTask) -> Delivery {
        // Messages may have to be read from the disk.
        let (composed, task, hosts) = (attempt.clone(), task.clone(), self.hosts.clone());
        let has_passwords = self.has_passwords;
        let compose = move || emails::compose(&composed, &task, (&hosts, has_passwords));
        let composed = tokio::task::spawn_blocking(compose).await;
        let (to, email) = match composed {
            Ok(Ok(composed)) => composed,
            Ok(Err(why)) => return Delivery::dropped(why),
            Err(_) => return Delivery::failed("the e-mail could not be composed"),
        };
        if let Some(smtp) = &self.smtp {
            let delivery = smtp.send(attempt, &to, &email).await;
            if !matches!(delivery, Delivery::Done(_)) {
                return delivery;
            }
        }
        match (&self.smtp, &self.list) {
            // The configuration has changed since the job was added: it waits for the server to be configured again.
            (None, None) => return Delivery::failed("no mail server is configured"),
            (_, Some(list)) => list.add(attempt, to, &email),
            (_, None) => {}
        }
        Delivery::done()
    }
}
