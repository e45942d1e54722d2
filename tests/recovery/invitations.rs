//! The server is killed between an invitation and its email: the email is sent once, and its link works.

use super::outbox::start;
use crate::support::server::assert_clean;
use crate::support::smtp::{SmtpBehavior, SmtpServer};
use crate::support::{Params, ServerProcess, TestUser};
use serde_json::json;

async fn invite(who: &TestUser, address: &str) {
    let none = json!([]);
    let params: Params<'_> = &[("invitee_emails", &address), ("stream_ids", &none)];
    who.post("/invites", params).ok().await;
}

#[tokio::test]
async fn invitation_mail_after_kill_unless_revoked() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let smtp = SmtpServer::on(0, SmtpBehavior::Hang).await;
    let server = start(&data, smtp.port());
    let iago = server.user("iago").await;
    invite(&iago, "ada@x.example").await;
    invite(&iago, "mallory@x.example").await;
    iago.delete("/invites/2", &[]).ok().await;
    server.kill();
    assert!(smtp.received().is_empty());
    smtp.set(SmtpBehavior::Accept);

    let server = start(&data, smtp.port());
    let mails = smtp.wait_for(1).await;
    assert_eq!(mails[0].to, "ada@x.example");
    let link = format!("{}{}", server.url, mails[0].link(&server.url));
    let page = server.anonymous().http.get(&link).send().await.expect("an answer");
    assert_eq!(page.status(), 200);
    assert!(page.text().await.expect("a page").contains("ada@x.example"));
    let form = [("full_name", "Ada"), ("password", "correct horse battery staple")];
    let joined = server.anonymous().http.post(&link).form(&form).send().await.expect("an answer");
    assert_eq!(joined.status(), 200);
    // Once another email was sent, all earlier ones were processed.
    invite(&server.reconnect(&iago), "bob@x.example").await;
    smtp.wait_for(2).await;
    server.terminate();
    assert!(server.wait().success());
    assert_clean(&data);

    // Delivered emails are not sent again, and the used link stays used.
    let server = start(&data, smtp.port());
    invite(&server.reconnect(&iago), "eve@x.example").await;
    let to: Vec<String> = smtp.wait_for(3).await.into_iter().map(|mail| mail.to).collect();
    assert_eq!(to, ["ada@x.example", "bob@x.example", "eve@x.example"]);
    let path = link.rsplit_once("/join/").expect("a path of a page").1;
    let page = server.anonymous().http.get(format!("{}/join/{path}", server.url)).send().await;
    assert_eq!(page.expect("an answer").status(), 410);
    server.terminate();
    assert!(server.wait().success());
    let (status, owed) = ServerProcess::run(&["outbox", "--data", &data.display().to_string()]);
    assert!(status.success() && !owed.contains("mail with invitation"), "{owed}");
}
