//! Reads what previews need to know of an uploaded image from its first bytes: type, dimensions and animation.
//!
//! Nothing is decoded, so the cost does not depend on the dimensions that a file claims to have.

use super::{BYTES_MAX, KNOWN, is_within_pixels, limits, swaps_sides};
use gif::DecodeOptions;
use image::codecs::png::PngDecoder;
use image::codecs::webp::WebPDecoder;
use image::error::{LimitError, LimitErrorKind};
use image::metadata::Orientation;
use image::{ImageDecoder, ImageError, ImageFormat, ImageReader, ImageResult};
use model::ImageInfo;
use std::io::Cursor;

/// First bytes of a file in which nearly all images can be inspected.
pub const HEAD_BYTES_MAX: usize = 256 << 10;
/// Largest file in bytes that is treated as an image. Larger ones have no preview.
pub const SOURCE_BYTES_MAX: u64 = 32 << 20;
/// Frames that are read to decide whether an image is animated.
const FRAMES_NEEDED: usize = 2;

/// The outcome of an inspection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inspection {
    Image(ImageInfo),
    /// Not an image that can have a preview: another type, broken, or too large.
    Other,
    /// The type is that of an image, but the bytes end before everything is known.
    Unfinished,
}

/// Inspects the first bytes of a file of `size` bytes, at least [`HEAD_BYTES_MAX`] of them if there are as many.
pub fn inspect(head: &[u8], size: u64) -> Inspection {
    let Some(format) = preview_format(head) else { return Inspection::Other };
    if size > SOURCE_BYTES_MAX {
        return Inspection::Other;
    }
    let is_whole = head.len() as u64 >= size;
    match inspect_as(format, head) {
        Ok(Some(info)) => Inspection::Image(info),
        Ok(None) if is_whole => Inspection::Other,
        Err(ImageError::Limits(_)) => Inspection::Other,
        Err(_) if is_whole => Inspection::Other,
        Ok(None) | Err(_) => Inspection::Unfinished,
    }
}

/// The media type of an image that can have a preview, by its first bytes.
pub fn preview_type(head: &[u8]) -> Option<&'static str> {
    preview_format(head).map(|format| format.to_mime_type())
}

fn preview_format(head: &[u8]) -> Option<ImageFormat> {
    let format = image::guess_format(head).ok()?;
    KNOWN.contains(&format).then_some(format)
}

/// None if the image has no second frame within the bytes, but may have one after them, or cannot have a preview.
fn inspect_as(format: ImageFormat, bytes: &[u8]) -> ImageResult<Option<ImageInfo>> {
    let source = || Cursor::new(bytes);
    match format {
        ImageFormat::Png => {
            let decoder = PngDecoder::with_limits(source(), limits())?;
            let is_animated = decoder.is_apng()?;
            described(decoder, is_animated)
        }
        ImageFormat::WebP => {
            let decoder = WebPDecoder::new(source())?;
            let is_animated = decoder.has_animation();
            described(decoder, is_animated)
        }
        ImageFormat::Gif => inspect_gif(bytes),
        _ => {
            let mut reader = ImageReader::with_format(source(), format);
            reader.limits(limits());
            described(reader.into_decoder()?, false)
        }
    }
}

/// Reads the sizes of the first frames, and skips their pixels.
fn inspect_gif(bytes: &[u8]) -> ImageResult<Option<ImageInfo>> {
    let mut options = DecodeOptions::new();
    options.skip_frame_decoding(true);
    let failed = |error: gif::DecodingError| ImageError::IoError(std::io::Error::other(error));
    let mut decoder = options.read_info(Cursor::new(bytes)).map_err(failed)?;
    let mut count = 0;
    while count < FRAMES_NEEDED && decoder.next_frame_info().map_err(failed)?.is_some() {
        count += 1;
    }
    let (width, height) = (decoder.width().into(), decoder.height().into());
    let is_shown = count > 0 && is_within_pixels(width, height);
    Ok(is_shown.then_some(ImageInfo { width, height, is_animated: count > 1, orientation: 1 }))
}

fn described(mut decoder: impl ImageDecoder, is_animated: bool) -> ImageResult<Option<ImageInfo>> {
    let (width, height) = decoder.dimensions();
    if !is_within_pixels(width, height) || decoder.total_bytes() > BYTES_MAX {
        return Err(too_large());
    }
    // Browsers show animations as stored.
    let orientation = if is_animated { Orientation::NoTransforms } else { decoder.orientation()? };
    let (width, height) = if swaps_sides(orientation) { (height, width) } else { (width, height) };
    Ok(Some(ImageInfo { width, height, is_animated, orientation: orientation.to_exif() }))
}

fn too_large() -> ImageError {
    ImageError::Limits(LimitError::from_kind(LimitErrorKind::DimensionError))
}

#[cfg(test)]
mod tests;
