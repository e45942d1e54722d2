//! A handler that was called and has not replied yet.

use super::app::App;
use super::call::{Call, HandlerFuture};
use super::caller::{Caller, Login};
use super::development::WatchedCall;
use super::error::ApiError;
use super::params::Fields;
use super::reply::HandlerResult;
use super::requester::requester;
use super::route::{Body, Limit, Route};
use super::web_session::{CSRF_FIELD, OpenSession};
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actors::budget::Holder;
use actors::{DomainError, OnBehalfOf, RealmHandle, on_behalf_of};
use model::UserId;

/// A handler that was called, with the little that its reply needs: ten thousand polls wait here.
pub struct RunningHandler {
    future: OnBehalfOf<HandlerFuture>,
    /// Names of parameters that were ignored.
    ignored: Vec<String>,
    holder: Holder,
    /// It may wait for events.
    is_poll: bool,
    /// With what a client waits for events.
    waiting: Option<Credentials>,
    has_unread_body: bool,
}

impl RunningHandler {
    /// Calls the handler of a row.
    pub fn new(
        route: &Route,
        mut call: Call<'_>,
        watched: Option<&mut WatchedCall<'_>>,
    ) -> Result<Self, ApiError> {
        let has_unread_body = call.fields.as_ref().is_ok_and(Fields::has_unread_body);
        let is_poll = route.limit == Limit::Events;
        let waiting = if is_poll { Credentials::of(&call) } else { None };
        let holder = call.holder();
        let requester = requester(route, &mut call);
        let started = route.start(&mut call);
        // Handlers that read their body themselves report their own.
        if !call.takes_parameters
            && route.body != Body::Stream
            && let Ok(fields) = &call.fields
        {
            call.ignored = fields.ignored();
            call.ignored.retain(|name| !may_be_credentials(route.login, name));
        }
        #[cfg(debug_assertions)]
        if let Ok(fields) = &call.fields {
            let asked = fields.asked();
            crate::reference::declared::record(format!("{route:?}"), asked.iter().map(String::as_str));
        }
        let started = started.map_err(|error| hint(has_unread_body, error))?;
        let future = on_behalf_of(Some(requester), started);
        let ignored = std::mem::take(&mut call.ignored);
        if let Some(watched) = watched {
            watched.record.user = call.caller.as_ref().map(|caller| caller.user.delivery_email.to_string());
            watched.record.ignored_parameters.clone_from(&ignored);
        }
        Ok(Self { future, ignored, holder, is_poll, waiting, has_unread_body })
    }

    /// Whether the handler may wait for a minute.
    pub fn is_poll(&self) -> bool {
        self.is_poll
    }

    /// The reply of the handler.
    pub fn future(&mut self) -> &mut OnBehalfOf<HandlerFuture> {
        &mut self.future
    }

    /// The response with the reply.
    pub fn finish(
        self,
        app: &App,
        reply: HandlerResult,
        watched: Option<&mut WatchedCall<'_>>,
    ) -> Result<HttpResponse, ApiError> {
        let reply = reply.map_err(|error| hint(self.has_unread_body, error))?;
        if let (Some(watched), Some(ignored)) = (watched, reply.ignored()) {
            ignored.clone_into(&mut watched.record.ignored_parameters);
        }
        let reply = reply.admitted(app.server.budget(), self.holder)?;
        if let Some(waiting) = &self.waiting {
            waiting.check()?;
        }
        Ok(reply.into_response(&self.ignored))
    }
}

/// With what a client waits for events. Nothing is given to a browser that was logged out, or for an API key that was replaced,
/// while a poll waited.
enum Credentials {
    Session(Box<(Caller, OpenSession)>),
    /// The key of an account, by the number of keys that it had before.
    Key {
        realm: RealmHandle,
        user: UserId,
        rotation: u32,
    },
}

impl Credentials {
    fn of(call: &Call<'_>) -> Option<Self> {
        let caller = call.caller.as_ref()?;
        Some(match &call.session {
            Some(session) => Self::Session(Box::new((caller.clone(), session.clone()))),
            None => Self::Key {
                realm: caller.realm.clone(),
                user: caller.user.id,
                rotation: caller.user.api_key_rotation,
            },
        })
    }

    fn check(&self) -> Result<(), ApiError> {
        match self {
            Self::Session(waiting) => match waiting.1.has_ended(&waiting.0) {
                true => Err(ApiError::not_logged_in()),
                false => Ok(()),
            },
            Self::Key { realm, user, rotation } => {
                let directory = realm.directory();
                match directory.user(*user).is_some_and(|user| user.api_key_rotation == *rotation) {
                    true => Ok(()),
                    false => Err(DomainError::InvalidApiKey.into()),
                }
            }
        }
    }
}

/// Whether a parameter was read before the handler.
fn may_be_credentials(login: Login, name: &str) -> bool {
    name == CSRF_FIELD || (matches!(login, Login::KeyInUrl | Login::SpectatorOrKeyInUrl) && name == "api_key")
}

/// Says what may be wrong with a call whose body was not read.
fn hint(has_unread_body: bool, error: ApiError) -> ApiError {
    match has_unread_body && error.status_code() == StatusCode::BAD_REQUEST {
        true => error.with_body_hint(),
        false => error,
    }
}
