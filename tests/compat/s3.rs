//! Files in S3: a server that others wrote keeps them, and then is gone.

use super::python_or_skip;
use crate::api::pictures::png;
use crate::support::{PATIENCE, TestServer};
use bytes::Bytes;
use futures_util::{TryStreamExt, stream};
use millstream::config::{Config, Overrides};
use millstream::outside::blobs::{BlobError, BlobName, Blobs, sweep};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

const BUCKET: &str = "millstream";
const SECRET: &str = "averysecretaccesskey";

/// A process that speaks S3, until it is dropped.
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
        millstream::outside::http_client::use_ring();
        let http = reqwest::Client::builder().no_proxy().build().expect("a client");
        let deadline = Instant::now() + PATIENCE;
        loop {
            let made = http.put(format!("{}/{BUCKET}", s3.url)).send().await;
            if made.is_ok_and(|made| made.status().is_success()) {
                return Some(s3);
            }
            assert!(Instant::now() < deadline, "the server for S3 does not come up");
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
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

    fn blobs(&self) -> Blobs {
        let mut flags = Overrides::default();
        for (option, value) in self.settings() {
            flags = flags.set(option, "test", Some(value));
        }
        let config = Config::load(None, [], flags).expect("settings");
        assert!(!format!("{config:?}").contains(SECRET), "keys are nobody's business");
        Blobs::open(&config.blobs, Path::new("/nowhere"), true).expect("files")
    }
}

impl Drop for S3 {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

async fn read(blobs: &Blobs, name: &BlobName, range: Option<std::ops::Range<u64>>) -> Vec<u8> {
    let blob = blobs.get(name, range).await.expect("the file");
    let chunks: Vec<Bytes> = blob.bytes.try_collect().await.expect("its bytes");
    chunks.concat()
}

#[tokio::test]
async fn files_in_s3_are_like_files_in_a_folder() {
    let Some(s3) = S3::start().await else { return };
    let blobs = s3.blobs();
    let name = |text: &str| BlobName::parse(text).expect("a name");
    let small = name("avatars/1/a.png");
    blobs.put(&small, Bytes::from_static(b"0123456789")).await.expect("kept");
    assert_eq!(read(&blobs, &small, None).await, b"0123456789");
    assert_eq!(read(&blobs, &small, Some(3..6)).await, b"345");
    assert!(matches!(blobs.get(&small, Some(10..12)).await, Err(BlobError::OutOfRange)));
    // More than one part.
    let (large, piece) = (name("uploads/1/large"), Bytes::from(vec![7; 1 << 20]));
    let source = stream::iter((0..12).map(|_| Ok::<_, String>(piece.clone())));
    assert_eq!(blobs.put_stream(&large, source).await.expect("kept"), 12 << 20);
    assert_eq!(read(&blobs, &large, None).await.len(), 12 << 20);
    let broken = name("uploads/1/broken");
    let source = (0..12).map(|_| Ok(piece.clone())).chain([Err("the sender went away")]);
    let refused = blobs.put_stream(&broken, stream::iter(source)).await;
    assert!(matches!(refused, Err(BlobError::Source(_))));
    assert!(matches!(blobs.get(&broken, None).await, Err(BlobError::Missing)));
    blobs.delete(&small).await.expect("gone");
    blobs.delete(&small).await.expect("still gone");
    assert!(matches!(blobs.get(&small, None).await, Err(BlobError::Missing)));
}

#[tokio::test]
async fn pictures_are_kept_in_s3_and_a_dead_one_stops_nothing_else() {
    let Some(s3) = S3::start().await else { return };
    let mut plan = TestServer::plan();
    for (option, value) in s3.settings() {
        plan = plan.set(option, value);
    }
    let t = plan.start().await;
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
    let began = Instant::now();
    let refused = hamlet.upload("/users/me/avatar", &[], &[("a.png", png())]).await;
    assert_eq!(refused.status, 503, "{refused:?}");
    assert!(!refused.body.to_string().contains("127.0.0.1"), "{refused:?}");
    assert_eq!(hamlet.fetch(path).await.0, 503);
    assert!(began.elapsed() < PATIENCE);
    hamlet.send(&channel, "t", "still here").await;
    assert_eq!(
        hamlet.get("/users/me", &[]).ok().await["avatar_url"],
        url,
        "the picture is the one from before"
    );
}
