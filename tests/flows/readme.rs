//! The example of the README gets the answers that the README shows.

use crate::support::{Params, ServerProcess};

#[tokio::test]
async fn readme_example_has_these_ids() {
    let readme = include_str!("../../README.md");
    let server = ServerProcess::start(&["dev", "--listen", "127.0.0.1:0"], &[]);
    let hamlet = server.user("hamlet").await;
    let mut queue = hamlet.register().events(&["message"]).await;
    let message: Params<'_> =
        &[("type", &"stream"), ("to", &"Verona"), ("topic", &"lunch"), ("content", &"Who is **hungry**?")];
    let sent = hamlet.post("/messages", message).ok().await;
    let event = queue.next().await;
    for shown in [
        format!(r#""id":{},"automatic_new_visibility_policy":3}}"#, sent["id"]),
        format!(r#""flags":[],"id":{}}}]"#, event["id"]),
    ] {
        assert!(readme.contains(&shown), "README.md does not show {shown}");
    }
    server.terminate();
    assert!(server.wait().success());
}
