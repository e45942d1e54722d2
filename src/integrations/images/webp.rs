//! Writes thumbnails as WebP: stills, and animations of them.
//!
//! The encoder of the `image` family writes lossless WebP only, which makes large files of photographs. Most of their
//! bytes are noise, so noise is rounded away first; smooth areas, in which rounding would be visible as bands, stay as
//! they are.

use super::ImageRefusal;
use image::codecs::webp::WebPEncoder;
use image::{DynamicImage, RgbaImage};

/// Bytes before the first chunk of a file: `RIFF`, its size, `WEBP`.
const HEAD_BYTES: usize = 12;
/// A difference between neighbours from which on values are rounded to multiples of 4.
const ROUGH: u8 = 10;
/// A difference from which on values are rounded to multiples of 8.
const VERY_ROUGH: u8 = 22;

/// One frame of an animation, as a file of its own.
pub(super) struct EncodedFrame {
    pub file: Vec<u8>,
    pub millis: u32,
}

/// A file with one image, without metadata.
pub(super) fn still(image: RgbaImage) -> Result<Vec<u8>, ImageRefusal> {
    let image = without_noise(image);
    let is_opaque = image.pixels().all(|pixel| pixel.0[3] == u8::MAX);
    let image = DynamicImage::ImageRgba8(image);
    let image = if is_opaque { DynamicImage::ImageRgb8(image.into_rgb8()) } else { image };
    let mut out = Vec::new();
    image.write_with_encoder(WebPEncoder::new_lossless(&mut out))?;
    Ok(out)
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

/// The image with the low bits of rough areas rounded. Transparency stays as it is.
fn without_noise(image: RgbaImage) -> RgbaImage {
    let (width, height) = image.dimensions();
    let mut out = image.clone();
    for (x, y, pixel) in out.enumerate_pixels_mut() {
        if x == 0 || y == 0 || x + 1 == width || y + 1 == height {
            continue;
        }
        let around = [(x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)].map(|(x, y)| image.get_pixel(x, y).0);
        for channel in 0..3 {
            let value = pixel.0[channel];
            let roughness = around.iter().map(|other| other[channel].abs_diff(value)).max().unwrap_or(0);
            pixel.0[channel] = match roughness {
                0..ROUGH => value,
                ROUGH..VERY_ROUGH => rounded(value, 4),
                VERY_ROUGH.. => rounded(value, 8),
            };
        }
    }
    out
}

/// The nearest multiple of `step` that is a byte.
fn rounded(value: u8, step: u8) -> u8 {
    value.saturating_add(step / 2) / step * step
}
