//! The pages of the reference.

use crate::support::{TestServer, TestUser};
use millstream::reference::document::{document, path as reference_path};
use millstream::reference::operations::operations;
use millstream::routes::table;
use serde_json::Value;

async fn fetch(person: &TestUser, path: &str) -> (u16, String, String) {
    let request = person.http.get(format!("{}{path}", person.url)).header("Accept", "text/html");
    let answer = request.send().await.unwrap();
    let header = |name: &str| answer.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
    let (status, location) = (answer.status().as_u16(), header("location").unwrap_or_default());
    let policy = header("content-security-policy").unwrap_or_default();
    let text = answer.text().await.unwrap();
    (status, if location.is_empty() { policy } else { location }, text)
}

#[tokio::test]
async fn every_operation_has_a_page_that_the_list_leads_to() {
    let t = TestServer::start().await;
    let (status, _, list) = fetch(&t.anonymous(), "/api").await;
    assert_eq!(status, 200);
    let described = document(&table())["paths"].clone();
    for operation in operations() {
        let path = format!("/api/{}", operation.id);
        assert!(list.contains(&format!("href=\"{path}\"")), "{path}");
        let (status, policy, page) = fetch(&t.anonymous(), &path).await;
        assert_eq!(status, 200, "{path}");
        assert!(policy.contains("default-src 'none'") && !policy.contains("script-src"), "{policy}");
        for parameter in &operation.parameters {
            assert!(page.contains(&format!("<code>{}</code>", parameter.name)), "{path} {}", parameter.name);
        }
        let permission =
            described[reference_path(&operation)][operation.method().to_lowercase()]["x-permission"].clone();
        let permission = permission.as_str().expect("who may call it");
        assert!(page.contains(&format!("<p id=\"permission\">{permission}</p>")), "{path}: {permission}");
        // Only development servers make calls, and give out accounts.
        assert!(
            !page.contains("<script") && !page.contains("<form") && !page.contains("@zulip.com</option>"),
            "{path}"
        );
    }
}

#[tokio::test]
async fn development_servers_offer_to_make_the_call() {
    let t = TestServer::builder().development().start().await;
    let (status, policy, page) = fetch(&t.anonymous(), "/api/send-message").await;
    assert_eq!(status, 200);
    assert!(policy.contains("script-src 'self'") && policy.contains("connect-src 'self'"), "{policy}");
    assert!(page.contains("value=\"hamlet@zulip.com\"") && page.contains("data-name=\"content\""), "{page}");
    assert!(!page.contains(&t.user("hamlet").key));
    let (status, _, script) = fetch(&t.anonymous(), "/static/millstream/reference.js").await;
    assert!(status == 200 && script.contains("dev_fetch_api_key"));
    // Texts may have several lines; numbers and the like do not.
    assert!(
        page.contains("<textarea id=\"try-content\"") && page.contains("<input id=\"try-type\""),
        "{page}"
    );
    // A page of another machine does not learn who is here.
    let request = t.anonymous().http.get(format!("{}/api/send-message", t.url));
    let answer = request.header("Host", "evil.example").send().await.unwrap();
    assert!(!answer.text().await.unwrap().contains("hamlet@zulip.com"));
}

#[tokio::test]
async fn forms_have_what_the_kind_of_call_needs() {
    let t = TestServer::builder().development().start().await;
    let (_, _, webhook) = fetch(&t.anonymous(), "/api/post-webhook").await;
    assert!(webhook.contains("<textarea id=\"try-headers\" data-in=\"headers\""), "{webhook}");
    assert!(webhook.contains("data-is-webhook") && webhook.contains("data-in=\"document\""), "{webhook}");
    let (_, _, part) = fetch(&t.anonymous(), "/api/continue-upload").await;
    assert!(part.contains("data-is-in-parts") && part.contains("data-name=\"Upload-Offset\""), "{part}");
    assert!(
        webhook.contains("api_key=API_KEY"),
        "a placeholder, not the key of the recorded example: {webhook}"
    );
    // Only what may have slashes is sent with them.
    let (_, _, message) = fetch(&t.anonymous(), "/api/get-message").await;
    assert!(message.contains("data-in=\"path\" data-name=\"message_id\" required"), "{message}");
    let (_, _, file) = fetch(&t.anonymous(), "/api/get-file").await;
    assert!(file.contains("data-in=\"path\" data-name=\"file\" data-parts required"), "{file}");
    assert!(file.contains("data-in=\"path\" data-name=\"realm_id\" required"), "{file}");
    // The page cannot read the token of a session.
    let (_, _, session) = fetch(&t.anonymous(), "/api/fetch-own-api-key").await;
    assert!(session.contains("X-CSRFToken") && !session.contains("id=\"try\""), "{session}");
    assert!(session.contains("csrftoken the token"), "it says where the token comes from: {session}");
}

