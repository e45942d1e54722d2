//! What `POST /dev/reset` leaves of calls and files.

use super::super::tus::{attachments, begun, patch, staged};
use super::super::uploads::{status, upload};
use crate::support::{Params, TestServer, TestUser, poll_for, wait_until};
use reqwest::Method;
use serde_json::json;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

async fn reset(t: &TestServer) {
    t.anonymous().post("/dev/reset", &[]).ok().await;
}

#[tokio::test]
async fn unfinished_uploads_end_with_a_reset() {
    let t = TestServer::builder().development().start().await;
    let hamlet = t.user("hamlet");
    let before = attachments(&hamlet).await;
    let path = begun(&hamlet, 8, "a.txt", "text/plain").await;
    assert_eq!(patch(&hamlet, &path, 0, b"half").await.status, 204);
    let other = begun(&hamlet, 8, "b.txt", "text/plain").await;
    reset(&t).await;
    let asked = hamlet.bare(Method::HEAD, &path).header("Tus-Resumable", "1.0.0").await;
    assert_eq!(asked.status, 404);
    assert_eq!(patch(&hamlet, &path, 4, b"rest").await.status, 404);
    assert_eq!(patch(&hamlet, &other, 0, b"complete").await.status, 404);
    wait_until("their files are deleted", || staged(&t) == 0).await;
    assert_eq!(attachments(&hamlet).await, before);
    let path = begun(&hamlet, 4, "c.txt", "text/plain").await;
    assert_eq!(patch(&hamlet, &path, 0, b"done").await.status, 200);
}

#[tokio::test]
async fn unfinished_uploads_of_other_organizations_go_on() {
    let t = TestServer::builder().development().start().await;
    let hamlet = t.user("hamlet");
    let path = begun(&hamlet, 8, "a.txt", "text/plain").await;
    let made = t.anonymous().post("/dev/realms", &[]).ok().await;
    t.anonymous().post("/dev/reset", &[]).header("Host", made["host"].as_str().unwrap()).ok().await;
    assert_eq!(patch(&hamlet, &path, 0, b"complete").await.status, 200);
}

#[tokio::test]
async fn files_of_before_a_reset_are_deleted_and_later_ones_kept() {
    let t = TestServer::builder().development().start().await;
    let hamlet = t.user("hamlet");
    let stored = |url: &str| {
        let (path, _) = url.strip_prefix("/user_uploads/").unwrap().rsplit_once('/').unwrap();
        t.data().join("blobs/uploads").join(path).exists()
    };
    let of_seed = "/user_uploads/1/sa/mpleorganizationfile0001/buckets.png";
    let mut old = Vec::new();
    for round in 0..3 {
        old.push(upload(&hamlet, "old.txt", format!("old {round}").as_bytes()).await);
        assert!(stored(&old[round]) && stored(of_seed));
        // The time of files has ticks of some milliseconds.
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        reset(&t).await;
    }
    let new = upload(&hamlet, "new.txt", b"new").await;
    wait_until("files of before are deleted", || !old.iter().any(|url| stored(url))).await;
    assert!(stored(&new) && stored(of_seed));
    assert_eq!((status(&hamlet, &new).await, status(&hamlet, of_seed).await), (200, 200));
    // What came after one reset is of the time before the next.
    reset(&t).await;
    wait_until("the next reset has its sweep", || !stored(&new)).await;
    assert!(stored(of_seed));
}

#[tokio::test]
async fn call_that_was_under_way_is_not_recorded_after_a_reset() {
    let t = TestServer::builder().development().start().await;
    let (hamlet, anonymous) = (t.user("hamlet"), t.anonymous());
    let fault: Params<'_> = &[("path", &"*/users/me"), ("kind", &"delay"), ("delay_ms", &1000)];
    anonymous.post("/dev/faults", fault).ok().await;
    let delayed = tokio::spawn(hamlet.call(Method::GET, "/users/me", &[]).request.send());
    poll_for("the call has its fault", || async {
        let list = anonymous.get("/dev/faults", &[]).ok().await;
        (list["faults"] == json!([])).then_some(())
    })
    .await;
    reset(&t).await;
    assert_eq!(delayed.await.unwrap().unwrap().status(), 200);
    hamlet.get("/users", &[]).ok().await;
    let recorded = anonymous.get("/dev/requests", &[]).ok().await;
    let paths: Vec<_> = recorded["requests"].as_array().unwrap().iter().map(|call| &call["path"]).collect();
    assert_eq!(paths, ["/api/v1/users"]);
}

