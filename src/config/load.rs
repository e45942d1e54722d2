//! Putting the configuration together: defaults, file, environment, flags, in that order.
//!
//! What is unknown or of the wrong type is refused with the name of the option and where it came from.

use super::{Config, DEFAULT_TOML};
use crate::http::limits::RULES_MAX;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use thiserror::Error;
use toml::{Table, Value};

/// Why there is no configuration.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read {}: {reason}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        reason: std::io::Error,
    },
    /// The file is not TOML.
    #[error("{origin} is not valid TOML: {reason}")]
    Syntax {
        /// Where it was written.
        origin: String,
        /// What the parser says, with line and column.
        reason: String,
    },
    /// There is no such option.
    #[error("{origin}: unknown option `{option}`{}", hint(nearest.as_deref()))]
    Unknown {
        /// Where it was written.
        origin: String,
        /// The option as written.
        option: String,
        /// The known option most like it.
        nearest: Option<String>,
    },
    /// The option exists, but not with this value.
    #[error("{origin}: `{option}` {problem}")]
    Invalid {
        /// Where it was written.
        origin: String,
        /// The option.
        option: String,
        /// What is wrong with the value.
        problem: String,
    },
}

fn hint(nearest: Option<&str>) -> String {
    nearest.map(|name| format!(", did you mean `{name}`?")).unwrap_or_default()
}

/// What is wrong, and where. The line itself may hold a password.
fn place(text: &str, reason: &toml::de::Error) -> String {
    let message = reason.message().trim_end();
    let Some(before) = reason.span().and_then(|span| text.get(..span.start)) else {
        return message.to_owned();
    };
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
    format!("line {line}, column {column}: {message}")
}

/// Options given on the command line: option path, how the flag is called, value as text.
#[derive(Clone, Debug, Default)]
pub struct Overrides(Vec<(&'static str, &'static str, String)>);

impl Overrides {
    /// Sets an option when the flag was given.
    pub fn set(mut self, option: &'static str, flag: &'static str, value: Option<impl ToString>) -> Self {
        self.0.extend(value.map(|value| (option, flag, value.to_string())));
        self
    }
}

impl Config {
    /// The configuration of a process. Environment variables that are no option are left alone: systems
    /// that run services put their own there.
    pub fn load(
        file: Option<&Path>,
        environment: impl IntoIterator<Item = (String, String)>,
        flags: Overrides,
    ) -> Result<Self, ConfigError> {
        let mut options = Options::defaults();
        if let Some(path) = file {
            let text = std::fs::read_to_string(path)
                .map_err(|reason| ConfigError::Unreadable { path: path.to_owned(), reason })?;
            options.add_file(&path.display().to_string(), &text)?;
        }
        let environment: BTreeMap<String, String> = environment.into_iter().collect();
        for option in options.names() {
            let variable = format!("MILLSTREAM_{}", option.replace('.', "_").to_uppercase());
            if let Some(text) = environment.get(&variable) {
                options.add_text(&variable, &option, text)?;
            }
        }
        for (option, flag, text) in flags.0 {
            options.add_text(flag, option, &text)?;
        }
        options.finish()
    }
}

/// Option path → value and where it came from.
struct Options(BTreeMap<String, (Value, String)>);

impl Options {
    fn defaults() -> Self {
        let table =
            DEFAULT_TOML.parse().expect("the defaults are part of the program and a test parses them");
        let mut known = BTreeMap::new();
        flatten("", table, &mut |option, value| {
            known.insert(option, (value, "default".to_owned()));
        });
        Self(known)
    }

    fn names(&self) -> Vec<String> {
        self.0.keys().cloned().collect()
    }

    fn add_file(&mut self, origin: &str, text: &str) -> Result<(), ConfigError> {
        let table: Table = text.parse().map_err(|reason: toml::de::Error| ConfigError::Syntax {
            origin: origin.to_owned(),
            reason: place(text, &reason),
        })?;
        let mut given = Vec::new();
        flatten("", table, &mut |option, value| given.push((option, value)));
        given.into_iter().try_for_each(|(option, value)| self.add(origin, &option, value))
    }

