//! Files in a folder. The same with S3 is in `tests/compat`.

use super::*;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

fn blobs(folder: &Path) -> Blobs {
    Blobs::in_folder(folder.join("blobs"), true).unwrap()
}

fn name(text: &str) -> BlobName {
    BlobName::parse(text).unwrap()
}

async fn read(blobs: &Blobs, name: &BlobName) -> Vec<u8> {
    let blob = blobs.get(name).await.unwrap();
    blob.bytes
        .try_fold(Vec::new(), |mut all, chunk| async move {
            all.extend(chunk);
            Ok(all)
        })
        .await
        .unwrap()
}

#[test]
fn names_outside_of_the_store_are_refused() {
    for good in ["a", "1/ab.png", "avatars/2/emoji/images/still/x-1_2.png"] {
        assert_eq!(BlobName::parse(good).unwrap().as_str(), good);
    }
    let long = "a".repeat(513);
    for bad in ["", "/", "a/", "/a", "a//b", "..", "a/../b", ".x", "a b", "a\\b", "a%2e", "é", &long] {
        assert_eq!(BlobName::parse(bad), None, "{bad}");
    }
    assert_ne!(random_name().unwrap(), random_name().unwrap());
}

#[actix_rt::test]
async fn what_is_written_since_the_start_is_not_taken_for_a_leftover() {
    let folder = tempfile::tempdir().unwrap();
    let blobs = blobs(folder.path());
    let leftover = folder.path().join("blobs/1/a.txt#1");
    std::fs::create_dir_all(leftover.parent().unwrap()).unwrap();
    std::fs::write(&leftover, "half").unwrap();
    // File systems count time in ticks.
    std::thread::sleep(Duration::from_millis(50));
    let before = blobs.time_of_folder().unwrap();
    let mut writer = blobs.writer(name("1/b.txt"));
    writer.write(&[b'b'; 300_000]).await.unwrap();
    blobs.delete_unfinished(before);
    assert!(!leftover.exists());
    writer.finish().await.unwrap();
    assert_eq!(read(&blobs, &name("1/b.txt")).await.len(), 300_000);
}

#[actix_rt::test]
async fn stored_file_is_private_and_exists_until_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let blobs = blobs(folder.path());
    let name = name("avatars/1/a.png");
    blobs.put(&name, Bytes::from_static(b"0123456789")).await.unwrap();
    assert_eq!(read(&blobs, &name).await, b"0123456789");
    let listed: Vec<KnownBlob> = blobs.list(&self::name("avatars/1")).try_collect().await.unwrap();
    assert_eq!(
        listed.iter().map(|known| known.name.clone()).collect::<Vec<_>>(),
        std::slice::from_ref(&name)
    );
    let file = folder.path().join("blobs").join(name.as_str());
    assert_eq!(std::fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    blobs.delete(&name).await.unwrap();
    blobs.delete(&name).await.unwrap();
    assert!(matches!(blobs.get(&name).await, Err(BlobError::Missing)));
    let mode = std::fs::metadata(folder.path().join("blobs")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[actix_rt::test]
async fn complete_file_gets_another_name_or_is_copied() {
    let folder = tempfile::tempdir().unwrap();
    let blobs = blobs(folder.path());
    let (name, file) = (name("uploads/1/ab/cd"), folder.path().join("complete"));
    let stored = folder.path().join("blobs").join(name.as_str());
    for text in ["first", "second"] {
        std::fs::remove_file(&file).ok();
        std::fs::write(&file, text).unwrap();
        blobs.writer_of_file(name.clone(), file.clone()).unwrap().finish().await.unwrap();
        assert_eq!(read(&blobs, &name).await, text.as_bytes());
        assert_eq!(std::fs::metadata(&stored).unwrap().permissions().mode() & 0o777, 0o600);
    }
    // As where links are not possible.
    std::fs::remove_file(&stored).unwrap();
    blobs.folder.as_ref().unwrap().copy(&file, name.as_str()).unwrap();
    assert_eq!(read(&blobs, &name).await, b"second");
    assert_eq!(std::fs::read_dir(stored.parent().unwrap()).unwrap().count(), 1);
}

#[actix_rt::test]
async fn unfinished_file_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let blobs = blobs(folder.path());
    let name = name("uploads/1/ab/cd");
    let parent = folder.path().join("blobs/uploads/1/ab");
    for size in [10, 3_000_000] {
        let mut writer = blobs.writer(name.clone());
        writer.write(&vec![7; size]).await.unwrap();
        drop(writer);
        for _ in 0..200 {
            if std::fs::read_dir(&parent).unwrap().count() == 0 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(std::fs::read_dir(&parent).unwrap().count(), 0, "{size}");
    }
    // Not the folder in which the file of a writer may still be removed.
    let (name, parent) = (self::name("uploads/1/cd/ef"), folder.path().join("blobs/uploads/1/cd"));
    for size in [0, 10, 3_000_000] {
        let mut writer = blobs.writer(name.clone());
        writer.write(&vec![7; size]).await.unwrap();
        writer.finish().await.unwrap();
        assert_eq!(read(&blobs, &name).await, vec![7; size]);
        assert_eq!(std::fs::read_dir(&parent).unwrap().count(), 1, "{size}");
    }
}

#[test]
fn missing_bucket_is_not_a_missing_file() {
    let not_found = |text: &str| object_store::Error::NotFound { path: "a".into(), source: text.into() };
    let bucket = || not_found("<Error><Code>NoSuchBucket</Code></Error>");
    assert!(matches!(bucket().into(), BlobError::Store(_)));
    assert!(matches!(not_found("<Error><Code>NoSuchKey</Code></Error>").into(), BlobError::Missing));
    // The answer to a HEAD has no body; a write cannot miss a file.
    assert!(matches!(BlobError::of_write(not_found("404")), BlobError::Store(_)));
}

#[test]
fn full_disk_is_distinguished() {
    let source = Box::new(std::io::Error::from(ErrorKind::StorageFull));
    let full = object_store::Error::Generic { store: "LocalFileSystem", source };
    assert!(matches!(full.into(), BlobError::Full(_)));
}
