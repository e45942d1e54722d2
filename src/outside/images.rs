//! Pictures that people upload: looked at, cut to size and written anew, so that nothing of what came is ever served.
//!
//! Decoding is slow and a small file can stand for a huge picture: sizes are looked at before anything is unpacked, memory
//! has a bound, and a few at once are worked on in the background.

use crate::background::{self, Background};
use crate::http::{ApiError, Code};
use actors::DomainError;
use image::codecs::gif::{GifDecoder, GifEncoder, Repeat};
use image::codecs::png::PngDecoder;
use image::codecs::webp::WebPDecoder;
use image::imageops::FilterType;
use image::{
    AnimationDecoder, DynamicImage, Frame, Frames, ImageDecoder, ImageError, ImageFormat, ImageReader,
    Limits, RgbaImage, imageops,
};
use std::io::Cursor;

/// Pixels of a picture, or of all pictures of one that moves. Larger ones are refused: the largest cameras stay below.
const PIXELS_MAX: u64 = 50_000_000;
/// Memory for unpacking one picture, in bytes.
const BYTES_MAX: u64 = 256 << 20;
/// Pictures in one that moves.
const FRAMES_MAX: usize = 1000;
/// Pictures that are unpacked at once.
const TURNS_MAX: usize = 2;
/// Requests that may wait for their turn. Past it: 503.
const WAITING_MAX: usize = 64;
/// Side of an emoji, in pixels.
const EMOJI_SIDE: u32 = 64;
/// Side of a small picture of somebody or of an organization, in pixels.
const SMALL_SIDE: u32 = 100;
/// Side of a larger picture of somebody, in pixels.
const MEDIUM_SIDE: u32 = 500;
/// Width of a logo, in pixels, at most; its height is at most that of a small picture.
const LOGO_WIDTH_MAX: u32 = 800;

/// Why a picture is refused. The display text is exactly what a client reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImageRefusal {
    /// None of the formats that are taken.
    #[error("Invalid image format")]
    Format,
    /// Broken, or no picture at all.
    #[error("Could not decode image; did you upload an image file?")]
    Undecodable,
    /// More pixels than anybody needs.
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

/// Who may unpack pictures at the moment.
pub struct Images(Background);

/// The right to unpack one picture.
pub struct Turn(background::Turn);

impl Default for Images {
    fn default() -> Self {
        Self(Background::new(TURNS_MAX, WAITING_MAX))
    }
}

impl Images {
    /// Waits for one's turn.
    ///
    /// # Errors
    /// `Overloaded` when too many wait already.
    pub async fn turn(&self) -> Result<Turn, DomainError> {
        self.0.turn().await.map(Turn)
    }
}

impl Turn {
    /// Does the work. The turn ends with it, also when nobody waits for it any more.
    ///
    /// # Errors
    /// BAD_IMAGE for what the work refuses.
    pub async fn run<T: Send + 'static>(
        self,
        work: impl FnOnce() -> Result<T, ImageRefusal> + Send + 'static,
    ) -> Result<T, ApiError> {
        let done = self.0.run(work).await?;
        done.map_err(|refusal| ApiError::new(Code::BAD_IMAGE, refusal.to_string()))
    }
}

/// Somebody's picture in two sizes, both PNG.
pub struct AvatarImages {
    /// 100 pixels.
    pub small: Vec<u8>,
    /// 500 pixels.
    pub medium: Vec<u8>,
}

/// An emoji.
pub struct EmojiImage {
    /// PNG, or GIF where it moves.
    pub bytes: Vec<u8>,
    /// PNG of its first moment, where it moves.
    pub still: Option<Vec<u8>>,
}

/// Somebody's picture: the square in its middle, in two sizes.
pub fn avatar(bytes: &[u8], declared: Option<&str>) -> Result<AvatarImages, ImageRefusal> {
    let image = decode(bytes, declared)?;
    Ok(AvatarImages { small: png(&square(&image, SMALL_SIDE))?, medium: png(&square(&image, MEDIUM_SIDE))? })
}

/// An organization's icon: the square in its middle.
pub fn icon(bytes: &[u8], declared: Option<&str>) -> Result<Vec<u8>, ImageRefusal> {
    png(&square(&decode(bytes, declared)?, SMALL_SIDE))
}

