//! `POST /register`: an event queue, and the state that its events change (docs/api/events.md#register-a-queue).
//!
//! The queue is created first, and the state is read afterwards, as of one moment. The client skips events that are in
//! both: the state has the number of its last event.

mod capabilities;
mod channels;
mod empty;
mod fetch;
mod lists;
pub mod narrow;
mod people;
mod personal;
mod profiles;
mod request;
#[cfg(test)]
mod shared_tests;
mod state;
#[cfg(test)]
mod tests;
mod texts;
pub mod web_page;

use crate::api::subscriptions::include_subscribers::IncludeSubscribers;
use crate::api::wire::realm::ServerFacts;
use crate::http::admission::Admission;
use crate::http::{
    ApiError, App, Caller, Envelope, Fields, FromFields, HandlerResult, Params, Realm, RealmUrl,
};
use actors::RealmHandle;
use actors::budget::Reservation;
use capabilities::parse_capabilities;
use fetch::Fetch;
use model::{Directory, EventKinds, QueueOptions, User, UserId};
use narrow::parse_narrow;
use request::StateRequest;
use rules::permissions::spectators::has_public_access;

/// A queue to register, and the parts of the state to return.
pub struct Register {
    options: QueueOptions,
    /// Whether the request sets `all_public_streams`.
    sets_all_public_channels: bool,
    presence_history_limit_days: Option<u32>,
    /// Whether the request asks for addresses of avatars to be left out.
    client_gravatar: Option<bool>,
    include_subscribers: IncludeSubscribers,
    fetch: Fetch,
}

impl FromFields for Register {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let apply_markdown = fields.bool_or("apply_markdown", false)?;
        let client_gravatar = fields.optional_bool("client_gravatar")?;
        let slim_presence = fields.bool_or("slim_presence", false)?;
        let presence_history_limit_days = fields.optional_int("presence_history_limit_days")?;
        let all_public_channels = fields.optional_bool("all_public_streams")?;
        let include_subscribers = IncludeSubscribers::from_fields(fields)?;
        let capabilities = parse_capabilities(fields)?;
        let event_types = optional_names(fields, "event_types")?;
        let fetch_types = optional_names(fields, "fetch_event_types")?;
        let kinds = match &event_types {
            None => EventKinds::ALL,
            Some(words) => EventKinds::from_names(words.iter().map(String::as_str)),
        };
        let is_fetch_given = fields.optional_str("fetch_event_types").is_some();
        let options = QueueOptions {
            kinds,
            apply_markdown,
            client_gravatar: client_gravatar.unwrap_or(true),
            slim_presence,
            all_public_channels: all_public_channels.unwrap_or(false),
            narrow: parse_narrow(fields, "is not length 2")?,
            capabilities,
            idle_secs_max: fields.int_or("queue_lifespan_secs", 0)?,
        };
        Ok(Self {
            options,
            sets_all_public_channels: all_public_channels.is_some(),
            presence_history_limit_days,
            client_gravatar,
            include_subscribers,
            fetch: Fetch::new(if is_fetch_given { fetch_types } else { event_types }),
        })
    }
}

/// A list of strings; null stands for all.
fn optional_names(fields: &Fields, name: &str) -> Result<Option<Vec<String>>, ApiError> {
    match fields.optional_str(name) {
        Some("null") => Ok(None),
        _ => fields.optional_strings(name),
    }
}

/// Returns the queue's id and the requested parts of the state.
pub async fn register(
    admission: Admission,
    caller: Option<Caller>,
    Realm(realm): Realm,
    RealmUrl(realm_url): RealmUrl,
    Params(params): Params<Register>,
) -> HandlerResult {
    let finish = |state: Envelope, held| Ok(state.reply()?.holding(held)?);
    let Some(caller) = caller else { return visited(&admission, realm, realm_url, params).await };
    registered(&admission, caller, realm_url, params, finish).await
}

/// Registers a queue, and makes a response from its state and the memory reserved for it. Encoding the state of a large
/// organization takes many milliseconds: only a few registrations do so at a time, `finish` included, and the others
/// wait in a bounded line before they get a queue.
pub async fn registered<T: Send + 'static>(
    admission: &Admission,
    caller: Caller,
    realm_url: String,
    mut params: Register,
    finish: impl FnOnce(Envelope, Reservation) -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let Caller { realm, user } = caller;
    if params.options.all_public_channels && user.is_guest() {
        return Err(ApiError::bad_request("User not authorized for this query"));
    }
    params.fill_in(&realm.directory(), &user);
    let place = admission.enter_registers()?;
    let options = params.options.clone();
    let mut request = params.state_request(&admission.app, realm.clone(), realm_url, Some(user.id));
    let held = admission.reserve(request.estimate(Some(&user))).await?;
    let queue = realm.register_queue(user.id, options).await?;
    request.queue = Some(queue.clone());
    let answer = place.work(move || finish(request.state()?, held)).await.map_err(ApiError::from).flatten();
    if answer.is_err() {
        // No client knows its id. The response is the error, even if this fails.
        let _ = realm.close_queue(user.id, queue.id).await;
    }
    answer
}

/// The state for a spectator without an account, who gets no queue.
async fn visited(
    admission: &Admission,
    realm: RealmHandle,
    realm_url: String,
    mut params: Register,
) -> HandlerResult {
    if !has_public_access(&realm.directory()) {
        return Err(ApiError::not_logged_in());
    }
    let refused =
        |name| Err(ApiError::bad_request(format!("Invalid '{name}' parameter for anonymous request")));
    if params.client_gravatar == Some(true) {
        return refused("client_gravatar");
    }
    if params.include_subscribers != IncludeSubscribers::No {
        return refused("include_subscribers");
    }
    params.options.client_gravatar = false;
    params.fetch = params.fetch.leaving_out("stream");
    let place = admission.enter_registers()?;
    let request = params.state_request(&admission.app, realm, realm_url, None);
    let held = admission.reserve(request.estimate(None)).await?;
    place.work(move || Ok(request.state()?.reply()?.holding(held)?)).await.map_err(ApiError::from).flatten()
}

impl Register {
    /// Fills in the configured defaults of a bot.
    fn fill_in(&mut self, directory: &Directory, user: &User) {
        let Some(config) = directory.bot_config(user.id) else { return };
        if !self.sets_all_public_channels && !user.is_guest() {
            self.options.all_public_channels = config.all_public_channels;
        }
        let channel = config.register_channel.and_then(|channel| directory.channel(channel));
        if let Some(channel) = channel.filter(|_| self.options.narrow.is_empty()) {
            self.options.narrow.push(("channel".to_owned(), channel.name.clone()));
        }
    }

    fn state_request(
        self,
        app: &App,
        realm: RealmHandle,
        realm_url: String,
        caller: Option<UserId>,
    ) -> StateRequest {
        let server = ServerFacts {
            realm_url,
            login: app.config.login_methods(),
            is_development: app.is_development,
            has_push: app.push.is_some(),
            file_mib_max: app.config.uploads.file_mib_max.get(),
            quota_mib: Some(app.config.uploads.quota_mib).filter(|quota| *quota > 0),
            webhooks: app.incoming.offer(),
        };
        StateRequest {
            realm,
            shared: app.encoded_lists.clone(),
            server,
            caller,
            queue: None,
            client_gravatar: self.options.client_gravatar,
            slim_presence: self.options.slim_presence,
            presence_days_max: self.presence_history_limit_days,
            include_subscribers: self.include_subscribers,
            capabilities: self.options.capabilities,
            fetch: self.fetch,
        }
    }
}
