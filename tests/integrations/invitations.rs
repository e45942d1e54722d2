//! Invitations by email, from the request to the new account, and revoking one whose email is still pending.

use super::mail::{jobs, until_jobs};
use crate::support::smtp::{SmtpBehavior, SmtpServer};
use crate::support::{Params, TestServer, TestUser};
use serde_json::{Value, json};

const PASSWORD: &str = "correct horse battery staple";

async fn invite(who: &TestUser, addresses: &str, channels: &[u64]) {
    let channels = json!(channels);
    let params: Params<'_> = &[("invitee_emails", &addresses), ("stream_ids", &channels)];
    who.post("/invites", params).ok().await;
}

/// Opens a page; returns status and HTML.
async fn open(t: &TestServer, path: &str) -> (u16, String) {
    let answer = t.anonymous().http.get(format!("{}{path}", t.url)).send().await.expect("an answer");
    (answer.status().as_u16(), answer.text().await.expect("a page"))
}

#[tokio::test]
async fn join_by_link_in_invitation_mail() {
    let smtp = SmtpServer::start().await;
    let t = TestServer::builder().mail(smtp.port()).start().await;
    let iago = t.user("iago");
    let crew = iago.create_channel("crew").private().await;
    invite(&iago, "Ada@x.example", &[crew.id]).await;
    let mails = smtp.wait_for(1).await;
    assert_eq!((mails[0].from.as_str(), mails[0].to.as_str()), ("chat@acme.example", "Ada@x.example"));
    assert!(mails[0].header("subject").contains("invited you to join"), "{:?}", mails[0]);
    let path = mails[0].link(&t.url);
    let (status, page) = open(&t, &path).await;
    assert!(status == 200 && page.contains("Iago invites you"), "{status} {page}");
    let form = [("full_name", "Ada Lovelace"), ("password", PASSWORD)];
    let joined =
        t.anonymous().http.post(format!("{}{path}", t.url)).form(&form).send().await.expect("a page");
    assert_eq!(joined.status(), 200);

    let login: Params<'_> = &[("username", &"ada@x.example"), ("password", &PASSWORD)];
    let account = t.anonymous().post("/fetch_api_key", login).ok().await;
    let key = account["api_key"].as_str().expect("a key").to_owned();
    let ada = TestUser { key, email: "Ada@x.example".to_owned(), ..t.anonymous() };
    let subscriptions = ada.get("/users/me/subscriptions", &[]).ok().await["subscriptions"].clone();
    let names: Vec<&Value> =
        subscriptions.as_array().expect("a list").iter().map(|one| &one["name"]).collect();
    assert_eq!(names, [&json!("crew")]);
    let notice = iago.messages(json!([["is", "dm"]])).await;
    let last = notice.last().expect("a message");
    assert_eq!(last["sender_full_name"], "Notification Bot");
    let content = last["content"].as_str().expect("a text");
    assert!(content.contains("Ada Lovelace") && content.contains("accepted your invitation"), "{content}");
    let (status, page) = open(&t, &path).await;
    assert!(status == 410 && page.contains("already been used"), "{page}");
}

#[tokio::test]
async fn revoked_invitation_mail_is_not_sent() {
    let smtp = SmtpServer::on(0, SmtpBehavior::TryLater).await;
    let t = TestServer::builder().mail(smtp.port()).start().await;
    let iago = t.user("iago");
    invite(&iago, "kept@x.example, revoked@x.example", &[]).await;
    smtp.wait_for_connections(1).await;
    assert_eq!(jobs(&t), (2, Vec::new()));
    iago.delete("/invites/2", &[]).ok().await;
    // An attempt that began before the revocation is over when its job is gone.
    until_jobs(&t, |waiting, _| waiting == 1).await;
    smtp.set(SmtpBehavior::Accept);
    until_jobs(&t, |waiting, _| waiting == 0).await;
    let to = || smtp.received().into_iter().map(|mail| mail.to).collect::<Vec<_>>();
    assert_eq!(to(), ["kept@x.example"]);

    // Resending sends another email with a new message id and the same link.
    iago.post("/invites/1/resend", &[]).ok().await;
    let mails = smtp.wait_for(2).await;
    assert_ne!(mails[0].header("message-id"), mails[1].header("message-id"));
    assert_eq!(mails[0].link(&t.url), mails[1].link(&t.url));
    until_jobs(&t, |waiting, _| waiting == 0).await;

    // A resent invitation can be revoked while its email is pending, too.
    smtp.set(SmtpBehavior::TryLater);
    iago.post("/invites/1/resend", &[]).ok().await;
    iago.delete("/invites/1", &[]).ok().await;
    let failed = until_jobs(&t, |waiting, _| waiting == 0).await;
    assert_eq!((to().len(), failed), (2, Vec::new()), "dropped is not given up");
}
