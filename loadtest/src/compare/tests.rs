//! Comparisons of fake servers, over HTTP and over HTTPS with a certificate that only `--ca` trusts.

use clap::Parser;

use crate::cli::{Cli, Command};
use crate::fake::{self, Faults};
use crate::http::{Target, TargetPolicy};
use crate::interrupt::{Interrupt, Interrupter};
use crate::outcome::RunResult;
use crate::report;

const SCENARIO: &str = r#"{
    "name": "small", "about": "Two kinds.", "users": 6,
    "channels": [{"name": "load all", "subscribers": 6}, {"name": "load two", "count": 2, "subscribers": 3}],
    "phases": [
        {"name": "send", "secs": 0.3, "step":
            {"do": "send", "clients": 3, "channel": "load two", "chars": [24, 80], "topics": 2, "rate_per_sec": 100}},
        {"name": "fanout", "secs": 0.3, "step":
            {"do": "fanout", "senders": 2, "receivers": 4, "channel": "load all", "chars": [24, 80], "topics": 2,
             "rate_per_sec": 50}}
    ],
    "expect": {"requests_per_sec_min": 1000000}
}"#;

/// Runs `compare` with these arguments on the scenario above; returns whether all ran, and the output folder.
async fn compare(arguments: &[&str], folder: &std::path::Path) -> Result<bool, String> {
    let scenario = folder.join("small.json");
    std::fs::write(&scenario, SCENARIO).unwrap();
    let out = folder.join("out");
    let mut words = vec!["loadtest", "compare", scenario.to_str().unwrap(), "--out", out.to_str().unwrap()];
    // The bare server is this program, which a test is not.
    words.push("--no-baseline");
    words.extend(arguments);
    let Command::Compare(args) = Cli::parse_from(words).command else { panic!("another command") };
    super::compare(args, &Interrupt::never()).await.map_err(|error| error.to_string())
}

/// A server whose certificate is checked against those of the system.
fn untrusting(url: &str) -> std::sync::Arc<Target> {
    let policy = TargetPolicy::new([url].into_iter(), false, None).unwrap();
    std::sync::Arc::new(Target::parse(url, &policy).unwrap())
}

fn read(folder: &std::path::Path, server: &str) -> RunResult {
    report::read(&folder.join("out").join(server).join("results.json")).unwrap()
}

#[tokio::test]
async fn servers_without_development_endpoints_are_compared_by_users_files() {
    let folder = tempfile::tempdir().unwrap();
    let users = folder.path().join("users.csv");
    std::fs::write(&users, fake::users_csv(4)).unwrap();
    let one = fake::start(Faults::default());
    let two = fake::start(Faults { production: true, ..Faults::default() });
    let (one, two) = (format!("one=http://{}", one.host), format!("two=http://{}", two.host));
    let (csv, given) = (folder.path().join("all.csv"), format!("two={}", users.display()));
    let arguments = ["--server", &one, "--server", &two, "--users", &given, "--csv", csv.to_str().unwrap()];
    assert_eq!(compare(&arguments, folder.path()).await, Ok(true));
    for name in ["one", "two"] {
        let run = read(folder.path(), name);
        let [send, fanout] = &run.scenarios[0].phases[..] else { panic!("two phases: {run:?}") };
        assert!(send.operations[0].completed >= 2 && send.failed() == 0, "{name}: {send:?}");
        let delivery = fanout.delivery.unwrap();
        assert!(
            delivery.deliveries == delivery.messages * 4 && delivery.lost_events == 0,
            "{name}: {delivery:?}"
        );
        assert!(run.scenarios[0].about.contains("With 4 users instead of 6"), "as many as the file has");
        assert!(run.scenarios[0].verdicts.is_empty() && run.met, "expectations are off");
    }
    let page = std::fs::read_to_string(folder.path().join("out/compare.html")).unwrap();
    assert!(page.contains("two / one") && page.contains("two: send"), "{page}");
    let table = std::fs::read_to_string(csv).unwrap();
    assert!(table.contains(",one,12.0,small,send,send,,p95,ms,") && table.contains(",two,"), "{table}");
}

#[tokio::test]
async fn accounts_that_cannot_be_used_are_skipped_on_all_servers() {
    let folder = tempfile::tempdir().unwrap();
    let key = |id: u32| format!("{id:032}");
    let emails = ["webhook-bot@x", "a@x", "b@x", "guest@x", "c@x"];
    let lines = (0..).zip(emails).map(|(id, email)| format!("{email},{}\r\n", key(id)));
    let users = folder.path().join("users.csv");
    std::fs::write(&users, "email,api_key\r\n".to_owned() + &lines.collect::<String>()).unwrap();
    let one = fake::start(Faults::default());
    let two = fake::start(Faults { production: true, ..Faults::default() });
    let (one, two) = (format!("one=http://{}", one.host), format!("two=http://{}", two.host));
    let given = format!("two={}", users.display());
    let arguments = ["--server", &one, "--server", &two, "--users", &given];
    assert_eq!(compare(&arguments, folder.path()).await, Ok(true));
    for name in ["one", "two"] {
        let about = read(folder.path(), name).scenarios[0].about.clone();
        assert!(about.contains("With 3 users instead of 6"), "{name}: {about}");
    }
}

#[tokio::test]
async fn file_that_cannot_be_written_is_refused_before_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let csv = folder.path().join("absent/all.csv");
    // Nothing listens there, which would be noticed later.
    let servers = ["--server", "one=http://127.0.0.1:9", "--server", "two=http://127.0.0.1:9"];
    let arguments = [&servers[..], &["--csv", csv.to_str().unwrap()]].concat();
    let error = compare(&arguments, folder.path()).await.unwrap_err();
    assert!(error.contains("absent/all.csv"), "{error}");
}

