//! `/static/…`: types, caching, encodings, ranges, and what is no file.

use crate::support::raw_connection::RawConnection;
use crate::support::web_app::{APP, MiniRelease, STYLE};
use crate::support::{TestServer, TestUser};
use reqwest::Method;
use reqwest::header::HeaderMap;

const FOREVER: &str = "public, max-age=31536000, immutable";
const AN_HOUR: &str = "public, max-age=3600";

/// A server with the miniature web app.
async fn server() -> TestServer {
    let t = TestServer::start().await;
    let archive = t.data().with_file_name("zulip.tar.gz");
    MiniRelease::new().write_archive(&archive);
    let folder = t.data().join("web-app");
    millstream::web_app::install::install(&folder, &archive, &mut |_| ()).expect("it is complete");
    t.app().web_app.reload();
    t
}

struct Answer {
    status: u16,
    headers: HeaderMap,
    bytes: Vec<u8>,
}

impl Answer {
    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().expect("text"))
    }
}

/// The response to a request with these headers, as it was sent.
async fn ask(t: &TestServer, method: Method, path: &str, headers: &[(&str, &str)]) -> Answer {
    let mut request = reqwest::Client::new().request(method, format!("{}{path}", t.url));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let answer = request.send().await.expect("an answer");
    let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
    Answer { status, headers, bytes: answer.bytes().await.expect("a body").to_vec() }
}

async fn get(t: &TestServer, path: &str, headers: &[(&str, &str)]) -> Answer {
    ask(t, Method::GET, path, headers).await
}

#[tokio::test]
async fn files_have_types_and_caching_by_their_names() {
    let t = server().await;
    let cases = [
        (format!("/static/webpack-bundles/{APP}"), "text/javascript; charset=utf-8", FOREVER),
        (format!("/static/webpack-bundles/{STYLE}"), "text/css; charset=utf-8", FOREVER),
        ("/static/images/favicon.0123456789ab.svg".to_owned(), "image/svg+xml; charset=utf-8", FOREVER),
        ("/static/images/favicon.svg".to_owned(), "image/svg+xml; charset=utf-8", AN_HOUR),
        ("/static/audio/notification_sounds/ding.ogg".to_owned(), "audio/ogg", AN_HOUR),
        ("/static/generated/emoji/images-google-64/1f600.png".to_owned(), "image/png", AN_HOUR),
    ];
    for (path, content_type, caching) in cases {
        let answer = get(&t, &path, &[]).await;
        assert_eq!((answer.status, answer.header("content-type")), (200, content_type), "{path}");
        assert_eq!(answer.header("cache-control"), caching, "{path}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        assert_eq!(answer.header("access-control-allow-origin"), "*");
        assert_eq!(answer.header("vary"), "Accept-Encoding");
        assert_eq!(answer.header("content-length"), answer.bytes.len().to_string());
    }
    // The list of emoji stays our own.
    let own = get(&t, "/static/generated/emoji/emoji_api.json", &[]).await;
    assert!(!String::from_utf8_lossy(&own.bytes).contains("the release"));
}

#[tokio::test]
async fn picture_in_messages_is_there_without_a_web_app() {
    let t = TestServer::start().await;
    let html = t.user("hamlet").post("/messages/render", &[("content", &":zulip:")]).ok().await;
    let (_, rest) = html["rendered"].as_str().unwrap().split_once("src=\"").unwrap();
    let (path, _) = rest.split_once('"').unwrap();
    let own = get(&t, path, &[]).await;
    assert_eq!((own.status, own.header("content-type")), (200, "image/png"));
    assert_eq!(own.header("cache-control"), AN_HOUR);
    let picture = image::load_from_memory(&own.bytes).unwrap();
    assert_eq!((picture.width(), picture.height()), (64, 64));
    assert_eq!(get(&t, "/static/generated/emoji/images/emoji/unicode/1f600.png", &[]).await.status, 404);
    // The miniature web app does not have it either.
    assert_eq!(get(&server().await, path, &[]).await.bytes, own.bytes);
}

#[tokio::test]
async fn encodings_and_tags() {
    let t = server().await;
    let path = format!("/static/webpack-bundles/{APP}");
    let plain = get(&t, &path, &[]).await;
    assert_eq!(plain.bytes, include_bytes!("mini/app.js"));
    let gzip = get(&t, &path, &[("accept-encoding", "gzip, deflate")]).await;
    assert_eq!(gzip.header("content-encoding"), "gzip");
    assert_eq!(gzip.header("content-type"), "text/javascript; charset=utf-8");
    let mut unpacked = Vec::new();
    std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(&gzip.bytes[..]), &mut unpacked)
        .expect("gzip");
    assert_eq!(unpacked, plain.bytes);
    let brotli = get(&t, &path, &[("accept-encoding", "gzip, br")]).await;
    assert_eq!(brotli.header("content-encoding"), "br");
    assert_eq!(brotli.bytes[3..brotli.bytes.len() - 1], plain.bytes, "stored without compression");
    let refused = get(&t, &path, &[("accept-encoding", "br;q=0")]).await;
    assert_eq!(refused.header("content-encoding"), "");
    // Each encoding has a tag of its own.
    let tags = [plain.header("etag"), gzip.header("etag"), brotli.header("etag")];
    assert!(tags[0] != tags[1] && tags[1] != tags[2] && tags[0] != tags[2], "{tags:?}");
    let known = get(&t, &path, &[("accept-encoding", "gzip"), ("if-none-match", tags[1])]).await;
    assert_eq!((known.status, known.bytes.len(), known.header("etag")), (304, 0, tags[1]));
    let other = get(&t, &path, &[("accept-encoding", "gzip"), ("if-none-match", tags[0])]).await;
    assert_eq!(other.status, 200);
}

