use super::super::tests::{bomb, checksum, halves, moving, turned};
use super::*;
use proptest::prelude::*;

fn info(width: u32, height: u32, is_animated: bool, orientation: u8) -> Inspection {
    Inspection::Image(ImageInfo { width, height, is_animated, orientation })
}

fn whole(bytes: &[u8]) -> Inspection {
    inspect(bytes, bytes.len() as u64)
}

/// A PNG that declares to be animated.
fn animated_png() -> Vec<u8> {
    let still = halves(40, 20, ImageFormat::Png);
    let control = [b"acTL".as_slice(), &2_u32.to_be_bytes(), &0_u32.to_be_bytes()].concat();
    let chunk = [8_u32.to_be_bytes().as_slice(), &control, &checksum(&control)].concat();
    [&still[..33], &chunk, &still[33..]].concat()
}

#[test]
fn dimensions_and_animation() {
    for format in KNOWN {
        assert_eq!(whole(&halves(40, 20, format)), info(40, 20, false, 1), "{format:?}");
    }
    assert_eq!(whole(&moving(40, 20, 2)), info(40, 20, true, 1));
    assert_eq!(whole(&moving(40, 20, 1)), info(40, 20, false, 1));
    assert_eq!(whole(&animated_png()), info(40, 20, true, 1));
}

#[test]
fn dimensions_are_those_after_the_rotation() {
    for orientation in 1..=8 {
        let (width, height) = if orientation < 5 { (40, 20) } else { (20, 40) };
        assert_eq!(whole(&turned(40, 20, orientation)), info(width, height, false, orientation));
    }
}

#[test]
fn other_files_are_not_images() {
    let png = halves(40, 20, ImageFormat::Png);
    let broken = [&png[..20], b"and then something else"].concat();
    for bytes in
        [b"".as_slice(), b"hello", b"<svg/>", b"II*\0\x08\0\0\0", &broken, &png[..25], &moving(9, 9, 1)[..20]]
    {
        assert_eq!(whole(bytes), Inspection::Other, "{bytes:?}");
    }
    for (width, height) in [(30_000, 30_000), (u32::MAX >> 1, 1), (1, 60_000_000)] {
        assert_eq!(whole(&bomb(width, height)), Inspection::Other, "{width}x{height}");
    }
    assert_eq!(inspect(&png, SOURCE_BYTES_MAX + 1), Inspection::Other, "too large a file");
    assert_eq!(preview_type(&png), Some("image/png"));
    assert_eq!(preview_type(b"BM and a bitmap"), None);
}

#[test]
fn a_head_that_ends_too_early_is_unfinished() {
    let cases = [
        (halves(40, 20, ImageFormat::Png), 20),
        (turned(40, 20, 6), 30),
        (moving(40, 20, 2), 60),
        (halves(40, 20, ImageFormat::WebP), 16),
    ];
    for (bytes, length) in cases {
        assert_eq!(
            inspect(&bytes[..length], bytes.len() as u64),
            Inspection::Unfinished,
            "{:?}",
            &bytes[..8]
        );
    }
}

proptest! {
    #[test]
    fn random_bytes_do_not_panic(bytes in proptest::collection::vec(any::<u8>(), 0..2000), start in 0..5_usize) {
        let starts: [&[u8]; 5] = [b"", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF89a", b"RIFF\x20\x01\0\0WEBPVP8X"];
        let bytes = [starts[start], &bytes].concat();
        whole(&bytes);
        inspect(&bytes, 1 << 20);
    }

    #[test]
    fn damaged_images_do_not_panic(which in 0..6_usize, changes in proptest::collection::vec((any::<usize>(), any::<u8>()), 1..8), cut in any::<usize>()) {
        let mut bytes = match which {
            0 => turned(40, 20, 6),
            1 => moving(12, 9, 3),
            2 => animated_png(),
            other => halves(40, 20, KNOWN[other - 2]),
        };
        for (at, value) in changes {
            let length = bytes.len();
            bytes[at % length] = value;
        }
        whole(&bytes);
        let cut = cut % bytes.len();
        inspect(&bytes[..cut], bytes.len() as u64);
    }
}
