//! Files in S3: a third-party S3 server stores them, and then fails.

use super::python_or_skip;
use crate::api::pictures::png;
use crate::api::uploads::upload;
use crate::support::server::{TestServerBuilder, assert_clean};
use crate::support::{ServerProcess, TestServer, poll_for};
use bytes::Bytes;
use futures_util::TryStreamExt;
use millstream::config::{Config, Overrides};
use millstream::integrations::blobs::sweep::sweep;
use millstream::integrations::blobs::{BlobError, BlobName, Blobs};
use reqwest::Method;
use std::io::Read as _;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};

const BUCKET: &str = "millstream";
const SECRET: &str = "averysecretaccesskey";

/// A running S3 server. Dropping it kills it.
struct S3 {
    process: Child,
    url: String,
}

impl S3 {
    async fn start() -> Option<Self> {
        let python = python_or_skip("s3-python", "s3-requirements.txt")?;
        let port =
            TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port").port();
        let process = Command::new(python)
            .args(["-m", "moto.server", "-H", "127.0.0.1", "-p", &port.to_string()])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let s3 = Self { process, url: format!("http://127.0.0.1:{port}") };
        millstream::integrations::http_client::use_ring();
        let http = reqwest::Client::builder().no_proxy().build().expect("a client");
        poll_for("the S3 server creates the bucket", || async {
            let created = http.put(format!("{}/{BUCKET}", s3.url)).send().await;
            created.is_ok_and(|created| created.status().is_success()).then_some(())
        })
        .await;
        Some(s3)
    }