#[tokio::test]
async fn ranges_and_heads() {
    let t = server().await;
    let path = "/static/audio/notification_sounds/ding.ogg";
    let head = ask(&t, Method::HEAD, path, &[]).await;
    assert_eq!((head.status, head.header("content-length"), head.bytes.len()), (200, "200000", 0));
    assert_eq!(head.header("accept-ranges"), "bytes");
    let part = get(&t, path, &[("range", "bytes=100-199")]).await;
    assert_eq!((part.status, part.bytes.len()), (206, 100));
    assert_eq!(part.header("content-range"), "bytes 100-199/200000");
    let end = get(&t, path, &[("range", "bytes=-5")]).await;
    assert_eq!((end.status, end.header("content-range")), (206, "bytes 199995-199999/200000"));
    let beyond = get(&t, path, &[("range", "bytes=200000-")]).await;
    assert_eq!((beyond.status, beyond.header("content-range")), (416, "bytes */200000"));
    let whole = get(&t, path, &[("range", "bytes=0-1,5-6")]).await;
    assert_eq!((whole.status, whole.bytes.len()), (200, 200_000));
    let other_case = get(&t, path, &[("range", "Bytes=0-1")]).await;
    assert_eq!((other_case.status, other_case.bytes.len()), (206, 2), "units do not depend on case");
    let far = get(&t, path, &[("range", "bytes=99999999999999999999-")]).await;
    assert_eq!((far.status, far.header("content-range")), (416, "bytes */200000"));
    let changed = get(&t, path, &[("range", "bytes=0-1"), ("if-range", "\"other\"")]).await;
    assert_eq!(changed.status, 200);
    let same = get(&t, path, &[("range", "bytes=0-1"), ("if-range", head.header("etag"))]).await;
    assert_eq!(same.status, 206);
}

#[tokio::test]
async fn other_paths_are_not_found() {
    let t = server().await;
    let visitor: TestUser = t.anonymous();
    for path in [
        "/static/",
        "/static/webpack-bundles",
        "/static/webpack-bundles/",
        "/static/images/missing.png",
        "/static/.hidden",
        "/static/%2e%2e/installed.json",
        "/static/images/%2e%2e/%2e%2e/version.py",
        "/static/..%2finstalled.json",
        "/static/%2fetc%2fpasswd",
        "/static/images%5cfavicon.svg",
        "/static/images/favicon.svg%00",
    ] {
        assert_eq!(visitor.fetch(path).await.0, 404, "{path}");
    }
    // As no library sends it.
    for path in ["/static/../installed.json", "/static/images/../../version.py", "//static/../version.py"] {
        let mut connection = RawConnection::connect(&t.url).await;
        connection
            .write(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"))
            .await;
        let answer = connection.read_to_end().await;
        assert!(answer.starts_with("HTTP/1.1 404"), "{path}: {answer}");
    }
}

#[tokio::test]
async fn repeated_slashes_lead_to_the_same_file() {
    let t = server().await;
    for path in ["/static//images/favicon.svg", "/static/images//favicon.svg"] {
        assert_eq!(t.anonymous().fetch(path).await.0, 200, "{path}");
    }
}

#[tokio::test]
async fn without_a_web_app_there_are_no_files() {
    let t = TestServer::start().await;
    let visitor = t.anonymous();
    assert_eq!(visitor.fetch("/static/images/favicon.svg").await.0, 404);
    assert_eq!(visitor.fetch("/static/generated/emoji/emoji_api.json").await.0, 200);
}
