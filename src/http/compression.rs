//! Compresses large answers for clients that accept gzip, with the middleware of actix-web (by deflate or Brotli for those that
//! prefer them). Requests of other clients do not pass through it, and never those for events, which are sent as soon as they happen.
//!
//! Brotli takes four times the CPU of gzip and 12 MB for each answer, until the client has read it: clients that give
//! both the same weight get gzip, and so do all beyond a bound.
//!
//! Only JSON: uploaded files are mostly compressed already, and pages have tokens, whose compressed length says something about
//! them to those who see the traffic.

use super::accept_encoding::{accepts, weight, without};
use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::dev::{Service, ServiceRequest, ServiceResponse, Transform, forward_ready};
use actix_web::http::Method;
use actix_web::http::header::{self, HeaderValue};
use actix_web::middleware::Compress;
use actix_web::{Error, HttpMessage};
use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::{Either, LocalBoxFuture, Map};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Smaller answers are sent as they are: compressing them costs the server more than it saves.
const SMALL_BYTES_MAX: u64 = 16 << 10;

/// Tells the middleware not to compress an answer; removed before the answer is sent.
const AS_IT_IS: HeaderValue = HeaderValue::from_static("identity");

const ACCEPT_ENCODING: HeaderValue = HeaderValue::from_static("accept-encoding");

const BROTLI: &str = "br";

/// Answers that are compressed with Brotli at the same time. Each takes up to 12 MB.
const BROTLI_ANSWERS_MAX: usize = 4;

/// The middleware of a server's apps.
#[derive(Clone)]
pub struct CompressLarge {
    brotli_permits: Arc<Semaphore>,
}

impl CompressLarge {
    /// Nothing is being compressed yet.
    pub fn new() -> Self {
        Self { brotli_permits: Arc::new(Semaphore::new(BROTLI_ANSWERS_MAX)) }
    }
}

/// A service, directly and through the compression.
pub struct Compressing<S, C> {
    direct: Rc<S>,
    compressed: C,
    brotli_permits: Arc<Semaphore>,
}

/// The inner service, whose answers that stay as they are have a mark.
pub struct Marking<S> {
    direct: Rc<S>,
}

impl<S> Transform<S, ServiceRequest> for CompressLarge
where
    S: Service<ServiceRequest, Response = ServiceResponse, Error = Error> + 'static,
    S::Future: 'static,
{
    type Response = ServiceResponse;
    type Error = Error;
    type Transform = Compressing<S, <Compress as Transform<Marking<S>, ServiceRequest>>::Transform>;
    type InitError = ();
    type Future = LocalBoxFuture<'static, Result<Self::Transform, ()>>;

    fn new_transform(&self, service: S) -> Self::Future {
        let direct = Rc::new(service);
        let compressed = Compress::default().new_transform(Marking { direct: direct.clone() });
        let brotli_permits = self.brotli_permits.clone();
        Box::pin(async move { Ok(Compressing { direct, compressed: compressed.await?, brotli_permits }) })
    }
}

impl<S, C, B> Service<ServiceRequest> for Compressing<S, C>
where
    S: Service<ServiceRequest, Response = ServiceResponse, Error = Error>,
    C: Service<ServiceRequest, Response = ServiceResponse<B>, Error = Error>,
    C::Future: 'static,
    B: MessageBody + 'static,
{
    type Response = ServiceResponse;
    type Error = Error;
    type Future = Either<Map<S::Future, fn(Answered) -> Answered>, LocalBoxFuture<'static, Answered>>;

    forward_ready!(direct);

    fn call(&self, mut request: ServiceRequest) -> Self::Future {
        let named: fn(Answered) -> Answered =
            if may_compress(&request) { name_encoding } else { std::convert::identity };
        let Some(negotiated) = negotiate(&mut request, &self.brotli_permits) else {
            return Either::Left(self.direct.call(request).map(named));
        };
        request.extensions_mut().insert(negotiated);
        let answer = self.compressed.call(request);
        Either::Right(Box::pin(async move {
            let mut answer = answer.await?.map_into_boxed_body();
            if answer.headers().get(header::CONTENT_ENCODING) == Some(&AS_IT_IS) {
                answer.headers_mut().remove(header::CONTENT_ENCODING);
            }
            // The middleware names it in what it compresses only: other clients may prefer the answer as it is.
            let mut answer = name_encoding(Ok(answer))?;
            let permit = answer.response_mut().extensions_mut().remove::<OwnedSemaphorePermit>();
            Ok(match permit {
                Some(permit) => answer.map_body(|_, body| Holding { body, _permit: permit }.boxed()),
                None => answer,
            })
        }))
    }
}

