//! Avatars, the organization's icon and logos, and custom emoji.

mod avatar;
mod emoji;
mod realm;
mod refusals;
mod served;

use crate::support::{TestServer, TestUser};
use image::codecs::gif::GifEncoder;
use image::{Delay, Frame, ImageFormat, Rgba, RgbaImage};
use serde_json::{Value, json};
use std::io::Cursor;

/// A PNG of one color.
pub fn picture(width: u32, height: u32, format: ImageFormat) -> Vec<u8> {
    let mut out = Cursor::new(Vec::new());
    let image =
        image::DynamicImage::ImageRgba8(RgbaImage::from_pixel(width, height, Rgba([200, 30, 30, 255])));
    image.to_rgb8().write_to(&mut out, format).expect("a picture");
    out.into_inner()
}

pub fn png() -> Vec<u8> {
    picture(120, 80, ImageFormat::Png)
}

/// An animated GIF.
pub fn moving() -> Vec<u8> {
    let mut out = Vec::new();
    let mut encoder = GifEncoder::new(&mut out);
    for shade in [0, 100, 200] {
        let image = RgbaImage::from_pixel(90, 90, Rgba([shade, 0, 0, 255]));
        let frame = Frame::from_parts(image, 0, 0, Delay::from_numer_denom_ms(100, 1));
        encoder.encode_frame(frame).expect("a frame");
    }
    drop(encoder);
    out
}

/// Content type, width and height of the picture at a path.
async fn fetch_picture(person: &TestUser, url: &str) -> (String, u32, u32) {
    let (status, content_type, bytes) = person.fetch(url).await;
    assert_eq!(status, 200, "{url}");
    let image = image::load_from_memory(&bytes).expect("a picture");
    (content_type, image.width(), image.height())
}

/// The state of a registration.
async fn registered(person: &TestUser) -> Value {
    person.register().modern().await.state.clone()
}

/// Sets a setting of the organization.
async fn set_realm(t: &TestServer, name: &str, value: Value) {
    t.user("desdemona").patch("/realm", &[(name, &value)]).ok().await;
}

fn bad_image(msg: &str) -> Value {
    json!({"msg": msg, "code": "BAD_IMAGE"})
}

/// The number of stored files of an organization.
fn stored_files(t: &TestServer) -> usize {
    fn count(folder: &std::path::Path) -> usize {
        let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
        let of = |entry: std::fs::DirEntry| if entry.path().is_dir() { count(&entry.path()) } else { 1 };
        entries.map(|entry| of(entry.expect("an entry"))).sum()
    }
    count(&t.data().join("blobs"))
}
