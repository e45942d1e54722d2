//! `Vary`: every answer that depends on a header of the request names it, also where the request does not have the header.

use crate::support::{TestServer, TestUser};
use reqwest::{Method, Response, StatusCode};

/// The headers that an answer depends on.
fn vary(answer: &Response) -> Vec<String> {
    let lines = answer.headers().get_all("vary").iter().map(|line| line.to_str().unwrap().to_lowercase());
    let mut names: Vec<String> = lines
        .flat_map(|line| line.split(',').map(|name| name.trim().to_owned()).collect::<Vec<_>>())
        .collect();
    names.sort();
    names
}

async fn ask(user: &TestUser, method: Method, path: &str, headers: &[(&str, &str)]) -> Response {
    let mut call = user.bare(method, path);
    for (name, value) in headers {
        call = call.header(name, value);
    }
    call.request.send().await.unwrap()
}

#[tokio::test]
async fn pages_and_errors_outside_of_the_api_depend_on_accept() {
    let t = TestServer::start().await;
    let anonymous = t.anonymous();
    for method in [Method::GET, Method::HEAD] {
        for accepted in ["text/html", "application/json"] {
            let headers = [("Accept", accepted)];
            let ask = |path| ask(&anonymous, method.clone(), path, &headers);
            for path in ["/", "/about", "/static/nowhere.js", "/user_uploads/temporary/x/a.png"] {
                assert_eq!(vary(&ask(path).await), ["accept"], "{method} {path} {accepted}");
            }
            for path in ["/health", "/api/v1/nowhere", "/api/v1/server_settings", "/json/users/me"] {
                assert_eq!(vary(&ask(path).await), [""; 0], "{method} {path} {accepted}");
            }
        }
    }
}

#[tokio::test]
async fn large_answers_depend_on_accept_encoding() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let channel = iago.create_channel("Verona").await;
    for _ in 0..8 {
        iago.send(&channel, "lunch", &"a long text ".repeat(500)).await;
    }
    let page = "/api/v1/messages?anchor=newest&num_before=50&num_after=0";
    for accepted in
        [None, Some("identity"), Some("gzip;q=0"), Some("gzip"), Some("br"), Some("gzip;q=0.5, identity")]
    {
        let headers: Vec<(&str, &str)> =
            accepted.map(|accepted| ("Accept-Encoding", accepted)).into_iter().collect();
        for (method, path) in [(Method::GET, page), (Method::HEAD, page), (Method::POST, "/api/v1/register")]
        {
            let answer = ask(&iago, method.clone(), path, &headers).await;
            assert_eq!(answer.status(), StatusCode::OK);
            assert_eq!(vary(&answer), ["accept-encoding"], "{method} {path} {accepted:?}");
        }
        let small = ask(&iago, Method::GET, "/api/v1/users/me", &headers).await;
        assert_eq!(vary(&small), [""; 0], "{accepted:?}");
    }
}

#[tokio::test]
async fn calls_of_developers_depend_on_the_origin() {
    let t = TestServer::builder().development().start().await;
    for (origin, status) in
        [(None, 200), (Some("http://localhost:3000"), 200), (Some("https://evil.example"), 403)]
    {
        let headers: Vec<(&str, &str)> = origin.map(|origin| ("Origin", origin)).into_iter().collect();
        let answer = ask(&t.anonymous(), Method::GET, "/dev/faults", &headers).await;
        assert_eq!(answer.status().as_u16(), status, "{origin:?}");
        assert!(vary(&answer).contains(&"origin".to_owned()), "{origin:?}");
        let allowed =
            answer.headers().get("access-control-allow-origin").map(|value| value.to_str().unwrap());
        assert_eq!(allowed, origin.filter(|_| status == 200));
        let preflight = ask(&t.anonymous(), Method::OPTIONS, "/dev/faults", &headers).await;
        assert!(vary(&preflight).contains(&"origin".to_owned()), "{origin:?}");
    }
    // Other calls may be read by every page.
    let settings = ask(&t.anonymous(), Method::GET, "/api/v1/server_settings", &[]).await;
    assert_eq!(vary(&settings), [""; 0]);
}
