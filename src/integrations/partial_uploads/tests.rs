use super::*;

const NOW: Timestamp = Timestamp(1_900_000_000_000);

fn info(user: u32, length: u64) -> UploadInfo {
    UploadInfo {
        realm: RealmId(1),
        user: UserId(user),
        length,
        file_name: "cat.png".to_owned(),
        content_type: Some("image/png".to_owned()),
        metadata: "filename Y2F0LnBuZw==".to_owned(),
        path_id: "1/ab/cd/cat.png".to_owned(),
    }
}

fn open(folder: &tempfile::TempDir) -> PartialUploads {
    PartialUploads::open(folder.path(), true).unwrap()
}

fn files(folder: &tempfile::TempDir) -> usize {
    std::fs::read_dir(folder.path().join("partial-uploads")).unwrap().count()
}

#[actix_web::test]
async fn bytes_and_description_survive_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let (id, parts) = {
        let uploads = open(&folder);
        let upload = uploads.create(info(7, 10), 100, NOW).await.unwrap();
        let mut lock = uploads.write_lock(&upload).await.unwrap();
        lock.write(b"hello").await.unwrap();
        assert_eq!(upload.offset(), 0, "nothing is durable yet");
        assert_eq!(lock.sync(NOW).await.unwrap(), 5);
        (upload.id.clone(), upload.info.clone())
    };
    std::fs::write(folder.path().join("partial-uploads/lost.bytes"), "x").unwrap();
    std::fs::write(folder.path().join("partial-uploads/lost.new"), "x").unwrap();
    let uploads = open(&folder);
    assert_eq!(files(&folder), 2, "leftovers are deleted");
    let now = Timestamp(uploads.uploads.lock()[&id].progress.lock().touched.0);
    let upload = uploads.find((RealmId(1), UserId(7)), &id, now).unwrap();
    assert_eq!((upload.offset(), &upload.info), (5, &parts));
    let mut lock = uploads.write_lock(&upload).await.unwrap();
    lock.write(b" world and more").await.unwrap();
    assert_eq!((lock.bytes_left(), lock.sync(now).await.unwrap()), (0, 10));
    assert_eq!(std::fs::read(upload.file()).unwrap(), b"hello worl");
    assert_eq!(upload.offset(), 9, "the last byte is not acknowledged before the upload is finished");
    uploads.delete(lock).await.unwrap();
    assert_eq!(files(&folder), 0);
    assert!(matches!(uploads.write_lock(&upload).await, Err(PartialError::Missing)));
}

#[actix_web::test]
async fn other_accounts_find_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let uploads = open(&folder);
    let upload = uploads.create(info(7, 10), 100, NOW).await.unwrap();
    let find = |realm, user, now| uploads.find((RealmId(realm), UserId(user)), &upload.id, now).is_ok();
    assert!(find(1, 7, NOW));
    assert!(!find(1, 8, NOW) && !find(2, 7, NOW));
    assert!(!find(1, 7, Timestamp(NOW.0 + EXPIRY_MILLIS)), "expired");
}

#[actix_web::test]
async fn a_newer_request_takes_over() {
    let folder = tempfile::tempdir().unwrap();
    let uploads = Arc::new(open(&folder));
    let upload = uploads.create(info(7, 10), 100, NOW).await.unwrap();
    let mut first = uploads.write_lock(&upload).await.unwrap();
    let waiting = {
        let (uploads, upload) = (uploads.clone(), upload.clone());
        actix_rt::spawn(async move { uploads.write_lock(&upload).await.map(drop) })
    };
    first.interrupted().await;
    first.write(b"abc").await.unwrap();
    first.sync(NOW).await.unwrap();
    drop(first);
    waiting.await.unwrap().unwrap();
    assert_eq!(upload.offset(), 3);
}

#[actix_web::test]
async fn uploads_of_an_account_are_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let uploads = open(&folder);
    let first = uploads.create(info(7, 10), 100, NOW).await.unwrap();
    assert!(matches!(uploads.create(info(7, 91), 100, NOW).await, Err(PartialError::AccountFull)));
    let soon = Timestamp(NOW.0 + 1);
    for _ in 1..ACCOUNT_UPLOADS_MAX {
        uploads.create(info(7, 1), 100, soon).await.unwrap();
    }
    assert!(matches!(uploads.create(info(7, 1), 100, NOW).await, Err(PartialError::AccountFull)));
    assert!(uploads.create(info(8, 1), 100, NOW).await.is_ok(), "of another account");
    // The one without progress for the longest time makes room, unless a request writes to it.
    let later = Timestamp(soon.0 + IDLE_MILLIS);
    let lock = uploads.write_lock(&first).await.unwrap();
    uploads.create(info(7, 1), 100, later).await.unwrap();
    let own = (RealmId(1), UserId(7));
    assert!(uploads.find(own, &first.id, later).is_ok());
    drop(lock);
    uploads.create(info(7, 1), 100, later).await.unwrap();
    assert!(uploads.find(own, &first.id, later).is_err());
    assert_eq!(files(&folder), 2 * (ACCOUNT_UPLOADS_MAX + 1));
}

#[actix_web::test]
async fn expired_uploads_are_swept() {
    let folder = tempfile::tempdir().unwrap();
    let uploads = open(&folder);
    let upload = uploads.create(info(7, 10), 100, NOW).await.unwrap();
    assert_eq!(uploads.sweep(Timestamp(NOW.0 + EXPIRY_MILLIS - 1)).await.unwrap(), 0);
    let lock = uploads.write_lock(&upload).await.unwrap();
    let late = Timestamp(NOW.0 + EXPIRY_MILLIS);
    assert_eq!(uploads.sweep(late).await.unwrap(), 0, "a request writes to it");
    drop(lock);
    assert_eq!((uploads.sweep(late).await.unwrap(), files(&folder)), (1, 0));
}

#[actix_web::test]
async fn rolling_back_keeps_what_was_durable() {
    let folder = tempfile::tempdir().unwrap();
    let uploads = open(&folder);
    let upload = uploads.create(info(7, 1 << 20), 1 << 20, NOW).await.unwrap();
    let mut lock = uploads.write_lock(&upload).await.unwrap();
    lock.write(b"abc").await.unwrap();
    lock.sync(NOW).await.unwrap();
    lock.write(&vec![1; 1 << 19]).await.unwrap();
    lock.roll_back().await.unwrap();
    assert_eq!((lock.sync(NOW).await.unwrap(), std::fs::read(upload.file()).unwrap()), (3, b"abc".to_vec()));
}
