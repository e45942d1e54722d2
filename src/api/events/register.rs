//! `POST /register`: an event queue, and the state that its events change (docs/api/events.md#register-a-queue).
//!
//! The queue is made first and the state read afterwards, as of one moment: an event that is in both is one that the
//! client passes over, because the state says up to which event it goes.

mod capabilities;
mod channels;
mod empty;
mod fetch;
mod lists;
mod narrow;
mod people;
mod personal;
mod profiles;
mod request;
mod state;
#[cfg(test)]
mod tests;

use crate::api::subscriptions::subscribers::IncludeSubscribers;
use crate::api::wire::realm::ServerFacts;
use crate::http::admission::Admission;
use crate::http::{ApiError, App, Caller, Fields, FromFields, HandlerResult, Params, RealmUrl};
use actors::RealmHandle;
use capabilities::parse_capabilities;
use fetch::Fetch;
use model::{ClientCapabilities, Directory, EventKinds, QueueOptions, User, UserId};
use narrow::parse_narrow;
use request::StateRequest;

/// The parameters.
pub struct Register {
    apply_markdown: bool,
    client_gravatar: bool,
    slim_presence: bool,
    presence_history_limit_days: Option<u32>,
    /// None where the request does not say.
    all_public_channels: Option<bool>,
    include_subscribers: IncludeSubscribers,
    capabilities: ClientCapabilities,
    event_types: Option<Vec<String>>,
    fetch: Fetch,
    narrow: Vec<(String, String)>,
    queue_lifespan_secs: u32,
}

impl FromFields for Register {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let apply_markdown = fields.bool_or("apply_markdown", false)?;
        let client_gravatar = fields.bool_or("client_gravatar", true)?;
        let slim_presence = fields.bool_or("slim_presence", false)?;
        let presence_history_limit_days = fields.optional_int("presence_history_limit_days")?;
        let all_public_channels = fields.optional_bool("all_public_streams")?;
        let include_subscribers = IncludeSubscribers::from_fields(fields)?;
        let capabilities = parse_capabilities(fields)?;
        let event_types = optional_names(fields, "event_types")?;
        let fetch_types = optional_names(fields, "fetch_event_types")?;
        let fetch = Fetch::new(match fields.optional_str("fetch_event_types") {
            None => event_types.clone(),
            Some(_) => fetch_types,
        });
        Ok(Self {
            apply_markdown,
            client_gravatar,
            slim_presence,
            presence_history_limit_days,
            all_public_channels,
            include_subscribers,
            capabilities,
            event_types,
            fetch,
            narrow: parse_narrow(fields)?,
            queue_lifespan_secs: fields.int_or("queue_lifespan_secs", 0)?,
        })
    }
}

/// A list of strings; null is everything.
fn optional_names(fields: &Fields, name: &str) -> Result<Option<Vec<String>>, ApiError> {
    match fields.optional_str(name) {
        Some("null") => Ok(None),
        _ => fields.optional_strings(name),
    }
}

/// The queue's id, and whatever was asked for of the state. A large organization takes many milliseconds to write down:
/// few registrations do so at a time, and the others wait in a bounded line before they get a queue.
pub async fn register(
    admission: Admission,
    caller: Caller,
    RealmUrl(realm_url): RealmUrl,
    Params(mut params): Params<Register>,
) -> HandlerResult {
    let Caller { realm, user } = caller;
    if params.all_public_channels == Some(true) && user.is_guest() {
        return Err(ApiError::bad_request("User not authorized for this query"));
    }
    params.fill_in(&realm.directory(), &user);
    let place = admission.enter_registers()?;
    let options = params.queue_options();
    let mut request = params.state_request(&admission.app, realm.clone(), realm_url, user.id);
    let held = admission.reserve(request.estimate(&user)).await?;
    let queue = realm.register_queue(user.id, options).await?;
    request.queue = Some(queue.clone());
    let answer = place.work(move || request.answer()).await.map_err(ApiError::from).flatten();
    let answer = answer.and_then(|answer| Ok(answer.holding(held)?));
    if answer.is_err() {
        // Nobody knows its id. Whatever comes of it, the answer is the error.
        let _ = realm.close_queue(user.id, queue.id).await;
    }
    answer
}

impl Register {
    /// What is set for a bot holds where its request does not say.
    fn fill_in(&mut self, directory: &Directory, user: &User) {
        let Some(config) = directory.bot_config(user.id) else { return };
        if self.all_public_channels.is_none() && !user.is_guest() {
            self.all_public_channels = Some(config.all_public_channels);
        }
        let channel = config.register_channel.and_then(|channel| directory.channel(channel));
        if let Some(channel) = channel.filter(|_| self.narrow.is_empty()) {
            self.narrow.push(("channel".to_owned(), channel.name.clone()));
        }
    }

    fn state_request(self, app: &App, realm: RealmHandle, realm_url: String, caller: UserId) -> StateRequest {
        let server = ServerFacts {
            realm_url,
            login: app.config.login_methods(),
            is_development: app.is_development,
            has_push: app.push.is_some(),
        };
        StateRequest {
            realm,
            shared: app.shared.clone(),
            server,
            caller: Some(caller),
            queue: None,
            client_gravatar: self.client_gravatar,
            slim_presence: self.slim_presence,
            presence_days_max: self.presence_history_limit_days,
            include_subscribers: self.include_subscribers,
            capabilities: self.capabilities,
            fetch: self.fetch,
        }
    }

    fn queue_options(&self) -> QueueOptions {
        let kinds = match &self.event_types {
            None => EventKinds::ALL,
            Some(words) => EventKinds::from_names(words.iter().map(String::as_str)),
        };
        QueueOptions {
            kinds,
            apply_markdown: self.apply_markdown,
            client_gravatar: self.client_gravatar,
            slim_presence: self.slim_presence,
            all_public_channels: self.all_public_channels.unwrap_or(false),
            narrow: self.narrow.clone(),
            capabilities: self.capabilities,
            idle_secs_max: self.queue_lifespan_secs,
        }
    }
}
