//! Observability: request ids, the access log, and timings by route.
//!
//! The log contains no query strings, bodies, header values or paths as sent; only the route's pattern, the account
//! and the IP address of the client. With the log off a request costs a few additions.

use super::metric_text::arrange;
use super::route::Route;
use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};
use metrics::{Counter, Histogram};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use model::UserId;
use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// Maximum length of a request id accepted from a proxy, in bytes.
const REQUEST_ID_BYTES_MAX: usize = 64;
const SECONDS: &[f64] =
    &[0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0];

/// Counts requests and assigns ids. One for the whole process.
pub struct Observer {
    /// One for each row of the table, then one for requests without a row.
    meters: Vec<Meter>,
    next_id: AtomicU64,
}

/// The metrics of one route. Registered once: looking a label up costs more than counting.
struct Meter {
    route: String,
    seconds: Histogram,
    answers: [Counter; 5],
}

/// A request in progress.
pub struct Observed {
    started: Instant,
    id: HeaderValue,
}

/// The client of a request, as far as the access log has it.
#[derive(Clone, Copy, Default)]
pub struct LoggedClient<'c> {
    /// The subdomain of its organization.
    pub subdomain: Option<&'c str>,
    pub user: Option<UserId>,
    pub address: Option<IpAddr>,
}

impl Observer {
    /// Registers the metrics of each row of the table.
    pub fn new(routes: &[Route]) -> Self {
        recorder();
        let names = routes.iter().map(|route| (route.method.as_str().to_owned(), route.path.to_owned()));
        let unmatched = Meter { route: "unknown".to_owned(), ..Meter::new("-".to_owned(), "-".to_owned()) };
        let meters = names.map(|(method, path)| Meter::new(method, path)).chain([unmatched]).collect();
        Self { meters, next_id: AtomicU64::new(RandomState::new().hash_one("first request id")) }
    }

    /// Starts the timer. The id of a proxy is used if it is a plain word.
    pub fn begin(&self, headers: &HeaderMap) -> Observed {
        let given = headers.get(&REQUEST_ID).filter(|id| is_plain_word(id.as_bytes()));
        let id = given.cloned().unwrap_or_else(|| self.make_id());
        Observed { started: Instant::now(), id }
    }

    /// Stops the timer: counts, logs, and adds the id to the response headers. `row` is the index in the table; without a `status`
    /// a fault keeps the response from being sent.
    pub fn end(
        &self,
        observed: Observed,
        row: Option<usize>,
        client: LoggedClient<'_>,
        status: Option<u16>,
        headers: &mut HeaderMap,
    ) -> u64 {
        let took = observed.started.elapsed();
        let micros = took.as_micros() as u64;
        let meter = &self.meters[row.unwrap_or(self.meters.len() - 1)];
        meter.seconds.record(took.as_secs_f64());
        if let Some(status) = status {
            meter.answers[usize::from(status / 100).clamp(1, 5) - 1].increment(1);
        }
        tracing::info!(
            target: "access",
            id = observed.id.to_str().unwrap_or("-"),
            organization = client.subdomain,
            route = meter.route,
            user = client.user.map(|user| user.0),
            address = client.address.map(tracing::field::display),
            status,
            micros,
            "{}",
            if status.is_some() { "answered" } else { "not answered, because of a fault" }
        );
        headers.insert(REQUEST_ID, observed.id);
        micros
    }

    fn make_id(&self) -> HeaderValue {
        // An odd step visits all numbers, and successive ids differ in many digits.
        let number = self.next_id.fetch_add(0x9E37_79B9_7F4A_7C15, Ordering::Relaxed);
        let mut digits = [0; 16];
        for (place, digit) in digits.iter_mut().enumerate() {
            *digit = b"0123456789abcdef"[(number >> (60 - 4 * place)) as usize & 15];
        }
        HeaderValue::from_bytes(&digits).expect("hex digits are a header value")
    }
}

impl Meter {
    fn new(method: String, path: String) -> Self {
        let labels = [("method", method.clone()), ("route", path.clone())];
        let seconds = metrics::histogram!("millstream_http_request_seconds", &labels);
        let answers = std::array::from_fn(|digit| {
            let [method, route] = labels.clone();
            let class = ("status", format!("{}xx", digit + 1));
            metrics::counter!("millstream_http_requests_total", &[method, route, class])
        });
        Self { route: format!("{method} {path}"), seconds, answers }
    }
}

fn is_plain_word(id: &[u8]) -> bool {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    !id.is_empty() && id.len() <= REQUEST_ID_BYTES_MAX && id.iter().all(plain)
}

/// Installs the recorder. Must be called before any counter is created: earlier counters are never recorded.
pub fn install_metrics() {
    STARTED.get_or_init(Instant::now);
    recorder();
}

/// All metrics, as Prometheus text.
pub fn render_metrics() -> String {
    note_process();
    recorder().map(|recorder| arrange(&recorder.render())).unwrap_or_default()
}

