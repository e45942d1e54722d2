//! The delivery workers of the outbox: each kind of task has its own file.

use super::mail::Mailer;
use super::push::PushDelivery;
use super::push_service::PushService;
use super::webhook::Webhooks;
use crate::config::{Config, ConfigError};
use crate::hosts::Hosts;
use actors::outbox::{Delivery, DeliveryAttempt, DeliveryWorker};
use model::job::{Task, TaskKind};
use std::pin::Pin;
use std::sync::Arc;

/// The workers for all kinds of tasks. Shared by the outboxes of all organizations.
pub struct DeliveryWorkers {
    pub mail: Arc<Mailer>,
    pub webhooks: Arc<Webhooks>,
    pub push: Arc<PushDelivery>,
}

impl DeliveryWorkers {
    /// The workers of a configuration. A development server without an SMTP server keeps its e-mails in a list. Fails
    /// if the From address is invalid.
    pub fn new(config: &Config, hosts: Arc<Hosts>, is_development: bool) -> Result<Self, ConfigError> {
        let mail = Arc::new(Mailer::new(config, hosts.clone(), is_development)?);
        let webhooks = Webhooks::new(&config.webhooks, hosts.clone(), is_development);
        let webhooks = Arc::new(webhooks.map_err(|error| unusable("webhooks", &error))?);
        let service = PushService::new(&config.push).map_err(|error| unusable("push.service_url", &error))?;
        let push = Arc::new(PushDelivery::new(service, hosts));
        Ok(Self { mail, webhooks, push })
    }
}

fn unusable(option: &str, error: &reqwest::Error) -> ConfigError {
    ConfigError::unusable(option, format!("cannot be used on this machine: {error}"))
}

impl DeliveryWorker for DeliveryWorkers {
    fn supports(&self, kind: TaskKind) -> bool {
        match kind {
            TaskKind::Mail => self.mail.sends(),
            TaskKind::Webhook => true,
            TaskKind::Push => self.push.sends(),
        }
    }

    fn deliver(&self, attempt: DeliveryAttempt) -> Pin<Box<dyn Future<Output = Delivery> + Send>> {
        let job = attempt.job.clone();
        match &job.task {
            Task::Webhook(task) => {
                let (webhooks, task) = (self.webhooks.clone(), *task);
                Box::pin(async move { webhooks.deliver(&attempt, &task).await })
            }
            Task::Push(task) => {
                let (push, task) = (self.push.clone(), task.clone());
                Box::pin(async move { push.deliver(&attempt, &task).await })
            }
            Task::Mail(task) => {
                let (mail, task) = (self.mail.clone(), task.clone());
                Box::pin(async move { mail.deliver(&attempt, &task).await })
            }
        }
    }
}
