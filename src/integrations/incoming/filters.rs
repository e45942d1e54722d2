//! The filters and functions of templates. What they return is Markdown that is not escaped again, if they say so.

use super::{markdown, slack};
use jiff::Timestamp;
use minijinja::value::{Kwargs, Rest, ValueKind};
use minijinja::{Environment, Error, ErrorKind, Value};
use std::collections::BTreeMap;

/// Committers that are named; the others are counted together.
const COMMITTERS_MAX: usize = 3;
/// Characters of a commit's id that are shown.
const SHORT_SHA_CHARS: usize = 11;

/// Adds everything that templates can use besides the engine's own filters.
pub fn install(environment: &mut Environment<'static>) {
    environment.add_function("link", link);
    environment.add_function("committers", committers);
    environment.add_function("pluck", pluck);
    environment.add_filter("code", |value: &Value| Ok::<_, Error>(safe(markdown::code(&string(value)?))));
    environment.add_filter("quote", |value: &Value| Ok::<_, Error>(safe(markdown::quote(&string(value)?))));
    environment.add_filter("text", |value: &Value| Ok::<_, Error>(safe(markdown::text(&string(value)?))));
    environment
        .add_filter("mrkdwn", |value: &Value| Ok::<_, Error>(safe(slack::from_mrkdwn(&string(value)?))));
    environment.add_filter("fenced", fenced);
    environment.add_filter("json", pretty_json);
    environment.add_filter("first_line", |value: &Value| {
        Ok::<_, Error>(string(value)?.trim_start().lines().next().unwrap_or_default().trim_end().to_owned())
    });
    environment.add_filter("short_sha", |value: &Value| {
        Ok::<_, Error>(string(value)?.chars().take(SHORT_SHA_CHARS).collect::<String>())
    });
    environment.add_filter("without", without);
    environment.add_filter("global_time", |value: &Value| Ok::<_, Error>(moment(value)?.map(global_time)));
    environment.add_filter("without_comments", |value: &Value| {
        Ok::<_, Error>(without_comments(markdown::capped(&string(value)?)))
    });
    environment.add_filter("ends_as_sentence", |value: &Value| {
        Ok::<_, Error>(string(value)?.chars().last().is_some_and(|c| c.is_ascii_punctuation()))
    });
    environment.add_filter("names", |value: &Value| Ok::<_, Error>(safe(enumeration(&strings(value)?))));
    environment.add_test("listed_in", listed_in);
    environment.add_test("starting", |value: &Value, prefix: &str| {
        value.as_str().is_some_and(|text| text.starts_with(prefix))
    });
    environment.add_test("containing", |value: &Value, part: &str| {
        value.as_str().is_some_and(|text| text.contains(part))
    });
}

fn safe(text: String) -> Value {
    Value::from_safe_string(text)
}

/// A text or a number; anything else is not what the template expects.
fn string(value: &Value) -> Result<String, Error> {
    match value.kind() {
        ValueKind::String => Ok(value.as_str().unwrap_or_default().to_owned()),
        ValueKind::Number => Ok(value.to_string()),
        ValueKind::None => Ok(String::new()),
        other => Err(Error::new(ErrorKind::InvalidOperation, format!("{other} instead of a text"))),
    }
}

fn strings(value: &Value) -> Result<Vec<String>, Error> {
    value.try_iter()?.map(|item| string(&item)).collect()
}

/// `link(text, url)`: Markdown.
fn link(text: &Value, url: Option<&Value>) -> Result<Value, Error> {
    let url = url.map_or(Ok(String::new()), string)?;
    let text = match text.is_safe() {
        // A text that a template composed.
        true => text.as_str().unwrap_or_default().to_owned(),
        false => string(text)?,
    };
    Ok(safe(markdown::link(&text, &url)))
}

/// `| fenced("json")`: a block of code.
fn fenced(value: &Value, language: Option<&str>) -> Result<Value, Error> {
    Ok(safe(markdown::fenced(&string(value)?, language.unwrap_or_default())))
}

