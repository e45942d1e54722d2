//! Loads the configuration: defaults, file, environment, flags, in that order.
//!
//! All problems are reported at once, each with the place where the option was set.

use super::combinations::{Conflict, conflicts, server_conflicts};
use super::options::{Kind, OPTIONS, kind_of};
use super::problem::{ConfigError, Origin, Problem};
use super::settings::{Config, DEFAULT_TOML, OptionValues};
use crate::foreign_text::one_line;
use crate::text_file::read_text;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use toml::de::{DeTable, DeValue};
use toml::{Spanned, Table, Value};

/// The largest configuration file, in bytes.
const FILE_BYTES_MAX: usize = 1 << 20;
/// The longest name that is compared with the options.
const NAME_BYTES_MAX: usize = 100;
const VARIABLE_PREFIX: &str = "MILLSTREAM_";
/// Prefixes of variables that container platforms set for a service of this name.
const PLATFORM_PREFIXES: [&str; 2] = ["MILLSTREAM_SERVICE_", "MILLSTREAM_PORT"];

/// Options of the command line: option path, name of the flag, value as text.
#[derive(Clone, Debug, Default)]
pub struct Overrides(Vec<(&'static str, &'static str, String)>);

impl Overrides {
    /// Sets an option when the flag was given.
    pub fn set(mut self, option: &'static str, flag: &'static str, value: Option<impl ToString>) -> Self {
        self.0.extend(value.map(|value| (option, flag, value.to_string())));
        self
    }
}

/// The sources of a configuration. A reload reads all of them again.
#[derive(Clone, Debug, Default)]
pub struct Sources<'a> {
    /// Defaults that differ from those of `default.toml`; all other sources override them.
    pub presets: Overrides,
    pub file: Option<&'a Path>,
    pub environment: Vec<(String, String)>,
    pub flags: Overrides,
}

impl Config {
    /// Loads the configuration of a process from a file, the environment and flags. The files of certificates that it names
    /// are not read, and passwords may be missing: commands beside a server do not need them.
    ///
    /// # Errors
    /// All problems, each with its place.
    pub fn load(
        file: Option<&Path>,
        environment: impl IntoIterator<Item = (String, String)>,
        flags: Overrides,
    ) -> Result<Self, ConfigError> {
        let environment = environment.into_iter().collect();
        let sources = Sources { file, environment, flags, ..Sources::default() };
        Options::load(&sources)?.finish(|_| Vec::new())
    }

    /// Loads the configuration of a server, and reads the files of certificates that it names.
    ///
    /// # Errors
    /// All problems, each with its place.
    pub fn of_server(sources: &Sources<'_>) -> Result<Self, ConfigError> {
        Options::load(sources)?.finish(server_conflicts)
    }
}

/// Environment variables that look like options but are unknown, without those of container platforms. Misspelled
/// options are errors of the configuration; these are only worth a warning.
pub fn unknown_variables(environment: &[(String, String)]) -> Vec<&str> {
    let known: Vec<String> = OPTIONS.iter().map(|(option, _)| variable(option)).collect();
    let names = environment.iter().map(|(name, _)| name.as_str());
    let unknown = names.filter(|name| {
        name.starts_with(VARIABLE_PREFIX)
            && !known.iter().any(|variable| variable == name)
            && !PLATFORM_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
    });
    unknown.collect()
}

fn variable(option: &str) -> String {
    format!("{VARIABLE_PREFIX}{}", option.replace('.', "_").to_uppercase())
}

/// An option's value, and where it was set.
struct Entry {
    value: Value,
    origin: Origin,
}

/// The options loaded so far, and all problems with them.
struct Options {
    entries: BTreeMap<String, Entry>,
    problems: Vec<Problem>,
}

impl Options {
    fn load(sources: &Sources<'_>) -> Result<Self, ConfigError> {
        let mut options = Self { entries: BTreeMap::new(), problems: Vec::new() };
        let defaults: Table =
            DEFAULT_TOML.parse().expect("the defaults are part of the program and a test parses them");
        flatten("", defaults, &mut |option, value| {
            options.entries.insert(option, Entry { value, origin: Origin::Default });
        });
        for (option, origin, text) in &sources.presets.0 {
            options.set_text(Origin::Flag((*origin).to_owned()), option, text);
        }
        if let Some(path) = sources.file {
            let text =
                read_text(path, FILE_BYTES_MAX).map_err(|error| ConfigError::unreadable(path, &error))?;
            options.add_file(&path.display().to_string(), &text);
        }
        options.add_environment(&sources.environment);
        for (option, flag, text) in &sources.flags.0 {
            options.set_text(Origin::Flag((*flag).to_owned()), option, text);
        }
        Ok(options)
    }

