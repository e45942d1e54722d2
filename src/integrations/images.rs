//! Uploaded images: validated, resized and re-encoded, so that the uploaded bytes are never served.
//!
//! Decoding is slow and a small file can expand to a huge image: dimensions are checked before decoding, memory is
//! bounded, a few at a time are decoded in the background, and of large ones only one (`memory`).

pub mod inspect;
mod memory;
pub mod missing;
pub mod thumbnail;
mod webp;

use crate::background::Background;
use image::codecs::gif::{GifDecoder, GifEncoder, Repeat};
use image::codecs::png::PngDecoder;
use image::codecs::webp::WebPDecoder;
use image::imageops::FilterType;
use image::metadata::Orientation;
use image::{
    AnimationDecoder, DynamicImage, Frame, Frames, ImageDecoder, ImageError, ImageFormat, ImageReader,
    Limits, RgbaImage, imageops,
};
use memory::{DECODED, DecodedBytes, Held};
use std::io::Cursor;
use std::time::Duration;

/// Maximum number of pixels of an image, all frames of an animation together. The largest cameras stay below.
const PIXELS_MAX: u64 = 50_000_000;
/// Memory for decoding one image, in bytes.
const BYTES_MAX: u64 = 256 << 20;
const FRAMES_MAX: usize = 1000;
/// Bytes in memory for each pixel of an animation's frame: as it is read, and with what was shown before.
const FRAME_PIXEL_BYTES: u64 = 8;
/// The formats that are decoded.
const KNOWN: [ImageFormat; 4] = [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Gif, ImageFormat::WebP];
/// Images that are decoded at a time.
const PERMITS_MAX: usize = 2;
/// Maximum number of waiting requests. Beyond it: 503.
const WAITING_MAX: usize = 64;
/// How long an image waits for an idle core: some times what the largest takes. Waiting for the memory of others that are
/// decoded on idle cores counts, too: at ordinary priority it has other memory.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);
const EMOJI_SIDE: u32 = 64;
/// Side of a small avatar or an icon, in pixels.
const SMALL_SIDE: u32 = 100;
const MEDIUM_SIDE: u32 = 500;
/// Maximum width of a logo, in pixels; its maximum height is that of an icon.
const LOGO_WIDTH_MAX: u32 = 800;

/// Why an image is refused. The display text is exactly what a client reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImageRefusal {
    #[error("Invalid image format")]
    Format,
    #[error("Could not decode image; did you upload an image file?")]
    Undecodable,
    #[error("Image size exceeds limit.")]
    TooLarge,
}

impl From<ImageError> for ImageRefusal {
    fn from(error: ImageError) -> Self {
        match error {
            ImageError::Limits(_) => Self::TooLarge,
            _ => Self::Undecodable,
        }
    }
}

/// Where pictures are decoded: a few at a time.
pub fn decoding_threads() -> Background {
    Background::new(PERMITS_MAX, WAITING_MAX, PATIENCE)
}

/// An avatar in two sizes, both PNG.
pub struct AvatarImages {
    pub small: Vec<u8>,
    pub medium: Vec<u8>,
}

/// A custom emoji.
pub struct EmojiImage {
    /// PNG, or GIF if it is animated.
    pub bytes: Vec<u8>,
    /// PNG of the first frame of an animation.
    pub still: Option<Vec<u8>>,
}

/// An avatar: the center square, in two sizes.
pub fn avatar(bytes: &[u8], declared: Option<&str>) -> Result<AvatarImages, ImageRefusal> {
    let image = decode(bytes, declared)?;
    Ok(AvatarImages { small: png(&image.square(SMALL_SIDE))?, medium: png(&image.square(MEDIUM_SIDE))? })
}

/// An organization's icon: the center square.
pub fn icon(bytes: &[u8], declared: Option<&str>) -> Result<Vec<u8>, ImageRefusal> {
    png(&decode(bytes, declared)?.square(SMALL_SIDE))
}

/// An organization's logo: the complete image, reduced if necessary.
pub fn logo(bytes: &[u8], declared: Option<&str>) -> Result<Vec<u8>, ImageRefusal> {
    png(&decode(bytes, declared)?.resized_to_fit(LOGO_WIDTH_MAX, SMALL_SIDE, FilterType::Lanczos3))
}

/// A custom emoji: the center square, or an animation, complete and padded.
pub fn emoji(bytes: &[u8], declared: Option<&str>) -> Result<EmojiImage, ImageRefusal> {
    let format = format_of(bytes, declared)?;
    check_size(bytes, format)?;
    if let Some((frames, pixels)) = frames(bytes, format)? {
        let _held = DECODED.hold(pixels * FRAME_PIXEL_BYTES);
        let moving = animation(frames, pixels)?;
        if let Some((bytes, first)) = moving {
            return Ok(EmojiImage { bytes, still: Some(png(&first)?) });
        }
    }
    let still = png(&decode(bytes, declared)?.square(EMOJI_SIDE))?;
    Ok(EmojiImage { bytes: still, still: None })
}