/// `| json`: the value as indented JSON.
fn pretty_json(value: &Value) -> Result<String, Error> {
    serde_json::to_string_pretty(value)
        .map_err(|_| Error::new(ErrorKind::BadSerialization, "a value that is not JSON"))
}

/// `| without("refs/heads/")`: the text without a prefix.
fn without(value: &Value, prefix: &str) -> Result<String, Error> {
    let text = string(value)?;
    Ok(text.strip_prefix(prefix).unwrap_or(&text).to_owned())
}

/// `is listed_in("main, release")`: whether a text is one of those between commas. Everything is in a list that is not given.
fn listed_in(value: &Value, list: Option<&Value>) -> bool {
    let Some(list) = list.and_then(Value::as_str) else { return true };
    value.as_str().is_some_and(|text| list.split(',').any(|item| item.trim() == text))
}

/// `pluck(list, "author.username", "author.name")`: of each item the first of these that is there.
fn pluck(list: &Value, paths: Rest<String>) -> Result<Vec<Value>, Error> {
    let found = |item: &Value, path: &String| {
        let mut value = item.clone();
        for name in path.split('.') {
            value = value.get_attr(name).ok()?;
        }
        value.is_true().then_some(value)
    };
    let missing = || Error::new(ErrorKind::UndefinedError, "an item of a list lacks a property");
    let items = list.try_iter()?;
    items.map(|item| paths.iter().find_map(|path| found(&item, path)).ok_or_else(missing)).collect()
}

/// A point in time as text (RFC 3339, or `2024-01-31 12:00:00 UTC`), in seconds or in milliseconds.
fn moment(value: &Value) -> Result<Option<Timestamp>, Error> {
    const MILLIS_FROM: i64 = 100_000_000_000;
    if value.kind() == ValueKind::Number {
        let number = value.as_i64().or_else(|| f64::try_from(value.clone()).ok().map(|number| number as i64));
        return Ok(number.and_then(|number| match number.unsigned_abs() >= MILLIS_FROM.unsigned_abs() {
            true => Timestamp::from_millisecond(number).ok(),
            false => Timestamp::from_second(number).ok(),
        }));
    }
    let text = string(value)?;
    let text = text.trim();
    let zoned = text.strip_suffix(" UTC").map(|text| format!("{text}Z"));
    Ok(zoned.as_deref().unwrap_or(text).parse().ok())
}

/// A time that each reader sees in their own time zone.
fn global_time(moment: Timestamp) -> Value {
    safe(format!("<time:{}>", moment.strftime("%Y-%m-%dT%H:%M:%S+00:00")))
}

/// The text without HTML comments, which templates of other services have.
fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("<!--") {
        out.push_str(before);
        rest = after.split_once("-->").map_or("", |(_, after)| after);
    }
    out.push_str(rest);
    out.trim_end().to_owned()
}

/// `a`, `a and b`, `a, b and c`.
fn enumeration(names: &[String]) -> String {
    let names: Vec<String> = names.iter().take(100).map(|name| markdown::inline(name)).collect();
    match names.split_last() {
        None => String::new(),
        Some((only, [])) => only.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
    }
}

/// `committers(commits, author="author.name")`: who made them, with numbers: those with the most first.
fn committers(names: &Value, kwargs: Kwargs) -> Result<Value, Error> {
    let except: Option<&str> = kwargs.get("except")?;
    kwargs.assert_all_used()?;
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for name in strings(names)? {
        *counts.entry(name).or_default() += 1;
    }
    if counts.len() == 1 && counts.keys().next().map(String::as_str) == except {
        return Ok(safe(String::new()));
    }
    let mut counts: Vec<(String, usize)> = counts.into_iter().collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let others: usize = counts.iter().skip(COMMITTERS_MAX).map(|(_, count)| count).sum();
    counts.truncate(COMMITTERS_MAX);
    if others > 0 {
        counts.push(("others".to_owned(), others));
    }
    let shown: Vec<String> = counts.iter().map(|(name, count)| format!("{name} ({count})")).collect();
    Ok(safe(enumeration(&shown)))
}
