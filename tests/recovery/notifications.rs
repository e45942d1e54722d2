//! A push notification that was pending when the server was killed.

use crate::support::ServerProcess;
use crate::support::http_stub::{HttpStub, StubReply};
use crate::support::phone::{Phone, service_url};

#[tokio::test]
async fn push_notification_delivered_after_kill() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data").display().to_string();
    let mut service = HttpStub::start().await;
    let url = service_url(&service);
    let start = || {
        ServerProcess::start(
            &["dev", "--listen", "127.0.0.1:0", "--data", &data],
            &[("MILLSTREAM_PUSH_SERVICE_URL", &url)],
        )
    };
    let server = start();
    let (iago, hamlet) = (server.user("iago").await, server.user("hamlet").await);
    let phone = Phone::new(1, "fcm");
    phone.register(&hamlet, &mut service).await;
    service.reply_always(StubReply::Hang);
    let first = iago.send_direct(&[&hamlet], "before the kill").await;
    // The request is in flight, and the service does not reply.
    let said = phone.decrypt(&service.next_request().await);
    assert_eq!(said["message_id"], first);
    let second = iago.send_direct(&[&hamlet], "right before the kill").await;
    server.kill();
    service.reply_always(StubReply::Ok("{}".to_owned()));
    service.take_received();
    let _server = start();
    let mut received = Vec::new();
    while !(received.contains(&first) && received.contains(&second)) {
        let said = phone.decrypt(&service.next_request().await);
        received.push(said["message_id"].as_u64().unwrap());
    }
}
