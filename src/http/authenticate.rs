//! Authentication of a request by an API key or a web session, as its route says, and the rate limits of the call.

use super::address::Network;
use super::app::App;
use super::basic_auth::parse_authorization;
use super::caller::{Caller, ClientCredentials, Login};
use super::connection_slots;
use super::error::ApiError;
use super::params::{BodyKind, Fields};
use super::route::{Limit, Offered, Route};
use super::web_session::OpenSession;
use crate::rate_limit::{Bucket, RateLimitStatus};
use actix_web::HttpRequest;
use actix_web::http::header::{self, HeaderName, HeaderValue};
use actix_web::http::{Method, StatusCode};
use actors::{DomainError, RealmHandle, commands};
use model::UserId;
use rules::permissions::spectators;
use std::net::IpAddr;

/// All bots of an owner may call as often as this many accounts.
const BOTS_SHARES: u32 = 10;

/// The client of a request: what its rate limits are counted by, and who calls if that is known.
#[derive(Default)]
pub struct Client {
    /// The organization of the `Host` header.
    pub realm: Option<RealmHandle>,
    pub address: Option<IpAddr>,
    pub user: Option<UserId>,
    pub rate_limit: Option<RateLimitStatus>,
}

impl Client {
    /// Counts a call of the client's address.
    pub fn acquire(&mut self, app: &App, bucket: Bucket) -> Result<(), ApiError> {
        self.rate_limit = app.limits.acquire(bucket, Network::from(self.address), app.moment());
        check(self.rate_limit)
    }
}

/// An authenticated caller, or none where none is required.
#[derive(Clone, Default)]
pub struct Authenticated {
    pub caller: Option<Caller>,
    /// Present if the caller is logged in with a browser.
    pub session: Option<OpenSession>,
}

/// The header of resumable uploads, which pages of other sites cannot send: it stands for a CSRF token.
const RESUMABLE: HeaderName = HeaderName::from_static("tus-resumable");

/// The credentials that a call may have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Accepted {
    Key,
    Session,
    /// A key if there is an `Authorization` header, otherwise a web session.
    Either,
}

impl Accepted {
    fn of(route: &Route, is_json: bool, request: &HttpRequest) -> Self {
        let is_reading = matches!(*request.method(), Method::GET | Method::HEAD);
        match route.offered {
            Offered::Everywhere if is_json => Self::Session,
            Offered::WithSession | Offered::Page => Self::Session,
            Offered::File if is_reading || request.headers().contains_key(RESUMABLE) => Self::Either,
            Offered::Everywhere | Offered::WithKey | Offered::File => Self::Key,
        }
    }
}

/// Authenticates a caller of a row. With an `Authorization` header credentials are always checked, except where none
/// are needed. Failures count for the IP address; valid credentials are never refused because of them.
pub fn authenticate(
    app: &App,
    (route, is_json): (&Route, bool),
    request: &HttpRequest,
    client: &mut Client,
) -> Result<Authenticated, ApiError> {
    let authorization = request.headers().get(header::AUTHORIZATION);
    let accepted = Accepted::of(route, is_json, request);
    let by_session = match accepted {
        Accepted::Key => false,
        Accepted::Session => true,
        Accepted::Either => authorization.is_none(),
    };
    let is_key_in_url = match route.login {
        Login::KeyInUrl => true,
        Login::SpectatorOrKeyInUrl => authorization.is_none() && key_in_query(request).is_ok(),
        _ => false,
    };
    let by_session = by_session && !is_key_in_url;
    if by_session
        && let Some((caller, session)) = OpenSession::find(app, client.realm.as_ref(), request.headers())?
    {
        record_caller(app, &caller, client);
        record_use(&caller, &session);
        return Ok(Authenticated { caller: Some(caller), session: Some(session) });
    }
    let may_be_spectator = match route.login {
        Login::Spectator | Login::SpectatorOrKeyInUrl => {
            !is_key_in_url && (by_session || authorization.is_none())
        }
        Login::AccountOrBrowser => by_session && has_public_access(client.realm.as_ref()),
        _ => false,
    };
    if may_be_spectator {
        let is_closed = |realm: &RealmHandle| !realm.is_active();
        let is_refused = client.realm.as_ref().is_some_and(is_closed);
        return if is_refused {
            Err(DomainError::RealmDeactivated.into())
        } else {
            Ok(Authenticated::default())
        };
    }
    if route.login == Login::None {
        return Ok(Authenticated::default());
    }
    let credentials = match (by_session, is_key_in_url) {
        (true, _) => Err(ApiError::not_logged_in()),
        (false, true) => key_in_query(request).and_then(|key| ClientCredentials::key(&key)),
        (false, false) => parse_authorization(authorization.map(HeaderValue::as_bytes))
            .map(ClientCredentials::AddressAndKey),
    };
    authenticate_by_key(app, credentials, is_key_in_url, client)
}