/// Detected by the first bytes; the declared type only selects the error.
fn format_of(bytes: &[u8], declared: Option<&str>) -> Result<ImageFormat, ImageRefusal> {
    match image::guess_format(bytes) {
        Ok(format) if KNOWN.contains(&format) => Ok(format),
        Ok(_) => Err(ImageRefusal::Format),
        Err(_) => {
            let declared = declared.and_then(ImageFormat::from_mime_type);
            let is_known = declared.is_some_and(|format| KNOWN.contains(&format));
            Err(if is_known { ImageRefusal::Undecodable } else { ImageRefusal::Format })
        }
    }
}

/// Whether an image of these dimensions is decoded.
fn is_within_pixels(width: u32, height: u32) -> bool {
    let pixels = u64::from(width) * u64::from(height);
    pixels > 0 && pixels <= PIXELS_MAX
}

fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.max_alloc = Some(BYTES_MAX);
    limits
}

fn reader(bytes: &[u8], format: ImageFormat) -> ImageReader<Cursor<&[u8]>> {
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    reader.limits(limits());
    reader
}

/// Checks the dimensions, reading only the header. Returns the number of decoded bytes.
fn check_size(bytes: &[u8], format: ImageFormat) -> Result<u64, ImageRefusal> {
    let decoder = reader(bytes, format).into_decoder()?;
    let (width, height) = decoder.dimensions();
    let pixels = u64::from(width) * u64::from(height);
    if pixels == 0 {
        return Err(ImageRefusal::Undecodable);
    }
    if pixels > PIXELS_MAX || decoder.total_bytes() > BYTES_MAX {
        return Err(ImageRefusal::TooLarge);
    }
    Ok(decoder.total_bytes())
}

/// A complete image as it is stored, with the memory that it holds. It is rotated once it is small, because a rotation copies it.
struct Decoded<'d> {
    image: DynamicImage,
    /// From its metadata.
    orientation: Orientation,
    _held: Held<'d>,
}

/// A complete image, in memory that all such images share.
fn decode(bytes: &[u8], declared: Option<&str>) -> Result<Decoded<'static>, ImageRefusal> {
    decode_within(bytes, declared, &DECODED)
}

fn decode_within<'d>(
    bytes: &[u8],
    declared: Option<&str>,
    decoded: &'d DecodedBytes,
) -> Result<Decoded<'d>, ImageRefusal> {
    let format = format_of(bytes, declared)?;
    let held = decoded.hold(check_size(bytes, format)?);
    let mut decoder = reader(bytes, format).into_decoder()?;
    let orientation = decoder.orientation()?;
    Ok(Decoded { image: DynamicImage::from_decoder(decoder)?, orientation, _held: held })
}

impl Decoded<'_> {
    /// The center square, `side` pixels wide.
    fn square(&self, side: u32) -> RgbaImage {
        rotated(square(&self.image, side), self.orientation)
    }

    /// The complete image, reduced if it is larger than the maximum.
    fn resized_to_fit(self, width_max: u32, height_max: u32, filter: FilterType) -> RgbaImage {
        let Self { image, orientation, _held } = self;
        let (width, height) = (image.width(), image.height());
        let (width, height) = match swaps_sides(orientation) {
            false => size_to_fit(width, height, width_max, height_max),
            true => {
                let (shown_width, shown_height) = size_to_fit(height, width, width_max, height_max);
                (shown_height, shown_width)
            }
        };
        rotated(resized(image, width, height, filter), orientation)
    }
}

/// Whether width and height change places.
fn swaps_sides(orientation: Orientation) -> bool {
    match orientation {
        Orientation::Rotate90
        | Orientation::Rotate270
        | Orientation::Rotate90FlipH
        | Orientation::Rotate270FlipH => true,
        Orientation::NoTransforms
        | Orientation::Rotate180
        | Orientation::FlipHorizontal
        | Orientation::FlipVertical => false,
    }
}

fn rotated(image: RgbaImage, orientation: Orientation) -> RgbaImage {
    let mut image = DynamicImage::ImageRgba8(image);
    image.apply_orientation(orientation);
    image.into_rgba8()
}

/// The center square, `side` pixels wide, enlarged if necessary. Of a much larger image only the reduced one is copied.
fn square(image: &DynamicImage, side: u32) -> RgbaImage {
    let shorter = image.width().min(image.height());
    let scaled = |length: u32| (u64::from(length) * u64::from(side) / u64::from(shorter.max(1))) as u32;
    let reduced = (shorter > side * 4).then(|| {
        let (width, height) = (scaled(image.width()), scaled(image.height()));
        image.thumbnail_exact(width * 2, height * 2)
    });
    let image = reduced.as_ref().unwrap_or(image);
    let shorter = image.width().min(image.height());
    let (left, top) = ((image.width() - shorter) / 2, (image.height() - shorter) / 2);
    let cut = image.crop_imm(left, top, shorter, shorter);
    cut.resize_exact(side, side, FilterType::Lanczos3).into_rgba8()
}