    fn add_file(&mut self, name: &str, text: &str) {
        let name: Arc<str> = name.into();
        let origin = |start: usize| {
            let before = text.as_bytes().get(..start).unwrap_or_default();
            Origin::File(name.clone(), 1 + before.iter().filter(|byte| **byte == b'\n').count())
        };
        let (table, errors) = DeTable::parse_recoverable(text);
        for error in &errors {
            let start = error.span().map_or(0, |span| span.start);
            let text = format!("is not valid TOML: {}", one_line(error.message()));
            self.problems.push(Problem { origin: Some(origin(start)), option: None, text });
        }
        let broken: Vec<Option<Origin>> =
            self.problems.iter().map(|problem| problem.origin.clone()).collect();
        let mut given = Vec::new();
        flatten_spanned("", table.into_inner(), &mut |option, start, value| {
            given.push((option, origin(start), value));
        });
        // The parser's recovery from a syntax error is not worth a second problem.
        given.retain(|(_, origin, _)| !broken.contains(&Some(origin.clone())));
        for (option, origin, value) in given {
            self.set(origin, &option, value);
        }
    }

    fn add_environment(&mut self, environment: &[(String, String)]) {
        let options: Vec<String> = self.entries.keys().cloned().collect();
        let variables: BTreeMap<String, String> =
            options.into_iter().map(|option| (variable(&option), option)).collect();
        for (name, text) in environment {
            if let Some(option) = variables.get(name) {
                self.set_text(Origin::Variable(name.clone()), option, text);
            }
        }
        for name in unknown_variables(environment) {
            // A name unlike any option belongs to something else.
            if let Some(near) = nearest(name, variables.keys().map(String::as_str), '\0') {
                let text = format!("is not an option; did you mean {near}?");
                self.problems.push(Problem {
                    origin: Some(Origin::Variable(name.to_owned())),
                    option: None,
                    text,
                });
            }
        }
    }

    /// Parses a value: raw for text options, TOML for all others.
    fn set_text(&mut self, origin: Origin, option: &str, text: &str) {
        let parsed = if kind_of(option).is_none_or(Kind::is_text) {
            Some(Value::String(text.to_owned()))
        } else {
            format!("value = {text}").parse::<Table>().ok().and_then(|mut table| table.remove("value"))
        };
        // Text that is not TOML is a value of the wrong type.
        self.set(origin, option, parsed.unwrap_or_else(|| Value::String(text.to_owned())));
    }

    fn set(&mut self, origin: Origin, option: &str, value: Value) {
        let checked = match kind_of(option) {
            Some(kind) => kind.check(&value),
            None => {
                let near = nearest(option, self.entries.keys().map(String::as_str), '.');
                let hint = near.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
                Err(format!("is not an option{hint}"))
            }
        };
        match (checked, self.entries.get_mut(option)) {
            (Ok(()), Some(entry)) => *entry = Entry { value, origin },
            (Ok(()), None) => {}
            (Err(text), _) => {
                let option = Some(one_line(option));
                self.problems.push(Problem { origin: Some(origin), option, text });
            }
        }
    }

    fn finish(mut self, check_files: impl Fn(&Config) -> Vec<Conflict>) -> Result<Config, ConfigError> {
        let mut whole = Table::new();
        for (option, entry) in &self.entries {
            insert(&mut whole, option, entry.value.clone());
        }
        let config: Result<Config, toml::de::Error> = Value::Table(whole).try_into();
        let config = config.map_err(|error| ConfigError::unusable("", error.message().to_owned()))?;
        for conflict in conflicts(&config).into_iter().chain(check_files(&config)) {
            self.add_conflict(conflict);
        }
        self.problems.sort_by_key(|problem| match &problem.origin {
            Some(Origin::File(_, line)) => *line,
            Some(Origin::Default | Origin::Variable(_) | Origin::Flag(_)) | None => usize::MAX,
        });
        if let Some(error) = ConfigError::of(self.problems) {
            return Err(error);
        }
        let values = self.entries.into_iter().map(|(option, entry)| (option, entry.value)).collect();
        Ok(Config { values: OptionValues(values), ..config })
    }

