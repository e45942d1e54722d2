//! The picture that is sent where an image has no thumbnail: an empty frame with a diagonal line.

use bytes::Bytes;
use image::{ImageFormat, Rgb, RgbImage};
use std::io::Cursor;
use std::sync::LazyLock;

const WIDTH: u32 = 450;
const HEIGHT: u32 = 300;
const BORDER: u32 = 4;

static MISSING: LazyLock<Bytes> = LazyLock::new(|| {
    let mut out = Cursor::new(Vec::new());
    // Writing to memory cannot fail.
    let _ = RgbImage::from_fn(WIDTH, HEIGHT, color).write_to(&mut out, ImageFormat::Png);
    out.into_inner().into()
});

/// The picture, as PNG.
pub fn missing_picture() -> Bytes {
    MISSING.clone()
}

fn color(x: u32, y: u32) -> Rgb<u8> {
    let is_border = x < BORDER || y < BORDER || x + BORDER >= WIDTH || y + BORDER >= HEIGHT;
    let is_diagonal = (x * HEIGHT).abs_diff(y * WIDTH) < BORDER * WIDTH / 2;
    if is_border || is_diagonal { Rgb([150, 150, 150]) } else { Rgb([235, 235, 235]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_picture_is_a_png() {
        let image = image::load_from_memory_with_format(&missing_picture(), ImageFormat::Png).unwrap();
        assert_eq!((image.width(), image.height()), (WIDTH, HEIGHT));
    }
}
