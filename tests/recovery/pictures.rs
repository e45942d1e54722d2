//! The server is killed right after a picture upload was acknowledged: record and file survive.

use crate::api::pictures::{moving, png};
use crate::support::ServerProcess;
use crate::support::server::assert_clean;

#[tokio::test]
async fn uploaded_picture_survives_kill() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    for round in 0..5 {
        let server = ServerProcess::dev(&data);
        let hamlet = server.user("hamlet").await;
        let emoji = format!("blob{round}");
        hamlet.upload(&format!("/realm/emoji/{emoji}"), &[], &[("a.gif", moving())]).ok().await;
        let url =
            hamlet.upload("/users/me/avatar", &[], &[("a.png", png())]).ok().await["avatar_url"].clone();
        server.kill();
        let server = ServerProcess::dev(&data);
        let hamlet = server.reconnect(&hamlet);
        let me = hamlet.get("/users/me", &[]).ok().await;
        assert_eq!(me["avatar_url"], url);
        let all = hamlet.get("/realm/emoji", &[]).ok().await["emoji"].clone();
        let kept = all.as_object().expect("emoji").values().find(|known| known["name"] == *emoji);
        let kept = kept.expect("the emoji");
        let medium = url.as_str().expect("an address").replace(".png", "-medium.png");
        for path in
            [url.as_str(), Some(medium.as_str()), kept["source_url"].as_str(), kept["still_url"].as_str()]
        {
            let (status, _, bytes) = hamlet.fetch(path.expect("an address")).await;
            assert!(status == 200 && image::load_from_memory(&bytes).is_ok(), "{path:?}: {status}");
        }
        server.kill();
        assert_clean(&data);
    }
}
