//! From an empty data folder to a message, using only the output of the commands.

use crate::support::{Params, ServerProcess};
use std::process::{Command, Stdio};

#[test]
fn dev_server_example_call_works() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let server = ServerProcess::dev(&data);
    let greeting = server.startup_output();
    assert!(greeting.contains(&server.url) && greeting.contains(&data.display().to_string()), "{greeting}");
    let call = greeting.lines().find(|line| line.trim_start().starts_with("curl ")).expect("a call");
    let output = Command::new("sh").args(["-c", &format!("{call} --silent --show-error")]).output();
    let output = output.expect("a shell");
    let answer = String::from_utf8_lossy(&output.stdout);
    assert!(answer.contains("\"full_name\":\"Iago\""), "{call}: {answer}");
}

#[tokio::test]
async fn create_realm_and_user_by_commands() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data").display().to_string();
    let run = |args: &[&str]| {
        let (status, text) = ServerProcess::run(&[args, &["--data", &data]].concat());
        assert!(status.success(), "{args:?}: {text}");
        text
    };
    run(&["realm", "create", "Acme", "--owner-email", "olga@acme.example", "--owner-name", "Olga"]);
    run(&["user", "create", "--email", "otto@acme.example", "--name", "Otto"]);
    let key = run(&["user", "api-key", "--email", "otto@acme.example"]);
    let key = key.split_whitespace().find(|word| word.len() == 32).expect("a key").to_owned();
    let server = ServerProcess::start(&["serve", "--data", &data, "--listen", "127.0.0.1:0"], &[]);
    let mut otto = server.anonymous();
    (otto.email, otto.key) = ("otto@acme.example".to_owned(), key);
    let me = otto.get("/users/me", &[]).ok().await;
    assert_eq!((&me["full_name"], &me["role"]), (&serde_json::json!("Otto"), &serde_json::json!(400)));
    let settings = server.anonymous().get("/server_settings", &[]).ok().await;
    assert_eq!(settings["realm_name"], "Acme");
    // A production server has no logins without password, and its limits are enabled.
    let answer = server.anonymous().post("/dev_fetch_api_key", &[("username", &otto.email)]).await;
    assert_eq!(answer.body["result"], "error");
    assert_eq!(otto.get("/users/me", &[]).await.header("X-RateLimit-Limit"), "200");
    server.terminate();
    assert!(server.wait().success());
}

#[tokio::test]
async fn granted_account_creates_users() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data").display().to_string();
    let run = |args: &[&str]| ServerProcess::run(&[args, &["--data", &data]].concat());
    let done = |args: &[&str]| {
        let (status, text) = run(args);
        assert!(status.success(), "{args:?}: {text}");
        text
    };
    done(&["realm", "create", "Acme", "--owner-email", "olga@acme.example", "--owner-name", "Olga"]);
    done(&["user", "create", "--email", "otto@acme.example", "--name", "Otto"]);
    let grant = ["user", "grant", "create-users", "--email", "olga@acme.example"];
    assert!(done(&grant).contains(" may now create accounts with `POST /users`."));
    assert!(done(&grant).contains(" already had the permission to create accounts with `POST /users`."));
    let (status, words) = run(&["user", "grant", "create-users", "--email", "otto@acme.example"]);
    assert!(!status.success() && words.contains("otto@acme.example is not an administrator"), "{words}");
    let key = done(&["user", "api-key", "--email", "olga@acme.example"]);
    let create = async |email: &str| {
        let server = ServerProcess::start(&["serve", "--data", &data, "--listen", "127.0.0.1:0"], &[]);
        let mut olga = server.anonymous();
        (olga.email, olga.key) = ("olga@acme.example".to_owned(), key.trim().to_owned());
        let new: Params<'_> =
            &[("email", &email), ("password", &"correct horse battery"), ("full_name", &"Pat Lee")];
        let answer = olga.post("/users", new).await;
        server.terminate();
        assert!(server.wait().success());
        answer
    };
    create("pat@acme.example").await.ok();
    done(&["user", "revoke", "create-users", "--email", "olga@acme.example"]);
    create("lee@acme.example").await.bad("User not authorized to create users");
}

