//! Asks the services of outgoing webhook bots, and says what they answer (companions.md 5; openapi, outgoing webhooks).
//!
//! A service is told at least once and with the same `Idempotency-Key` each time; its answer becomes a message at most
//! once, because the message ends the job in its own frame. The owner of a bot is told when its service cannot be asked.

mod addresses;
mod answer;
mod notice;
mod question;

use super::http_client;
use crate::api::messages::page::read_one;
use crate::config;
use crate::http::host::Hosts;
use actors::outbox::{Delivery, Followup, Parcel};
use addresses::{Resolver, refused_address};
use answer::{Answer, read_answer, reply_to};
use model::job::WebhookTask;
use model::{BotKind, Directory, Message, User, UserId, WebhookInterface, WebhookService};
use notice::Failure;
use question::Question;
use reqwest::{Client, StatusCode};
use std::sync::Arc;

/// The header that is the same for each try of one job.
const KEY_HEADER: &str = "Idempotency-Key";

/// Seconds after which a service is no longer asked about a message, however few the tries since the last start were.
const QUESTION_SECS_MAX: u64 = 60 * 60;

/// Talks to services.
pub struct Webhooks {
    client: Client,
    options: config::Webhooks,
    allows_private: bool,
    hosts: Arc<Hosts>,
}

/// What there is to say to whom.
struct Errand<'p> {
    parcel: &'p Parcel,
    task: &'p WebhookTask,
    directory: Directory,
    bot: Arc<User>,
    service: WebhookService,
    message: Arc<Message>,
    /// Where the organization is found.
    url: String,
}

impl Webhooks {
    /// A client that follows no redirects and, unless it is allowed or in development, talks to public addresses only.
    ///
    /// # Errors
    /// When the system's certificates cannot be read.
    pub fn new(
        options: &config::Webhooks,
        hosts: Arc<Hosts>,
        is_development: bool,
    ) -> Result<Self, reqwest::Error> {
        let allows_private = options.private_addresses || is_development;
        let builder = http_client::builder(options.request_secs_max);
        // A proxy would connect wherever it is told to.
        let client = builder.no_proxy().dns_resolver(Arc::new(Resolver { allows_private })).build()?;
        Ok(Self { client, options: options.clone(), allows_private, hosts })
    }

    /// Asks once.
    pub async fn deliver(&self, parcel: &Parcel, task: &WebhookTask) -> Delivery {
        let errand = match self.errand(parcel, task).await {
            Ok(errand) => errand,
            Err(over) => return over,
        };
        match self.ask(&errand).await {
            Ok(Answer::Nothing) => Delivery::done(),
            Ok(Answer::Say(said)) => match reply_to(&errand, &said) {
                Ok(followup) => Delivery::Done(Some(followup)),
                Err(why) => errand.give_up(&Failure::Answer { why }),
            },
            Err(failure) => self.failed(&errand, &failure),
        }
    }

    /// Reads what is true by now; an end where there is nothing to ask any more.
    async fn errand<'p>(&self, parcel: &'p Parcel, task: &'p WebhookTask) -> Result<Errand<'p>, Delivery> {
        let directory = parcel.realm.directory();
        let is_asking = |user: &&Arc<User>| {
            let kind = user.bot.as_ref().map(|bot| bot.kind);
            user.is_active && kind == Some(BotKind::OutgoingWebhook) && directory.realm().is_active
        };
        let bot = directory.user(task.bot).filter(is_asking).cloned();
        let bot = bot.ok_or_else(|| Delivery::dropped("the bot is gone"))?;
        let service = directory.bot_config(bot.id).and_then(|config| config.service.clone());
        let service = service.ok_or_else(|| Delivery::dropped("the bot has no service"))?;
        let message = match read_one(&parcel.realm, Some(&bot), task.message).await {
            Ok(Some(found)) => found.message,
            Ok(None) => return Err(Delivery::dropped("the message is gone")),
            Err(_) => return Err(Delivery::failed("the message could not be read")),
        };
        let url = self.hosts.url(&parcel.realm, None);
        Ok(Errand { parcel, task, directory, bot, service, message, url })
    }

    async fn ask(&self, errand: &Errand<'_>) -> Result<Answer, Failure> {
        if let Some(why) = refused_address(&errand.service.base_url, self.allows_private) {
            return Err(Failure::Address { why });
        }
        let request = self.client.post(&errand.service.base_url).header(KEY_HEADER, errand.parcel.key());
        let request = match errand.question()? {
            Question::Json(body) => request.header("Content-Type", "application/json").body(body),
            Question::Form(fields) => request.form(&fields),
        };
        let response = request.send().await.map_err(|error| Failure::of(&error))?;
        let status = response.status();
        let body = http_client::read_at_most(response, self.options.answer_bytes_max);
        let body = body.await.map_err(|error| Failure::of(&error))?;
        if !status.is_success() {
            return Err(Failure::Status { status, said: notice::excerpt(&body.unwrap_or_default()) });
        }
        let body = body.ok_or(Failure::TooLong { bytes_max: self.options.answer_bytes_max })?;
        let refused = |why: &str| Failure::Answer { why: why.to_owned() };
        read_answer(errand.service.interface, &body).map_err(refused)
    }

    /// Once more, or not.
    fn failed(&self, errand: &Errand<'_>, failure: &Failure) -> Delivery {
        let Parcel { realm, job, tries } = errand.parcel;
        let is_late = realm.now().millis_since(job.added) > QUESTION_SECS_MAX * 1000;
        if failure.may_pass() && *tries < self.options.tries_max && !is_late {
            return Delivery::failed(failure.to_string());
        }
        errand.give_up(failure)
    }
}

impl Errand<'_> {
    fn question(&self) -> Result<Question, Failure> {
        let token = self.parcel.realm.webhook_token(self.bot.id);
        let asked = question::Asked {
            directory: &self.directory,
            bot: &self.bot,
            message: &self.message,
            trigger: self.task.trigger,
            token: &token,
            url: &self.url,
        };
        match self.service.interface {
            WebhookInterface::Generic => Ok(Question::Json(asked.json())),
            WebhookInterface::Slack => asked.form().map(Question::Form).ok_or(Failure::NoDirectMessages),
        }
    }

    /// Who answers for the bot, if they can be told anything.
    fn owner(&self) -> Option<UserId> {
        let owner = self.bot.bot.as_ref()?.owner?;
        self.directory.user(owner).filter(|owner| owner.is_active).map(|owner| owner.id)
    }

    /// Ends the job, and tells who looks after the bot.
    fn give_up(&self, failure: &Failure) -> Delivery {
        let why = failure.to_string();
        let told = self.owner().and_then(|owner| notice::to_owner(self, owner, failure));
        Delivery::Refused { why, followup: told.map(|draft| Followup::SendDirect(Box::new(draft))) }
    }
}

impl Failure {
    /// Whether it may be otherwise in a moment.
    fn may_pass(&self) -> bool {
        match self {
            Self::TimeOut | Self::Connection => true,
            Self::Status { status, .. } => {
                status.is_server_error() || *status == StatusCode::TOO_MANY_REQUESTS
            }
            Self::Address { .. } | Self::Answer { .. } | Self::TooLong { .. } | Self::NoDirectMessages => {
                false
            }
        }
    }
}