    /// A value as text: raw for strings, TOML for everything else.
    fn add_text(&mut self, origin: &str, option: &str, text: &str) -> Result<(), ConfigError> {
        let is_string = matches!(self.0.get(option), Some((Value::String(_), _)));
        let parsed = if is_string {
            Some(Value::String(text.to_owned()))
        } else {
            format!("value = {text}").parse::<Table>().ok().and_then(|mut table| table.remove("value"))
        };
        // Text that is no TOML at all is at least no value of the right type.
        self.add(origin, option, parsed.unwrap_or_else(|| Value::String(text.to_owned())))
    }

    fn add(&mut self, origin: &str, option: &str, value: Value) -> Result<(), ConfigError> {
        let Some((current, from)) = self.0.get_mut(option) else {
            let nearest = nearest(option, self.0.keys().map(String::as_str));
            return Err(ConfigError::Unknown {
                origin: origin.to_owned(),
                option: option.to_owned(),
                nearest,
            });
        };
        if !current.same_type(&value) {
            let problem = format!("must be of type {}, not {}", current.type_str(), value.type_str());
            return Err(invalid(origin, option, problem));
        }
        *current = value;
        *from = origin.to_owned();
        Ok(())
    }

    fn finish(self) -> Result<Config, ConfigError> {
        let mut whole = Table::new();
        for (option, (value, origin)) in &self.0 {
            // One option alone tells which of them a refusal is about.
            check_alone(option, value, origin)?;
            insert(&mut whole, option, value.clone());
        }
        let config: Config = Value::Table(whole)
            .try_into()
            .map_err(|reason: toml::de::Error| invalid("configuration", "", reason.message().to_owned()))?;
        if !config.external_url.is_empty() && !is_web_address(&config.external_url) {
            let problem = "must be an address such as https://chat.example.com, without a path".to_owned();
            return Err(invalid(&self.0["external_url"].1, "external_url", problem));
        }
        self.check_ldap(&config)?;
        for (_, option, list) in config.limits.lists() {
            let origin = &self.0[option].1;
            if list.len() > RULES_MAX {
                return Err(invalid(origin, option, format!("holds more than {RULES_MAX} rules")));
            }
            if list.iter().flatten().any(|number| *number == 0) {
                return Err(invalid(origin, option, "holds a zero".to_owned()));
            }
        }
        Ok(config)
    }
}

impl Options {
    /// A directory is named whole or not at all.
    fn check_ldap(&self, config: &Config) -> Result<(), ConfigError> {
        let ldap = &config.ldap;
        if ldap.url.is_empty() {
            return Ok(());
        }
        let refused =
            |option: &str, problem: &str| Err(invalid(&self.0[option].1, option, problem.to_owned()));
        let is_ldap = |url: url::Url| matches!(url.scheme(), "ldap" | "ldaps") && url.has_host();
        if !url::Url::parse(&ldap.url).is_ok_and(is_ldap) {
            return refused("ldap.url", "must be an address such as ldap://ldap.example.com");
        }
        if ldap.search_base.is_empty() {
            return refused("ldap.search_base", "must say below which entry people are");
        }
        if !crate::outside::ldap::is_filter(&ldap.search_filter) {
            return refused("ldap.search_filter", "must be a filter with {user} in it, such as (uid={user})");
        }
        Ok(())
    }
}

fn is_web_address(text: &str) -> bool {
    url::Url::parse(text).is_ok_and(|url| {
        matches!(url.scheme(), "http" | "https")
            && url.has_host()
            && url.path() == "/"
            && url.query().is_none()
    })
}

