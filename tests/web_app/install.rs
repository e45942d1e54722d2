//! `millstream web-app`: what is installed, what is refused, and what a running server serves.

use crate::support::web_app::{APP, MiniRelease, hostile_archive};
use crate::support::{ServerProcess, poll_for};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A data folder with an organization, and an archive beside it.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self { folder: tempfile::tempdir().expect("a folder") };
        let owner = ["--owner-email", "olga@acme.example", "--owner-name", "Olga"];
        let (status, said) =
            ServerProcess::run(&[&["realm", "create", "Acme", "--data", &place.data()], &owner[..]].concat());
        assert!(status.success(), "{said}");
        place
    }

    fn data(&self) -> String {
        self.folder.path().join("data").display().to_string()
    }

    fn archive(&self) -> PathBuf {
        self.folder.path().join("zulip-server-11.4.tar.gz")
    }

    /// Runs a command of `web-app`; whether it succeeded, and what it said.
    fn run(&self, words: &[&str]) -> (bool, String) {
        let data = self.data();
        let (status, said) = ServerProcess::run(&[&["web-app"], words, &["--data", &data]].concat());
        (status.success(), said)
    }

    fn install(&self, release: &MiniRelease) -> (bool, String) {
        release.write_archive(&self.archive());
        self.run(&["install", &self.archive().display().to_string()])
    }

    fn web_app(&self) -> PathBuf {
        Path::new(&self.data()).join("web-app")
    }

    /// The folder of the installation in use.
    fn current(&self) -> PathBuf {
        let name = fs::read_to_string(self.web_app().join("current")).expect("one is installed");
        self.web_app().join(name.trim())
    }
}

#[test]
fn archive_is_installed_shown_and_removed() {
    let place = Place::new();
    let (done, said) = place.run(&["status"]);
    assert!(done && said.contains("No web app is installed"), "{said}");
    let (done, said) = place.install(&MiniRelease::new());
    assert!(done && said.contains("Zulip Server 11.4 (feature level 423)"), "{said}");
    assert!(!said.contains("Millstream's own"), "{said}");
    let root = place.current();
    assert!(root.join("static/webpack-bundles").join(APP).is_file());
    assert!(root.join("locale/de/translations.json").is_file());
    assert!(!root.join("manage.py").exists(), "only what is needed");
    let (done, said) = place.run(&["status"]);
    assert!(done && said.contains("It is complete: 3 scripts and style sheets."), "{said}");
    assert!(said.contains("the release's template, in 2 languages"), "{said}");
    let (done, said) = place.run(&["remove"]);
    assert!(done && said.contains("was removed"), "{said}");
    assert!(!root.exists());
    assert!(place.run(&["remove"]).1.contains("No web app is installed"));
}

#[test]
fn output_is_json_for_programs() {
    let place = Place::new();
    let json = |words: &[&str]| -> serde_json::Value {
        let (done, said) = place.run(&[words, &["--output", "json"]].concat());
        assert!(done, "{said}");
        serde_json::from_str(&said).expect("one line of JSON")
    };
    assert_eq!(json(&["status"]), serde_json::json!({"installed": null}));
    MiniRelease::new().write_archive(&place.archive());
    let installed = json(&["install", &place.archive().display().to_string()]);
    assert_eq!((&installed["version"], &installed["links_left_out"]), (&"11.4".into(), &0.into()));
    let status = json(&["status"]);
    assert_eq!((&status["feature_level"], &status["languages"]), (&423.into(), &2.into()));
    assert_eq!((&status["installed"], &status["bytes"]), (&installed["installed"], &installed["bytes"]));
    assert!(status["installed"].as_str().is_some_and(|time| time.ends_with('Z')), "{status}");
    assert_eq!(json(&["remove"])["removed"], true);
    assert_eq!(json(&["remove"])["removed"], false);
}

#[test]
fn folder_is_installed_like_an_archive() {
    let place = Place::new();
    let unpacked = place.folder.path().join("unpacked");
    let release = MiniRelease::new().without("staticfiles.json");
    release.write_folder(&unpacked.join("zulip-server-11.4"));
    for source in [unpacked.join("zulip-server-11.4"), unpacked] {
        let (done, said) = place.run(&["install", &source.display().to_string()]);
        assert!(done, "{said}");
        assert!(place.current().join("static/webpack-bundles").join(APP).is_file());
    }
}

#[test]
fn links_are_left_out() {
    let place = Place::new();
    let release = MiniRelease::new().link("prod-static/serve/passwd", "/etc/passwd");
    let (done, said) = place.install(&release);
    assert!(done && said.contains("1 link in it was left out."), "{said}");
    assert!(fs::symlink_metadata(place.current().join("static/passwd")).is_err());
    let unpacked = place.folder.path().join("unpacked");
    release.write_folder(&unpacked);
    let (done, said) = place.run(&["install", &unpacked.display().to_string()]);
    assert!(done && said.contains("1 link in it was left out."), "{said}");
    assert!(fs::symlink_metadata(place.current().join("static/passwd")).is_err());
}