/// A client that registers as soon as its poll ends must not lose the new queue, too.
#[tokio::test]
async fn queues_end_once() {
    const RESETS: usize = 20;
    let t = TestServer::builder().development().start().await;
    let hamlet = t.user("hamlet");
    let (polls, ended) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let client = async {
        loop {
            let queue = hamlet.register().events(&["message"]).await;
            polls.fetch_add(1, Ordering::SeqCst);
            let answer = queue.poll(false).await;
            assert_eq!(answer.body["code"], "BAD_EVENT_QUEUE_ID", "{answer:?}");
            ended.fetch_add(1, Ordering::SeqCst);
        }
    };
    let resets = async {
        for done in 0..RESETS {
            wait_until("the client polls again", || polls.load(Ordering::SeqCst) > done).await;
            reset(&t).await;
            wait_until("its poll has ended", || ended.load(Ordering::SeqCst) > done).await;
        }
        wait_until("the client polls again", || polls.load(Ordering::SeqCst) > RESETS).await;
    };
    tokio::select! {
        () = client => {}
        () = resets => {}
    }
    assert_eq!(ended.load(Ordering::SeqCst), RESETS);
}

#[tokio::test]
async fn links_of_emails_expire_with_a_reset() {
    let t = TestServer::builder().development().start().await;
    let (hamlet, anonymous) = (t.user("hamlet"), t.anonymous());
    let link = async || {
        hamlet.call(Method::PATCH, "/settings", &[("email", &"new@elsinore.example")]).ok().await;
        poll_for("the email is sent", || async {
            let emails = anonymous.get("/emails.json", &[]).ok().await;
            let text = emails["emails"][0]["text"].as_str().map(str::to_string)?;
            text.split_whitespace().find(|word| word.contains("/confirm_email/")).map(str::to_string)
        })
        .await
    };
    let open = async |link: &str| anonymous.http.get(link).send().await.unwrap().status().as_u16();
    let before = link().await;
    reset(&t).await;
    assert_eq!(open(&before).await, 404);
    assert_eq!(hamlet.get("/users/me", &[]).ok().await["delivery_email"], hamlet.email);
    let after = link().await;
    assert_eq!(open(&after).await, 200);
    let renamed = TestUser { email: "new@elsinore.example".into(), ..hamlet.clone() };
    renamed.get("/users/me", &[]).ok().await;
}

/// The call has the whole of its effect, although its client does not wait for the answer.
#[tokio::test]
async fn reset_goes_on_if_the_client_leaves() {
    let t = TestServer::builder().development().start().await;
    let (hamlet, anonymous) = (t.user("hamlet"), t.anonymous());
    for _ in 0..20 {
        let id = hamlet.send_direct(&[&hamlet], "later").await;
        let fault: Params<'_> = &[("path", &"*/nowhere"), ("kind", &"delay"), ("delay_ms", &1)];
        anonymous.post("/dev/faults", fault).ok().await;
        let mut client = TcpStream::connect(t.url.trim_start_matches("http://")).await.unwrap();
        let call = b"POST /dev/reset HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n";
        client.write_all(call).await.unwrap();
        poll_for("the message is gone", || async {
            let found = hamlet.get(&format!("/messages/{id}"), &[]).await;
            (found.status == 400).then_some(())
        })
        .await;
        drop(client);
        poll_for("the faults are gone", || async {
            let list = anonymous.get("/dev/faults", &[]).ok().await;
            (list["faults"] == json!([])).then_some(())
        })
        .await;
    }
}