fn check_alone(option: &str, value: &Value, origin: &str) -> Result<(), ConfigError> {
    let mut table: Table = DEFAULT_TOML.parse().expect("the defaults parse, as above");
    insert(&mut table, option, value.clone());
    let parsed: Result<Config, _> = Value::Table(table).try_into();
    parsed.map(drop).map_err(|reason: toml::de::Error| {
        let problem = match option {
            "listen" => "must be an IP address and a port, such as 127.0.0.1:9991",
            _ => reason.message(),
        };
        invalid(origin, option, problem.to_owned())
    })
}

fn invalid(origin: &str, option: &str, problem: String) -> ConfigError {
    ConfigError::Invalid { origin: origin.to_owned(), option: option.to_owned(), problem }
}

fn flatten(prefix: &str, table: Table, visit: &mut impl FnMut(String, Value)) {
    for (name, value) in table {
        let option = if prefix.is_empty() { name } else { format!("{prefix}.{name}") };
        match value {
            Value::Table(inner) => flatten(&option, inner, visit),
            value => visit(option, value),
        }
    }
}

fn insert(table: &mut Table, option: &str, value: Value) {
    match option.split_once('.') {
        None => {
            table.insert(option.to_owned(), value);
        }
        Some((section, name)) => {
            let inner = table.entry(section).or_insert_with(|| Value::Table(Table::new()));
            if let Value::Table(inner) = inner {
                insert(inner, name, value);
            }
        }
    }
}

/// The known name with the fewest edits to get there, if it is near at all.
fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    let scored = known.map(|candidate| {
        let last = candidate.rsplit('.').next().unwrap_or(candidate);
        (edits(name, candidate).min(edits(name, last)), candidate)
    });
    let (distance, candidate) = scored.min()?;
    (distance <= (name.len() / 3).max(2)).then(|| candidate.to_owned())
}

