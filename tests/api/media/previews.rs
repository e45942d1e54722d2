//! Previews of uploaded files in messages: sent, edited, rendered and scheduled.

use crate::api::pictures::{moving, picture};
use crate::support::{TestServer, TestUser};
use image::ImageFormat;
use serde_json::{Value, json};

async fn uploaded(who: &TestUser, name: &str, bytes: Vec<u8>) -> String {
    let body = who.upload("/user_uploads", &[], &[(name, bytes)]).ok().await;
    body["url"].as_str().expect("a url").to_owned()
}

fn preview(url: &str, title: &str, size: &str) -> String {
    let source = url.replacen("/user_uploads/", "/user_uploads/thumbnail/", 1);
    format!(
        "<div class=\"message_inline_image\"><a href=\"{url}\" title=\"{title}\"><img \
         data-original-content-type=\"image/png\" data-original-dimensions=\"{size}\" \
         src=\"{source}/840x560.webp\"></a></div>"
    )
}

async fn html_of(who: &TestUser, id: u64) -> String {
    let body = who.get(&format!("/messages/{id}"), &[("apply_markdown", &true)]).ok().await;
    body["message"]["content"].as_str().expect("HTML").to_owned()
}

async fn newest(who: &TestUser, narrow: Value) -> Vec<u64> {
    who.message_ids(narrow).await
}

#[tokio::test]
async fn sent_edited_and_rendered_messages_have_previews() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let channel = hamlet.create_channel("Denmark").await;
    let cat = uploaded(&hamlet, "cat.png", picture(1000, 700, ImageFormat::Png)).await;
    let dog = uploaded(&hamlet, "dog.png", picture(30, 20, ImageFormat::Png)).await;
    let notes = uploaded(&hamlet, "notes.txt", b"hello".to_vec()).await;
    let id = hamlet.send(&channel, "t", &format!("[notes]({notes}) and [cat.png]({cat})")).await;
    let expected = format!(
        "<p><a href=\"{notes}\">notes</a> and <a href=\"{cat}\">cat.png</a></p>\n{}",
        preview(&cat, "cat.png", "1000x700")
    );
    assert_eq!(html_of(&hamlet, id).await, expected);
    hamlet.edit(id, &[("content", &format!("[dog.png]({dog})"))]).ok().await;
    let expected = format!("<p><a href=\"{dog}\">dog.png</a></p>\n{}", preview(&dog, "dog.png", "30x20"));
    assert_eq!(html_of(&hamlet, id).await, expected);
    let rendered = hamlet.post("/messages/render", &[("content", &format!("[dog.png]({dog})"))]).ok().await;
    assert_eq!(rendered["rendered"], expected);
    assert_eq!(newest(&hamlet, json!([{"operator": "has", "operand": "image"}])).await, [id]);
    assert_eq!(newest(&hamlet, json!([{"operator": "has", "operand": "attachment"}])).await, [id]);
}

#[tokio::test]
async fn kinds_of_previews() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let rendered = |content: String| {
        let hamlet = hamlet.clone();
        async move {
            let body = hamlet.post("/messages/render", &[("content", &content)]).ok().await;
            body["rendered"].as_str().expect("HTML").to_owned()
        }
    };
    let gif = uploaded(&hamlet, "moving.gif", moving()).await;
    let html = rendered(format!("[]({gif})")).await;
    assert!(html.contains("<img data-animated=\"true\" data-original-content-type=\"image/gif\""), "{html}");
    assert!(html.contains("/840x560-anim.webp"), "{html}");
    // The bytes say what it is, not its name or declared type.
    let odd = uploaded(&hamlet, "odd.txt", picture(30, 20, ImageFormat::Png)).await;
    assert!(rendered(format!("[]({odd})")).await.contains("data-original-content-type=\"image/png\""));
    let fake = uploaded(&hamlet, "fake.png", b"no picture".to_vec()).await;
    assert_eq!(rendered(format!("[fake]({fake})")).await, format!("<p><a href=\"{fake}\">fake</a></p>"));
    let film = uploaded(&hamlet, "film.mp4", b"film".to_vec()).await;
    let html = rendered(format!("[film]({film})")).await;
    assert!(html.contains(&format!("<video preload=\"metadata\" src=\"{film}\"></video>")), "{html}");
    let sound = uploaded(&hamlet, "a.mp3", b"sound".to_vec()).await;
    assert_eq!(
        rendered(format!("![a.mp3]({sound})")).await,
        format!("<p><audio controls preload=\"metadata\" src=\"{sound}\" title=\"a.mp3\"></audio></p>")
    );
    // Markdown syntax of pictures is literal at this level.
    assert_eq!(rendered(format!("![x]({gif})")).await, format!("<p>![x]({gif})</p>"));
}

