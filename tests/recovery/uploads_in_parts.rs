//! The server is killed while files are uploaded in parts: no acknowledged byte is lost, each upload can be continued, and
//! none becomes two files.

use crate::api::tus::{attachments, begun, offset, patch, url_of};
use crate::support::ServerProcess;
use crate::support::raw_connection::RawConnection;
use crate::support::server::assert_clean;

const ROUNDS: u64 = 6;
const FILE_BYTES: usize = 3_000_000;
const PART_BYTES: usize = 400_000;

#[tokio::test]
async fn uploads_survive_kills() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let bytes: Vec<u8> = (0..FILE_BYTES as u32).map(|number| (number ^ (number >> 9)) as u8).collect();
    let mut server = ServerProcess::dev(&data);
    let hamlet = server.user("hamlet").await;
    let mut person = server.reconnect(&hamlet);
    let before = attachments(&person).await.len();
    let path = begun(&person, FILE_BYTES as u64, "a.bin", "application/x-a").await;
    let mut acknowledged = 0;
    for round in 0..ROUNDS {
        let at = offset(&person, &path).await as usize;
        assert!(at >= acknowledged, "{at} of {acknowledged} acknowledged bytes");
        let answer = patch(&person, &path, at as u64, &bytes[at..at + PART_BYTES]).await;
        assert_eq!(answer.status, 204, "{answer:?}");
        acknowledged = at + PART_BYTES;
        // And some bytes that are not acknowledged.
        let mut open = RawConnection::connect(&server.url).await;
        let head = format!(
            "PATCH {path} HTTP/1.1\r\nHost: x\r\nAuthorization: {}\r\nTus-Resumable: 1.0.0\r\nUpload-Offset: {acknowledged}\r\n\
             Content-Type: application/offset+octet-stream\r\nContent-Length: 300000\r\n\r\n",
            person.authorization(),
        );
        open.write(head).await;
        open.write(&bytes[acknowledged..acknowledged + 20_000 * (round as usize + 1)]).await;
        server.kill();
        server = ServerProcess::dev(&data);
        person = server.reconnect(&hamlet);
    }
    let at = offset(&person, &path).await as usize;
    assert!(at >= acknowledged);
    let last = patch(&person, &path, at as u64, &bytes[at..]).await;
    let url = url_of(&last.body).to_owned();
    server.kill();
    let server = ServerProcess::dev(&data);
    let person = server.reconnect(&hamlet);
    assert!(person.fetch(&url).await.2 == bytes, "the file is what was sent");
    assert_eq!(attachments(&person).await.len(), before + 1);
    server.kill();
    assert_clean(&data);
}