#[tokio::test]
async fn server_without_logins_needs_a_users_file() {
    let folder = tempfile::tempdir().unwrap();
    let one = fake::start(Faults::default());
    let two = fake::start(Faults { production: true, ..Faults::default() });
    let (one, two) = (format!("one=http://{}", one.host), format!("two=http://{}", two.host));
    let earlier = folder.path().join("out/two/results.json");
    std::fs::create_dir_all(earlier.parent().unwrap()).unwrap();
    std::fs::write(&earlier, "of an earlier run").unwrap();
    let ran = compare(&["--server", &one, "--server", &two], folder.path()).await;
    assert_eq!(
        ran,
        Ok(false),
        "the other server's results are there, and the exit code says that one is missing"
    );
    assert_eq!(read(folder.path(), "one").scenarios.len(), 1);
    assert!(!earlier.exists(), "a reader would take it for the new run's");
    assert!(earlier.with_file_name("previous-results.json").exists());
    let page = std::fs::read_to_string(folder.path().join("out/compare.html")).unwrap();
    assert!(page.contains("Warning: two: it ended early"), "the page says why it has no figures: {page}");
}

#[tokio::test]
async fn https_with_a_certificate_that_only_the_option_trusts() {
    let folder = tempfile::tempdir().unwrap();
    let (target, authority) = fake::start_tls(Faults::default());
    let ca = folder.path().join("ca.pem");
    std::fs::write(&ca, authority).unwrap();
    let plain = format!("plain=http://{}", fake::start(Faults::default()).host);
    let secure = format!("secure=https://{}", target.host);
    let servers = ["--server", &plain, "--server", &secure];
    let ran = compare(&[&servers[..], &["--ca", ca.to_str().unwrap()]].concat(), folder.path()).await;
    assert_eq!(ran, Ok(true));
    let run = read(folder.path(), "secure");
    assert!(run.scenarios[0].phases.iter().all(|phase| phase.failed() == 0), "{run:?}");
    let untrusted = tempfile::tempdir().unwrap();
    assert_eq!(compare(&servers, untrusted.path()).await, Ok(false), "a certificate that is not trusted");
    let error =
        crate::client::Api::open(&untrusting(&secure["secure=".len()..])).await.unwrap_err().to_string();
    assert!(error.contains("with --ca FILE") && !error.contains("Issuer"), "{error}");
}

#[tokio::test]
async fn mistakes_on_the_command_line_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let local = ["--server", "a=http://127.0.0.1:9", "--server"];
    let other = format!("b={}", std::process::id());
    for (rest, word) in [
        (vec!["a=http://127.0.0.1:9"], "twice"),
        (vec!["b=http://10.0.0.1"], "--allow-remote"),
        (vec!["b=http://127.0.0.1:9", "--server-pid", "c=1"], "named c"),
        (vec!["b=http://127.0.0.1:9", "--server-pid", &other], "--server-pid b: process"),
        (vec!["b=http://127.0.0.1:9", "--server-pid", &other, "--spawn", "b=x"], "leave one of the two out"),
        (vec!["b=http://127.0.0.1:9", "--users", "absent.csv"], "absent.csv"),
        (vec!["b=http://127.0.0.1:9", "--users", "b=x", "--users", "b=y"], "--users: b is there twice"),
        (vec!["b=http://127.0.0.1:9", "--users", "x", "--users", "y"], "without a name is there twice"),
        (vec!["b=http://127.0.0.1:9", "--spawn", "b=x", "--spawn", "b=y"], "--spawn: b is there twice"),
    ] {
        let error = compare(&[&local[..], &rest[..]].concat(), folder.path()).await.unwrap_err();
        assert!(error.contains(word), "{error}");
    }
}

#[tokio::test]
async fn interrupted_comparison_keeps_what_was_measured_and_says_so_for_each_server() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (fake::start(Faults::default()), fake::start(Faults::default()));
    let scenario = folder.path().join("small.json");
    std::fs::write(
        &scenario,
        SCENARIO.replace("\"name\": \"fanout\", \"secs\": 0.3", "\"name\": \"fanout\", \"secs\": 600"),
    )
    .unwrap();
    let out = folder.path().join("out");
    let servers = [format!("one=http://{}", one.host), format!("two=http://{}", two.host)];
    let words =
        ["loadtest", "compare", scenario.to_str().unwrap(), "--out", out.to_str().unwrap(), "--no-baseline"];
    let words = words.into_iter().chain(servers.iter().flat_map(|server| ["--server", server.as_str()]));
    let Command::Compare(args) = Cli::parse_from(words).command else { panic!("another command") };
    let (interrupter, interrupt) = Interrupter::new();
    let measured = async {
        // The phase before has ended once its receivers are there.
        fake::wait_for_queue(&one).await;
        interrupter.fire("SIGTERM");
    };
    let (outcome, ()) = tokio::join!(super::compare(args, &interrupt), measured);
    let error = outcome.unwrap_err().to_string();
    assert_eq!(error, "interrupted by SIGTERM in phase fanout of small");
    let one = read(folder.path(), "one");
    assert_eq!(one.interrupted.as_deref(), error.strip_prefix("interrupted by "));
    assert_eq!((one.scenarios[0].phases.len(), one.met), (1, false), "its first phase: {one:?}");
    let two = read(folder.path(), "two");
    assert_eq!((two.interrupted.as_deref(), two.scenarios.len()), (one.interrupted.as_deref(), 0));
    let page = std::fs::read_to_string(out.join("compare.html")).unwrap();
    assert!(page.contains("two: not run") && page.contains("one: it ended early"), "{page}");
}
