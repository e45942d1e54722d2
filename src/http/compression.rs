//! Compresses large answers for clients that accept gzip, with the middleware of actix-web (by deflate for those that prefer
//! it). Requests of other clients do not pass through it, and never those for events, which are sent as soon as they happen.
//!
//! Only JSON: uploaded files are mostly compressed already, and pages have tokens, whose compressed length says something about
//! them to those who see the traffic.

use super::accept_encoding::accepts;
use actix_web::Error;
use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::dev::{Service, ServiceRequest, ServiceResponse, Transform, forward_ready};
use actix_web::http::{Method, header};
use actix_web::middleware::Compress;
use futures_util::future::{Either, LocalBoxFuture};
use std::rc::Rc;

/// Smaller answers are sent as they are: compressing them costs the server more than it saves.
const SMALL_BYTES_MAX: u64 = 16 << 10;

/// Tells the middleware not to compress an answer; removed before the answer is sent.
const AS_IT_IS: header::HeaderValue = header::HeaderValue::from_static("identity");

/// The middleware of an app.
pub struct CompressLarge;

/// A service, directly and through the compression.
pub struct Compressing<S, C> {
    direct: Rc<S>,
    compressed: C,
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
        Box::pin(async move { Ok(Compressing { direct, compressed: compressed.await? }) })
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
    type Future = Either<S::Future, LocalBoxFuture<'static, Result<ServiceResponse, Error>>>;

    forward_ready!(direct);

    fn call(&self, request: ServiceRequest) -> Self::Future {
        if !is_asked_for(&request) {
            return Either::Left(self.direct.call(request));
        }
        let answer = self.compressed.call(request);
        Either::Right(Box::pin(async move {
            let mut answer = answer.await?.map_into_boxed_body();
            if answer.headers().get(header::CONTENT_ENCODING) == Some(&AS_IT_IS) {
                answer.headers_mut().remove(header::CONTENT_ENCODING);
            }
            Ok(answer)
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

    fn call(&self, request: ServiceRequest) -> Self::Future {
        let answer = self.direct.call(request);
        Box::pin(async move {
            let mut answer = answer.await?;
            if !is_large_json(&answer) && !answer.headers().contains_key(header::CONTENT_ENCODING) {
                answer.headers_mut().insert(header::CONTENT_ENCODING, AS_IT_IS);
            }
            Ok(answer)
        })
    }
}

/// Whether an answer to a request may be compressed.
fn is_asked_for(request: &ServiceRequest) -> bool {
    let accepted = request.headers().get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok());
    accepted.is_some_and(|accepted| accepts(accepted, "gzip"))
        && matches!(*request.method(), Method::GET | Method::POST)
        && !request.path().ends_with("/events")
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