    fn settings(&self) -> [(&'static str, String); 6] {
        [
            ("blobs.kind", "s3".to_owned()),
            ("blobs.bucket", BUCKET.to_owned()),
            ("blobs.endpoint", self.url.clone()),
            ("blobs.access_key_id", "millstream".to_owned()),
            ("blobs.secret_access_key", SECRET.to_owned()),
            ("blobs.request_secs_max", "2".to_owned()),
        ]
    }

    fn config(&self) -> Config {
        let mut flags = Overrides::default();
        for (option, value) in self.settings() {
            flags = flags.set(option, "test", Some(value));
        }
        let config = Config::load(None, [], flags).expect("settings");
        assert!(!format!("{config:?}").contains(SECRET), "the debug output hides keys");
        config
    }

    fn blobs(&self) -> Blobs {
        let config = self.config();
        Blobs::open(&config.blobs, Path::new("/nowhere"), true).expect("files")
    }
}

impl Drop for S3 {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

async fn read(blobs: &Blobs, name: &BlobName) -> Vec<u8> {
    let blob = blobs.get(name).await.expect("the file");
    let chunks: Vec<Bytes> = blob.bytes.try_collect().await.expect("its bytes");
    chunks.concat()
}

#[tokio::test]
async fn s3_store_behaves_like_folder_store() {
    let Some(s3) = S3::start().await else { return };
    let blobs = s3.blobs();
    let name = |text: &str| BlobName::parse(text).expect("a name");
    let small = name("avatars/1/a.png");
    blobs.put(&small, Bytes::from_static(b"0123456789")).await.expect("kept");
    assert_eq!(read(&blobs, &small).await, b"0123456789");
    blobs.delete(&small).await.expect("gone");
    blobs.delete(&small).await.expect("still gone");
    assert!(matches!(blobs.get(&small).await, Err(BlobError::Missing)));
}

#[cfg(feature = "cluster")]
#[tokio::test]
async fn files_that_nodes_share_are_in_the_bucket() {
    let Some(s3) = S3::start().await else { return };
    let (config, blobs) = (s3.config(), s3.blobs());
    let used = tokio::task::spawn_blocking(move || {
        let open = millstream::integrations::blobs::shared_files::opener(&config).expect("a bucket");
        let place = open("acme", "n1-1").expect("a place");
        assert!(place.list("nodes").expect("listed").is_empty());
        let content = vec![7; 9 << 20];
        for name in ["nodes/n1-1", "realm-0000000001/a.base", "realm-0000000001/b.base"] {
            place.store(name, &mut &*content).expect("stored");
        }
        place.sync().expect("durable");
        let mut read = Vec::new();
        place.open("realm-0000000001/a.base").expect("there").read_to_end(&mut read).expect("readable");
        assert!(read == content);
        place.remove("realm-0000000001/a.base").expect("removed");
        let gone = place.open("realm-0000000001/a.base").err().map(|error| error.kind());
        assert_eq!(gone, Some(std::io::ErrorKind::NotFound));
        assert_eq!(place.list("realm-0000000001").expect("listed"), ["b.base"]);
    });
    used.await.expect("the place works");
    assert_eq!(names_of(&blobs, "cluster/acme/nodes").await, ["cluster/acme/nodes/n1-1"]);
}

fn plan_with(s3: &S3) -> TestServerBuilder {
    s3.settings().into_iter().fold(TestServer::builder(), |plan, (option, value)| plan.set(option, value))
}

#[tokio::test]
async fn s3_pictures_and_s3_outage() {
    let Some(s3) = S3::start().await else { return };
    let missing = plan_with(&s3).set("blobs.bucket", "missing-bucket").start().await;
    let refused = missing.user("hamlet").upload("/users/me/avatar", &[], &[("a.png", png())]).await;
    assert_eq!((refused.status, &refused.body["code"]), (503, &"FILES_UNAVAILABLE".into()), "{refused:?}");
    drop(missing);
    let t = plan_with(&s3).start().await;
    let hamlet = t.user("hamlet");
    let channel = hamlet.create_channel("Denmark").await;
    let url = hamlet.upload("/users/me/avatar", &[], &[("a.png", png())]).ok().await["avatar_url"].clone();
    let path = url.as_str().expect("an address");
    assert_eq!(hamlet.fetch(path).await.0, 200);
    assert!(!t.data().join("blobs").exists(), "nothing beside the journal");
    let blobs = s3.blobs();
    assert_eq!(sweep(&blobs, t.server()).await.expect("a look"), 0, "what is named stays");
    assert_eq!(hamlet.fetch(path).await.0, 200);
    drop(s3);
    let refused = hamlet.upload("/users/me/avatar", &[], &[("a.png", png())]).await;
    assert_eq!(refused.status, 503, "{refused:?}");
    assert!(!refused.body.to_string().contains("127.0.0.1"), "{refused:?}");
    assert_eq!(hamlet.fetch(path).await.0, 503);
    hamlet.send(&channel, "t", "still here").await;
    assert_eq!(
        hamlet.get("/users/me", &[]).ok().await["avatar_url"],
        url,
        "the picture is the one from before"
    );
}

#[tokio::test]
async fn another_data_folder_neither_stores_nor_deletes_in_the_bucket() {
    let Some(s3) = S3::start().await else { return };
    let folders = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
    let [first, second] = [0, 1].map(|at| {
        let mut config = s3.config();
        config.data = folders[at].path().into();
        Blobs::open_owned(&config, None, true).expect("files")
    });
    let name = |text: &str| BlobName::parse(text).expect("a name");
    let (kept, other) = (name("uploads/1/a.mp4"), name("uploads/1/b.mp4"));
    first.put(&kept, Bytes::from_static(b"of the first")).await.expect("stored");
    let write = async |blobs: &Blobs| {
        let mut writer = blobs.writer(other.clone());
        writer.write(&[7; 6 << 20]).await?;
        writer.finish().await
    };
    assert!(matches!(write(&second).await, Err(BlobError::Owned)));
    assert!(matches!(second.put(&other, Bytes::new()).await, Err(BlobError::Owned)));
    assert!(matches!(second.delete(&kept).await, Err(BlobError::Owned)));
    let t = TestServer::start().await;
    assert!(matches!(sweep(&second, t.server()).await, Err(BlobError::Owned)));
    assert_eq!(names_of(&s3.blobs(), "uploads").await, [kept.as_str()]);
    assert_eq!(read(&second, &kept).await, b"of the first");
    s3.blobs().delete(&name("owner")).await.expect("gone");
    write(&second).await.expect("stored");
}

#[tokio::test]
async fn s3_uploads_are_streamed_and_redirected() {
    let Some(s3) = S3::start().await else { return };
    let t = plan_with(&s3).start().await;
    let hamlet = t.user("hamlet");
    // More than two parts.
    let bytes: Vec<u8> = (0..11_000_003u32).map(|n| (n * 7 + n / 251) as u8).collect();
    for (name, bytes) in [("large.mp4", &bytes[..]), ("small.mp4", b"hello"), ("empty.mp4", b"")] {
        let url = upload(&hamlet, name, bytes).await;
        assert!(hamlet.fetch(&url).await.2 == bytes, "{name}");
        if bytes.len() > 4 {
            let part = hamlet.bare(Method::GET, &url).header("Range", "bytes=1-3").request.send().await;
            let part = part.expect("an answer");
            assert_eq!(part.status(), 206, "{name}");
            assert!(part.bytes().await.expect("a part") == bytes[1..4], "{name}");
        }
        let own = hamlet.get("/attachments", &[]).ok().await;
        hamlet.delete(&format!("/attachments/{}", own["attachments"][0]["id"]), &[]).ok().await;
        assert_eq!(hamlet.fetch(&url).await.0, 404, "{name}");
    }
    drop(t);
    let t = plan_with(&s3).set("blobs.redirects", true).start().await;
    let [hamlet, iago] = t.users(["hamlet", "iago"]);
    let url = upload(&hamlet, "ä.html", b"<p>hello</p>").await;
    assert_eq!(iago.fetch(&url).await.0, 403);
    let answer = hamlet.bare(Method::GET, &url).await;
    assert_eq!(answer.status, 302);
    let location = answer.header("Location").to_owned();
    assert!(location.starts_with(&s3.url) && location.contains("X-Amz-Expires=60"), "{location}");
    let http = reqwest::Client::builder().no_proxy().build().expect("a client");
    let read = http.get(location).send().await.expect("an answer");
    assert_eq!(read.status(), 200);
    let disposition = read.headers()["content-disposition"].to_str().expect("text").to_owned();
    assert_eq!(disposition, "attachment; filename*=utf-8''%C3%A4.html");
    assert_eq!(read.bytes().await.expect("bytes"), "<p>hello</p>");
}

/// Lists the names of the objects that begin so.
async fn names_of(blobs: &Blobs, folder: &str) -> Vec<String> {
    let folder = BlobName::parse(folder).expect("a name");
    let found: Vec<_> = blobs.list(&folder).try_collect().await.expect("listed");
    found.into_iter().map(|blob| blob.name.as_str().to_owned()).collect()
}

/// A damaged object is found, and set aside.
async fn expect_damage_repaired(run: &dyn Fn(&[&str]) -> (bool, String), blobs: &Blobs, place: &str) {
    let damaged = names_of(blobs, "org/backups/files").await.remove(0);
    blobs.put(&BlobName::parse(&damaged).expect("a name"), Bytes::from_static(b"x")).await.expect("stored");
    let (is_done, text) = run(&["backup", "verify", "--from", place]);
    assert!(!is_done && text.contains("is damaged"), "{text}");
    let (is_done, text) = run(&["backup", "verify", "--from", place, "--repair"]);
    assert!(is_done && text.contains("1 file was set aside"), "{text}");
    let moved = damaged.replace("/files/", "/damaged/");
    assert_eq!(names_of(blobs, "org/backups/damaged").await, [moved]);
    assert!(!names_of(blobs, "org/backups/files").await.contains(&damaged));
}

#[tokio::test]
async fn backups_in_s3_are_incremental_and_restore() {
    let Some(s3) = S3::start().await else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (data, restored, place) = (path("data"), path("restored"), format!("s3://{BUCKET}/org/backups"));
    let server = ServerProcess::dev(folder.path().join("data").as_path());
    let iago = server.user("iago").await;
    let large: Vec<u8> = (0..11_000_003u32).map(|n| (n * 7 + n / 251) as u8).collect();
    let url = upload(&iago, "large.mp4", &large).await;
    let sent = iago.send_direct(&[&iago], "kept in S3").await;
    let environment = [
        ("MILLSTREAM_BACKUPS_ENDPOINT", &*s3.url),
        ("MILLSTREAM_BACKUPS_ACCESS_KEY_ID", "millstream"),
        ("MILLSTREAM_BACKUPS_SECRET_ACCESS_KEY", SECRET),
    ];
    let run = |args: &[&str]| {
        let (status, text) = ServerProcess::run_in(args, &environment);
        assert!(!text.contains(SECRET), "{text}");
        (status.success(), text)
    };
    let add = ["backup", "--data", &data, "--to", &place];
    let (is_done, text) = run(&add);
    assert!(is_done, "{text}");
    let blobs = s3.blobs();
    let first = names_of(&blobs, "org/backups/files").await.len();
    let (is_done, text) = run(&add);
    assert!(is_done, "{text}");
    let second = names_of(&blobs, "org/backups/files").await.len();
    assert!(second <= first + 2, "only the newest segment and checkpoint may be new: {first}, {second}");
    let (is_done, text) = run(&["backup", "verify", "--from", &place]);
    assert!(is_done && text.contains("2 backups are intact"), "{text}");
    // A lock of another machine is respected until it ends, one that ended is not.
    let lock = BlobName::parse("org/backups/lock").expect("a name");
    assert!(matches!(blobs.get(&lock).await, Err(BlobError::Missing)), "the lock is left");
    for (end, is_free) in [("99999999999999", false), ("1", true)] {
        blobs.put(&lock, format!("another/machine 1 x {end}\n").into()).await.expect("stored");
        let (is_done, text) = run(&add);
        assert_eq!(is_done, is_free, "{text}");
        assert!(is_done || text.contains("used by another process"), "{text}");
    }
    server.kill();
    let (is_done, text) = run(&["restore", "--from", &place, "--data", &restored]);
    assert!(is_done, "{text}");
    let server = ServerProcess::dev(folder.path().join("restored").as_path());
    let iago = server.reconnect(&iago);
    assert!(iago.message_ids(serde_json::json!([])).await.contains(&sent));
    assert!(iago.fetch(&url).await.2 == large);
    server.terminate();
    assert!(server.wait().success());
    assert_clean(folder.path().join("restored").as_path());
    expect_damage_repaired(&run, &blobs, &place).await;
    let (is_done, text) = run(&["backup", "--data", &data, "--to", "s3://missing-bucket/a"]);
    assert!(!is_done && text.contains("s3://missing-bucket/a"), "{text}");
}
