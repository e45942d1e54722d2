//! Abbreviations of time zones that mean one offset only.

/// Offsets from UTC in hours and minutes. American ones are those of RFC 2822. Ambiguous ones, such as `IST`, `BST` and
/// `AST`, are excluded.
const ZONES: [(&str, i8, i8); 42] = [
    ("acdt", 10, 30),
    ("acst", 9, 30),
    ("aedt", 11, 0),
    ("aest", 10, 0),
    ("akdt", -8, 0),
    ("akst", -9, 0),
    ("awst", 8, 0),
    ("cat", 2, 0),
    ("cdt", -5, 0),
    ("cest", 2, 0),
    ("cet", 1, 0),
    ("chst", 10, 0),
    ("cst", -6, 0),
    ("eat", 3, 0),
    ("edt", -4, 0),
    ("eest", 3, 0),
    ("eet", 2, 0),
    ("est", -5, 0),
    ("gmt", 0, 0),
    ("hkt", 8, 0),
    ("hst", -10, 0),
    ("idt", 3, 0),
    ("jst", 9, 0),
    ("kst", 9, 0),
    ("mdt", -6, 0),
    ("msk", 3, 0),
    ("mst", -7, 0),
    ("nzdt", 13, 0),
    ("nzst", 12, 0),
    ("pdt", -7, 0),
    ("pkt", 5, 0),
    ("pst", -8, 0),
    ("sast", 2, 0),
    ("sgt", 8, 0),
    ("utc", 0, 0),
    ("wat", 1, 0),
    ("west", 1, 0),
    ("wet", 0, 0),
    ("wib", 7, 0),
    ("wit", 9, 0),
    ("wita", 8, 0),
    ("z", 0, 0),
];

/// Offset from UTC in seconds of an abbreviation in lower case.
pub(super) fn offset_of(name: &str) -> Option<i32> {
    let at = ZONES.binary_search_by(|(known, ..)| (*known).cmp(name)).ok()?;
    let (_, hours, minutes) = ZONES[at];
    Some(i32::from(hours) * 3600 + i32::from(minutes) * 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_zone_is_found() {
        for (name, hours, _) in ZONES {
            assert_eq!(
                offset_of(name).map(|seconds| seconds.div_euclid(3600)),
                Some(i32::from(hours)),
                "{name}"
            );
        }
        assert_eq!(offset_of("acst"), Some(34_200));
        assert_eq!(offset_of("ist"), None);
    }
}
