use super::*;
use futures_util::future::join_all;
use image::{ImageFormat, RgbImage};
use std::io::Cursor;

fn name(text: &str) -> BlobName {
    BlobName::parse(text).unwrap()
}

async fn stage(bytes: Vec<u8>) -> (tempfile::TempDir, Blobs, Thumbnails) {
    let folder = tempfile::tempdir().unwrap();
    let config = crate::config::Config::load(None, [], crate::config::Overrides::default()).unwrap();
    let blobs = Blobs::open(&config.blobs, folder.path(), false).unwrap();
    blobs.put(&name("image.png"), bytes.into()).await.unwrap();
    let thumbnails = Thumbnails::new(blobs.clone());
    (folder, blobs, thumbnails)
}

fn png() -> Vec<u8> {
    let mut out = Cursor::new(Vec::new());
    RgbImage::new(1000, 700).write_to(&mut out, ImageFormat::Png).unwrap();
    out.into_inner()
}

#[actix_web::test]
async fn requests_at_the_same_time_make_one_thumbnail() {
    let (_folder, blobs, thumbnails) = stage(png()).await;
    let get =
        || thumbnails.get((name("image.png"), name("thumb.webp")), ThumbnailFormat::Still, Holder::Server);
    let found = join_all((0..5).map(|_| get())).await;
    let sizes: Vec<u64> = found.into_iter().map(|blob| blob.unwrap().size).collect();
    assert!(sizes[0] > 0 && sizes.iter().all(|size| *size == sizes[0]), "{sizes:?}");
    assert!(thumbnails.flights.lock().is_empty());
    // From now on it is stored.
    blobs.delete(&name("image.png")).await.unwrap();
    assert_eq!(get().await.unwrap().size, sizes[0]);
    let other =
        thumbnails.get((name("image.png"), name("other.webp")), ThumbnailFormat::Still, Holder::Server).await;
    assert!(matches!(other.err(), Some(ThumbnailError::Blob(BlobError::Missing))));
}

#[actix_web::test]
async fn an_image_that_cannot_be_decoded_is_tried_once() {
    let (_folder, blobs, thumbnails) = stage(png()[..100].to_vec()).await;
    let get =
        || thumbnails.get((name("image.png"), name("thumb.webp")), ThumbnailFormat::Still, Holder::Server);
    assert!(matches!(get().await.err(), Some(ThumbnailError::NotAnImage)));
    blobs.put(&name("image.png"), png().into()).await.unwrap();
    assert!(matches!(get().await.err(), Some(ThumbnailError::NotAnImage)));
}
