//! One request on its way to a handler, and how a handler's arguments are extracted from it.
//!
//! A handler is an async function; the types of its arguments declare what it needs.

use super::app::App;
use super::body::RequestBody;
use super::caller::Caller;
use super::error::ApiError;
use super::origins::{Origins, check_origin};
use super::params::{Fields, FromFields, Params};
use super::recorded_body::RecordedBody;
use super::reply::HandlerResult;
use super::web_session::{OpenSession, cookie};
use crate::probe::{PROBE_HEADER, ProbeReport};
use actix_web::HttpRequest;
use actix_web::http::header::{ACCEPT, AUTHORIZATION, AsHeaderName, HOST, HeaderValue, USER_AGENT};
use actors::budget::Holder;
use futures_util::future::LocalBoxFuture;
use rules::client::{browser_name, client_name};
use std::future::Future;
use std::net::IpAddr;

/// A request whose route, caller and parameters are known.
///
/// Handlers take their arguments out of it; the rest is freed before they start, because thousands of them may wait
/// at once.
pub struct Call<'r> {
    pub(super) app: App,
    /// Borrowed, so that no handler holds it while it waits.
    pub(super) request: &'r HttpRequest,
    pub(super) caller: Option<Caller>,
    /// The web session that the caller is logged in with.
    pub(super) session: Option<OpenSession>,
    pub(super) segments: std::vec::IntoIter<Segment>,
    pub(super) fields: Result<Fields, ApiError>,
    pub(super) body: Option<RequestBody>,
    pub(super) address: Option<IpAddr>,
    pub(super) ignored: Vec<String>,
    /// Whether the handler has taken the parameters.
    pub(super) takes_parameters: bool,
}

impl Call<'_> {
    /// A request header as text; `None` when absent or not text.
    pub fn header(&self, name: impl AsHeaderName) -> Option<&str> {
        self.request.headers().get(name)?.to_str().ok()
    }

    /// The value of a cookie that this server sets; `None` when absent or too long.
    pub fn cookie(&self, name: &str) -> Option<&str> {
        cookie(self.request.headers(), name)
    }

    /// The account or IP address whose share of the memory budget the request uses.
    pub fn holder(&self) -> Holder {
        match &self.caller {
            Some(caller) => caller.holder(),
            None => Holder::address(self.address()),
        }
    }

    /// The IP address of the client, if it is known: see `address`.
    pub fn address(&self) -> Option<IpAddr> {
        self.address
    }
}

/// A type that can be an argument of a handler. Arguments are extracted from left to right, and the first error is
/// the response: `Caller` first, then `Path`, then `Params`.
pub trait FromCall: Sized {
    fn from_call(call: &mut Call<'_>) -> Result<Self, ApiError>;
}

impl FromCall for App {
    fn from_call(call: &mut Call<'_>) -> Result<Self, ApiError> {
        Ok(call.app.clone())
    }
}

/// For routes that require an account. On any other route it fails.
impl FromCall for Caller {
    fn from_call(call: &mut Call<'_>) -> Result<Self, ApiError> {
        call.caller.clone().ok_or_else(ApiError::not_logged_in)
    }
}

/// For routes that respond differently without the argument, such as an account or an organization.
impl<T: FromCall> FromCall for Option<T> {
    fn from_call(call: &mut Call<'_>) -> Result<Self, ApiError> {
        Ok(T::from_call(call).ok())
    }
}

impl<T: FromFields> FromCall for Params<T> {
    fn from_call(call: &mut Call<'_>) -> Result<Self, ApiError> {
        call.takes_parameters = true;
        let fields = call.fields.as_ref().map_err(ApiError::clone)?;
        let value = T::from_fields(fields)?;
        call.ignored = fields.ignored();
        Ok(Self(value))
    }
}

/// The name of the calling program, from the `client` parameter or `User-Agent`. A browser that is logged in is
/// `website`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientName(pub String);

impl FromCall for ClientName {
    fn from_call(call: &mut Call<'_>) -> Result<Self, ApiError> {
        let parameter = call.fields.as_ref().ok().and_then(|fields| fields.optional_str("client"));
        let name = client_name(parameter, call.header(USER_AGENT));
        Ok(Self(if call.session.is_some() { browser_name(name) } else { name }))
    }
}

/// The IP address of the client, also behind trusted proxies; `None` if the connection has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address(pub Option<IpAddr>);

impl FromCall for Address {
    fn from_call(call: &mut Call<'_>) -> Result<Self, ApiError> {
        Ok(Self(call.address()))
    }
}

/// The header `User-Agent` as it was sent; empty if there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserAgent(pub String);

impl FromCall for UserAgent {
    fn from_call(call: &mut Call<'_>) -> Result<Self, ApiError> {
        Ok(Self(call.header(USER_AGENT).unwrap_or_default().to_owned()))
    }
}

/// The header `Authorization`, for routes whose credentials are not those of an account.
pub struct Authorization(pub Option<HeaderValue>);

impl FromCall for Authorization {
    fn from_call(call: &mut Call<'_>) -> Result<Self, ApiError> {
        Ok(Self(call.request.headers().get(AUTHORIZATION).cloned()))
    }
}

/// What arrived with the request of `millstream doctor`; none for all others.
pub struct OwnProbe(pub Option<ProbeReport>);

impl FromCall for OwnProbe {
    fn from_call(call: &mut Call<'_>) -> Result<Self, ApiError> {
        let headers = call.request.headers();
        let given = headers.get(PROBE_HEADER).filter(|token| call.app.probe.is_valid(token.as_bytes()));
        Ok(Self(given.map(|_| ProbeReport {
            peer: call.request.peer_addr().map(|address| address.ip()),
            client: call.address,
            is_forwarded: headers.contains_key("x-forwarded-for") || headers.contains_key("forwarded"),
            host: call.header(HOST).map(str::to_owned),
        })))
    }
}

/// For whom a response is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Audience {
    /// A browser that shows a page: API clients get JSON.
    pub wants_page: bool,
    /// Whether the request was sent to a name of a development server, and not to one that a page of another machine gave it.
    pub is_developer: bool,
}

