//! One row of the table of routes: method, path, who may call it, its rate limit, and the handler.
//!
//! Placeholders in a path are `{name:int}`, `{name:text}` and, at the end only, `{name:rest}`.

use super::app::App;
use super::call::{Call, Handler, HandlerFuture};
use super::caller::Login;
use super::error::ApiError;
use super::origins::Origins;
use crate::config::Http;
use actix_web::http::Method;
use actix_web::http::header::{HeaderName, HeaderValue};
use std::fmt;

/// The rate limit of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// None: for monitoring, and for files that cost no more than counting them.
    Free,
    /// API calls of the account, or of the IP address without one.
    Api,
    Events,
    /// Login attempts of the IP address.
    Login,
    /// Web pages fetched by the IP address.
    Page,
    /// Images fetched by the IP address without credentials.
    Picture,
}

/// How the body is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// Into memory, as parameters, up to `http.body_bytes_max`.
    Fields,
    /// Into memory, as parameters, up to this many bytes. Not of the share of an address: for tools of development servers.
    LargeFields(usize),
    /// By the handler, through `BodyStream`. The query still has parameters.
    Stream,
}

impl Body {
    /// Whether a body may be larger than the share of an address.
    pub fn is_large(self) -> bool {
        match self {
            Self::LargeFields(_) => true,
            Self::Fields | Self::Stream => false,
        }
    }

    /// The largest body that is read into memory; none for one that the handler reads.
    pub fn bytes_max(self, settings: &Http, has_credentials: bool) -> Option<usize> {
        match self {
            Self::Fields if has_credentials => Some(settings.body_bytes_max),
            Self::Fields => Some(settings.anonymous_body_bytes_max.min(settings.body_bytes_max)),
            Self::LargeFields(bytes_max) => Some(bytes_max),
            Self::Stream => None,
        }
    }
}

/// Where a row is offered, and what says who calls. No handler needs to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offered {
    /// Below `/api/v1` with an API key, and at the same path below `/json` with a web session.
    Everywhere,
    /// With an API key, or without any credentials.
    WithKey,
    /// Below `/json` with a web session.
    WithSession,
    /// A file: with an API key or, for reading it and for resumable uploads, with a web session.
    File,
    /// A page for people: with or without a web session, and with a CSRF token for its forms.
    Page,
}

impl Offered {
    /// Paths of the API are offered everywhere.
    fn at(path: &str) -> Self {
        match path {
            path if path.starts_with("/api/v1/") => Self::Everywhere,
            path if path.starts_with("/json/") => Self::WithSession,
            _ => Self::WithKey,
        }
    }

    /// Whether only browsers that are logged in, or want to be, use the row.
    pub fn is_for_browsers(self) -> bool {
        match self {
            Self::WithSession | Self::Page => true,
            Self::Everywhere | Self::WithKey | Self::File => false,
        }
    }
}

/// Extracts a handler's arguments and starts it.
type Start = dyn Fn(&mut Call<'_>) -> Result<HandlerFuture, ApiError> + Send + Sync;

/// One row of the table.
pub struct Route {
    /// The method. HEAD is implied by GET, OPTIONS by every path.
    pub method: Method,
    pub path: &'static str,
    pub login: Login,
    pub limit: Limit,
    pub body: Body,
    pub offered: Offered,
    /// The origins whose pages may read the response.
    pub origins: Origins,
    /// The protocol that the path belongs to, if it has headers of its own.
    pub protocol: Option<&'static Protocol>,
    start: Box<Start>,
}

/// The headers of a protocol on top of HTTP.
pub struct Protocol {
    /// Sent with every response.
    pub always: &'static [(&'static str, &'static str)],
    /// Sent in the response to OPTIONS.
    pub options: fn(&App) -> Vec<(HeaderName, HeaderValue)>,
}

impl Route {
    /// A row whose handler is an async function.
    pub fn new<A: 'static>(
        method: Method,
        path: &'static str,
        login: Login,
        limit: Limit,
        handler: impl Handler<A>,
    ) -> Self {
        let start = Box::new(move |call: &mut Call| handler.start(call));
        let (body, offered) = (Body::Fields, Offered::at(path));
        let origins = if offered.is_for_browsers() { Origins::Own } else { Origins::Any };
        Self { method, path, login, limit, body, offered, origins, protocol: None, start }
    }

    /// This row, not offered below `/json`: logins of programs.
    pub fn with_key_only(mut self) -> Self {
        self.offered = Offered::WithKey;
        self
    }

    /// This row, with a web session as well as with an API key.
    pub fn file(mut self) -> Self {
        self.offered = Offered::File;
        self
    }

    /// This row, as a page of a browser, with the origins that it has.
    pub fn local_page(mut self) -> Self {
        self.offered = Offered::Page;
        self
    }

    /// This row, as a page of a browser, for the server's own origin only.
    pub fn page(mut self) -> Self {
        (self.offered, self.origins) = (Offered::Page, Origins::Own);
        self
    }

    /// This row, with the headers of a protocol.
    pub fn of_protocol(mut self, protocol: &'static Protocol) -> Self {
        self.protocol = Some(protocol);
        self
    }

    /// This row, with the body read by the handler.
    pub fn streaming(mut self) -> Self {
        self.body = Body::Stream;
        self
    }

    /// This row, with parameters of up to this many bytes.
    pub fn with_large_fields(mut self, bytes_max: usize) -> Self {
        self.body = Body::LargeFields(bytes_max);
        self
    }

    /// This row for the server's own origin only: web pages for people, and endpoints for operators.
    pub fn own_origin(mut self) -> Self {
        self.origins = Origins::Own;
        self
    }

    /// This row, restricted to the local machine on a development server, which gives out keys and e-mails.
    pub fn for_developers(mut self) -> Self {
        self.origins = Origins::Developers;
        self
    }

    /// Extracts the handler's arguments and starts it.
    pub fn start(&self, call: &mut Call<'_>) -> Result<HandlerFuture, ApiError> {
        (self.start)(call)
    }
}

impl fmt::Debug for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.path)
    }
}
