//! Servers that end by themselves, when they are asked to, and when they are not.

use super::*;
use crate::fake::{self, Faults};
use crate::process::resident_bytes;

#[tokio::test]
async fn a_server_that_ends_at_once_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let target = Target::local("http://127.0.0.1:9").unwrap();
    let mut spawned = Spawned::start("false", &folder.path().join("log")).unwrap();
    let error = spawned.wait_ready(&target, "/").await.unwrap_err();
    assert!(error.to_string().contains("ended before") && spawned.ended().is_some(), "{error}");
    assert!(Spawned::start("no-such-program-here", &folder.path().join("log")).is_err());
}

#[tokio::test]
async fn redirect_of_a_started_server_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let target = fake::start(Faults { redirects: true, ..Faults::default() });
    let mut spawned = Spawned::start("sleep 60", &folder.path().join("log")).unwrap();
    let error = spawned.wait_ready(&target, "/api/v1/server_settings").await.unwrap_err().to_string();
    assert!(error.contains("answered 301") && error.contains("use https://localhost as the URL"), "{error}");
    assert!(spawned.started.elapsed() < READY_WAIT, "it says so at once");
}

/// A script that `sh` runs, in a folder for its files. Its `server` says that it is ready by the file `ready`, and removes it at its end.
struct Script {
    folder: tempfile::TempDir,
}

impl Script {
    /// `server` is what a server does on SIGTERM; `wrapper` is the rest of the script, with `server` as a command.
    fn new(on_term: &str, wrapper: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let ready = folder.path().join("ready");
        let server = format!(
            "trap '{on_term}' TERM; echo $$ > {0}.new; mv {0}.new {0}; while :; do sleep 0.05; done",
            ready.display()
        );
        std::fs::write(
            folder.path().join("server"),
            server.replace("DONE", &format!("rm {}; exit", ready.display())),
        )
        .unwrap();
        let command = format!("sh {}", folder.path().join("server").display());
        std::fs::write(folder.path().join("script"), wrapper.replace("SERVER", &command)).unwrap();
        Self { folder }
    }

    fn is_ready(&self) -> bool {
        self.folder.path().join("ready").exists()
    }

    /// Starts it; returns the process id of its server, too.
    async fn start(&self) -> (Spawned, u32) {
        let script = self.folder.path().join("script");
        let spawned =
            Spawned::start(&format!("sh {}", script.display()), &self.folder.path().join("log")).unwrap();
        while !self.is_ready() {
            tokio::time::sleep(STOP_POLL).await;
        }
        let pid = std::fs::read_to_string(self.folder.path().join("ready")).unwrap().trim().parse().unwrap();
        (spawned, pid)
    }
}

#[tokio::test]
async fn stop_waits_for_what_a_wrapper_has_started() {
    // The wrapper ends at once.
    let script = Script::new("sleep 0.5; DONE", "SERVER &\nwait\n");
    let (mut spawned, pid) = script.start().await;
    assert!(resident_bytes(pid).is_some() && pid != spawned.pid());
    spawned.stop().await.unwrap();
    assert!(!script.is_ready() && resident_bytes(pid).is_none(), "the server ended first");
}

#[tokio::test]
async fn what_a_wrapper_has_started_is_stopped_also_if_the_wrapper_has_ended() {
    let script = Script::new("DONE", "SERVER &\n");
    let (mut spawned, pid) = script.start().await;
    while spawned.ended().is_none() {
        tokio::time::sleep(STOP_POLL).await;
    }
    assert!(resident_bytes(pid).is_some());
    spawned.stop().await.unwrap();
    assert!(!script.is_ready() && resident_bytes(pid).is_none());
}

#[tokio::test]
async fn what_does_not_end_is_killed_with_what_it_has_started() {
    let script = Script::new("", "trap '' TERM\nSERVER &\nwait\n");
    let (mut spawned, pid) = script.start().await;
    spawned.stop_within(Duration::from_millis(100)).await.unwrap();
    assert_eq!((resident_bytes(spawned.pid()), resident_bytes(pid)), (None, None));
}

#[tokio::test]
async fn server_without_a_waiter_is_killed_at_once() {
    let script = Script::new("", "trap '' TERM\nSERVER &\nwait\n");
    let (spawned, pid) = script.start().await;
    let group = spawned.pid();
    let dropped = Instant::now();
    drop(spawned);
    assert!(dropped.elapsed() < Duration::from_secs(5), "it does not wait for the end");
    while has_members(group) {
        assert!(dropped.elapsed() < Duration::from_secs(60), "the group of {pid} goes on");
        tokio::time::sleep(STOP_POLL).await;
    }
}

#[tokio::test]
async fn interrupted_stop_can_be_repeated() {
    let script = Script::new("sleep 0.3; DONE", "SERVER &\nwait\n");
    let (mut spawned, _) = script.start().await;
    assert!(
        tokio::time::timeout(Duration::from_millis(20), spawned.stop()).await.is_err() || !script.is_ready()
    );
    spawned.stop().await.unwrap();
    assert!(!script.is_ready());
}

#[test]
fn processes_that_have_ended_are_no_members() {
    assert_eq!(group_if_running("12 (a) b) S 1 34 34 0"), Some(34));
    assert_eq!(group_if_running("12 (a) Z 1 34 34 0"), None);
    assert_eq!(group_if_running("12"), None);
    assert!(!has_members(u32::MAX));
}
