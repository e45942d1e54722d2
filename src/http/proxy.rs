//! The reverse proxy between nodes: sends a request to another node and its response back, without holding more than a few
//! pieces of either.

use super::error::ApiError;
use super::gateway::{CLIENT, EPOCH, Gateway, HOPS, KEY, QUERY_KEY};
use actix_web::body::SizedStream;
use actix_web::dev::Payload;
use actix_web::error::PayloadError;
use actix_web::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use actix_web::http::{Method, StatusCode, Uri};
use actix_web::{HttpRequest, HttpResponse};
use actors::cluster::Address;
use bytes::{Bytes, BytesMut};
use futures_util::{Stream, StreamExt, stream};
use percent_encoding::percent_decode_str;
use std::net::IpAddr;
use std::pin::Pin;
use tokio::sync::mpsc;
use url::Url;

/// A body up to this size is read before it is sent, so that it can be sent again to another node.
const KEPT_BYTES_MAX: usize = 64 << 10;
/// Pieces of a longer body that wait to be sent.
const PIECES_MAX: usize = 4;
/// A response up to this size is sent in one piece.
const WHOLE_BYTES_MAX: u64 = 64 << 10;

/// Headers of one connection, and those that only nodes may send.
const OWN_HEADERS: [HeaderName; 14] = [
    header::CONNECTION,
    HeaderName::from_static("keep-alive"),
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    header::EXPECT,
    HOPS,
    KEY,
    CLIENT,
    EPOCH,
    QUERY_KEY,
];

/// What became of a request to another node.
pub enum ProxyOutcome {
    Answered(HttpResponse),
    /// It was not sent, or that node did not take it: it may be sent again.
    Unsent(Payload),
}

type Pieces = Pin<Box<dyn Stream<Item = Result<Bytes, PayloadError>>>>;

/// The body of a request.
enum Body {
    Kept(Bytes),
    Long(Payload),
}

/// Sends a request to another node.
pub async fn proxy(
    gateway: &Gateway,
    request: &HttpRequest,
    payload: Payload,
    (address, hops, client): (&Address, u32, Option<IpAddr>),
) -> ProxyOutcome {
    let Some(url) = url_of(address, request.uri()) else {
        return ProxyOutcome::Answered(ApiError::not_found().into_response());
    };
    let body = match read(request.headers(), payload).await {
        Ok(body) => body,
        Err(refused) => return ProxyOutcome::Answered(refused.into_response()),
    };
    let method = request.method().as_str().parse().unwrap_or(reqwest::Method::GET);
    let mut sent = gateway.client.request(method, url);
    for (name, value) in request.headers().iter().filter(|(name, _)| !OWN_HEADERS.contains(name)) {
        sent = sent.header(name.as_str(), value.as_bytes());
    }
    sent = sent.header(HOPS.as_str(), hops).header(KEY.as_str(), gateway.key.as_str());
    sent = sent.header(EPOCH.as_str(), address.epoch);
    if let Some(client) = client {
        sent = sent.header(CLIENT.as_str(), client.to_string());
    }
    let (sent, kept) = match body {
        Body::Kept(bytes) if bytes.is_empty() => (sent, Some(bytes)),
        Body::Kept(bytes) => (sent.body(bytes.clone()), Some(bytes)),
        Body::Long(payload) => (sent.body(reqwest::Body::wrap_stream(pieces(payload))), None),
    };
    let answered = sent.send().await;
    match (answered, kept) {
        (Ok(response), Some(kept)) if is_not_taken(&response) => ProxyOutcome::Unsent(body_of(kept)),
        (Ok(response), _) => ProxyOutcome::Answered(answer(response, request.method()).await),
        (Err(error), Some(kept)) if error.is_connect() || *request.method() == Method::GET => {
            tracing::debug!(node = address.node, %error, "a request is sent again");
            ProxyOutcome::Unsent(body_of(kept))
        }
        (Err(error), _) => {
            tracing::warn!(node = address.node, %error, "it is unknown whether a request was executed");
            ProxyOutcome::Answered(unknown())
        }
    }
}

/// The URL of a request at another node. None if it would become another path there: the client library resolves `..` and
/// turns `\` into `/`, which no path of this server has.
fn url_of(address: &Address, uri: &Uri) -> Option<Url> {
    let mut url = Url::parse(&address.url).ok()?;
    let before = url.path().trim_end_matches('/').to_owned();
    let wanted = format!("{before}{}", uri.path());
    url.set_path(&wanted);
    url.set_query(uri.query());
    percent_decode_str(url.path()).eq(percent_decode_str(&wanted)).then_some(url)
}

