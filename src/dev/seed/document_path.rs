//! Where an entry of a seed is written, as a path of names and numbers, and its position in the text of the file.

use serde_json::value::RawValue;
use serde_path_to_error::{Path, Segment};
use std::collections::HashMap;
use toml::de::{DeTable, DeValue};

/// An entry of a document, by the way from its root.
#[derive(Clone, Copy, Debug)]
pub(super) enum At<'a> {
    Document,
    /// The value of a name.
    Key(&'a At<'a>, &'a str),
    /// The name itself.
    Name(&'a At<'a>, &'a str),
    /// One entry of a list, from 0.
    Entry(&'a At<'a>, usize),
}

impl<'a> At<'a> {
    /// What a name stands for.
    pub fn key(&'a self, name: &'a str) -> Self {
        Self::Key(self, name)
    }

    /// A name, and not what it stands for.
    pub fn name(&'a self, name: &'a str) -> Self {
        Self::Name(self, name)
    }

    /// An entry of a list.
    pub fn entry(&'a self, number: usize) -> Self {
        Self::Entry(self, number)
    }

    /// A copy of this way through the document that borrows nothing from it.
    pub fn path(&self) -> DocumentPath {
        let mut steps = Vec::new();
        let mut at = self;
        loop {
            let (parent, step) = match at {
                At::Document => break,
                At::Key(parent, name) => (parent, Step::Key((*name).to_owned())),
                At::Name(parent, name) => (parent, Step::Name((*name).to_owned())),
                At::Entry(parent, number) => (parent, Step::Entry(*number)),
            };
            steps.push(step);
            at = parent;
        }
        steps.reverse();
        DocumentPath(steps)
    }
}

/// The way to an entry of a document.
#[derive(Clone, Debug)]
pub(super) struct DocumentPath(Vec<Step>);

#[derive(Clone, Debug)]
enum Step {
    Key(String),
    Name(String),
    Entry(usize),
}

impl DocumentPath {
    /// The way at which reading a document ended. `is_name`: at a name, and not what it stands for.
    pub fn read(path: &Path, is_name: bool) -> Self {
        let steps = path.iter().map(|segment| match segment {
            Segment::Seq { index } => Step::Entry(*index),
            Segment::Map { key } => Step::Key(key.clone()),
            Segment::Enum { variant } => Step::Key(variant.clone()),
            Segment::Unknown => Step::Key(String::new()),
        });
        let mut steps: Vec<Step> = steps.collect();
        if is_name && let Some(Step::Key(name)) = steps.last() {
            let name = Step::Name(name.clone());
            steps.pop();
            steps.push(name);
        }
        Self(steps)
    }

    /// The byte of the text at which the entry begins, or the innermost one around it that is written there.
    pub fn find(&self, text: &str) -> usize {
        match text.trim_start().starts_with('{') {
            true => self.find_in_json(text),
            false => self.find_in_toml(text),
        }
    }

    fn find_in_toml(&self, text: &str) -> usize {
        let Ok(document) = DeTable::parse(text) else { return 0 };
        let mut at = document.span().start;
        let mut value = DeValue::Table(document.into_inner());
        for step in &self.0 {
            let found = match (step, value) {
                (Step::Key(name) | Step::Name(name), DeValue::Table(table)) => {
                    table.into_iter().find(|(key, _)| key.get_ref() == name.as_str())
                }
                (Step::Entry(number), DeValue::Array(entries)) => {
                    let entry = entries.into_iter().nth(*number);
                    if let Some(entry) = entry {
                        at = entry.span().start;
                        value = entry.into_inner();
                        continue;
                    }
                    None
                }
                (_, _) => None,
            };
            let Some((key, inner)) = found else { break };
            at = if matches!(step, Step::Name(_)) { key.span().start } else { inner.span().start };
            value = inner.into_inner();
        }
        at
    }

    fn find_in_json(&self, text: &str) -> usize {
        // The parts are slices of the text.
        let position = |part: &str| part.as_ptr().addr() - text.as_ptr().addr();
        let mut value = text.trim_start();
        let mut at = position(value);
        for step in &self.0 {
            let inner = match step {
                Step::Key(name) | Step::Name(name) => {
                    serde_json::from_str::<HashMap<String, &RawValue>>(value)
                        .ok()
                        .and_then(|members| members.get(name).copied())
                }
                Step::Entry(number) => serde_json::from_str::<Vec<&RawValue>>(value)
                    .ok()
                    .and_then(|entries| entries.get(*number).copied()),
            };
            let Some(inner) = inner else { break };
            value = inner.get();
            at = position(value);
            if let Step::Name(name) = step {
                // Only a colon is between a name and its value.
                at = text[..at].rfind(&format!("\"{name}\"")).unwrap_or(at);
            }
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOML: &str = "a = \"x\"\nt.u = [\"x\", \"x\"]\n[[l]]\nn = \"x\"\n[[l]]\n\"n\" = { x = \"x\" }\n";
    const JSON: &str = "\n{\"a\": \"x\", \"t\": {\"u\": [\"x\", \"x\"]},\n \"l\": [{\"n\": \"x\"}, {\"n\": {\"x\" : \"x\"}}]}";

    #[test]
    fn entries_are_found_by_their_way() {
        let root = At::Document;
        let (t, l) = (root.key("t"), root.key("l"));
        let (u, second) = (t.key("u"), l.entry(1));
        let n = second.key("n");
        let rest = |text: &'static str, at: At<'_>| &text[at.path().find(text)..];
        for (at, toml, json) in [
            (root.key("a"), "\"x\"\nt.u", "\"x\", \"t\""),
            (root.name("a"), "a = ", "\"a\": "),
            (u.entry(1), "\"x\"]\n[[l]]", "\"x\"]},"),
            (root.name("l"), "l]]\nn", "\"l\": ["),
            (n.name("x"), "x = \"x\" }\n", "\"x\" : \"x\"}}"),
            (n.key("x"), "\"x\" }\n", "\"x\"}}"),
            (n.key("y"), "{ x", "{\"x\" :"),
            (u.entry(2), "[\"x\", \"x\"]\n", "[\"x\", \"x\"]}"),
        ] {
            assert!(rest(TOML, at).starts_with(toml), "{at:?}: {}", rest(TOML, at));
            assert!(rest(JSON, at).starts_with(json), "{at:?}: {}", rest(JSON, at));
        }
    }
}