/// The image in another size, well.
fn resized(image: DynamicImage, width: u32, height: u32, filter: FilterType) -> RgbaImage {
    if (image.width(), image.height()) == (width, height) {
        return image.into_rgba8();
    }
    reduce_quickly(image, width, height).resize_exact(width, height, filter).into_rgba8()
}

/// Reduces each side that is much longer than wanted to twice of that, quickly and without a copy in between. The filters
/// that follow keep 16 bytes for each pixel of the whole width, and a camera's picture would take them seconds.
fn reduce_quickly(image: DynamicImage, width: u32, height: u32) -> DynamicImage {
    let quick = |side: u32, wanted: u32| if side / 4 > wanted { wanted * 2 } else { side };
    let (width, height) = (quick(image.width(), width), quick(image.height(), height));
    match (image.width(), image.height()) == (width, height) {
        true => image,
        false => image.thumbnail_exact(width, height),
    }
}

/// The largest size within the maximum that has the same proportions, and is not larger than the image.
fn size_to_fit(width: u32, height: u32, width_max: u32, height_max: u32) -> (u32, u32) {
    match width <= width_max && height <= height_max {
        true => (width, height),
        false => scaled_to(width, height, width_max, height_max),
    }
}

/// The largest size within the maximum that has the same proportions.
fn scaled_to(width: u32, height: u32, width_max: u32, height_max: u32) -> (u32, u32) {
    let scale = (f64::from(width_max) / f64::from(width)).min(f64::from(height_max) / f64::from(height));
    let scaled = |side: u32, max: u32| ((f64::from(side) * scale).round() as u32).clamp(1, max);
    (scaled(width, width_max), scaled(height, height_max))
}

fn png(image: &RgbaImage) -> Result<Vec<u8>, ImageRefusal> {
    let mut out = Cursor::new(Vec::new());
    image.write_to(&mut out, ImageFormat::Png)?;
    Ok(out.into_inner())
}

/// The frames of a possibly animated image, and the pixels of each.
fn frames(bytes: &[u8], format: ImageFormat) -> Result<Option<(Frames<'_>, u64)>, ImageRefusal> {
    let source = Cursor::new(bytes);
    let pixels = |(width, height): (u32, u32)| u64::from(width) * u64::from(height);
    Ok(match format {
        ImageFormat::Gif => {
            let mut decoder = GifDecoder::new(source)?;
            decoder.set_limits(limits())?;
            let pixels = pixels(decoder.dimensions());
            Some((decoder.into_frames(), pixels))
        }
        ImageFormat::WebP => {
            let decoder = WebPDecoder::new(source)?;
            let pixels = pixels(decoder.dimensions());
            decoder.has_animation().then(|| (decoder.into_frames(), pixels))
        }
        ImageFormat::Png => {
            let decoder = PngDecoder::with_limits(source, limits())?;
            let pixels = pixels(decoder.dimensions());
            match decoder.is_apng()? {
                true => Some((decoder.apng()?.into_frames(), pixels)),
                false => None,
            }
        }
        _ => None,
    })
}

/// A GIF of the frames, and the first frame; none if there is only one. One frame at a time is in memory.
fn animation(frames: Frames<'_>, pixels: u64) -> Result<Option<(Vec<u8>, RgbaImage)>, ImageRefusal> {
    let mut out = Vec::new();
    let mut first: Option<RgbaImage> = None;
    let mut count = 0;
    {
        let mut encoder = GifEncoder::new(&mut out);
        encoder.set_repeat(Repeat::Infinite)?;
        for frame in frames {
            let frame = frame?;
            count += 1;
            if count > FRAMES_MAX || count as u64 * pixels > PIXELS_MAX {
                return Err(ImageRefusal::TooLarge);
            }
            let delay = frame.delay();
            let image = DynamicImage::ImageRgba8(frame.into_buffer());
            if first.is_none() {
                first = Some(square(&image, EMOJI_SIDE));
            }
            encoder.encode_frame(Frame::from_parts(padded(image), 0, 0, delay))?;
        }
    }
    Ok(first.filter(|_| count > 1).map(|first| (out, first)))
}

/// The complete image, padded to a square.
fn padded(image: DynamicImage) -> RgbaImage {
    let (width, height) = scaled_to(image.width(), image.height(), EMOJI_SIDE, EMOJI_SIDE);
    let small = resized(image, width, height, FilterType::Triangle);
    let mut square = RgbaImage::new(EMOJI_SIDE, EMOJI_SIDE);
    let (left, top) = ((EMOJI_SIDE - small.width()) / 2, (EMOJI_SIDE - small.height()) / 2);
    imageops::replace(&mut square, &small, left.into(), top.into());
    square
}

#[cfg(test)]
mod tests;