#[test]
fn refusals_say_why_and_leave_the_old_one() {
    let place = Place::new();
    assert!(place.install(&MiniRelease::new()).0);
    let old = place.current();
    let manifest = |json: &str| MiniRelease::new().file("webpack-stats-production.json", json);
    let script = format!("prod-static/serve/webpack-bundles/{APP}");
    let cases = [
        (MiniRelease::new().version("10.4", 367), "this is Zulip Server 10.4 (feature level 367), but"),
        (MiniRelease::new().version("12.0", 442), "Zulip Server 11.x (feature levels 421 to 424)"),
        (MiniRelease::new().version("11.9", 425), "https://download.zulip.com/server/"),
        (MiniRelease::new().without("version.py"), "it has no version.py"),
        (
            MiniRelease::new().without("webpack-stats-production.json"),
            "it has no webpack-stats-production.json",
        ),
        (MiniRelease::new().without(&script), &format!("webpack-bundles/{APP} is missing")),
        (manifest(r#"{"status":"compile","chunks":{}}"#), "the build did not finish"),
        (manifest(r#"{"status":"done","chunks":{"app":["../../version.js"]}}"#), "which is no file name"),
    ];
    for (release, text) in cases {
        let (done, said) = place.install(&release);
        assert!(!done && said.contains(text), "{text}: {said}");
        assert_eq!(place.current(), old, "{text}");
    }
    let left: Vec<_> = fs::read_dir(place.web_app())
        .expect("a folder")
        .map(|entry| entry.expect("one").file_name())
        .collect();
    assert_eq!(left.len(), 3, "the lock, the name and one installation: {left:?}");
    assert!(place.run(&["status"]).0);
}

#[test]
fn hostile_and_damaged_archives_are_refused() {
    let place = Place::new();
    let path = place.archive().display().to_string();
    for name in ["zulip-server-11.4/prod-static/serve/../../../../evil.js", "/tmp/millstream-evil.js"] {
        hostile_archive(&place.archive(), name, b'0');
        let (done, said) = place.run(&["install", &path]);
        assert!(!done && said.contains("which leads out of it"), "{name}: {said}");
    }
    // A device, and a file that is none of the release's.
    hostile_archive(&place.archive(), "zulip-server-11.4/prod-static/serve/null", b'3');
    let (done, said) = place.run(&["install", &path]);
    assert!(!done && said.contains("it has no version.py"), "{said}");
    MiniRelease::new().write_archive(&place.archive());
    let whole = fs::read(place.archive()).expect("it is there");
    fs::write(place.archive(), &whole[..whole.len() / 2]).expect("room");
    let (done, said) = place.run(&["install", &path]);
    assert!(!done && said.contains("download it again and compare its checksum"), "{said}");
    fs::write(place.archive(), "this is\nnot a tar\n".repeat(200)).expect("room");
    let (done, said) = place.run(&["install", &path]);
    assert!(
        !done
            && said.contains("cannot be read as an archive (it is not a .tar.gz archive); download it again"),
        "{said}"
    );
    let (done, said) = place.run(&["install", "/nowhere/zulip.tar.gz"]);
    assert!(!done && said.contains("/nowhere/zulip.tar.gz does not exist; download"), "{said}");
    assert!(!place.web_app().join("current").exists());
    let (status, said) = ServerProcess::run(&["web-app", "status", "--data", "/nowhere"]);
    assert!(!status.success() && said.contains("is not a data folder"), "{said}");
}

#[test]
fn interrupted_installations_are_cleaned_up() {
    let place = Place::new();
    assert!(place.install(&MiniRelease::new()).0);
    let unfinished = place.web_app().join("12345678.part");
    fs::create_dir_all(unfinished.join("static")).expect("room");
    let own = place.web_app().join("notes");
    fs::create_dir(&own).expect("room");
    let first = place.current();
    assert!(place.install(&MiniRelease::new()).0);
    assert!(!unfinished.exists());
    assert!(own.is_dir(), "what is not ours stays");
    assert!(first.is_dir(), "a running server may still serve it");
    assert!(place.install(&MiniRelease::new()).0);
    assert!(!first.exists());
}

#[test]
fn folder_of_the_configuration_is_used() {
    let folder = tempfile::tempdir().expect("a folder");
    let (archive, dir) = (folder.path().join("z.tar.gz"), folder.path().join("app"));
    MiniRelease::new().write_archive(&archive);
    let dir = dir.display().to_string();
    let environment = [("MILLSTREAM_WEB_APP_DIR", dir.as_str())];
    let (status, said) =
        ServerProcess::run_in(&["web-app", "install", &archive.display().to_string()], &environment);
    assert!(status.success() && Path::new(&dir).join("current").is_file(), "{said}");
}

#[tokio::test]
async fn running_server_uses_it_after_sighup() {
    let place = Place::new();
    let server = ServerProcess::start(
        &["serve", "--listen", "127.0.0.1:0", "--data", &place.data()],
        &[("MILLSTREAM_LOG_FILTER", "info")],
    );
    let script = format!("/static/webpack-bundles/{APP}");
    let visitor = server.anonymous();
    assert_eq!(visitor.fetch(&script).await.0, 404);
    assert!(place.install(&MiniRelease::new()).0);
    server.signal("HUP");
    server.wait_for_log("web app loaded");
    assert_eq!(visitor.fetch(&script).await.0, 200);
    assert!(place.run(&["remove"]).0);
    server.signal("HUP");
    poll_for("the web app is gone", || async { (visitor.fetch(&script).await.0 == 404).then_some(()) }).await;
    server.kill();
}
