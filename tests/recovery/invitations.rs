//! Killed between "you are invited" and the mail: it comes all the same, once, and its link opens.

use super::outbox::start;
use crate::support::server::assert_clean;
use crate::support::smtp::{Mood, SmtpServer};
use crate::support::{Params, Person, ServerProcess};
use serde_json::json;

async fn invite(who: &Person, address: &str) {
    let none = json!([]);
    let params: Params<'_> = &[("invitee_emails", &address), ("stream_ids", &none)];
    who.post("/invites", params).ok().await;
}

#[tokio::test]
async fn invitations_are_mailed_after_a_kill_unless_they_were_taken_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let smtp = SmtpServer::on(0, Mood::Hangs).await;
    let server = start(&data, smtp.port());
    let iago = server.user("iago").await;
    invite(&iago, "ada@x.example").await;
    invite(&iago, "mallory@x.example").await;
    iago.delete("/invites/2", &[]).ok().await;
    server.kill();
    assert!(smtp.received().is_empty());
    smtp.set(Mood::Takes);

    let server = start(&data, smtp.port());
    let mails = smtp.wait_for(1).await;
    assert_eq!(mails[0].to, "ada@x.example");
    let link = format!("{}{}", server.url, mails[0].link(&server.url));
    let page = server.stranger().http.get(&link).send().await.expect("an answer");
    assert_eq!(page.status(), 200);
    assert!(page.text().await.expect("a page").contains("ada@x.example"));
    let form = [("full_name", "Ada"), ("password", "correct horse battery staple")];
    let joined = server.stranger().http.post(&link).form(&form).send().await.expect("an answer");
    assert_eq!(joined.status(), 200);
    // Once another one is there, whatever else was owed before it has been looked at.
    invite(&server.again(&iago), "bob@x.example").await;
    smtp.wait_for(2).await;
    server.terminate();
    assert!(server.wait().success());
    assert_clean(&data);

    // What was sent is not sent again, and the link has been used for good.
    let server = start(&data, smtp.port());
    invite(&server.again(&iago), "eve@x.example").await;
    let to: Vec<String> = smtp.wait_for(3).await.into_iter().map(|mail| mail.to).collect();
    assert_eq!(to, ["ada@x.example", "bob@x.example", "eve@x.example"]);
    let path = link.rsplit_once("/join/").expect("a path of a page").1;
    let page = server.stranger().http.get(format!("{}/join/{path}", server.url)).send().await;
    assert_eq!(page.expect("an answer").status(), 410);
    server.terminate();
    assert!(server.wait().success());
    let (status, owed) = ServerProcess::run(&["outbox", "--data", &data.display().to_string()]);
    assert!(status.success() && !owed.contains("mail with invitation"), "{owed}");
}
