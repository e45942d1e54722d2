//! What a folder of files does. The same against S3 is in `tests/compat`.

use super::*;
use futures_util::stream;
use std::os::unix::fs::PermissionsExt;

fn blobs(folder: &Path) -> Blobs {
    Blobs { store: Arc::new(open_folder(&folder.join("blobs"), true).unwrap()) }
}

fn name(text: &str) -> BlobName {
    BlobName::parse(text).unwrap()
}

async fn read(blobs: &Blobs, name: &BlobName, range: Option<Range<u64>>) -> Vec<u8> {
    let blob = blobs.get(name, range).await.unwrap();
    blob.bytes
        .try_fold(Vec::new(), |mut all, chunk| async move {
            all.extend(chunk);
            Ok(all)
        })
        .await
        .unwrap()
}

#[test]
fn names_lead_nowhere_else() {
    for good in ["a", "1/ab.png", "avatars/2/emoji/images/still/x-1_2.png"] {
        assert_eq!(BlobName::parse(good).unwrap().as_str(), good);
    }
    let long = "a".repeat(513);
    for bad in ["", "/", "a/", "/a", "a//b", "..", "a/../b", ".x", "a b", "a\\b", "a%2e", "é", &long] {
        assert_eq!(BlobName::parse(bad), None, "{bad}");
    }
    assert_ne!(random_word().unwrap(), random_word().unwrap());
}

#[actix_rt::test]
async fn what_was_put_is_there_until_it_is_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let blobs = blobs(folder.path());
    let name = name("avatars/1/a.png");
    blobs.put(&name, Bytes::from_static(b"0123456789")).await.unwrap();
    assert_eq!(read(&blobs, &name, None).await, b"0123456789");
    assert_eq!(read(&blobs, &name, Some(3..6)).await, b"345");
    assert_eq!(read(&blobs, &name, Some(8..20)).await, b"89");
    assert!(matches!(blobs.get(&name, Some(10..12)).await, Err(BlobError::OutOfRange)));
    let listed: Vec<KnownBlob> = blobs.list(&self::name("avatars/1")).try_collect().await.unwrap();
    assert_eq!(
        listed.iter().map(|known| known.name.clone()).collect::<Vec<_>>(),
        std::slice::from_ref(&name)
    );
    blobs.delete(&name).await.unwrap();
    blobs.delete(&name).await.unwrap();
    assert!(matches!(blobs.get(&name, None).await, Err(BlobError::Missing)));
    let mode = std::fs::metadata(folder.path().join("blobs")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[actix_rt::test]
async fn what_comes_in_pieces_is_kept_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let blobs = blobs(folder.path());
    let piece = Bytes::from(vec![7; 1 << 20]);
    for pieces in [0, 1, 5, 12] {
        let name = name(&format!("uploads/{pieces}"));
        let source = stream::iter((0..pieces).map(|_| Ok::<_, String>(piece.clone())));
        let size = blobs.put_stream(&name, source).await.unwrap();
        assert_eq!((size, read(&blobs, &name, None).await.len() as u64), (pieces << 20, pieces << 20));
    }
    for pieces in [1, 12] {
        let name = name("uploads/broken");
        let source = (0..pieces).map(|_| Ok(piece.clone())).chain([Err("the sender went away")]);
        let refused = blobs.put_stream(&name, stream::iter(source)).await.unwrap_err();
        assert!(matches!(refused, BlobError::Source(_)), "{refused}");
        assert!(matches!(blobs.get(&name, None).await, Err(BlobError::Missing)));
    }
}
