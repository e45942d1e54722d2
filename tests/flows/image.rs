//! The entry point of the image, without a container.

use crate::support::wait_until;
use std::path::Path;
use std::process::{Command, Stdio};

/// The entry point, with the program of this build in its PATH.
fn entrypoint() -> Command {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = Path::new(env!("CARGO_BIN_EXE_millstream")).parent().expect("a folder");
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").expect("a PATH"));
    let mut command = Command::new(root.join("packaging/entrypoint"));
    command.env("PATH", path);
    command
}

#[tokio::test]
async fn variable_starts_a_development_server_that_is_healthy() {
    let port =
        std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port();
    let listen = format!("127.0.0.1:{port}");
    let mut child = entrypoint()
        .arg("serve")
        .env("MILLSTREAM_MODE", "dev")
        .env("MILLSTREAM_LISTEN", &listen)
        .env("MILLSTREAM_DATA", "/nonexistent")
        .stdout(Stdio::null())
        .spawn()
        .expect("it starts");
    let health = || {
        Command::new(env!("CARGO_BIN_EXE_millstream"))
            .arg("health")
            .env("MILLSTREAM_LISTEN", &listen)
            .output()
    };
    wait_until("it is healthy", || health().expect("it runs").status.success()).await;
    let said = health().expect("it runs").stdout;
    assert_eq!(String::from_utf8_lossy(&said), format!("The server on {listen} is healthy; storage: ok.\n"));
    child.kill().expect("it is ours");
    child.wait().expect("it ends");
    let output = health().expect("it runs");
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("does not answer"), "{output:?}");
}

#[test]
fn arguments_reach_the_development_server() {
    // The address cannot be used either, but the configuration is read first.
    let output = entrypoint()
        .args(["serve", "--config", "/nonexistent/millstream.toml"])
        .env("MILLSTREAM_MODE", "dev")
        .env("MILLSTREAM_LISTEN", "nowhere")
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("/nonexistent/millstream.toml"), "{said}");
}

#[test]
fn unknown_mode_is_refused() {
    for mode in ["Dev", "development", " dev"] {
        let output = entrypoint().args(["realm", "create", "--help"]).env("MILLSTREAM_MODE", mode).output();
        let output = output.expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{mode}: {said}");
        assert!(said.contains(&format!("MILLSTREAM_MODE is \"{mode}\": the only mode is dev")), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
    let output = entrypoint().args(["realm", "--help"]).env("MILLSTREAM_MODE", "").output().expect("it runs");
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn other_commands_are_passed_on() {
    let output = entrypoint()
        .args(["realm", "create", "--help"])
        .env("MILLSTREAM_MODE", "dev")
        .output()
        .expect("it runs");
    assert!(
        output.status.success() && String::from_utf8_lossy(&output.stdout).contains("--owner-email"),
        "{output:?}"
    );
}