#[tokio::test]
async fn sound_is_claimed_by_its_message() {
    let t = TestServer::start().await;
    let [hamlet, othello] = t.users(["hamlet", "othello"]);
    let sound = uploaded(&hamlet, "a.mp3", b"sound".to_vec()).await;
    hamlet.send_direct(&[&othello], &format!("![a.mp3]({sound})")).await;
    assert_eq!(othello.fetch(&sound).await.2, b"sound");
}

#[tokio::test]
async fn files_of_others_have_no_preview() {
    let t = TestServer::start().await;
    let [hamlet, othello] = t.users(["hamlet", "othello"]);
    let cat = uploaded(&hamlet, "cat.png", picture(30, 20, ImageFormat::Png)).await;
    let content = format!("[cat]({cat})");
    let shown = || async {
        let body = othello.post("/messages/render", &[("content", &content)]).ok().await;
        body["rendered"].as_str().expect("HTML").contains("<img")
    };
    assert!(!shown().await, "a guessed link shows nothing of the file");
    hamlet.send_direct(&[&othello], &content).await;
    assert!(shown().await);
}

#[tokio::test]
async fn previews_can_be_disabled() {
    let t = TestServer::start().await;
    let [desdemona, hamlet] = t.users(["desdemona", "hamlet"]);
    let cat = uploaded(&hamlet, "cat.png", picture(30, 20, ImageFormat::Png)).await;
    desdemona.patch("/realm", &[("inline_image_preview", &false)]).ok().await;
    let body = hamlet.post("/messages/render", &[("content", &format!("[cat]({cat})"))]).ok().await;
    assert_eq!(body["rendered"], format!("<p><a href=\"{cat}\">cat</a></p>"));
}

#[tokio::test]
async fn rotated_pictures_have_the_dimensions_that_people_see() {
    use image::ImageEncoder;
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let image = image::RgbImage::new(40, 20);
    let mut jpeg = Vec::new();
    let mut encoder = image::codecs::jpeg::JpegEncoder::new(&mut jpeg);
    let exif = b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0".to_vec();
    encoder.set_exif_metadata(exif).expect("metadata");
    encoder.encode_image(&image).expect("a JPEG");
    let url = uploaded(&hamlet, "turned.jpg", jpeg).await;
    let body = hamlet.post("/messages/render", &[("content", &format!("[x]({url})"))]).ok().await;
    let html = body["rendered"].as_str().expect("HTML").to_owned();
    assert!(html.contains("data-original-dimensions=\"20x40\""), "{html}");
}

/// The second frame of the animation is beyond the first bytes that are looked at while the file arrives.
#[tokio::test]
async fn long_heads_are_read_before_the_answer() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let mut noise = 1_u32;
    let frame = |noise: &mut u32| {
        image::RgbaImage::from_fn(700, 700, |_, _| {
            *noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let [a, b, c, _] = noise.to_be_bytes();
            image::Rgba([a, b, c, 255])
        })
    };
    let mut gif = Vec::new();
    let mut encoder = image::codecs::gif::GifEncoder::new_with_speed(&mut gif, 30);
    for _ in 0..2 {
        encoder.encode_frame(image::Frame::new(frame(&mut noise))).expect("a frame");
    }
    drop(encoder);
    assert!(gif.len() > 512 << 10, "{}", gif.len());
    let url = uploaded(&hamlet, "long.gif", gif).await;
    let body = hamlet.post("/messages/render", &[("content", &format!("[x]({url})"))]).ok().await;
    let html = body["rendered"].as_str().expect("HTML").to_owned();
    assert!(html.contains("data-animated=\"true\"") && html.contains("\"700x700\""), "{html}");
}