#[tokio::test]
async fn deactivate_and_reactivate_realm_by_command() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data").display().to_string();
    let run = |args: &[&str]| ServerProcess::run(&[args, &["--data", &data]].concat());
    let done = |args: &[&str]| {
        let (status, text) = run(args);
        assert!(status.success(), "{args:?}: {text}");
        text
    };
    done(&["realm", "create", "Acme", "--owner-email", "olga@acme.example", "--owner-name", "Olga"]);
    let beta = ["realm", "create", "Beta", "--subdomain", "beta", "--owner-email", "b@beta.example"];
    done(&[&beta as &[&str], &["--owner-name", "Bea"]].concat());
    let head = "SUBDOMAIN  NAME  PEOPLE  STATE\n";
    assert_eq!(
        done(&["realm", "list"]),
        format!("{head}-          Acme  1       open\nbeta       Beta  1       open\n")
    );
    let key_of = |email: &str, realm: &str| {
        let key = done(&["user", "api-key", "--email", email, "--realm", realm]);
        key.split_whitespace().find(|word| word.len() == 32).expect("a key").to_owned()
    };
    let keys = [key_of("olga@acme.example", "-"), key_of("b@beta.example", "beta")];
    // A variable of a script that is not set names no organization.
    for words in [&["realm", "deactivate", ""][..], &["user", "list", "--realm", ""]] {
        let (status, text) = run(words);
        assert!(!status.success() && text.contains("`-` is the organization without a subdomain"), "{text}");
    }
    assert!(done(&["realm", "deactivate", "-"]).starts_with("Acme is deactivated. "));
    assert_eq!(done(&["realm", "deactivate", "-"]), "Acme is already deactivated.\n");
    assert_eq!(
        done(&["realm", "list"]),
        format!("{head}-          Acme  1       deactivated\nbeta       Beta  1       open\n")
    );
    let (status, words) = run(&["realm", "deactivate", "gamma"]);
    assert!(!status.success() && words.contains("there is no organization `gamma`"), "{words}");

    let asked = async |email: &str, key: &str, host: &str| {
        let server = ServerProcess::start(&["serve", "--data", &data, "--listen", "127.0.0.1:0"], &[]);
        let mut person = server.anonymous();
        (person.email, person.key) = (email.to_owned(), key.to_owned());
        let answer = person.get("/users/me", &[]).header("Host", host).await;
        server.terminate();
        assert!(server.wait().success());
        answer
    };
    let answer = asked("olga@acme.example", &keys[0], "localhost").await;
    assert_eq!((answer.status, answer.body["code"].as_str()), (401, Some("REALM_DEACTIVATED")));
    let answer = asked("b@beta.example", &keys[1], "beta.localhost").await;
    assert_eq!(answer.body["full_name"], "Bea", "the other one is open");
    assert_eq!(done(&["realm", "reactivate", "-"]), "Acme is reactivated, with all of its data.\n");
    assert_eq!(done(&["realm", "reactivate", "-"]), "Acme is already active.\n");
    let answer = asked("olga@acme.example", &keys[0], "localhost").await;
    assert_eq!(answer.body["full_name"], "Olga");
}

/// How a command ends whose standard output and standard error are these.
fn ends(args: &[&str], out: impl Into<Stdio>, err: impl Into<Stdio>) -> Option<i32> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_millstream"));
    command.args(args).stdout(out).stderr(err).status().expect("it runs").code()
}

/// The writing end of a pipe that nothing reads.
fn closed_pipe() -> std::io::PipeWriter {
    std::io::pipe().expect("a pipe").1
}

#[test]
fn closed_pipes_do_not_change_how_commands_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data").display().to_string();
    let create = ["realm", "create", "Acme", "--owner-email", "olga@acme.example", "--owner-name", "Olga"];
    assert!(ServerProcess::run(&[&create[..], &["--data", &data]].concat()).0.success());
    let file = folder.path().join("millstream.toml");
    std::fs::write(&file, "").expect("written");
    let missing = folder.path().join("missing").display().to_string();
    for (args, code) in [
        (&["config"][..], 0),
        (&["config", "--check", &file.display().to_string()], 0),
        (&["serve", "--print-config"], 0),
        (&["routes"], 0),
        (&["routes", "--output", "openapi"], 0),
        (&["settings"], 0),
        (&["man"], 0),
        (&["completions", "bash"], 0),
        (&["realm", "list", "--data", &data], 0),
        (&["user", "list", "--data", &data], 0),
        (&["audit", "--data", &data], 0),
        (&["check", "--data", &data], 0),
        (&["realm", "list", "--data", &missing], 1),
        // Not a folder, which is a problem.
        (&["doctor", "--data", &file.display().to_string()], 1),
        (&["health", "--data", &missing], 1),
    ] {
        assert_eq!(ends(args, closed_pipe(), closed_pipe()), Some(code), "{args:?}");
    }
}

#[test]
fn output_that_is_lost_on_a_full_disk_is_an_error() {
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").expect("a device");
    let of_the_parser = [&["--help"][..], &["--version"], &["serve", "--help"], &["help", "realm"]];
    let of_commands = [&["config"][..], &["routes", "--output", "json"], &["settings"], &["man"]];
    for args in of_the_parser.into_iter().chain(of_commands) {
        assert_eq!(ends(args, full(), Stdio::null()), Some(1), "{args:?}");
    }
    assert_eq!(ends(&["nonsense"], Stdio::null(), Stdio::null()), Some(2));
}

#[test]
fn commands_say_that_a_file_is_too_large() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let create = ["realm", "create", "Acme", "--owner-email", "olga@acme.example", "--owner-name", "Olga"];
    assert!(ServerProcess::run(&[&create[..], &["--data", &path("data")]].concat()).0.success());
    std::fs::create_dir_all(folder.path().join("data/blobs/1")).expect("room");
    std::fs::write(folder.path().join("data/blobs/1/x"), vec![b'x'; 1 << 20]).expect("room");
    let back_up = ["backup", "--data", &path("data"), "--to", &path("backups")];
    // Units of 512 or 1,024 bytes: less than the file in any case.
    let limited = |args: &[&str]| {
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -f 512 && exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_millstream")]);
        let output = command.args(args).output().expect("a shell");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, text) = limited(&back_up);
    // Where there is no room, and not only what was to be stored.
    let full = format!("cannot write to {}: File too large", path("backups"));
    assert!(code == Some(1) && text.contains(&full), "{code:?}: {text}");
    assert!(ServerProcess::run(&back_up).0.success());
    let (code, text) = limited(&["restore", "--from", &path("backups"), "--data", &path("new")]);
    assert!(code == Some(1) && text.contains("File too large"), "{code:?}: {text}");
    assert!(!folder.path().join("new").exists(), "nothing is left");
}