#[tokio::test]
async fn answers_that_are_not_json_are_said_in_words() {
    let t = TestServer::start().await;
    for (name, words) in [
        ("get-avatar", "302: The header Location has the address of the picture."),
        ("get-file", "200: The bytes of the file"),
        ("get-thumbnail", "200: The bytes of the picture (image/webp)."),
        ("begin-upload", "201: The header Location has the address of the upload"),
        ("cancel-upload", "204: Done; without a body."),
    ] {
        let (_, _, page) = fetch(&t.anonymous(), &format!("/api/{name}")).await;
        assert!(page.contains(words), "{name}: {page}");
    }
}

#[tokio::test]
async fn rate_limits_are_said_in_numbers_of_this_server() {
    let t = TestServer::builder()
        .set("limits.enabled", true)
        .set("limits.api_by_user", "[[60, 123]]")
        .start()
        .await;
    let (_, _, page) = fetch(&t.anonymous(), "/api/send-message").await;
    let text = "Rate limit of calls, all operations together, for each account: 123 in 60 seconds.";
    assert!(page.contains(text), "{page}");
}

#[tokio::test]
async fn names_of_the_pages_of_zulip_lead_to_pages_here() {
    let t = TestServer::start().await;
    for (name, expected) in [
        ("rest", "/api"),
        ("get-user-by-email", "/api/get-user"),
        ("incoming-webhooks-overview", "/integrations/"),
    ] {
        let (status, location, _) = fetch(&t.anonymous(), &format!("/api/{name}")).await;
        assert_eq!((status, location.as_str()), (302, expected));
    }
    let (status, _, page) = fetch(&t.anonymous(), "/api/no-such-page").await;
    assert_eq!(status, 404);
    assert!(page.contains("This page does not exist"), "{page}");
    for (path, link) in [("/about", "href=\"/api\""), ("/integrations/", "href=\"/api\"")] {
        let (_, _, page) = fetch(&t.anonymous(), path).await;
        assert!(page.contains(link), "{path}");
    }
}

/// A page says what its path, its answer and its errors are about.
#[tokio::test]
async fn pages_say_what_members_and_parts_of_the_path_are() {
    let t = TestServer::start().await;
    let (_, _, page) = fetch(&t.anonymous(), "/api/send-message").await;
    assert!(page.contains("new policy for the topic, where sending changed it"), "{page}");
    let (_, _, page) = fetch(&t.anonymous(), "/api/update-message").await;
    assert!(page.contains("The id of the message.") && page.contains("in the path; required"), "{page}");
    // By id alone, where other operations of the path take an address, too.
    let (_, _, page) = fetch(&t.anonymous(), "/api/deactivate-user").await;
    assert!(page.contains("DELETE /api/v1/users/{user_id}<") && !page.contains("user_id_or_email"), "{page}");
    let (_, _, page) = fetch(&t.anonymous(), "/api/get-user").await;
    assert!(page.contains("GET /api/v1/users/{user_id_or_email}<"), "{page}");
}

/// The examples of errors are of the operation, and every one that its parameters can cause is there.
#[test]
fn errors_are_those_of_the_operation() {
    use millstream::reference::recorded::answers;
    let errors = answers()["errors"].clone();
    for operation in operations() {
        let rows = errors[operation.id].as_array().cloned().unwrap_or_default();
        let has = |code: &str| rows.iter().any(|row| row["code"] == code);
        let says_nothing = |row: &&Value| {
            let text = row["msg"].as_str().unwrap_or_default();
            text == "Malformed multipart body" || text.ends_with("is not valid UTF-8")
        };
        let generic: Vec<_> = rows.iter().filter(says_nothing).collect();
        assert!(generic.is_empty(), "{}: {generic:?}", operation.id);
        let has_aliases = operation.parameters.iter().any(|parameter| parameter.old_name.is_some());
        assert_eq!(has("REQUEST_CONFUSING_VAR"), has_aliases, "{}: {rows:?}", operation.id);
    }
}
