//! `POST /register`: an event queue, and the state that its events change (companions.md 2).
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
mod state;
#[cfg(test)]
mod tests;

use crate::api::subscriptions::subscribers::IncludeSubscribers;
use crate::api::wire::realm::ServerFacts;
use crate::http::{Answer, ApiError, App, Caller, Fields, FromFields, Params, Realm, RealmUrl};
use actix_web::web;
use capabilities::parse_capabilities;
use fetch::Fetch;
use model::{ClientCapabilities, Directory, EventKinds, QueueOptions, User};
use narrow::parse_narrow;
use rules::settings::realm_bool;
use state::StateRequest;

/// Longest life of a queue without a poll that a client may ask for: a week.
const LIFESPAN_SECS_MAX: u32 = 7 * 24 * 3600;

/// The parameters.
pub struct Register {
    apply_markdown: bool,
    client_gravatar: Option<bool>,
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
        let client_gravatar = fields.optional_bool("client_gravatar")?;
        let slim_presence = fields.bool_or("slim_presence", false)?;
        let presence_history_limit_days = fields.optional_int("presence_history_limit_days")?;
        let all_public_channels = fields.optional_bool("all_public_streams")?;
        let include_subscribers = IncludeSubscribers::from_fields(fields)?;
        let capabilities = parse_capabilities(fields)?;
        let event_types = optional_words(fields, "event_types")?;
        let fetch_types = optional_words(fields, "fetch_event_types")?;
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
fn optional_words(fields: &Fields, name: &str) -> Result<Option<Vec<String>>, ApiError> {
    match fields.optional_str(name) {
        Some("null") => Ok(None),
        _ => fields.optional_strings(name),
    }
}

/// The queue's id, and whatever was asked for of the state.
pub async fn register(
    app: App,
    caller: Option<Caller>,
    Realm(realm): Realm,
    RealmUrl(realm_url): RealmUrl,
    Params(mut params): Params<Register>,
) -> Answer {
    let is_open = || realm_bool(realm.directory().realm(), "enable_spectator_access");
    match &caller {
        None if !is_open() => return Err(ApiError::not_logged_in()),
        None => params.check_anonymous()?,
        Some(caller) if params.all_public_channels == Some(true) && caller.user.is_guest() => {
            return Err(ApiError::bad_request("User not authorized for this query"));
        }
        Some(caller) => params.fill_in(&realm.directory(), &caller.user),
    }
    let queue = match &caller {
        Some(caller) => Some(realm.register_queue(caller.user.id, params.queue_options()).await?),
        None => None,
    };
    let server = ServerFacts {
        realm_url,
        upload_bytes_max: app.config.http.upload_bytes_max,
        login: app.config.login_methods(),
        is_development: app.is_development,
        has_push: app.push.is_some(),
    };
    let request = StateRequest {
        realm,
        server,
        caller: caller.map(|caller| caller.user.id),
        queue,
        client_gravatar: params.client_gravatar(),
        slim_presence: params.slim_presence,
        presence_days_max: params.presence_history_limit_days,
        include_subscribers: params.include_subscribers,
        capabilities: params.capabilities,
        fetch: params.fetch,
    };
    // A large organization takes many milliseconds to write down; other requests need not wait for it.
    web::block(move || request.answer()).await.map_err(|_| ApiError::internal())?
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

    /// Somebody without an account sees no addresses and no subscribers.
    fn check_anonymous(&self) -> Result<(), ApiError> {
        let refused = match (self.client_gravatar, self.include_subscribers) {
            (Some(true), _) => "client_gravatar",
            (_, IncludeSubscribers::All | IncludeSubscribers::Partial) => "include_subscribers",
            _ => return Ok(()),
        };
        Err(ApiError::bad_request(format!("Invalid '{refused}' parameter for anonymous request")))
    }

    /// By default the client computes avatars; it cannot without seeing addresses.
    fn client_gravatar(&self) -> bool {
        self.client_gravatar.unwrap_or(true)
    }

    fn queue_options(&self) -> QueueOptions {
        let kinds = match &self.event_types {
            None => EventKinds::ALL,
            Some(words) => EventKinds::from_words(words.iter().map(String::as_str)),
        };
        QueueOptions {
            kinds,
            apply_markdown: self.apply_markdown,
            client_gravatar: self.client_gravatar(),
            slim_presence: self.slim_presence,
            all_public_channels: self.all_public_channels.unwrap_or(false),
            narrow: self.narrow.clone(),
            capabilities: self.capabilities,
            idle_secs_max: self.queue_lifespan_secs.min(LIFESPAN_SECS_MAX),
        }
    }
}