/// Authenticates a caller by an API key.
fn authenticate_by_key(
    app: &App,
    credentials: Result<ClientCredentials, ApiError>,
    is_key_in_url: bool,
    client: &mut Client,
) -> Result<Authenticated, ApiError> {
    let realm = client.realm.as_ref();
    match credentials.and_then(|credentials| Ok((credentials.caller(realm)?, credentials))) {
        Ok((Some(caller), _)) => {
            record_caller(app, &caller, client);
            Ok(Authenticated { caller: Some(caller), session: None })
        }
        Ok((None, unknown)) => {
            // Before all organizations are searched for the key.
            client.acquire(app, Bucket::UnauthorizedByIp)?;
            Err(unknown.refusal(app))
        }
        Err(refusal) => {
            if refusal.status_code() == StatusCode::UNAUTHORIZED || is_key_in_url {
                client.acquire(app, Bucket::UnauthorizedByIp)?;
            }
            Err(refusal)
        }
    }
}

/// Whether spectators may read anything of an organization.
fn has_public_access(realm: Option<&RealmHandle>) -> bool {
    realm.is_some_and(|realm| spectators::has_public_access(&realm.directory()))
}

fn record_caller(app: &App, caller: &Caller, client: &mut Client) {
    client.user = Some(caller.user.id);
    connection_slots::has_valid_credentials();
    if !caller.user.is_bot() {
        app.known.note(caller.key(), Network::from(client.address), app.moment());
    }
}

/// Records once an hour that a session is used. The request does not wait for it; if it fails, the next one tries again.
fn record_use(caller: &Caller, session: &OpenSession) {
    if session.is_use_due {
        let (realm, key) = (caller.realm.clone(), session.key);
        actix_rt::spawn(async move {
            if let Err(error) = realm.execute(commands::UseWebSession { key }).await {
                tracing::debug!(%error, "the use of a web session was not recorded");
            }
        });
    }
}

/// The API key in the query of a URL.
fn key_in_query(request: &HttpRequest) -> Result<String, ApiError> {
    Fields::parse(request.query_string().as_bytes(), &BodyKind::Other, b"")?.required("api_key")
}

/// The caller on routes that do not require one.
pub fn identify(request: &HttpRequest, realm: Option<&RealmHandle>) -> Option<Caller> {
    let authorization = request.headers().get(header::AUTHORIZATION)?;
    let credentials = parse_authorization(Some(authorization.as_bytes())).ok()?;
    ClientCredentials::AddressAndKey(credentials).caller(realm).ok().flatten()
}

/// The caller by an API key or a web session, whichever the request has.
pub fn known_caller(app: &App, request: &HttpRequest, realm: Option<&RealmHandle>) -> Option<Caller> {
    let by_session = || OpenSession::find(app, realm, request.headers()).ok().flatten();
    identify(request, realm).or_else(|| by_session().map(|(caller, _)| caller))
}

/// Counts a call in the bucket of its row.
pub fn acquire(
    app: &App,
    route: &Route,
    caller: Option<&Caller>,
    request: &HttpRequest,
    client: &mut Client,
) -> Result<(), ApiError> {
    let (bucket, caller) = match (route.limit, caller) {
        (Limit::Free, _) | (Limit::Picture, Some(_)) => return Ok(()),
        (Limit::Api, Some(caller)) => (Bucket::ApiByUser, caller),
        (Limit::Events, Some(caller)) => (Bucket::EventsByUser, caller),
        (Limit::Api | Limit::Events, None) => return client.acquire(app, Bucket::ApiByIp),
        (Limit::Login, _) => return client.acquire(app, Bucket::LoginsByIp),
        (Limit::Page, _) => return client.acquire(app, Bucket::JoinsByIp),
        // Images need no account; calls with valid credentials are not counted.
        (Limit::Picture, None) => match identify(request, client.realm.as_ref()) {
            Some(_) => return Ok(()),
            None => return client.acquire(app, Bucket::PicturesByIp),
        },
    };
    client.rate_limit = app.limits.acquire(bucket, caller.key(), app.moment());
    check(client.rate_limit)?;
    acquire_for_owner(app, bucket, caller, client)
}

/// Counts a call of a bot for all bots of its owner, too: otherwise bots would give their owner many times the calls of one
/// account. A call that is refused for that does not count for the bot.
fn acquire_for_owner(
    app: &App,
    bucket: Bucket,
    caller: &Caller,
    client: &mut Client,
) -> Result<(), ApiError> {
    let Some(key) = caller.bots_key() else { return Ok(()) };
    let shared = app.limits.acquire_shared(bucket, (key, BOTS_SHARES), app.moment());
    check(shared).inspect_err(|_| {
        app.limits.refund(bucket, caller.key());
        client.rate_limit = shared;
    })
}

fn check(rate_limit: Option<RateLimitStatus>) -> Result<(), ApiError> {
    Ok(rate_limit.map_or(Ok(()), |status| status.check())?)
}
