//! The names that Slack gives to the emoji of Unicode, as names here.
//!
//! Slack's names are those of the `emoji-data` set. Most are names here, too; `emoji_names.txt` has the others, with what they
//! are: a name and its code on each line. Flags of countries follow a rule and are not in the file. Some names mean another
//! emoji here (`:cat:` is a face at Slack), so an emoji is always found by its code.

use rules::emoji::{code_of, names_of};
use std::collections::HashMap;
use std::sync::LazyLock;

/// Slack's names that are not the same here, with codes.
static DIFFERENT: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    include_str!("emoji_names.txt").lines().filter_map(|line| line.split_once(' ')).collect()
});
/// The code point of the letter A in flags.
const FLAG_LETTER_FIRST: u32 = 0x1f1e6;

/// The name here of an emoji of Slack, without its skin tone; none if it is not known.
pub fn emoji_name(slack: &str) -> Option<&'static str> {
    let slack = slack.split("::").next().unwrap_or(slack);
    let names = match (DIFFERENT.get(slack), flag_code(slack)) {
        (Some(code), _) => names_of(code)?,
        (None, Some(code)) => names_of(&code)?,
        (None, None) => {
            let code = code_of(slack).or_else(|| code_of(&slack.replace('-', "_")))?;
            names_of(code)?
        }
    };
    let same = names.iter().find(|name| **name == slack);
    same.or_else(|| names.first()).copied()
}

/// The code of the flag of a country, such as `flag-de`.
fn flag_code(slack: &str) -> Option<String> {
    let country = slack.strip_prefix("flag-").filter(|country| country.len() == 2)?;
    let point = |letter: u8| {
        letter.is_ascii_lowercase().then(|| format!("{:x}", FLAG_LETTER_FIRST + u32::from(letter - b'a')))
    };
    Some(country.bytes().map(point).collect::<Option<Vec<_>>>()?.join("-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names that people use most, with the codes that Slack shows.
    const USUAL: [(&str, &str); 64] = [
        ("+1", "1f44d"),
        ("thumbsup", "1f44d"),
        ("-1", "1f44e"),
        ("thumbsdown", "1f44e"),
        ("heart", "2764"),
        ("joy", "1f602"),
        ("tada", "1f389"),
        ("slightly_smiling_face", "1f642"),
        ("slightly_frowning_face", "1f641"),
        ("simple_smile", "1f642"),
        ("raised_hands", "1f64c"),
        ("pray", "1f64f"),
        ("eyes", "1f440"),
        ("white_check_mark", "2705"),
        ("heavy_check_mark", "2714"),
        ("rolling_on_the_floor_laughing", "1f923"),
        ("thinking_face", "1f914"),
        ("fire", "1f525"),
        ("100", "1f4af"),
        ("wave", "1f44b"),
        ("ok_hand", "1f44c"),
        ("clap", "1f44f"),
        ("sob", "1f62d"),
        ("rocket", "1f680"),
        ("flag-de", "1f1e9-1f1ea"),
        ("flag-us", "1f1fa-1f1f8"),
        ("de", "1f1e9-1f1ea"),
        ("us", "1f1fa-1f1f8"),
        ("heavy_plus_sign", "2795"),
        ("heavy_minus_sign", "2796"),
        ("woman-shrugging", "1f937-200d-2640"),
        ("man-facepalming", "1f926-200d-2642"),
        ("shrug", "1f937"),
        ("face_palm", "1f926"),
        ("point_up", "261d"),
        ("hugging_face", "1f917"),
        ("smile", "1f604"),
        ("laughing", "1f606"),
        ("grinning", "1f600"),
        ("grin", "1f601"),
        ("sweat_smile", "1f605"),
        ("x", "274c"),
        ("bow", "1f647"),
        ("heart_eyes", "1f60d"),
        ("sunglasses", "1f60e"),
        ("partying_face", "1f973"),
        ("muscle", "1f4aa"),
        ("coffee", "2615"),
        ("beers", "1f37b"),
        ("face_with_rolling_eyes", "1f644"),
        ("upside_down_face", "1f643"),
        ("neutral_face", "1f610"),
        ("kissing_heart", "1f618"),
        ("facepunch", "1f44a"),
        ("crossed_fingers", "1f91e"),
        ("robot_face", "1f916"),
        ("hankey", "1f4a9"),
        ("cat", "1f431"),
        ("dog", "1f436"),
        ("moneybag", "1f4b0"),
        ("christmas_tree", "1f384"),
        ("star-struck", "1f929"),
        ("arrow_right", "27a1"),
        ("no_entry_sign", "1f6ab"),
    ];

    #[test]
    fn usual_emoji_are_the_same_picture() {
        for (slack, code) in USUAL {
            assert_eq!(emoji_name(slack).and_then(code_of), Some(code), "{slack}");
        }
    }

    #[test]
    fn skin_tones_are_dropped_and_other_names_are_unknown() {
        assert_eq!(emoji_name("+1::skin-tone-2"), Some("+1"));
        assert_eq!(emoji_name("thumbsup::skin-tone-6"), Some("+1"));
        for unknown in ["acme_logo", "flag-zz", "flag-DE", "flag-", "skin-tone-2", ""] {
            assert_eq!(emoji_name(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn different_names_have_codes_that_exist_here() {
        for (slack, code) in &*DIFFERENT {
            assert!(names_of(code).is_some(), "{slack}: {code}");
        }
    }
}