impl<S> Service<ServiceRequest> for Marking<S>
where
    S: Service<ServiceRequest, Response = ServiceResponse, Error = Error>,
    S::Future: 'static,
{
    type Response = ServiceResponse;
    type Error = Error;
    type Future = LocalBoxFuture<'static, Result<ServiceResponse, Error>>;

    forward_ready!(direct);

    fn call(&self, mut request: ServiceRequest) -> Self::Future {
        let negotiated = request.extensions_mut().remove::<Negotiated>();
        let permit = negotiated.and_then(|Negotiated { accepted, permit }| {
            // Handlers have encodings of their own.
            request.headers_mut().insert(header::ACCEPT_ENCODING, accepted);
            permit
        });
        let answer = self.direct.call(request);
        Box::pin(async move {
            let mut answer = answer.await?;
            let is_encoded = answer.headers().contains_key(header::CONTENT_ENCODING);
            match (is_encoded, is_large_json(&answer)) {
                (true, _) => {}
                (false, false) => {
                    answer.headers_mut().insert(header::CONTENT_ENCODING, AS_IT_IS);
                }
                (false, true) => {
                    if let Some(permit) = permit {
                        answer.response_mut().extensions_mut().insert(permit);
                    }
                }
            }
            Ok(answer)
        })
    }
}

type Answered = Result<ServiceResponse, Error>;

/// Whether the answer to a request depends on what its client accepts, if it is large. HEAD has the headers of GET.
fn may_compress(request: &ServiceRequest) -> bool {
    matches!(*request.method(), Method::GET | Method::HEAD | Method::POST)
        && !request.path().ends_with("/events")
}

/// Adds to an answer that other clients get compressed that it depends on `Accept-Encoding`, as the middleware does for those.
fn name_encoding(answer: Answered) -> Answered {
    let mut answer = answer?;
    if is_large_json(&answer) && !answer.headers().contains_key(header::CONTENT_ENCODING) {
        answer.headers_mut().append(header::VARY, ACCEPT_ENCODING);
    }
    Ok(answer)
}

/// How the answer to a request may be compressed.
struct Negotiated {
    /// What the client accepts.
    accepted: HeaderValue,
    /// Held while the answer is compressed with Brotli; none for other encodings.
    permit: Option<OwnedSemaphorePermit>,
}

/// Brotli for clients that prefer it to gzip, while few answers are compressed so; otherwise gzip or deflate, or none. The middleware
/// finds in the header what was chosen.
fn negotiate(request: &mut ServiceRequest, brotli_permits: &Arc<Semaphore>) -> Option<Negotiated> {
    if !request.headers().contains_key(header::ACCEPT_ENCODING)
        || *request.method() == Method::HEAD
        || !may_compress(request)
    {
        return None;
    }
    let lines = request.headers().get_all(header::ACCEPT_ENCODING).filter_map(|value| value.to_str().ok());
    let text = lines.collect::<Vec<_>>().join(",");
    let accepted = HeaderValue::from_str(&text).ok()?;
    let prefers_brotli = weight(&text, BROTLI) > weight(&text, "gzip");
    let permit = prefers_brotli.then(|| brotli_permits.clone().try_acquire_owned().ok()).flatten();
    let chosen = match &permit {
        Some(_) => HeaderValue::from_static(BROTLI),
        None if accepts(&text, "gzip") => HeaderValue::from_str(&without(&text, BROTLI)).ok()?,
        None => return None,
    };
    request.headers_mut().insert(header::ACCEPT_ENCODING, chosen);
    Some(Negotiated { accepted, permit })
}

/// A body that keeps its permit until it is sent.
struct Holding {
    body: BoxBody,
    _permit: OwnedSemaphorePermit,
}

impl MessageBody for Holding {
    type Error = <BoxBody as MessageBody>::Error;

    fn size(&self) -> BodySize {
        self.body.size()
    }

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Self::Error>>> {
        Pin::new(&mut self.body).poll_next(cx)
    }
}

fn is_large_json(answer: &ServiceResponse<BoxBody>) -> bool {
    let kind = answer.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let is_large = match answer.response().body().size() {
        BodySize::None => false,
        BodySize::Sized(bytes) => bytes > SMALL_BYTES_MAX,
        BodySize::Stream => true,
    };
    // Files have a tag, of their bytes as they are.
    let is_file = answer.headers().contains_key(header::ETAG);
    is_large && !is_file && kind.is_some_and(|kind| kind.starts_with("application/json"))
}
