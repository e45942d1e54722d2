use super::*;
use image::codecs::jpeg::JpegEncoder;
use image::{Delay, ImageEncoder, Rgb, RgbImage, Rgba};

const SIZE_OF_BOMB: u32 = 30_000;

/// Left half red, right half blue.
pub(super) fn halves(width: u32, height: u32, format: ImageFormat) -> Vec<u8> {
    let color = |x, _| if x * 2 < width { Rgb([255, 0, 0]) } else { Rgb([0, 0, 255]) };
    let mut out = Cursor::new(Vec::new());
    RgbImage::from_fn(width, height, color).write_to(&mut out, format).unwrap();
    out.into_inner()
}

pub(super) fn moving(width: u32, height: u32, count: u8) -> Vec<u8> {
    let mut out = Vec::new();
    {
        let mut encoder = GifEncoder::new(&mut out);
        for number in 0..count {
            let image = RgbaImage::from_pixel(width, height, Rgba([number.wrapping_mul(40), 0, 200, 255]));
            let delay = Delay::from_numer_denom_ms(120, 1);
            encoder.encode_frame(Frame::from_parts(image, 0, 0, delay)).unwrap();
        }
    }
    out
}

pub(super) fn read(bytes: &[u8]) -> (ImageFormat, RgbaImage) {
    (image::guess_format(bytes).unwrap(), image::load_from_memory(bytes).unwrap().into_rgba8())
}

/// A PNG that consists of its header only.
pub(super) fn bomb(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = halves(1, 1, ImageFormat::Png);
    bytes[16..20].copy_from_slice(&width.to_be_bytes());
    bytes[20..24].copy_from_slice(&height.to_be_bytes());
    let checksum = checksum(&bytes[12..29]);
    bytes[29..33].copy_from_slice(&checksum);
    bytes
}

/// The checksum of a chunk of a PNG.
pub(super) fn checksum(bytes: &[u8]) -> [u8; 4] {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
        }
    }
    (!crc).to_be_bytes()
}

