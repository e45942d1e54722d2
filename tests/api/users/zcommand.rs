//! `POST /zcommand`.

use crate::support::TestServer;
use serde_json::json;

#[tokio::test]
async fn commands_set_theme_and_width() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let mut queue = hamlet.register().modern().events(&["user_settings"]).await;
    let run = |command: &'static str| hamlet.post("/zcommand", &[("command", &command)]);
    run("/ping").ok().await;
    for (command, msg, property, value) in [
        ("/dark", "Changed to dark theme! To revert dark theme, type `/light`.", "color_scheme", json!(2)),
        ("/day", "Changed to light theme! To revert light theme, type `/dark`.", "color_scheme", json!(3)),
        (
            "/fluid-width",
            "Changed to fluid-width mode! To revert fluid-width mode, type `/fixed-width`.",
            "fluid_layout_width",
            json!(true),
        ),
    ] {
        let answer = run(command).await;
        assert_eq!((answer.status, &answer.body["msg"]), (200, &json!(msg)));
        let event = queue.next().await;
        assert_eq!((&event["property"], &event["value"]), (&json!(property), &value));
    }
    for (command, msg) in
        [("/light", "You are still in light theme."), ("/fluid-width", "You are still in fluid width mode.")]
    {
        let answer = run(command).await;
        assert_eq!(answer.body, json!({"result": "success", "msg": msg}));
    }
    assert!(queue.now().await.is_empty());
    run("/nothing").bad("No such command: nothing").await;
    run("ping").bad("There should be a leading slash in the zcommand.").await;
}
