//! Who carries what the organizations owe to the world outside: each kind of task to its own file.

use super::mail::Mailer;
use super::push::PushCourier;
use super::push_service::PushService;
use super::webhook::Webhooks;
use crate::config::{Config, ConfigError};
use crate::http::host::Hosts;
use actors::outbox::{Courier, Delivery, Parcel};
use model::job::{Task, TaskKind};
use std::pin::Pin;
use std::sync::Arc;

/// Everything that is carried with. Shared by the outboxes of all organizations.
pub struct Couriers {
    /// E-mail.
    pub mail: Arc<Mailer>,
    /// Services of bots.
    pub webhooks: Arc<Webhooks>,
    /// Notifications on phones.
    pub push: Arc<PushCourier>,
}

impl Couriers {
    /// As configured. A development server without a mail server keeps its mails to be looked at.
    ///
    /// # Errors
    /// For a sender that is no address.
    pub fn new(config: &Config, hosts: Arc<Hosts>, is_development: bool) -> Result<Self, ConfigError> {
        let mail = Arc::new(Mailer::new(
            &config.mail,
            config.outbox.delivery_secs_max,
            hosts.clone(),
            is_development,
        )?);
        let push_hosts = hosts.clone();
        let webhooks = Webhooks::new(&config.webhooks, hosts, is_development);
        let webhooks = Arc::new(webhooks.map_err(|error| ConfigError::Invalid {
            origin: "this machine".to_owned(),
            option: "webhooks".to_owned(),
            problem: format!("cannot be: {error}"),
        })?);
        let service = PushService::new(&config.push).map_err(|error| ConfigError::Invalid {
            origin: "this machine".to_owned(),
            option: "push.service_url".to_owned(),
            problem: format!("cannot be: {error}"),
        })?;
        let push = Arc::new(PushCourier::new(service, push_hosts));
        Ok(Self { mail, webhooks, push })
    }
}

impl Courier for Couriers {
    fn carries(&self, kind: TaskKind) -> bool {
        match kind {
            TaskKind::Mail => self.mail.sends(),
            TaskKind::Webhook => true,
            TaskKind::Push => self.push.sends(),
        }
    }

    fn deliver(&self, parcel: Parcel) -> Pin<Box<dyn Future<Output = Delivery> + Send>> {
        let job = parcel.job.clone();
        match &job.task {
            Task::Webhook(task) => {
                let (webhooks, task) = (self.webhooks.clone(), *task);
                Box::pin(async move { webhooks.deliver(&parcel, &task).await })
            }
            Task::Push(task) => {
                let (push, task) = (self.push.clone(), task.clone());
                Box::pin(async move { push.deliver(&parcel, &task).await })
            }
            Task::Mail(task) => {
                let (mail, task) = (self.mail.clone(), task.clone());
                Box::pin(async move { mail.deliver(&parcel, &task).await })
            }
        }
    }
}
