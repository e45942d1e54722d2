//! Languages that users can choose: the ones that clients have translations for.

/// Codes, sorted, each with the native name of the language.
pub const LANGUAGES: &[(&str, &str)] = &[
    ("ar", "العربية"),
    ("be", "Беларуская"),
    ("bg", "български"),
    ("bqi", "بختیاری"),
    ("ca", "català"),
    ("cs", "česky"),
    ("cy", "Cymraeg"),
    ("da", "dansk"),
    ("de", "Deutsch"),
    ("el", "Ελληνικά"),
    ("en", "English"),
    ("en-gb", "British English"),
    ("es", "español"),
    ("eu", "Euskara"),
    ("fa", "فارسی"),
    ("fi", "suomi"),
    ("fr", "français"),
    ("gl", "galego"),
    ("gu", "ગુજરાતી"),
    ("hi", "हिंदी"),
    ("hu", "Magyar"),
    ("id", "Bahasa Indonesia"),
    ("it", "italiano"),
    ("ja", "日本語"),
    ("ko", "한국어"),
    ("lt", "Lietuviškai"),
    ("lv", "latviešu"),
    ("ml", "മലയാളം"),
    ("mn", "Mongolian"),
    ("nl", "Nederlands"),
    ("no", "norsk"),
    ("pl", "polski"),
    ("pt", "Português"),
    ("pt-br", "Português Brasileiro"),
    ("pt-pt", "Português de Portugal"),
    ("ro", "Română"),
    ("ru", "Русский"),
    ("si", "සිංහල"),
    ("sk", "slovenčina"),
    ("sr", "српски"),
    ("sv", "svenska"),
    ("ta", "தமிழ்"),
    ("tr", "Türkçe"),
    ("uk", "Українська"),
    ("ur", "اردو"),
    ("uz", "oʻzbek tili"),
    ("vi", "Tiếng Việt"),
    ("zh-hans", "简体中文"),
    ("zh-hant", "繁體中文"),
    ("zh-tw", "繁體中文（台灣）"),
];

/// The native name of a language, by its code.
pub fn language_name(code: &str) -> Option<&'static str> {
    let found = LANGUAGES.binary_search_by_key(&code, |(code, _)| code).ok()?;
    LANGUAGES.get(found).map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_found_by_their_codes() {
        assert!(LANGUAGES.is_sorted_by_key(|(code, _)| code));
        for (code, name) in LANGUAGES {
            assert_eq!(language_name(code), Some(*name));
        }
        assert_eq!((language_name("de"), language_name("xx")), (Some("Deutsch"), None));
        assert_eq!(language_name("DE"), None);
    }
}
