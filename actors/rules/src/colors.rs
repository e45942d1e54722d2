//! Colors of subscriptions (docs/api/subscriptions.md#colors).

use crate::error::RuleError;

/// Colors for new subscriptions, in the order in which they are used.
const PALETTE: [&str; 24] = [
    "#76ce90", "#fae589", "#a6c7e5", "#e79ab5", "#bfd56f", "#f4ae55", "#b0a5fd", "#addfe5", "#f5ce6e",
    "#c2726a", "#94c849", "#bd86e5", "#ee7e4a", "#a6dcbf", "#7fb8d6", "#d98cc9", "#cdb57a", "#6fc4b8",
    "#e0a58c", "#9db36b", "#8f9ee0", "#d6708f", "#b7a2a8", "#5faad0",
];

/// How many subscriptions of an account have each color of the palette. Picking and counting a color take the same time
/// for any number of subscriptions.
#[derive(Clone, Debug, Default)]
pub struct ColorUses([u32; PALETTE.len()]);

impl ColorUses {
    /// Counts the color of one more subscription; colors beside the palette do not count.
    pub fn add(&mut self, color: &str) {
        if let Some(position) = PALETTE.iter().position(|palette| *palette == color) {
            self.0[position] += 1;
        }
    }

    /// The color of a new subscription, which is counted.
    pub fn take(&mut self) -> &'static str {
        let color = self.least_used();
        self.add(color);
        color
    }

    /// The color that the next subscription gets: the first of the least used.
    pub fn least_used(&self) -> &'static str {
        // `min_by_key` returns the first of equal elements.
        let least_used = (0..PALETTE.len()).min_by_key(|position| self.0[*position]);
        PALETTE[least_used.unwrap_or_default()]
    }
}

impl<'c> FromIterator<&'c str> for ColorUses {
    fn from_iter<I: IntoIterator<Item = &'c str>>(used: I) -> Self {
        let mut uses = Self::default();
        used.into_iter().for_each(|color| uses.add(color));
        uses
    }
}

/// Parses a color (`#`, 3 to 6 hexadecimal digits) to `#rrggbb` in lower case, the form that mobile clients need.
/// Three digits are doubled, the fourth of four (transparency) is dropped, and five are completed with 0.
pub fn parse_color(raw: &str) -> Result<String, RuleError> {
    let digits = raw.strip_prefix('#').ok_or(RuleError::ColorInvalid)?;
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_hex || !(3..=6).contains(&digits.len()) {
        return Err(RuleError::ColorInvalid);
    }
    let digits = digits.to_ascii_lowercase();
    let full = match digits.len() {
        3 | 4 => digits.chars().take(3).flat_map(|digit| [digit, digit]).collect(),
        5 => format!("{digits}0"),
        _ => digits,
    };
    Ok(format!("#{full}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_palette_is_distinct_and_clean() {
        assert_eq!(PALETTE.iter().collect::<BTreeSet<_>>().len(), 24);
        for color in PALETTE {
            assert_eq!(parse_color(color).as_deref(), Ok(color));
        }
    }

    #[test]
    fn unused_colors_come_first() {
        let after = |used: &[&str]| used.iter().copied().collect::<ColorUses>().least_used();
        assert_eq!(after(&[]), PALETTE[0]);
        assert_eq!(after(&[PALETTE[0], PALETTE[2], "#123456"]), PALETTE[1]);
        assert_eq!(after(&PALETTE), PALETTE[0]);
        assert_eq!(after(&[&PALETTE[..], &PALETTE[..2]].concat()), PALETTE[2]);
    }

    #[test]
    fn colors_are_checked_and_completed() {
        for (raw, expected) in [
            ("#76CE90", Some("#76ce90")),
            ("#abc", Some("#aabbcc")),
            ("#abcd", Some("#aabbcc")),
            ("#abcde", Some("#abcde0")),
            ("red", None),
            ("#ab", None),
            ("#abcdefa", None),
            ("#ggg", None),
            ("76ce90", None),
            ("#é1", None),
        ] {
            assert_eq!(parse_color(raw).ok().as_deref(), expected, "{raw}");
        }
    }
}
