//! The server is killed while files are uploaded: what was acknowledged is there, and nothing is there twice or in part.

use crate::api::uploads::upload;
use crate::support::server::assert_clean;
use crate::support::{ServerProcess, TestUser, wait_until};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// All files below a folder.
fn walk(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .flat_map(|entry| if entry.path().is_dir() { walk(&entry.path()) } else { vec![entry.path()] })
        .collect()
}

fn content(number: usize) -> Vec<u8> {
    (0..1_500_000 + number).map(|at| (at * 31 + number) as u8).collect()
}

/// Uploads one file after the other until the server is killed; returns the URLs that it answered.
async fn upload_until_killed(person: TestUser, round: usize) -> Vec<(String, usize)> {
    let mut stored = Vec::new();
    for number in 0.. {
        let number = round * 1000 + number;
        let files = [("a.bin", content(number))];
        let Ok(Ok(answer)) = tokio::time::timeout(
            Duration::from_secs(20),
            person.upload("/user_uploads", &[], &files).request.send(),
        )
        .await
        else {
            break;
        };
        let Ok(body) = answer.json::<serde_json::Value>().await else { break };
        stored.push((body["url"].as_str().expect("a URL").to_owned(), number));
    }
    stored
}

#[tokio::test]
async fn uploads_survive_kill() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let mut acknowledged: Vec<(String, usize)> = Vec::new();
    for round in 0..5 {
        let server = ServerProcess::dev(&data);
        let hamlet = server.user("hamlet").await;
        let uploads = tokio::spawn(upload_until_killed(hamlet, round));
        tokio::time::sleep(Duration::from_millis(300 + 170 * round as u64)).await;
        server.kill();
        acknowledged.extend(uploads.await.expect("the uploads"));
        assert_clean(&data);
    }
    let server = ServerProcess::dev(&data);
    let hamlet = server.user("hamlet").await;
    let own = hamlet.get("/attachments", &[]).ok().await;
    let files = own["attachments"].as_array().expect("a list");
    let paths: HashSet<&str> = files.iter().map(|file| file["path_id"].as_str().expect("a path")).collect();
    assert_eq!(paths.len(), files.len(), "no file is there twice");
    assert!(!acknowledged.is_empty());
    for (url, number) in &acknowledged {
        assert!(paths.contains(url.trim_start_matches("/user_uploads/")), "{url}");
        assert!(hamlet.fetch(url).await.2 == content(*number), "{url}");
    }
    // At most the file that each kill interrupted is recorded without having been acknowledged; it is whole.
    assert!(files.len() <= acknowledged.len() + 5, "{} of {}", acknowledged.len(), files.len());
    for path in &paths {
        assert_eq!(hamlet.fetch(&format!("/user_uploads/{path}")).await.0, 200, "{path}");
    }
    let blobs = data.join("blobs");
    let unfinished = || walk(&blobs).iter().any(|path| path.to_string_lossy().contains('#'));
    wait_until("no part of a file is left", || !unfinished()).await;
    // The server works on.
    upload(&hamlet, "after.txt", b"x").await;
    server.kill();
    assert_clean(&data);
}