/// The outcome of a change is unknown. Clients with a `local_id` or that read before they repeat are safe.
fn unknown() -> HttpResponse {
    let error =
        ApiError::unavailable("The connection inside the cluster broke; it is unknown whether this was done");
    error.status(StatusCode::BAD_GATEWAY).into_response()
}

async fn read(headers: &HeaderMap, mut payload: Payload) -> Result<Body, ApiError> {
    let length =
        headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    let is_kept = match length {
        Some(length) => length <= KEPT_BYTES_MAX,
        None => !headers.contains_key(header::TRANSFER_ENCODING),
    };
    if !is_kept {
        return Ok(Body::Long(payload));
    }
    let mut kept = BytesMut::with_capacity(length.unwrap_or_default());
    while let Some(piece) = payload.next().await {
        let piece = piece.map_err(|_| ApiError::bad_request("The request body was broken off"))?;
        kept.extend_from_slice(&piece);
        if kept.len() > KEPT_BYTES_MAX {
            return Err(ApiError::body_too_large(KEPT_BYTES_MAX));
        }
    }
    Ok(Body::Kept(kept.freeze()))
}

/// A body that was read, to be read again.
fn body_of(kept: Bytes) -> Payload {
    let pieces: Pieces = Box::pin(stream::iter((!kept.is_empty()).then_some(Ok(kept))));
    Payload::from(pieces)
}

/// Whether a node has not taken a request: it is not the owner, or it closed an idle connection while
/// the request was on its way.
fn is_not_taken(response: &reqwest::Response) -> bool {
    let status = response.status().as_u16();
    let is_empty = response.content_length() == Some(0);
    status == StatusCode::MISDIRECTED_REQUEST.as_u16()
        || (status == StatusCode::REQUEST_TIMEOUT.as_u16() && is_empty)
}

/// The pieces of a long body, read on this thread.
fn pieces(mut payload: Payload) -> impl Stream<Item = Result<Bytes, std::io::Error>> + Send + 'static {
    let (sender, receiver) = mpsc::channel(PIECES_MAX);
    actix_rt::spawn(async move {
        while let Some(piece) = payload.next().await {
            let piece = piece.map_err(|error| std::io::Error::other(error.to_string()));
            if sender.send(piece).await.is_err() {
                return;
            }
        }
    });
    stream::unfold(receiver, async |mut receiver| receiver.recv().await.map(|piece| (piece, receiver)))
}

async fn answer(response: reqwest::Response, method: &Method) -> HttpResponse {
    let status = StatusCode::from_u16(response.status().as_u16()).unwrap_or(StatusCode::BAD_GATEWAY);
    let mut built = HttpResponse::build(status);
    for (name, value) in response.headers() {
        let name = HeaderName::from_bytes(name.as_str().as_bytes());
        let (Ok(name), Ok(value)) = (name, HeaderValue::from_bytes(value.as_bytes())) else { continue };
        if !OWN_HEADERS.contains(&name) && name != header::CONTENT_LENGTH {
            built.append_header((name, value));
        }
    }
    let length = response.headers().get("content-length").and_then(|value| value.to_str().ok()?.parse().ok());
    match length {
        Some(length) if *method == Method::HEAD => {
            built.body(SizedStream::new(length, stream::empty::<Result<Bytes, actix_web::Error>>()))
        }
        Some(length) if length <= WHOLE_BYTES_MAX => match response.bytes().await {
            Ok(bytes) => built.body(bytes),
            Err(_) => unknown(),
        },
        Some(length) => built.body(SizedStream::new(length, rest(response))),
        None => built.streaming(rest(response)),
    }
}

fn rest(response: reqwest::Response) -> impl Stream<Item = Result<Bytes, actix_web::Error>> + 'static {
    response.bytes_stream().map(|piece| piece.map_err(actix_web::error::ErrorBadGateway))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_what_the_client_has_sent() {
        let url = |base: &str, path: &str| {
            let address = Address { node: "n2".into(), url: base.into(), epoch: 1 };
            url_of(&address, &path.parse().unwrap()).map(String::from)
        };
        let base = "http://n2:9991/";
        assert_eq!(
            url(base, "/api/v1/users?a=b%20c").as_deref(),
            Some("http://n2:9991/api/v1/users?a=b%20c")
        );
        assert_eq!(
            url("http://n2:9991/m", "/a%2Fb/..c//d").as_deref(),
            Some("http://n2:9991/m/a%2Fb/..c//d")
        );
        assert_eq!(url(base, "/").as_deref(), Some("http://n2:9991/"));
        for path in
            ["/x/../cluster/accounts", "/x/%2e%2E/cluster/accounts", "/x/./y", "/x/.", r"/static/..\cluster"]
        {
            assert_eq!(url(base, path), None, "{path}");
        }
    }
}