impl FromCall for Audience {
    fn from_call(call: &mut Call<'_>) -> Result<Self, ApiError> {
        let wants_page = call.header(ACCEPT).is_some_and(|accepted| accepted.contains("text/html"));
        let checked = check_origin(&call.app, Origins::Developers, call.request.headers());
        Ok(Self { wants_page, is_developer: call.app.is_development && checked.is_ok() })
    }
}

/// The raw query string, without the question mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawQuery(pub String);

impl FromCall for RawQuery {
    fn from_call(call: &mut Call<'_>) -> Result<Self, ApiError> {
        call.takes_parameters = true;
        Ok(Self(call.request.query_string().to_owned()))
    }
}

/// The body as a stream, on routes with `Body::Stream`.
pub struct BodyStream(pub RequestBody);

impl FromCall for BodyStream {
    fn from_call(call: &mut Call<'_>) -> Result<Self, ApiError> {
        let body = call.body.take().ok_or_else(ApiError::internal)?;
        if let Some(bytes) = body.declared().filter(|bytes| *bytes > 0) {
            let record = RecordedBody::of(&call.app, call.request);
            record.begin_file(None);
            record.add(bytes);
        }
        Ok(Self(body))
    }
}

/// The value of a placeholder in a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Segment {
    /// `{name:int}`: digits. Numbers of more than 64 bits become the largest one, which is never an id.
    Number(u64),
    /// `{name:text}`: one segment. `{name:rest}`: the rest of the path, slashes included.
    Text(String),
}

/// The values of the path's placeholders, in their order: a number, a text, or two of them.
///
/// Numbers are ids of 32 bits; a larger one becomes the largest, which is never an id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path<T>(pub T);

impl<T: FromPath> FromCall for Path<T> {
    fn from_call(call: &mut Call<'_>) -> Result<Self, ApiError> {
        // A handler that expects other placeholders than its row has is a bug of this server.
        T::from_path(&mut call.segments).map(Self).ok_or_else(ApiError::internal)
    }
}

/// A type that can be parsed from placeholders.
pub trait FromPath: Sized {
    /// Consumes as many segments as it needs.
    fn from_path(segments: &mut std::vec::IntoIter<Segment>) -> Option<Self>;
}

impl FromPath for u32 {
    fn from_path(segments: &mut std::vec::IntoIter<Segment>) -> Option<Self> {
        match segments.next()? {
            Segment::Number(number) => Some(Self::try_from(number).unwrap_or(Self::MAX)),
            Segment::Text(_) => None,
        }
    }
}

impl FromPath for String {
    fn from_path(segments: &mut std::vec::IntoIter<Segment>) -> Option<Self> {
        match segments.next()? {
            Segment::Text(text) => Some(text),
            Segment::Number(_) => None,
        }
    }
}

macro_rules! ids_in_paths {
    ($($id:ident)*) => {$(
        impl FromPath for model::$id {
            fn from_path(segments: &mut std::vec::IntoIter<Segment>) -> Option<Self> {
                u32::from_path(segments).map(Self)
            }
        }
    )*};
}

ids_in_paths! { AttachmentId UserId ChannelId DraftId FolderId GroupId InvitationId MessageId SavedSnippetId ScheduledMessageId }

impl<A: FromPath, B: FromPath> FromPath for (A, B) {
    fn from_path(segments: &mut std::vec::IntoIter<Segment>) -> Option<Self> {
        Some((A::from_path(segments)?, B::from_path(segments)?))
    }
}

/// The future of a handler that was started.
pub type HandlerFuture = LocalBoxFuture<'static, HandlerResult>;

/// An async function whose arguments can all be extracted from a [`Call`].
pub trait Handler<Arguments>: Send + Sync + 'static {
    fn start(&self, call: &mut Call) -> Result<HandlerFuture, ApiError>;
}

macro_rules! handlers {
    ($($argument:ident)*) => {
        impl<F, Fut, $($argument),*> Handler<($($argument,)*)> for F
        where
            F: Fn($($argument),*) -> Fut + Send + Sync + 'static,
            Fut: Future<Output = HandlerResult> + 'static,
            $($argument: FromCall,)*
        {
            #[allow(
                non_snake_case,
                unused_variables,
                reason = "arguments have the names of their type parameters, and a handler may have none"
            )]
            fn start(&self, call: &mut Call) -> Result<HandlerFuture, ApiError> {
                $(let $argument = $argument::from_call(call)?;)*
                Ok(Box::pin(self($($argument),*)))
            }
        }
    };
}

handlers! {}
handlers! { A }
handlers! { A B }
handlers! { A B C }
handlers! { A B C D }
handlers! { A B C D E }
handlers! { A B C D E G }
handlers! { A B C D E G H }
