//! Thumbnails of uploaded images: WebP without metadata, rotated by the EXIF orientation, at most 840 × 560 pixels.

use super::memory::DECODED;
use super::webp::{self, EncodedFrame};
use super::{
    FRAME_PIXEL_BYTES, FRAMES_MAX, ImageRefusal, PIXELS_MAX, check_size, decode, format_of, frames, resized,
    size_to_fit,
};
use image::imageops::FilterType;
use image::{DynamicImage, Frame};

/// Maximum width of a thumbnail in pixels.
pub const WIDTH_MAX: u32 = 840;
/// Maximum height of a thumbnail in pixels.
pub const HEIGHT_MAX: u32 = 560;
/// Pixels of all frames of an animated thumbnail together. Longer animations are smaller.
const ANIMATION_PIXELS_MAX: u64 = 12_000_000;

/// How pixels are combined.
const FILTER: FilterType = FilterType::CatmullRom;

/// The two formats of thumbnails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ThumbnailFormat {
    /// The image, or the first frame of an animation.
    Still,
    /// The animation; for other images the same as `Still`.
    Animated,
}

impl ThumbnailFormat {
    /// Both formats, in the order in which clients get them.
    pub const ALL: [Self; 2] = [Self::Animated, Self::Still];

    /// The last part of its URL, which is also its name in the answer of `register`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Still => "840x560.webp",
            Self::Animated => "840x560-anim.webp",
        }
    }

    /// The format closest to a requested one, such as `500x850.jpg`; none if the name is not one of a format.
    pub fn closest(name: &str) -> Option<Self> {
        let (size, extension) = name.rsplit_once('.')?;
        let (size, is_animated) = match size.strip_suffix("-anim") {
            Some(size) => (size, true),
            None => (size, false),
        };
        let (width, height) = size.split_once('x')?;
        let is_number =
            |text: &str| (1..=5).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
        let is_word = !extension.is_empty() && extension.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let is_format = is_number(width) && is_number(height) && is_word;
        is_format.then_some(if is_animated { Self::Animated } else { Self::Still })
    }
}

/// Makes the thumbnail of an image.
///
/// # Errors
/// If the bytes are not an image, or it is too large.
pub fn make(bytes: &[u8], format: ThumbnailFormat) -> Result<Vec<u8>, ImageRefusal> {
    if format == ThumbnailFormat::Animated
        && let Some(animation) = animation(bytes)?
    {
        return Ok(animation);
    }
    webp::still(decode(bytes, None)?.resized_to_fit(WIDTH_MAX, HEIGHT_MAX, FILTER))
}

/// The animation; none if there are not two frames that can be decoded within the limits.
fn animation(bytes: &[u8]) -> Result<Option<Vec<u8>>, ImageRefusal> {
    let format = format_of(bytes, None)?;
    check_size(bytes, format)?;
    // The size of the frames depends on their number.
    let Some((counted, pixels)) = frames(bytes, format)? else { return Ok(None) };
    let _held = DECODED.hold(pixels * FRAME_PIXEL_BYTES);
    let count_max = usize::try_from(PIXELS_MAX / pixels.max(1)).unwrap_or(usize::MAX).min(FRAMES_MAX);
    let count = counted.take(count_max).take_while(Result::is_ok).count();
    if count < 2 {
        return Ok(None);
    }
    let Some((frames, _)) = frames(bytes, format)? else { return Ok(None) };
    let mut size = None;
    let mut encoded = Vec::with_capacity(count);
    for frame in frames.take(count) {
        let frame = frame?;
        let millis = millis(&frame);
        let image = DynamicImage::ImageRgba8(frame.into_buffer());
        let (width, height) = *size.get_or_insert_with(|| frame_size(image.width(), image.height(), count));
        encoded.push(EncodedFrame { file: webp::still(resized(image, width, height, FILTER))?, millis });
    }
    Ok(size.map(|(width, height)| webp::animation(width, height, &encoded)))
}

fn millis(frame: &Frame) -> u32 {
    let (numerator, denominator) = frame.delay().numer_denom_ms();
    (numerator / denominator.max(1)).min((1 << 24) - 1)
}

/// The size of each of `count` frames.
fn frame_size(width: u32, height: u32, count: usize) -> (u32, u32) {
    let (width, height) = size_to_fit(width, height, WIDTH_MAX, HEIGHT_MAX);
    let pixels = u64::from(width) * u64::from(height) * count as u64;
    if pixels <= ANIMATION_PIXELS_MAX {
        return (width, height);
    }
    let scale = (ANIMATION_PIXELS_MAX as f64 / pixels as f64).sqrt();
    let scaled = |side: u32| (f64::from(side) * scale) as u32;
    size_to_fit(width, height, scaled(width).max(1), scaled(height).max(1))
}

#[cfg(test)]
mod tests;
