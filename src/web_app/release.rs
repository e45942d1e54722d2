//! The version of a release, and whether this server can serve its web app.

use super::problem::WebAppError;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

const MAJOR: &str = "11";
const LEVELS: RangeInclusive<u32> = 421..=424;
const VERSION_LENGTH_MAX: usize = 40;

/// A release of the Zulip server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Release {
    /// Such as `11.4`.
    pub version: String,
    /// None if the source only has a file `version`.
    pub feature_level: Option<u32>,
}

impl Release {
    /// Reads the version from the texts of `version.py` and `version`, of which one is enough.
    ///
    /// # Errors
    /// `NotARelease` without a version, `WrongRelease` for one that this server cannot serve.
    pub fn read(version_py: Option<&str>, version: Option<&str>) -> Result<Self, WebAppError> {
        let missing = |what: &str| WebAppError::NotARelease(what.to_owned());
        let release = match (version_py, version) {
            (Some(source), _) => {
                let version = assigned(source, "ZULIP_VERSION")
                    .ok_or_else(|| missing("version.py has no ZULIP_VERSION"))?;
                let level = assigned(source, "API_FEATURE_LEVEL").and_then(|level| level.parse().ok());
                let level = level.ok_or_else(|| missing("version.py has no API_FEATURE_LEVEL"))?;
                Self { version: version.to_owned(), feature_level: Some(level) }
            }
            (None, Some(version)) => {
                let first = version.lines().next().unwrap_or_default().trim();
                Self { version: first.to_owned(), feature_level: None }
            }
            (None, None) => return Err(missing("it has no version.py")),
        };
        release.check()?;
        Ok(release)
    }

    fn check(&self) -> Result<(), WebAppError> {
        let is_version_byte = |byte: u8| byte.is_ascii_alphanumeric() || b".-+_".contains(&byte);
        let is_plain = !self.version.is_empty()
            && self.version.len() <= VERSION_LENGTH_MAX
            && self.version.bytes().all(is_version_byte);
        if !is_plain {
            return Err(WebAppError::NotARelease("its version is not one".to_owned()));
        }
        let is_major = self.version.split_once('.').is_some_and(|(major, _)| major == MAJOR);
        let is_level = match self.feature_level {
            Some(level) => LEVELS.contains(&level),
            // Versions before a release have lower levels.
            None => self.version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'),
        };
        if is_major && is_level {
            return Ok(());
        }
        Err(WebAppError::WrongRelease { found: format!("this is {self}") })
    }
}

impl std::fmt::Display for Release {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Zulip Server {}", self.version)?;
        match self.feature_level {
            Some(level) => write!(f, " (feature level {level})"),
            None => Ok(()),
        }
    }
}

/// The value of the first assignment to a name at the start of a line of Python, without quotation marks.
fn assigned<'s>(source: &'s str, name: &str) -> Option<&'s str> {
    source.lines().find_map(|line| {
        let value = line.strip_prefix(name)?.trim_start().strip_prefix('=')?;
        let value = value.split('#').next().unwrap_or_default().trim();
        Some(value.trim_matches(['"', '\'']))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(version: &str, level: u32) -> String {
        format!(
            "import os\n\nZULIP_VERSION = \"{version}\"\n\nif os.path.exists(x):\n    ZULIP_VERSION = \"0\"\n\
             ZULIP_VERSION_WITHOUT_COMMIT = ZULIP_VERSION\nAPI_FEATURE_LEVEL = {level}  # Last bumped\n"
        )
    }

    #[test]
    fn releases_of_the_level_are_accepted() {
        for (version, level) in [("11.0", 421), ("11.4", 424), ("11.0-rc1", 421)] {
            let release = Release::read(Some(&source(version, level)), None).unwrap();
            assert_eq!((release.version.as_str(), release.feature_level), (version, Some(level)));
        }
        assert_eq!(Release::read(None, Some("11.2\n")).unwrap().feature_level, None);
    }

    #[test]
    fn other_releases_are_refused_with_the_reason() {
        for (version, level) in
            [("10.4", 367), ("12.0", 442), ("11.0-dev+git", 372), ("11.1", 425), ("110.0", 421)]
        {
            let refused = Release::read(Some(&source(version, level)), None).unwrap_err().to_string();
            assert!(refused.contains(version) && refused.contains("421 to 424"), "{refused}");
        }
        assert!(Release::read(None, Some("11.0-dev+git")).is_err());
        assert!(Release::read(None, None).unwrap_err().to_string().contains("version.py"));
        assert!(Release::read(Some("x = 1"), None).is_err());
        assert!(Release::read(None, Some("../11.0")).is_err());
    }
}
