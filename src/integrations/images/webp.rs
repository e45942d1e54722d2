//! Writes thumbnails as WebP: stills, and animations of them.
//!
//! The encoder of the `image` family writes lossless WebP only, which makes large files of photographs. Their values are rounded
//! first, which takes a third of the bytes; images that are small without that, such as screenshots, are exact.

use super::ImageRefusal;
use image::codecs::webp::WebPEncoder;
use image::{DynamicImage, RgbaImage};

/// Bytes before the first chunk of a file: `RIFF`, its size, `WEBP`.
const HEAD_BYTES: usize = 12;
/// Bytes up to which an image is written exactly.
const EXACT_BYTES_MAX: usize = 128 << 10;
/// The values of larger images are multiples of this.
const STEP: u8 = 4;

/// One frame of an animation, as a file of its own.
pub(super) struct EncodedFrame {
    pub file: Vec<u8>,
    pub millis: u32,
}

/// A file with one image, without metadata.
pub(super) fn still(mut image: RgbaImage) -> Result<Vec<u8>, ImageRefusal> {
    let exact = encoded(&image)?;
    if exact.len() <= EXACT_BYTES_MAX {
        return Ok(exact);
    }
    for pixel in image.pixels_mut() {
        let [red, green, blue, _] = &mut pixel.0;
        for value in [red, green, blue] {
            *value = rounded(*value);
        }
    }
    let rounded = encoded(&image)?;
    Ok(if rounded.len() < exact.len() { rounded } else { exact })
}

fn encoded(image: &RgbaImage) -> Result<Vec<u8>, ImageRefusal> {
    let is_opaque = image.pixels().all(|pixel| pixel.0[3] == u8::MAX);
    let image = DynamicImage::ImageRgba8(image.clone());
    let image = if is_opaque { DynamicImage::ImageRgb8(image.into_rgb8()) } else { image };
    let mut out = Vec::new();
    image.write_with_encoder(WebPEncoder::new_lossless(&mut out))?;
    Ok(out)
}

/// The nearest multiple of the step. White stays white.
fn rounded(value: u8) -> u8 {
    if value >= u8::MAX - STEP / 2 { u8::MAX } else { (value + STEP / 2) / STEP * STEP }
}

/// A file with frames of one size, each replacing the one before it, repeated for ever.
pub(super) fn animation(width: u32, height: u32, frames: &[EncodedFrame]) -> Vec<u8> {
    const ALPHA_AND_ANIMATION: u8 = 0x12;
    const NO_BLENDING: u8 = 0x02;
    let mut body = b"WEBP".to_vec();
    let canvas = [[ALPHA_AND_ANIMATION, 0, 0, 0].as_slice(), &u24(width - 1), &u24(height - 1)].concat();
    push_chunk(&mut body, b"VP8X", &canvas);
    // Transparent background, endless repetition.
    push_chunk(&mut body, b"ANIM", &[0; 6]);
    for frame in frames {
        let mut content = [[0; 6].as_slice(), &u24(width - 1), &u24(height - 1), &u24(frame.millis)].concat();
        content.push(NO_BLENDING);
        content.extend_from_slice(frame.file.get(HEAD_BYTES..).unwrap_or_default());
        push_chunk(&mut body, b"ANMF", &content);
    }
    let mut out = Vec::with_capacity(body.len() + 8);
    push_chunk(&mut out, b"RIFF", &body);
    out
}

fn push_chunk(out: &mut Vec<u8>, name: &[u8; 4], content: &[u8]) {
    out.extend_from_slice(name);
    // Frames are bounded, far below 4 GiB in all.
    out.extend_from_slice(&u32::try_from(content.len()).unwrap_or(u32::MAX).to_le_bytes());
    out.extend_from_slice(content);
    if content.len() % 2 == 1 {
        out.push(0);
    }
}

fn u24(value: u32) -> [u8; 3] {
    let [low, middle, high, _] = value.to_le_bytes();
    [low, middle, high]
}
