//! The server is killed: who was logged in with a browser still is, and who was logged out is not.

use crate::support::server::assert_clean;
use crate::support::user::Browser;
use crate::support::{Params, ServerProcess, TestUser};

/// Logs in with the page of development servers.
async fn log_in(server: &ServerProcess, name: &str) -> TestUser {
    let person = server.user(name).await;
    let client = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).build();
    let client = client.expect("a client");
    let page = client.get(format!("{}/devlogin/", server.url)).send().await.expect("a page");
    let cookie =
        page.headers()["Set-Cookie"].to_str().expect("text").split(';').next().expect("a pair").to_owned();
    let token = cookie.split_once('=').expect("a value").1.to_owned();
    let form = [("direct_email", person.email.as_str()), ("csrfmiddlewaretoken", token.as_str())];
    let sent = client.post(format!("{}/devlogin/", server.url)).header("Cookie", &cookie).form(&form).send();
    let answer = sent.await.expect("an answer");
    let lines = answer.headers().get_all("Set-Cookie").iter().filter_map(|line| line.to_str().ok());
    let session = lines.filter_map(|line| line.strip_prefix("sessionid=")).next().expect("a session");
    let secret = session.split(';').next().expect("a value");
    TestUser { browser: Some(Browser::new(secret)), key: String::new(), ..person }
}

#[tokio::test]
async fn web_sessions_survive_kill() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let mut server = ServerProcess::dev(&data);
    let mut open = Vec::new();
    for round in 0..3 {
        let stays = log_in(&server, "hamlet").await;
        let leaves = log_in(&server, "iago").await;
        let list = leaves.get("/users/me/sessions", &[]).ok().await;
        let current =
            list["sessions"].as_array().expect("a list").iter().find(|one| one["is_current"] == true);
        let name = current.expect("one's own")["id"].as_str().expect("an id").to_owned();
        leaves.delete(&format!("/users/me/sessions/{name}"), &[]).ok().await;
        open.push((stays, true));
        open.push((leaves, false));
        // At once after the answer.
        server.kill();
        server = ServerProcess::dev(&data);
        for (person, is_logged_in) in &open {
            let status = server.reconnect(person).get("/users/me", &[]).await.status;
            assert_eq!(status, if *is_logged_in { 200 } else { 401 }, "round {round}");
        }
    }
    let params: Params<'_> = &[("status_text", &"still here")];
    server.reconnect(&open[0].0).post("/users/me/status", params).ok().await;
    server.terminate();
    assert!(server.wait().success());
    assert_clean(&data);
}
