//! Default avatars and organization icons, drawn by the server from the id alone: clients load nothing from other
//! servers, and the pictures reveal nothing of an e-mail address.
//!
//! PNG, because mobile apps do not show SVG.

use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ExtendedColorType, ImageEncoder};
use model::RealmId;
use rules::avatar::{MEDIUM_SUFFIX, REALM_STEM, UNKNOWN_STEM};

/// Cells in a row of a picture, with an empty one at each side.
const CELLS: u32 = 7;
/// Side of a cell in a small picture, in pixels.
const SMALL_CELL: u32 = 16;
/// Side of a cell in a medium picture, in pixels.
const MEDIUM_CELL: u32 = 64;
const GROUND: [u8; 3] = [0xf0, 0xf1, 0xf4];
const GREY: [u8; 3] = [0x9a, 0xa0, 0xac];
/// Dark enough for the background, and easy to tell apart.
const COLORS: [[u8; 3]; 10] = [
    [0x2d, 0x6c, 0xdf],
    [0xc2, 0x3b, 0x3b],
    [0x2f, 0x8f, 0x4e],
    [0x8a, 0x4f, 0xc7],
    [0xc7, 0x6a, 0x12],
    [0x0f, 0x86, 0x8a],
    [0xb8, 0x35, 0x80],
    [0x5c, 0x6b, 0x1f],
    [0x4a, 0x55, 0xa8],
    [0x8c, 0x54, 0x3a],
];

/// The picture of a name below `default/`; none if no picture has such a name.
pub fn draw(realm: RealmId, name: &str) -> Option<Vec<u8>> {
    let stem = name.strip_suffix(".png")?;
    let (stem, cell) = match stem.strip_suffix(MEDIUM_SUFFIX) {
        Some(stem) => (stem, MEDIUM_CELL),
        None => (stem, SMALL_CELL),
    };
    let (cells, color) = match stem {
        UNKNOWN_STEM => (SILHOUETTE, GREY),
        REALM_STEM => pattern(seed(realm, u64::MAX)),
        // Only the canonical spelling: others would be further entries in caches.
        id => {
            let number: u32 = id.parse().ok()?;
            (number.to_string() == id).then(|| pattern(seed(realm, number.into())))?
        }
    };
    encode(cells, color, cell)
}

/// Head and shoulders: a row of bits for each row of cells inside the margin.
const SILHOUETTE: [u8; 5] = [0b00100, 0b01110, 0b00100, 0b01110, 0b11111];

/// A pseudorandom number of an id (splitmix64).
fn seed(realm: RealmId, of: u64) -> u64 {
    let mut state =
        of.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ u64::from(realm.0).wrapping_mul(0xd1b5_4a32_d192_ed03);
    state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

/// A symmetric pattern, and its color.
fn pattern(seed: u64) -> ([u8; 5], [u8; 3]) {
    let half = |row: u32| (seed >> (row * 3)) as u8 & 0b111;
    let row = |row: u32| {
        let half = half(row);
        (half << 2) | (half & 0b010) | (half >> 2)
    };
    let mut cells = [row(0), row(1), row(2), row(3), row(4)];
    if cells.iter().all(|row| *row == 0) {
        cells = SILHOUETTE;
    }
    let color = (seed >> 32) as usize % COLORS.len();
    (cells, COLORS[color])
}

/// The picture as PNG; none only if the encoder fails.
fn encode(cells: [u8; 5], color: [u8; 3], cell: u32) -> Option<Vec<u8>> {
    let side = CELLS * cell;
    let mut pixels = Vec::with_capacity((side * side * 3) as usize);
    for y in 0..side {
        for x in 0..side {
            let (column, row) = (x / cell, y / cell);
            let is_inside = (1..CELLS - 1).contains(&column) && (1..CELLS - 1).contains(&row);
            let is_set = is_inside && (cells[(row - 1) as usize] >> (CELLS - 2 - column)) & 1 == 1;
            pixels.extend(if is_set { color } else { GROUND });
        }
    }
    let mut png = Vec::new();
    let encoder = PngEncoder::new_with_quality(&mut png, CompressionType::Fast, FilterType::NoFilter);
    encoder.write_image(&pixels, side, side, ExtendedColorType::Rgb8).ok()?;
    Some(png)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_follow_from_the_id_alone() {
        let realm = RealmId(1);
        let picture = draw(realm, "10.png").unwrap();
        assert_eq!(draw(realm, "10.png").unwrap(), picture);
        for other in ["11.png", "10-medium.png", "unknown.png", "realm.png"] {
            assert_ne!(draw(realm, other).unwrap(), picture, "{other}");
        }
        assert_ne!(draw(RealmId(2), "10.png").unwrap(), picture);
        for none in
            ["10", "10.svg", "010.png", "+1.png", "-1.png", "x.png", "4294967296.png", ".png", "a/1.png"]
        {
            assert_eq!(draw(realm, none), None, "{none}");
        }
    }

    #[test]
    fn pictures_are_symmetric_and_differ() {
        let mut seen = std::collections::HashSet::new();
        for id in 0..200 {
            let (cells, color) = pattern(seed(RealmId(1), id));
            for row in cells {
                assert_eq!(row.reverse_bits() >> 3, row, "{id}");
            }
            seen.insert((cells, color));
        }
        assert!(seen.len() > 195, "{}", seen.len());
    }

    #[test]
    fn both_sizes_can_be_read() {
        for (name, side) in [("7.png", 112), ("7-medium.png", 448)] {
            let image = image::load_from_memory(&draw(RealmId(1), name).unwrap()).unwrap();
            assert_eq!((image.width(), image.height()), (side, side));
        }
    }
}
