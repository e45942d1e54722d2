use super::super::tests::{halves, moving, read, turned};
use super::*;
use image::codecs::webp::WebPDecoder;
use image::{AnimationDecoder, ImageDecoder, ImageFormat, Rgba, RgbaImage};
use proptest::prelude::*;
use std::io::Cursor;

fn still(bytes: &[u8]) -> RgbaImage {
    let (format, image) = read(&make(bytes, ThumbnailFormat::Still).unwrap());
    assert_eq!(format, ImageFormat::WebP);
    image
}

fn moved(bytes: &[u8]) -> Vec<Frame> {
    let made = make(bytes, ThumbnailFormat::Animated).unwrap();
    let decoder = WebPDecoder::new(Cursor::new(&made)).unwrap();
    assert!(decoder.has_animation());
    decoder.into_frames().collect_frames().unwrap()
}

fn is_red(pixel: &Rgba<u8>) -> bool {
    pixel[0] > 200 && pixel[2] < 60
}

#[test]
fn images_fit_and_are_not_enlarged() {
    for ((width, height), expected) in [
        ((10, 7), (10, 7)),
        ((840, 560), (840, 560)),
        ((1000, 700), (800, 560)),
        ((5000, 1000), (840, 168)),
        ((1, 3000), (1, 560)),
    ] {
        let image = still(&halves(width, height, ImageFormat::Png));
        assert_eq!(image.dimensions(), expected, "{width}x{height}");
        if width > 1 {
            assert!(is_red(image.get_pixel(0, 0)) && !is_red(image.get_pixel(expected.0 - 1, 0)));
        }
    }
}

#[test]
fn images_are_rotated_and_lose_their_metadata() {
    let made = make(&turned(400, 200, 6), ThumbnailFormat::Still).unwrap();
    let mut decoder = WebPDecoder::new(Cursor::new(&made)).unwrap();
    assert_eq!(decoder.dimensions(), (200, 400));
    assert_eq!(decoder.exif_metadata().unwrap(), None);
    let image = still(&turned(400, 200, 6));
    assert!(is_red(image.get_pixel(100, 20)) && !is_red(image.get_pixel(100, 380)), "red is at the top");
}

#[test]
fn animations_stay_animated_on_request() {
    let source = moving(90, 30, 3);
    let frames = moved(&source);
    assert_eq!(frames.len(), 3);
    for (number, frame) in (0_u8..).zip(&frames) {
        assert_eq!(frame.buffer().dimensions(), (90, 30));
        assert_eq!(frame.delay().numer_denom_ms(), (120, 1));
        assert!(frame.buffer().get_pixel(5, 5)[0].abs_diff(number * 40) < 8);
    }
    assert_eq!(still(&source).dimensions(), (90, 30));
    let one = make(&moving(90, 30, 1), ThumbnailFormat::Animated).unwrap();
    assert!(!WebPDecoder::new(Cursor::new(&one)).unwrap().has_animation());
}

#[test]
fn long_animations_are_smaller() {
    let frames = moved(&moving(600, 600, 50));
    assert_eq!(frames.len(), 50);
    let (width, height) = frames[0].buffer().dimensions();
    assert!(
        width == height && width < 560 && u64::from(width * height) * 50 <= ANIMATION_PIXELS_MAX,
        "{width}"
    );
}

#[test]
fn files_that_cannot_be_decoded_have_none() {
    for format in ThumbnailFormat::ALL {
        assert!(make(b"hello", format).is_err());
        assert!(make(&halves(60, 60, ImageFormat::Png)[..60], format).is_err());
    }
}

#[test]
fn names_of_formats() {
    use ThumbnailFormat::{Animated, Still};
    for (name, format) in [
        ("840x560.webp", Some(Still)),
        ("840x560-anim.webp", Some(Animated)),
        ("500x850.jpg", Some(Still)),
        ("840x560.xyz", Some(Still)),
        ("1x1-anim.gif", Some(Animated)),
        ("840x560", None),
        ("840.webp", None),
        ("x560.webp", None),
        ("840x560.", None),
        ("840x560/webp.webp", None),
        ("", None),
    ] {
        assert_eq!(ThumbnailFormat::closest(name), format, "{name}");
    }
    assert!(
        ThumbnailFormat::ALL.iter().all(|format| ThumbnailFormat::closest(format.name()) == Some(*format))
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn damaged_images_do_not_panic(is_animated: bool, at: usize, value: u8, cut: usize) {
        let mut bytes = if is_animated { moving(12, 9, 3) } else { turned(40, 20, 6) };
        let length = bytes.len();
        bytes[at % length] = value;
        bytes.truncate(length - cut % 20);
        for format in ThumbnailFormat::ALL {
            let _ = make(&bytes, format);
        }
    }
}