/// Sets the gauges of the process.
fn note_process() {
    metrics::gauge!("millstream_build_info", "version" => env!("CARGO_PKG_VERSION")).set(1.0);
    metrics::gauge!("millstream_uptime_seconds")
        .set(STARTED.get_or_init(Instant::now).elapsed().as_secs_f64());
    // The second number is the resident pages.
    let pages = std::fs::read_to_string("/proc/self/statm").ok();
    let pages = pages.and_then(|text| text.split(' ').nth(1)?.parse::<u64>().ok());
    if let Some(pages) = pages {
        let bytes = pages * rustix::param::page_size() as u64;
        metrics::gauge!("millstream_resident_memory_bytes").set(bytes as f64);
    }
}

/// When the metrics were installed, at the start of the server.
static STARTED: OnceLock<Instant> = OnceLock::new();

/// Folds recorded timings into their histograms; without it they accumulate in memory. Call it every few seconds.
pub fn fold_metrics() {
    if let Some(recorder) = recorder() {
        recorder.run_upkeep();
    }
}

/// The process's recorder, installed on first use. `None` if another one was installed before.
fn recorder() -> Option<&'static PrometheusHandle> {
    static RECORDER: OnceLock<Option<PrometheusHandle>> = OnceLock::new();
    let install = || {
        let buckets = Matcher::Suffix("_seconds".to_owned());
        PrometheusBuilder::new().set_buckets_for_metric(buckets, SECONDS).ok()?.install_recorder().ok()
    };
    RECORDER.get_or_init(install).as_ref()
}

#[cfg(test)]
mod tests {
    use super::super::caller::Login;
    use super::super::reply::reply_ok;
    use super::super::route::Limit;
    use super::*;
    use actix_web::http::Method;
    use parking_lot::Mutex;
    use std::sync::Arc;

    fn table() -> Vec<Route> {
        vec![Route::new(Method::GET, "/health", Login::None, Limit::Free, || async { reply_ok() })]
    }

    #[test]
    fn request_ids_are_unique_and_proxy_ids_are_used() {
        let observer = Observer::new(&table());
        let mut headers = HeaderMap::new();
        let first = observer.begin(&headers).id;
        assert_eq!(first.len(), 16);
        assert_ne!(first, observer.begin(&headers).id);
        headers.insert(REQUEST_ID, HeaderValue::from_static("abc-1_Z"));
        assert_eq!(observer.begin(&headers).id, "abc-1_Z");
        for bad in ["", "a b", "a\"b", &"a".repeat(65)] {
            headers.insert(REQUEST_ID, HeaderValue::from_str(bad).unwrap());
            assert_ne!(observer.begin(&headers).id, bad);
        }
    }

    #[test]
    fn metrics_are_rendered() {
        let observer = Observer::new(&table());
        let mut headers = HeaderMap::new();
        let observed = observer.begin(&headers);
        observer.end(observed, Some(0), LoggedClient::default(), Some(204), &mut headers);
        let observed = observer.begin(&headers);
        let client = LoggedClient { user: Some(UserId(3)), ..LoggedClient::default() };
        observer.end(observed, None, client, Some(404), &mut headers);
        fold_metrics();
        let text = render_metrics();
        let counted = |line: &str| assert!(text.contains(line), "{line} not in\n{text}");
        counted("millstream_http_requests_total{method=\"GET\",route=\"/health\",status=\"2xx\"} ");
        counted("millstream_http_requests_total{method=\"-\",route=\"-\",status=\"4xx\"} ");
        counted("millstream_http_request_seconds_bucket{method=\"GET\",route=\"/health\",le=\"0.0005\"} ");
        assert!(headers.contains_key("x-request-id"));
    }

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl std::io::Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn access_log_line_has_no_secrets() {
        let lines = Lines::default();
        let (writer, observer) = (lines.clone(), Observer::new(&table()));
        let subscriber =
            tracing_subscriber::fmt().json().flatten_event(true).with_writer(move || writer.clone());
        tracing::subscriber::with_default(subscriber.finish(), || {
            let mut headers = HeaderMap::new();
            headers.insert(REQUEST_ID, HeaderValue::from_static("abc"));
            let observed = observer.begin(&headers);
            let address = "2001:db8::1".parse().ok();
            let client = LoggedClient { subdomain: Some("acme"), user: Some(UserId(7)), address };
            observer.end(observed, Some(0), client, Some(200), &mut headers);
        });
        let mut line: serde_json::Value = serde_json::from_slice(&lines.0.lock()).unwrap();
        let fields = line.as_object_mut().unwrap();
        fields.retain(|name, _| name != "timestamp" && name != "micros");
        let expected = serde_json::json!({
            "level": "INFO", "target": "access", "message": "answered",
            "id": "abc", "organization": "acme", "route": "GET /health", "user": 7, "address": "2001:db8::1",
            "status": 200,
        });
        assert_eq!(line, expected);
    }
}
