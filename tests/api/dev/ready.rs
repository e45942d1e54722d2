//! `millstream dev --ready-file FILE --output json`.

use crate::support::wait_until;
use serde_json::{Value, json};
use std::process::{Command, Stdio};

#[tokio::test]
async fn ready_file_has_the_address_and_the_keys() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ready.json");
    let arguments = ["dev", "--listen", "127.0.0.1:0", "--output", "json", "--ready-file"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_millstream"));
    let mut child =
        command.args(arguments).arg(&file).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    wait_until("the file is there", || file.exists()).await;
    let text = std::fs::read_to_string(&file).unwrap();
    let ready: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((ready["pid"].as_u64().unwrap(), text.lines().count()), (u64::from(child.id()), 1));
    assert_eq!(ready["url"], format!("http://127.0.0.1:{}", ready["port"]));
    let hamlet =
        ready["users"].as_array().unwrap().iter().find(|user| user["email"] == "hamlet@zulip.com").unwrap();
    assert_eq!((&hamlet["full_name"], &hamlet["role"]), (&json!("King Hamlet"), &json!(400)));
    let url = format!("{}/api/v1/users/me", ready["url"].as_str().unwrap());
    millstream::integrations::http_client::use_ring();
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let request = client.get(url).basic_auth("hamlet@zulip.com", hamlet["api_key"].as_str());
    let me: Value = request.send().await.unwrap().json().await.unwrap();
    assert_eq!(me["user_id"], hamlet["user_id"]);
    child.kill().unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), text);
}

#[test]
fn ready_file_that_cannot_be_written_stops_the_server() {
    let arguments = ["dev", "--listen", "127.0.0.1:0", "--ready-file", "/proc/none/ready.json"];
    let output = Command::new(env!("CARGO_BIN_EXE_millstream")).args(arguments).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    let expected = "cannot write the file of --ready-file, /proc/none/ready.json: No such file or directory";
    assert!(!output.status.success() && error.contains(expected) && !error.contains("tmp"), "{error}");
}

#[tokio::test]
async fn early_stop_leaves_no_folder() {
    for signal in ["TERM", "INT"] {
        let parent = tempfile::tempdir().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_millstream"));
        command.args(["dev", "--listen", "127.0.0.1:0"]).env("TMPDIR", parent.path());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let entries = || std::fs::read_dir(parent.path()).unwrap().count();
        // As soon as there is something that can be left.
        wait_until("there is a folder", || entries() > 0).await;
        let sent = Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status();
        assert!(sent.unwrap().success());
        wait_until("the process has ended", || child.try_wait().unwrap().is_some()).await;
        assert_eq!(entries(), 0, "{signal}");
    }
}