/// Insertions, deletions and replacements from one word to another.
fn edits(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, left) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, right) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(left != *right);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::super::LogFormat;
    use super::*;

    fn load(file: &str, environment: &[(&str, &str)], flags: Overrides) -> Result<Config, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("millstream.toml");
        std::fs::write(&path, file).unwrap();
        let environment = environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let name = path.display().to_string();
        Config::load(Some(&path), environment, flags)
            .map_err(|error| error.to_string().replace(&name, "millstream.toml"))
    }

    #[test]
    fn the_defaults_are_a_configuration() {
        let config = Config::load(None, [], Overrides::default()).unwrap();
        assert_eq!(config.listen.to_string(), "127.0.0.1:9991");
        assert_eq!(config.http.body_bytes_max, 1 << 20);
        assert_eq!(config.limits.api_by_user, [[60, 200]]);
        assert_eq!(config.log.format, LogFormat::Text);
        assert!(config.http_workers() >= 1 && config.shards() >= 1);
    }

    #[test]
    fn every_option_is_explained() {
        let mut explained = false;
        for line in DEFAULT_TOML.lines() {
            if line.contains(" = ") && !line.starts_with('#') {
                assert!(explained, "no comment above: {line}");
            }
            explained = line.starts_with('#');
        }
    }

    #[test]
    fn flags_win_over_environment_over_file() {
        let file = "listen = \"0.0.0.0:1\"\n[http]\nworkers = 3\nbacklog = 7\n[limits]\nenabled = false\n";
        let environment = [
            ("MILLSTREAM_LISTEN", "0.0.0.0:2"),
            ("MILLSTREAM_HTTP_WORKERS", "4"),
            ("MILLSTREAM_LIMITS_API_BY_USER", "[[1, 2], [3, 4]]"),
            ("MILLSTREAM_SERVICE_HOST", "10.0.0.1"),
        ];
        let flags = Overrides::default().set("listen", "--listen", Some("0.0.0.0:3")).set(
            "data",
            "--data",
            None::<String>,
        );
        let config = load(file, &environment, flags).unwrap();
        assert_eq!(config.listen.port(), 3);
        assert_eq!((config.http.workers, config.http.backlog), (4, 7));
        assert_eq!(config.limits.api_by_user, [[1, 2], [3, 4]]);
        assert!(!config.limits.enabled);
        assert_eq!(config.data, Path::new("millstream-data"));
    }

    #[test]
    fn refusals_name_the_option_and_its_origin() {
        type Variables<'a> = &'a [(&'a str, &'a str)];
        let cases: &[(&str, Variables, &str)] = &[
            ("lisen = \"x\"", &[], "millstream.toml: unknown option `lisen`, did you mean `listen`?"),
            (
                "[http]\nworker = 1",
                &[],
                "millstream.toml: unknown option `http.worker`, did you mean `http.workers`?",
            ),
            ("workers = 1", &[], "millstream.toml: unknown option `workers`, did you mean `http.workers`?"),
            ("quite_something_else = 1", &[], "millstream.toml: unknown option `quite_something_else`"),
            (
                "[http]\nworkers = \"x\"",
                &[],
                "millstream.toml: `http.workers` must be of type integer, not string",
            ),
            (
                "",
                &[("MILLSTREAM_HTTP_WORKERS", "many")],
                "MILLSTREAM_HTTP_WORKERS: `http.workers` must be of type integer, not string",
            ),
            (
                "[ldap]\nurl = \"ldap.example.com\"",
                &[],
                "millstream.toml: `ldap.url` must be an address such as ldap://ldap.example.com",
            ),
            (
                "[ldap]\nsearch_base = \"dc=x\"\nsearch_filter = \"(uid=x)\"",
                &[("MILLSTREAM_LDAP_URL", "ldap://x")],
                "millstream.toml: `ldap.search_filter` must be a filter with {user} in it, such as (uid={user})",
            ),
            ("[limits]\napi_by_ip = [[60, 0]]", &[], "millstream.toml: `limits.api_by_ip` holds a zero"),
            (
                "[limits]\napi_by_ip = [[1,1],[2,1],[3,1],[4,1],[5,1]]",
                &[],
                "millstream.toml: `limits.api_by_ip` holds more than 4 rules",
            ),
        ];
        for (file, environment, message) in cases {
            assert_eq!(load(file, environment, Overrides::default()).unwrap_err(), *message, "{file}");
        }
        let starts = [
            ("listen = \"nowhere\"", "millstream.toml: `listen` must be an IP address and a port"),
            ("[http]\nbacklog = -1", "millstream.toml: `http.backlog` invalid value: integer `-1`"),
            (
                "[http]\nconnections_max = 0",
                "millstream.toml: `http.connections_max` invalid value: integer `0`",
            ),
            ("[log]\nformat = \"xml\"", "millstream.toml: `log.format` unknown variant `xml`"),
            ("listen = ", "millstream.toml is not valid TOML"),
        ];
        for (file, start) in starts {
            let message = load(file, &[], Overrides::default()).unwrap_err();
            assert!(message.starts_with(start), "{file}: {message}");
        }
    }

    #[test]
    fn a_missing_file_is_named() {
        let error =
            Config::load(Some(Path::new("/nowhere/at/all.toml")), [], Overrides::default()).unwrap_err();
        assert!(error.to_string().starts_with("cannot read /nowhere/at/all.toml: "), "{error}");
    }

    #[test]
    fn the_external_address_is_one_of_the_web() {
        let load =
            |url: &str| Config::load(None, [], Overrides::default().set("external_url", "flag", Some(url)));
        for url in ["", "https://chat.example.com", "http://localhost:9991/"] {
            assert!(load(url).is_ok(), "{url}");
        }
        for url in
            ["chat.example.com", "ftp://chat.example.com", "https://chat.example.com/zulip", "https://"]
        {
            let error = load(url).unwrap_err().to_string();
            assert!(error.starts_with("flag: `external_url` must be an address"), "{error}");
        }
    }
}