    /// An option is reported only once.
    fn add_conflict(&mut self, conflict: Conflict) {
        let Conflict { option, because, text } = conflict;
        let is_reported =
            |name: &str| self.problems.iter().any(|known| known.option.as_deref() == Some(name));
        if is_reported(option) || is_reported(because) {
            return;
        }
        let set = |name: &str| self.entries.get(name).map(|entry| entry.origin.clone());
        let origin = set(option).filter(|origin| *origin != Origin::Default).or_else(|| set(because));
        let origin = origin.filter(|origin| *origin != Origin::Default);
        self.problems.push(Problem { origin, option: Some(option.to_owned()), text });
    }
}

fn flatten(prefix: &str, table: Table, visit: &mut impl FnMut(String, Value)) {
    for (name, value) in table {
        let option = path(prefix, &name);
        match value {
            Value::Table(inner) => flatten(&option, inner, visit),
            value => visit(option, value),
        }
    }
}

/// Visits each value with its option and the byte offset of its name.
fn flatten_spanned(prefix: &str, table: DeTable<'_>, visit: &mut impl FnMut(String, usize, Value)) {
    for (name, value) in table {
        let start = name.span().start;
        let option = path(prefix, name.get_ref());
        match value.into_inner() {
            DeValue::Table(inner) if kind_of(&option).is_none() => flatten_spanned(&option, inner, visit),
            value => visit(option, start, plain(value)),
        }
    }
}

/// A value without its span. One that cannot be parsed (a number that is too large) becomes text, which no such
/// option accepts.
fn plain(value: DeValue<'_>) -> Value {
    let text = match &value {
        DeValue::Integer(number) => number.as_str().to_owned(),
        _ => String::new(),
    };
    match value {
        DeValue::String(text) => Value::String(text.into_owned()),
        DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => Value::Integer(number),
            Err(_) => Value::String(text),
        },
        DeValue::Float(number) => number.as_str().parse().map_or(Value::String(String::new()), Value::Float),
        DeValue::Boolean(flag) => Value::Boolean(flag),
        DeValue::Datetime(time) => Value::Datetime(time),
        DeValue::Array(list) => Value::Array(list.into_iter().map(Spanned::into_inner).map(plain).collect()),
        DeValue::Table(table) => {
            let pairs = table.into_iter();
            Value::Table(
                pairs
                    .map(|(name, value)| (name.into_inner().into_owned(), plain(value.into_inner())))
                    .collect(),
            )
        }
    }
}

fn path(prefix: &str, name: &str) -> String {
    if prefix.is_empty() { name.to_owned() } else { format!("{prefix}.{name}") }
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

/// The known name with the smallest edit distance, if it is close enough: of the same section if that has options. Otherwise the
/// last part of a name counts as well.
fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>, separator: char) -> Option<String> {
    let known: Vec<&str> = known.collect();
    let (section, last) = split(name, separator);
    let own: Vec<&str> = known.iter().copied().filter(|of| split(of, separator).0 == section).collect();
    let found = match section.is_empty() || own.is_empty() {
        true => {
            let written = name.strip_prefix(VARIABLE_PREFIX).unwrap_or(name);
            let distance = |of: &str| edits(name, of).min(edits(name, split(of, separator).1));
            closest(&known, distance, near(written))
        }
        false => {
            let distance = |of: &str| match split(of, separator).1 {
                own if has_words(own, last) => 1,
                own => edits(last, own),
            };
            // In another section only (nearly) the same name.
            closest(&own, distance, near(last))
                .or_else(|| closest(&known, |of| edits(last, split(of, separator).1), 1))
        }
    };
    found.map(str::to_owned)
}

/// The distance up to which another name is near enough to be meant: a third of the letters.
fn near(name: &str) -> usize {
    (name.len() / 3).max(1)
}

/// The section and the last part of a name.
fn split(name: &str, separator: char) -> (&str, &str) {
    name.rsplit_once(separator).unwrap_or(("", name))
}

/// The name with the smallest distance, if that is at most `distance_max`.
fn closest<'a>(names: &[&'a str], distance: impl Fn(&str) -> usize, distance_max: usize) -> Option<&'a str> {
    let (found, name) = names.iter().map(|name| (distance(name), *name)).min()?;
    (found <= distance_max).then_some(name)
}

/// Whether a name such as `search_base` has all words of another one, such as `base`.
fn has_words(name: &str, wanted: &str) -> bool {
    wanted.split('_').all(|word| !word.is_empty() && name.split('_').any(|own| own == word))
}

/// The letters to add, remove, replace or exchange with their neighbors that make one name the other. Quadratic: names that are far
/// longer than any option are not compared.
fn edits(from: &str, to: &str) -> usize {
    if from.len() > NAME_BYTES_MAX { usize::MAX } else { strsim::osa_distance(from, to) }
}

#[cfg(test)]
mod tests;