/// An organization's logo: whole, made smaller where it has to be.
pub fn logo(bytes: &[u8], declared: Option<&str>) -> Result<Vec<u8>, ImageRefusal> {
    let image = decode(bytes, declared)?;
    let fits = image.width() <= LOGO_WIDTH_MAX && image.height() <= SMALL_SIDE;
    let image = if fits { image } else { image.resize(LOGO_WIDTH_MAX, SMALL_SIDE, FilterType::Lanczos3) };
    png(&image.into_rgba8())
}

/// An emoji: the square in its middle, and if it moves, all of it with nothing around it.
pub fn emoji(bytes: &[u8], declared: Option<&str>) -> Result<EmojiImage, ImageRefusal> {
    let format = format_of(bytes, declared)?;
    check_size(bytes, format)?;
    if let Some((frames, pixels)) = frames(bytes, format)? {
        let moving = animation(frames, pixels)?;
        if let Some((bytes, first)) = moving {
            return Ok(EmojiImage { bytes, still: Some(png(&first)?) });
        }
    }
    let still = png(&square(&decode(bytes, declared)?, EMOJI_SIDE))?;
    Ok(EmojiImage { bytes: still, still: None })
}

/// By its first bytes; what it was said to be only tells what is wrong with it.
fn format_of(bytes: &[u8], declared: Option<&str>) -> Result<ImageFormat, ImageRefusal> {
    let known = [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Gif, ImageFormat::WebP];
    match image::guess_format(bytes) {
        Ok(format) if known.contains(&format) => Ok(format),
        Ok(_) => Err(ImageRefusal::Format),
        Err(_) => {
            let declared = declared.and_then(ImageFormat::from_mime_type);
            let is_known = declared.is_some_and(|format| known.contains(&format));
            Err(if is_known { ImageRefusal::Undecodable } else { ImageRefusal::Format })
        }
    }
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

/// Reads no more than the head of a picture.
fn check_size(bytes: &[u8], format: ImageFormat) -> Result<(), ImageRefusal> {
    let decoder = reader(bytes, format).into_decoder()?;
    let (width, height) = decoder.dimensions();
    let pixels = u64::from(width) * u64::from(height);
    if pixels == 0 {
        return Err(ImageRefusal::Undecodable);
    }
    if pixels > PIXELS_MAX || decoder.total_bytes() > BYTES_MAX {
        return Err(ImageRefusal::TooLarge);
    }
    Ok(())
}

/// A whole picture, the right side up.
fn decode(bytes: &[u8], declared: Option<&str>) -> Result<DynamicImage, ImageRefusal> {
    let format = format_of(bytes, declared)?;
    check_size(bytes, format)?;
    let mut decoder = reader(bytes, format).into_decoder()?;
    let orientation = decoder.orientation()?;
    let mut image = DynamicImage::from_decoder(decoder)?;
    image.apply_orientation(orientation);
    Ok(image)
}

/// The square in the middle, `side` pixels wide, enlarged where there is not enough of it.
fn square(image: &DynamicImage, side: u32) -> RgbaImage {
    let shorter = image.width().min(image.height());
    let (left, top) = ((image.width() - shorter) / 2, (image.height() - shorter) / 2);
    let cut = image.crop_imm(left, top, shorter, shorter);
    // From much larger ones, first quickly to about the size and then well: a camera's picture would take seconds.
    let cut = if shorter > side * 4 { cut.thumbnail_exact(side * 2, side * 2) } else { cut };
    cut.resize_exact(side, side, FilterType::Lanczos3).into_rgba8()
}

fn png(image: &RgbaImage) -> Result<Vec<u8>, ImageRefusal> {
    let mut out = Cursor::new(Vec::new());
    image.write_to(&mut out, ImageFormat::Png)?;
    Ok(out.into_inner())
}

/// The moments of a picture that may move, and how many pixels each of them has.
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

/// A GIF of the moments and the first of them; none where there is only one. One moment at a time is in memory.
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
            encoder.encode_frame(Frame::from_parts(padded(&image), 0, 0, delay))?;
        }
    }
    Ok(first.filter(|_| count > 1).map(|first| (out, first)))
}

/// The whole picture in a square with nothing around it.
fn padded(image: &DynamicImage) -> RgbaImage {
    let small = image.resize(EMOJI_SIDE, EMOJI_SIDE, FilterType::Triangle).into_rgba8();
    let mut square = RgbaImage::new(EMOJI_SIDE, EMOJI_SIDE);
    let (left, top) = ((EMOJI_SIDE - small.width()) / 2, (EMOJI_SIDE - small.height()) / 2);
    imageops::replace(&mut square, &small, left.into(), top.into());
    square
}

#[cfg(test)]
mod tests;
