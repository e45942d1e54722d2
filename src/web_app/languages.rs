//! The languages of the app: the list that people choose from, and the translations of each.

use bytes::Bytes;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The language of texts without a translation.
pub const ENGLISH: &str = "en";
const LANGUAGES_MAX: usize = 200;
const FILE_BYTES_MAX: u64 = 4 << 20;

/// A language as the app lists it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Language {
    code: String,
    locale: String,
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    percent_translated: Option<u32>,
}

#[derive(Deserialize)]
struct NameMap {
    name_map: Vec<Language>,
}

/// The languages of a bundle.
#[derive(Debug)]
pub struct Languages {
    folder: PathBuf,
    list: Vec<Language>,
    /// The JSON of translations that were asked for, by locale: read once, at most one for each language of the list.
    read: Mutex<HashMap<String, Bytes>>,
}

impl Languages {
    /// The languages below a folder; only English if there is no list.
    pub fn load(root: &Path, map: &str) -> Self {
        let list =
            read_bounded(&root.join(map)).and_then(|json| serde_json::from_slice::<NameMap>(&json).ok());
        let mut list = list.map(|map| map.name_map).unwrap_or_default();
        list.retain(|language| is_locale(&language.locale));
        list.truncate(LANGUAGES_MAX);
        if !list.iter().any(|language| language.code == ENGLISH) {
            let english = Language {
                code: ENGLISH.to_owned(),
                locale: ENGLISH.to_owned(),
                name: "English".to_owned(),
                percent_translated: None,
            };
            list.insert(0, english);
        }
        Self { folder: root.join("locale"), list, read: Mutex::default() }
    }

    /// All languages, in the order of the bundle.
    pub fn list(&self) -> &[Language] {
        &self.list
    }

    /// The code of a language that exists, for one that was chosen; English for others.
    pub fn code<'s>(&'s self, chosen: &str) -> &'s str {
        let found = self.list.iter().find(|language| language.code.eq_ignore_ascii_case(chosen));
        found.map_or(ENGLISH, |language| language.code.as_str())
    }

    /// The translations of a language as a JSON object of texts; empty for English and where there are none.
    pub fn translations(&self, code: &str) -> Bytes {
        const NONE: Bytes = Bytes::from_static(b"{}");
        let Some(language) = self.list.iter().find(|language| language.code == code) else { return NONE };
        if language.code == ENGLISH {
            return NONE;
        }
        if let Some(known) = self.read.lock().get(&language.locale) {
            return known.clone();
        }
        let found = self.read_translations(&language.locale).unwrap_or(NONE);
        self.read.lock().insert(language.locale.clone(), found.clone());
        found
    }

    /// Reads a file of translations. What is not a text is left out, because the app would not start with it.
    fn read_translations(&self, locale: &str) -> Option<Bytes> {
        let json = read_bounded(&self.folder.join(locale).join("translations.json"))?;
        let all: BTreeMap<String, serde_json::Value> = serde_json::from_slice(&json)
            .inspect_err(|error| tracing::warn!(locale, %error, "translations of the web app cannot be read"))
            .ok()?;
        let texts: BTreeMap<&str, &str> =
            all.iter().filter_map(|(key, value)| Some((key.as_str(), value.as_str()?))).collect();
        serde_json::to_vec(&texts).ok().map(Bytes::from)
    }
}

/// Whether a text can be the name of a folder of translations.
fn is_locale(locale: &str) -> bool {
    let is_locale_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"_-@".contains(&byte);
    !locale.is_empty() && locale.len() <= 40 && locale.bytes().all(is_locale_byte)
}

/// The content of a file that is not too large.
pub fn read_bounded(path: &Path) -> Option<Vec<u8>> {
    let file = fs::File::open(path).ok()?;
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= FILE_BYTES_MAX).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_come_from_the_bundle() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let file = folder.path().join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        let only_english = Languages::load(folder.path(), "locale/map.json");
        assert_eq!((only_english.list().len(), only_english.code("de")), (1, "en"));
        let map = r#"{"name_map":[{"code":"en","locale":"en","name":"English"},
            {"code":"de","locale":"de","name":"Deutsch","percent_translated":99},
            {"code":"zh-hans","locale":"zh_Hans","name":"X"},{"code":"x","locale":"../x","name":"X"}]}"#;
        write("locale/map.json", map);
        write("locale/de/translations.json", r#"{"Send":"Senden","n":1}"#);
        let all = Languages::load(folder.path(), "locale/map.json");
        assert_eq!(all.list().len(), 3);
        assert_eq!(
            (all.code("de"), all.code("ZH-hans"), all.code("x"), all.code("fr")),
            ("de", "zh-hans", "en", "en")
        );
        assert_eq!(all.translations("de"), r#"{"Send":"Senden"}"#);
        fs::remove_dir_all(folder.path().join("locale/de")).unwrap();
        assert_eq!(all.translations("de"), r#"{"Send":"Senden"}"#, "it was kept");
        assert_eq!((all.translations("en"), all.translations("zh-hans")), ("{}".into(), "{}".into()));
    }
}
