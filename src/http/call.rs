//! One request on its way to a handler: what it holds, and how a handler's arguments are taken from it.
//!
//! A handler is an async function; each of its arguments says by its type what it needs.

use super::app::App;
use super::caller::Caller;
use super::client_name::client_name;
use super::error::ApiError;
use super::params::{Fields, FromFields, Params};
use super::reply::Answer;
use super::router::Segment;
use actix_web::HttpRequest;
use actix_web::http::header::{AsHeaderName, IF_NONE_MATCH, USER_AGENT};
use actix_web::web::Payload;
use futures_util::future::LocalBoxFuture;
use std::future::Future;
use std::net::IpAddr;

/// A request whose route, caller and parameters are known.
///
/// Handlers do not keep it: what they take from it is theirs, the rest is freed before they start, because
/// ten thousand of them may wait at once.
pub struct Call {
    pub(super) app: App,
    pub(super) request: HttpRequest,
    pub(super) caller: Option<Caller>,
    pub(super) segments: std::vec::IntoIter<Segment>,
    pub(super) fields: Result<Fields, ApiError>,
    pub(super) payload: Option<Payload>,
    pub(super) ignored: Vec<String>,
}

impl Call {
    /// A request header as text; `None` when absent or not text.
    pub fn header(&self, name: impl AsHeaderName) -> Option<&str> {
        self.request.headers().get(name)?.to_str().ok()
    }

    /// The address the request came from.
    pub fn address(&self) -> Option<IpAddr> {
        self.request.peer_addr().map(|address| address.ip())
    }
}

/// Something a handler can take as an argument. Arguments are taken from left to right, and the first
/// error is the answer: `Caller` first, then paths, then `Params`.
pub trait FromCall: Sized {
    /// Takes it out of the call.
    fn from_call(call: &mut Call) -> Result<Self, ApiError>;
}

impl FromCall for App {
    fn from_call(call: &mut Call) -> Result<Self, ApiError> {
        Ok(call.app.clone())
    }
}

impl<T: FromFields> FromCall for Params<T> {
    fn from_call(call: &mut Call) -> Result<Self, ApiError> {
        let fields = call.fields.as_ref().map_err(ApiError::clone)?;
        let value = T::from_fields(fields)?;
        call.ignored = fields.ignored();
        Ok(Self(value))
    }
}

/// The name of the calling program (conventions, section 10).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientName(pub String);

impl FromCall for ClientName {
    fn from_call(call: &mut Call) -> Result<Self, ApiError> {
        let parameter = call.fields.as_ref().ok().and_then(|fields| fields.optional_str("client"));
        Ok(Self(client_name(parameter, call.header(USER_AGENT))))
    }
}

/// The address the request came from; `None` where the connection has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address(pub Option<IpAddr>);

impl FromCall for Address {
    fn from_call(call: &mut Call) -> Result<Self, ApiError> {
        Ok(Self(call.address()))
    }
}

/// The query as it was sent, without the question mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawQuery(pub String);

impl FromCall for RawQuery {
    fn from_call(call: &mut Call) -> Result<Self, ApiError> {
        Ok(Self(call.request.query_string().to_owned()))
    }
}

/// The header `If-None-Match`, if there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IfNoneMatch(pub Option<String>);

impl FromCall for IfNoneMatch {
    fn from_call(call: &mut Call) -> Result<Self, ApiError> {
        Ok(Self(call.header(IF_NONE_MATCH).map(str::to_owned)))
    }
}

/// The body as it arrives, on routes with `Body::Stream`.
pub struct BodyStream(pub Payload);

impl FromCall for BodyStream {
    fn from_call(call: &mut Call) -> Result<Self, ApiError> {
        call.payload.take().map(Self).ok_or_else(ApiError::internal)
    }
}

/// What stands in the path's placeholders, in their order: a number, a text, or two of them.
///
/// Numbers are ids of 32 bits; a larger one becomes the largest, which nothing has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path<T>(pub T);

impl<T: FromPath> FromCall for Path<T> {
    fn from_call(call: &mut Call) -> Result<Self, ApiError> {
        // A handler that asks for what its row's path does not have is our own mistake.
        T::from_path(&mut call.segments).map(Self).ok_or_else(ApiError::internal)
    }
}

/// A value that can stand in a path.
pub trait FromPath: Sized {
    /// Takes as many segments as it needs.
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

ids_in_paths! { UserId ChannelId FolderId GroupId InvitationId MessageId }

impl<A: FromPath, B: FromPath> FromPath for (A, B) {
    fn from_path(segments: &mut std::vec::IntoIter<Segment>) -> Option<Self> {
        Some((A::from_path(segments)?, B::from_path(segments)?))
    }
}

/// A handler at work.
pub type Working = LocalBoxFuture<'static, Answer>;

/// An async function whose arguments can all be taken from a [`Call`].
pub trait Handler<Arguments>: Send + Sync + 'static {
    /// Takes the arguments and starts.
    fn start(&self, call: &mut Call) -> Result<Working, ApiError>;
}

macro_rules! handlers {
    ($($argument:ident)*) => {
        impl<F, Fut, $($argument),*> Handler<($($argument,)*)> for F
        where
            F: Fn($($argument),*) -> Fut + Send + Sync + 'static,
            Fut: Future<Output = Answer> + 'static,
            $($argument: FromCall,)*
        {
            #[allow(non_snake_case, unused_variables)]
            fn start(&self, call: &mut Call) -> Result<Working, ApiError> {
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
