//! A notification that was owed when the server was killed.

use crate::support::ServerProcess;
use crate::support::phone::{Phone, service_url};
use crate::support::service::{Reaction, Service};

#[tokio::test]
async fn what_was_owed_before_a_kill_is_delivered_after_it() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data").display().to_string();
    let mut service = Service::start().await;
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
    service.always(Reaction::Hang);
    let first = iago.send_direct(&[&hamlet], "before the kill").await;
    // It is on its way, and the service says nothing.
    let said = phone.reads(&service.asked().await);
    assert_eq!(said["message_id"], first);
    let second = iago.send_direct(&[&hamlet], "right before the kill").await;
    server.kill();
    service.always(Reaction::Say("{}".to_owned()));
    service.already();
    let _server = start();
    let mut told = Vec::new();
    while !(told.contains(&first) && told.contains(&second)) {
        let said = phone.reads(&service.asked().await);
        told.push(said["message_id"].as_u64().unwrap());
    }
}
