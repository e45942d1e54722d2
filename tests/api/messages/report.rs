//! `POST /messages/{message_id}/report`.

use crate::support::{Channel, Params, TestServer, TestUser};
use serde_json::{Value, json};

async fn enable(t: &TestServer) -> Channel {
    let desdemona = t.user("desdemona");
    let core = desdemona.create_channel("core").private().await;
    desdemona.patch("/realm", &[("moderation_request_channel_id", &core.id)]).ok().await;
    core
}

fn report(who: &TestUser, message: u64, params: Params<'_>) -> crate::support::Call {
    who.post(&format!("/messages/{message}/report"), params)
}

async fn reports(t: &TestServer, core: &Channel) -> Vec<Value> {
    let narrow = json!([{"operator": "channel", "operand": core.id}]);
    let all = t.user("desdemona").messages(narrow).await;
    all.into_iter().filter(|one| one["subject"] != "channel events").collect()
}

#[tokio::test]
async fn report_of_channel_message_reaches_moderators() {
    let t = TestServer::start().await;
    let [hamlet, othello] = t.users(["hamlet", "othello"]);
    let verona = othello.create_channel("Verona").with(&hamlet).await;
    let id = othello.send(&verona, "rude", "rude `words`\nand @**King Hamlet**").await;
    let core = enable(&t).await;
    report(&hamlet, id, &[("report_type", &"harassment"), ("description", &"please **look**")]).ok().await;
    let reports = reports(&t, &core).await;
    let [notice] = &reports[..] else { panic!("{reports:?}") };
    assert_eq!(notice["subject"], "Othello, the Moor of Venice moderation");
    assert_eq!(notice["sender_full_name"], "Notification Bot");
    assert_eq!(notice["flags"], json!([]));
    let html = notice["content"].as_str().expect("HTML");
    let link = format!("/#narrow/channel/{}-Verona/topic/rude/near/{id}", verona.id);
    for part in [
        &format!("data-user-id=\"{}\">King Hamlet</span> reported a message sent by", hamlet.id),
        "<p><strong>Harassment</strong>. please <strong>look</strong></p>",
        &link,
        "<p>rude <code>words</code>",
    ] {
        assert!(html.contains(part), "{part}: {html}");
    }
}

#[tokio::test]
async fn report_of_direct_message_names_recipients() {
    let t = TestServer::start().await;
    let [hamlet, othello] = t.users(["hamlet", "othello"]);
    let core = enable(&t).await;
    let id = othello.send_direct(&[&hamlet], "you!").await;
    report(&hamlet, id, &[("report_type", &"other"), ("description", &"threat")]).ok().await;
    let reports = reports(&t, &core).await;
    let html = reports[0]["content"].as_str().expect("HTML");
    for part in [
        " reported a DM sent by ",
        "<strong>Other reason</strong>. threat",
        "Original message",
        "<p>you!</p>",
    ] {
        assert!(html.contains(part), "{part}: {html}");
    }
    // A report mentions no users.
    assert_eq!(hamlet.messages(json!([["is", "mentioned"]])).await, [] as [Value; 0]);
}

#[tokio::test]
async fn report_errors() {
    let t = TestServer::start().await;
    let [hamlet, othello, iago] = t.users(["hamlet", "othello", "iago"]);
    let id = othello.send_direct(&[&hamlet], "you!").await;
    let off = "Message reporting is not enabled in this organization.";
    report(&hamlet, id, &[("report_type", &"spam")]).bad(off).await;
    let core = enable(&t).await;
    report(&hamlet, id, &[("report_type", &"boring")]).bad("Invalid report_type").await;
    report(&hamlet, id, &[("report_type", &"other")]).bad("An explanation is required.").await;
    let long: Params<'_> = &[("report_type", &"spam"), ("description", &"d".repeat(1001))];
    report(&hamlet, id, long).bad("description is too long (limit: 1000 characters)").await;
    // An administrator cannot read others' messages by reporting them.
    report(&iago, id, &[("report_type", &"spam")]).bad("Invalid message(s)").await;
    report(&hamlet, 99_999, &[("report_type", &"spam")]).bad("Invalid message(s)").await;
    assert_eq!(reports(&t, &core).await, [] as [Value; 0]);
    t.user("desdemona").delete(&format!("/streams/{}", core.id), &[]).ok().await;
    report(&hamlet, id, &[("report_type", &"spam")]).bad(off).await;
}

#[tokio::test]
async fn offered_report_types_are_accepted() {
    let t = TestServer::start().await;
    let [hamlet, othello] = t.users(["hamlet", "othello"]);
    let core = enable(&t).await;
    let id = othello.send_direct(&[&hamlet], "you!").await;
    let state = hamlet.register().await.state;
    let offered = state["server_report_message_types"].as_array().expect("a list").clone();
    assert_eq!(offered.len(), 5);
    for one in &offered {
        let kind = one["key"].as_str().expect("a key");
        report(&hamlet, id, &[("report_type", &kind), ("description", &"x")]).ok().await;
    }
    assert_eq!(reports(&t, &core).await.len(), offered.len());
}