/// A JPEG, left half red, right half blue, with an EXIF orientation.
pub(super) fn turned(width: u32, height: u32, orientation: u8) -> Vec<u8> {
    let exif =
        [b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0".as_slice(), &[orientation, 0, 0, 0, 0, 0, 0, 0]]
            .concat();
    let image = image::load_from_memory(&halves(width, height, ImageFormat::Png)).unwrap();
    let mut out = Vec::new();
    let mut encoder = JpegEncoder::new(&mut out);
    encoder.set_exif_metadata(exif).unwrap();
    encoder.encode_image(&image).unwrap();
    out
}

/// The filters keep a picture of the whole width in floating point, so a long line would take sixteen times its pixels.
#[test]
fn long_lines_are_reduced_before_they_are_filtered() {
    let line = |width, height| DynamicImage::ImageRgb8(RgbImage::new(width, height));
    let reduced = |image, width, height| {
        let image = reduce_quickly(image, width, height);
        (image.width(), image.height())
    };
    assert_eq!(reduced(line(100_000, 1), 840, 1), (1680, 1));
    assert_eq!(reduced(line(1, 100_000), 1, 560), (1, 1120));
    assert_eq!(reduced(line(8000, 6000), 747, 560), (1494, 1120));
    assert_eq!(reduced(line(1000, 700), 800, 560), (1000, 700));
    let wide = halves(100_000, 1, ImageFormat::Png);
    let thumbnail = thumbnail::make(&wide, thumbnail::ThumbnailFormat::Still).unwrap();
    assert_eq!(read(&thumbnail).1.dimensions(), (840, 1));
    assert_eq!(read(&logo(&wide, None).unwrap()).1.dimensions(), (800, 1));
    assert_eq!(read(&avatar(&wide, None).unwrap().medium).1.dimensions(), (500, 500));
    assert_eq!(read(&emoji(&wide, None).unwrap().bytes).1.dimensions(), (64, 64));
}

#[test]
fn avatars_are_center_squares() {
    for format in [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Gif, ImageFormat::WebP] {
        let images = avatar(&halves(300, 150, format), None).unwrap();
        for (bytes, side) in [(&images.small, 100), (&images.medium, 500)] {
            let (written, image) = read(bytes);
            assert_eq!((written, image.dimensions()), (ImageFormat::Png, (side, side)), "{format:?}");
            let (left, right) = (image.get_pixel(5, side / 2), image.get_pixel(side - 5, side / 2));
            assert!(left[0] > 200 && left[2] < 60 && right[2] > 200 && right[0] < 60, "{left:?} {right:?}");
        }
    }
    let tiny = avatar(&halves(1, 1, ImageFormat::Png), None).unwrap();
    assert_eq!(read(&tiny.small).1.dimensions(), (100, 100));
    let large = avatar(&halves(4000, 3000, ImageFormat::Jpeg), None).unwrap();
    assert_eq!(read(&large.medium).1.dimensions(), (500, 500));
}

#[test]
fn logos_retain_their_aspect_ratio_and_are_not_enlarged() {
    for ((width, height), expected) in
        [((10, 10), (10, 10)), ((1000, 10), (800, 8)), ((400, 200), (200, 100)), ((800, 100), (800, 100))]
    {
        let logo = logo(&halves(width, height, ImageFormat::Png), None).unwrap();
        assert_eq!(read(&logo).1.dimensions(), expected, "{width}x{height}");
    }
    let icon = icon(&halves(300, 150, ImageFormat::Png), None).unwrap();
    assert_eq!(read(&icon).1.dimensions(), (100, 100));
}

#[test]
fn animated_emoji_stay_animated() {
    let moving = emoji(&moving(90, 30, 3), None).unwrap();
    let frames = GifDecoder::new(Cursor::new(&moving.bytes)).unwrap().into_frames().collect_frames().unwrap();
    assert_eq!(frames.len(), 3);
    for frame in &frames {
        assert_eq!(frame.buffer().dimensions(), (64, 64));
        assert_eq!(frame.delay().numer_denom_ms(), (120, 1));
        assert_eq!(frame.buffer().get_pixel(32, 2)[3], 0, "nothing above a wide one");
        assert_eq!(frame.buffer().get_pixel(32, 32)[3], 255);
    }
    let (format, still) = read(&moving.still.unwrap());
    assert_eq!((format, still.dimensions()), (ImageFormat::Png, (64, 64)));
    for still in [halves(200, 80, ImageFormat::Png), self::moving(20, 20, 1)] {
        let still = emoji(&still, None).unwrap();
        assert_eq!((read(&still.bytes).1.dimensions(), still.still.is_none()), ((64, 64), true));
    }
}

#[test]
fn invalid_images_are_refused() {
    let whole = halves(60, 60, ImageFormat::Png);
    let cases: [(&[u8], Option<&str>, ImageRefusal); 7] = [
        (b"", None, ImageRefusal::Format),
        (b"hello", Some("text/plain"), ImageRefusal::Format),
        (b"hello", Some("image/png"), ImageRefusal::Undecodable),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", Some("image/svg+xml"), ImageRefusal::Format),
        (b"II*\0\x08\0\0\0", Some("image/tiff"), ImageRefusal::Format),
        (&whole[..whole.len() / 2], Some("image/png"), ImageRefusal::Undecodable),
        (b"\x89PNG\r\n\x1a\n and then something else", None, ImageRefusal::Undecodable),
    ];
    for (bytes, declared, expected) in cases {
        assert_eq!(avatar(bytes, declared).err(), Some(expected), "{declared:?}");
        assert_eq!(emoji(bytes, declared).err(), Some(expected), "{declared:?}");
    }
}

#[test]
fn decompression_bombs_are_refused_by_their_header() {
    for (width, height) in [(SIZE_OF_BOMB, SIZE_OF_BOMB), (u32::MAX >> 1, 1), (1, 60_000_000)] {
        assert_eq!(
            avatar(&bomb(width, height), None).err(),
            Some(ImageRefusal::TooLarge),
            "{width}x{height}"
        );
        assert_eq!(emoji(&bomb(width, height), None).err(), Some(ImageRefusal::TooLarge), "{width}x{height}");
    }
    assert_eq!(emoji(&moving(4000, 4000, 5), None).err(), Some(ImageRefusal::TooLarge), "all of it counts");
    // With 16 bits a color, fewer pixels are as many bytes.
    let mut deep = bomb(1, 50_000_000);
    deep[24] = 16;
    let checksum = checksum(&deep[12..29]);
    deep[29..33].copy_from_slice(&checksum);
    assert_eq!(logo(&deep, None).err(), Some(ImageRefusal::TooLarge));
}

#[test]
fn decoded_bytes_are_held_while_the_image_is_in_memory() {
    let decoded = DecodedBytes::new(1_000_000);
    let image = decode_within(&halves(40, 20, ImageFormat::Png), None, &decoded).unwrap();
    assert_eq!(decoded.used(), 40 * 20 * 3);
    let other = decode_within(&halves(10, 10, ImageFormat::Jpeg), None, &decoded).unwrap();
    assert_eq!(decoded.used(), 40 * 20 * 3 + 10 * 10 * 3);
    assert_eq!(other.resized_to_fit(5, 5, FilterType::Triangle).dimensions(), (5, 5));
    drop(image);
    let broken = halves(60, 60, ImageFormat::Png);
    assert!(decode_within(&broken[..broken.len() / 2], Some("image/png"), &decoded).is_err());
    assert_eq!(decoded.used(), 0);
}

#[test]
fn rotated_images_are_reduced_before_they_are_copied() {
    for orientation in 1..=8 {
        let (width, height) = if orientation < 5 { (80, 40) } else { (40, 80) };
        let image = decode(&turned(400, 200, orientation), None).unwrap();
        assert_eq!((image.image.width(), image.image.height()), (400, 200), "as it is stored");
        let square = image.square(50);
        let fitted = image.resized_to_fit(80, 80, FilterType::Triangle);
        assert_eq!(fitted.dimensions(), (width, height), "{orientation}");
        // The red half is the left, right, upper or lower one.
        let is_red = |image: &RgbaImage, x: u32, y: u32| {
            let pixel = image.get_pixel(image.width() * x / 10, image.height() * y / 10);
            pixel[0] > 200 && pixel[2] < 60
        };
        let (x, y) = match orientation {
            1 | 4 => (1, 5),
            2 | 3 => (9, 5),
            5 | 6 => (5, 1),
            _ => (5, 9),
        };
        for image in [&square, &fitted] {
            assert!(is_red(image, x, y) && !is_red(image, 10 - x, 10 - y), "{orientation}");
        }
    }
}
