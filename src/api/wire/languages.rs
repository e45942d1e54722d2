//! English names of languages that people choose for themselves.

/// The English name of a language, for clients that show it; an unknown code stands for itself.
pub fn language_name(code: &str) -> &str {
    let known = LANGUAGES.iter().find(|(known, _)| known.eq_ignore_ascii_case(code));
    known.map_or(code, |(_, name)| name)
}

/// Codes as clients send them, and names.
#[rustfmt::skip]
const LANGUAGES: &[(&str, &str)] = &[
    ("ar", "Arabic"), ("be", "Belarusian"), ("bg", "Bulgarian"), ("ca", "Catalan"), ("cs", "Czech"), ("cy", "Welsh"),
    ("da", "Danish"), ("de", "German"), ("el", "Greek"), ("en", "English"), ("en-gb", "British English"),
    ("es", "Spanish"), ("eu", "Basque"), ("fa", "Persian"), ("fi", "Finnish"), ("fr", "French"), ("gl", "Galician"),
    ("gu", "Gujarati"), ("he", "Hebrew"), ("hi", "Hindi"), ("hu", "Hungarian"), ("id", "Indonesian"),
    ("it", "Italian"), ("ja", "Japanese"), ("ko", "Korean"), ("lt", "Lithuanian"), ("lv", "Latvian"),
    ("ml", "Malayalam"), ("mn", "Mongolian"), ("nb", "Norwegian Bokmål"), ("nl", "Dutch"), ("pl", "Polish"),
    ("pt", "Portuguese"), ("pt-br", "Brazilian Portuguese"), ("pt-pt", "European Portuguese"), ("ro", "Romanian"),
    ("ru", "Russian"), ("sk", "Slovak"), ("sl", "Slovenian"), ("sr", "Serbian"), ("sv", "Swedish"), ("ta", "Tamil"),
    ("te", "Telugu"), ("th", "Thai"), ("tl", "Tagalog"), ("tr", "Turkish"), ("uk", "Ukrainian"), ("ur", "Urdu"),
    ("vi", "Vietnamese"), ("zh", "Chinese"), ("zh-hans", "Simplified Chinese"), ("zh-hant", "Traditional Chinese"),
    ("zh-tw", "Chinese (Taiwan)"),
];
