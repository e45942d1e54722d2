//! `GET /user_uploads/thumbnail/…`.

use crate::api::pictures::{moving, picture};
use crate::support::{TestServer, TestUser};
use image::ImageFormat;
use image::codecs::webp::WebPDecoder;
use image::{AnimationDecoder, ImageDecoder};
use std::io::Cursor;

async fn uploaded(who: &TestUser, name: &str, bytes: Vec<u8>) -> String {
    let body = who.upload("/user_uploads", &[], &[(name, bytes)]).ok().await;
    body["url"].as_str().expect("a url").to_owned()
}

fn thumbnail_of(url: &str, format: &str) -> String {
    format!("{}/{format}", url.replacen("/user_uploads/", "/user_uploads/thumbnail/", 1))
}

fn size(bytes: &[u8]) -> (u32, u32) {
    let image = image::load_from_memory_with_format(bytes, ImageFormat::WebP).expect("WebP");
    (image.width(), image.height())
}

#[tokio::test]
async fn thumbnails_of_images() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    for format in [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Gif, ImageFormat::WebP] {
        let url = uploaded(&hamlet, "cat", picture(1000, 700, format)).await;
        for name in ["840x560.webp", "840x560-anim.webp", "840x560.xyz", "100x75.jpg"] {
            let (status, kind, bytes) = hamlet.fetch(&thumbnail_of(&url, name)).await;
            assert_eq!((status, kind.as_str(), size(&bytes)), (200, "image/webp", (800, 560)), "{name}");
        }
    }
    let url = uploaded(&hamlet, "small.png", picture(30, 20, ImageFormat::Png)).await;
    let answer = hamlet.bare(reqwest::Method::GET, &thumbnail_of(&url, "100x75.jpg")).await;
    assert_eq!(answer.header("Content-Disposition"), "inline; filename=\"840x560.webp\"");
    assert_eq!(answer.header("Cache-Control"), "private, immutable");
    assert_eq!(answer.header("X-Content-Type-Options"), "nosniff");
}

#[tokio::test]
async fn thumbnails_of_animations() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let url = uploaded(&hamlet, "moving.gif", moving()).await;
    let (_, _, bytes) = hamlet.fetch(&thumbnail_of(&url, "840x560-anim.webp")).await;
    let decoder = WebPDecoder::new(Cursor::new(&bytes)).expect("WebP");
    assert!(decoder.has_animation());
    assert_eq!(decoder.dimensions(), (90, 90));
    assert_eq!(decoder.into_frames().collect_frames().expect("frames").len(), 3);
    let (_, _, bytes) = hamlet.fetch(&thumbnail_of(&url, "840x560.webp")).await;
    assert!(!WebPDecoder::new(Cursor::new(&bytes)).expect("WebP").has_animation());
}

#[tokio::test]
async fn files_without_thumbnail_get_a_picture() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let image = uploaded(&hamlet, "cat.png", picture(30, 20, ImageFormat::Png)).await;
    let text = uploaded(&hamlet, "cat.png", b"not a picture".to_vec()).await;
    let torn = uploaded(&hamlet, "torn.png", picture(300, 200, ImageFormat::Png)[..100].to_vec()).await;
    for path in [
        thumbnail_of(&text, "840x560.webp"),
        thumbnail_of(&torn, "840x560.webp"),
        thumbnail_of(&image, "840x560"),
        thumbnail_of(&image, "x"),
        "/user_uploads/thumbnail/1/nothing".to_owned(),
        thumbnail_of("/user_uploads/1/ab/nowhere/cat.png", "840x560.webp"),
    ] {
        let (status, kind, bytes) = hamlet.fetch(&path).await;
        assert_eq!((status, kind.as_str()), (404, "image/png"), "{path}");
        assert!(image::load_from_memory(&bytes).is_ok(), "{path}");
    }
}

#[tokio::test]
async fn thumbnails_have_the_readers_of_the_file() {
    let t = TestServer::start().await;
    let [hamlet, othello] = t.users(["hamlet", "othello"]);
    let url = uploaded(&hamlet, "cat.png", picture(30, 20, ImageFormat::Png)).await;
    let thumbnail = thumbnail_of(&url, "840x560.webp");
    assert_eq!(othello.fetch(&thumbnail).await.0, 403);
    assert_eq!(t.anonymous().fetch(&thumbnail).await.0, 401);
    // Also when it has been made.
    assert_eq!(hamlet.fetch(&thumbnail).await.0, 200);
    assert_eq!(othello.fetch(&thumbnail).await.0, 403);
    hamlet.send_direct(&[&othello], &format!("[cat]({url})")).await;
    assert_eq!(othello.fetch(&thumbnail).await.0, 200);
    let with_key = format!("{thumbnail}?api_key={}", othello.key);
    assert_eq!(t.anonymous().fetch(&with_key).await.0, 200);
}

#[tokio::test]
async fn thumbnails_are_deleted_with_their_image() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let url = uploaded(&hamlet, "moving.gif", moving()).await;
    for format in ["840x560.webp", "840x560-anim.webp"] {
        assert_eq!(hamlet.fetch(&thumbnail_of(&url, format)).await.0, 200);
    }
    let folder = t.data().join("blobs/thumbnails");
    assert_eq!(files_below(&folder), 2);
    let body = hamlet.get("/attachments", &[]).ok().await;
    let id = &body["attachments"][0]["id"];
    hamlet.delete(&format!("/attachments/{id}"), &[]).ok().await;
    assert_eq!(files_below(&folder), 0);
    assert_eq!(hamlet.fetch(&thumbnail_of(&url, "840x560.webp")).await.0, 404);
}

fn files_below(folder: &std::path::Path) -> usize {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    let of = |entry: std::fs::DirEntry| if entry.path().is_dir() { files_below(&entry.path()) } else { 1 };
    entries.map(|entry| of(entry.expect("an entry"))).sum()
}

#[tokio::test]
async fn registration_names_the_formats() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let url = uploaded(&hamlet, "moving.gif", moving()).await;
    let state = hamlet.register().modern().await.state.clone();
    let formats = state["server_thumbnail_formats"].as_array().expect("formats").clone();
    assert_eq!(formats.len(), 2);
    for format in formats {
        let name = format["name"].as_str().expect("a name");
        assert_eq!(hamlet.fetch(&thumbnail_of(&url, name)).await.1, "image/webp", "{name}");
    }
}
