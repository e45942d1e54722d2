//! Calls the services of outgoing webhook bots, and sends their responses as messages of the bot.
//!
//! A service is called at least once, with the same `Idempotency-Key` for each attempt; its response becomes a
//! message at most once, because the message ends the job in the same frame. The owner of a bot is notified when its
//! service fails.

mod addresses;
mod call;
mod notice;
mod request;
mod response;

use super::http_client;
use crate::api::messages::page::read_one;
use crate::config;
use crate::hosts::Hosts;
use actors::outbox::{Delivery, DeliveryAttempt, Followup};
use addresses::{Resolver, refused_address};
use call::WebhookCall;
use model::job::WebhookTask;
use model::{BotKind, User, WebhookInterface};
use notice::Failure;
use reqwest::{Client, StatusCode};
use response::{WebhookResponse, read_answer, reply_to};
use rules::markdown::{has_formulas, prepare_formulas};
use std::sync::Arc;

/// The header that is the same for each attempt of one job.
const KEY_HEADER: &str = "Idempotency-Key";

/// Seconds after which a service is no longer called for a message, however few attempts there were since the last
/// start.
const CALL_SECS_MAX: u64 = 60 * 60;

/// Calls the services of bots.
pub struct Webhooks {
    client: Client,
    options: config::Webhooks,
    allows_private: bool,
    hosts: Arc<Hosts>,
}

impl Webhooks {
    /// A client that follows no redirects and, unless allowed or in development, connects to public addresses only.
    /// Fails if the system's certificates cannot be read.
    pub fn new(
        options: &config::Webhooks,
        hosts: Arc<Hosts>,
        is_development: bool,
    ) -> Result<Self, reqwest::Error> {
        let allows_private = options.private_addresses || is_development;
        let builder = http_client::builder(options.request_secs_max);
        // A proxy would connect to any address.
        let client = builder.no_proxy().dns_resolver(Arc::new(Resolver { allows_private })).build()?;
        Ok(Self { client, options: options.clone(), allows_private, hosts })
    }

    /// Makes one call.
    pub async fn deliver(&self, attempt: &DeliveryAttempt, task: &WebhookTask) -> Delivery {
        let call = match self.call(attempt, task).await {
            Ok(call) => call,
            Err(over) => return over,
        };
        match self.ask(&call).await {
            Ok(WebhookResponse::Nothing) => Delivery::done(),
            Ok(WebhookResponse::Say(text)) => {
                let text = with_known_formulas(text).await;
                match reply_to(&call, &text) {
                    Ok(followup) => Delivery::Done(Some(followup)),
                    Err(why) => give_up(&call, &Failure::WebhookResponse { why }),
                }
            }
            Err(failure) => self.failed(&call, &failure),
        }
    }

    /// Reads the current state; the end of the job if there is nothing to call any more.
    async fn call<'p>(
        &self,
        attempt: &'p DeliveryAttempt,
        task: &'p WebhookTask,
    ) -> Result<WebhookCall<'p>, Delivery> {
        let directory = attempt.realm.directory();
        let is_asking = |user: &&Arc<User>| {
            let kind = user.bot.as_ref().map(|bot| bot.kind);
            user.is_active && kind == Some(BotKind::OutgoingWebhook) && directory.realm().is_active
        };
        let bot = directory.user(task.bot).filter(is_asking).cloned();
        let bot = bot.ok_or_else(|| Delivery::dropped("the bot no longer exists"))?;
        let service = directory.bot_config(bot.id).and_then(|config| config.service.clone());
        let service = service.ok_or_else(|| Delivery::dropped("the bot has no service"))?;
        let message = match read_one(&attempt.realm, Some(&bot), task.message).await {
            Ok(Some(found)) => found.message,
            Ok(None) => return Err(Delivery::dropped("the message no longer exists")),
            Err(_) => return Err(Delivery::failed("the message could not be read")),
        };
        let url = self.hosts.url(&attempt.realm, None);
        Ok(WebhookCall { attempt, task, directory, bot, service, message, url })
    }

    async fn ask(&self, call: &WebhookCall<'_>) -> Result<WebhookResponse, Failure> {
        if let Some(why) = refused_address(&call.service.base_url, self.allows_private) {
            return Err(Failure::Address { why });
        }
        let request = self.client.post(&call.service.base_url).header(KEY_HEADER, call.attempt.key());
        let request = match call.service.interface {
            WebhookInterface::Generic => request.header("Content-Type", "application/json").body(call.json()),
            WebhookInterface::Slack => request.form(&call.form().ok_or(Failure::NoDirectMessages)?),
        };
        let response = request.send().await.map_err(|error| Failure::of(&error))?;
        let status = response.status();
        let body = http_client::read_at_most(response, self.options.answer_bytes_max);
        let body = body.await.map_err(|error| Failure::of(&error))?;
        if !status.is_success() {
            return Err(Failure::Status { status, body: notice::excerpt(&body.unwrap_or_default()) });
        }
        let body = body.ok_or(Failure::TooLong { bytes_max: self.options.answer_bytes_max })?;
        let refused = |why: &str| Failure::WebhookResponse { why: why.to_owned() };
        read_answer(call.service.interface, &body).map_err(refused)
    }

    /// Retries the call, or ends the job.
    fn failed(&self, call: &WebhookCall<'_>, failure: &Failure) -> Delivery {
        let DeliveryAttempt { tries, age_millis, .. } = call.attempt;
        let is_late = *age_millis > CALL_SECS_MAX * 1000;
        if failure.may_pass() && *tries < self.options.tries_max && !is_late {
            return Delivery::failed(failure.to_string());
        }
        give_up(call, failure)
    }
}

/// Renders the formulas of a text, so that what renders the text next finds them rendered: the other calls on this thread do
/// not wait for it.
async fn with_known_formulas(text: String) -> String {
    if !has_formulas(&text) {
        return text;
    }
    let formulas = text.clone();
    if tokio::task::spawn_blocking(move || prepare_formulas(&formulas)).await.is_err() {
        tracing::warn!("the formulas in the response of an outgoing webhook could not be rendered");
    }
    text
}

/// Ends the job, and notifies the owner of the bot.
fn give_up(call: &WebhookCall<'_>, failure: &Failure) -> Delivery {
    let why = failure.to_string();
    let notice = call.owner().and_then(|owner| notice::to_owner(call, owner, failure));
    Delivery::Refused { why, followup: notice.map(|draft| Followup::SendDirect(Box::new(draft))) }
}

impl Failure {
    fn may_pass(&self) -> bool {
        match self {
            Self::TimeOut | Self::Connection => true,
            Self::Status { status, .. } => {
                status.is_server_error() || *status == StatusCode::TOO_MANY_REQUESTS
            }
            Self::Address { .. }
            | Self::WebhookResponse { .. }
            | Self::TooLong { .. }
            | Self::NoDirectMessages => false,
        }
    }
}
