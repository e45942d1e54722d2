//! Recording: what answers had in common, as files below `src/reference/answers`.

use super::components::{Components, add, shape};
use super::shape::Shape;
use millstream::reference::operation::{Answer, Operation};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The refusals of bodies that are no forms, and of texts that are none.
const MALFORMED: [&str; 2] = ["Malformed multipart body", "content is not valid UTF-8"];

/// All that was recorded until now.
#[derive(Default)]
struct Recorded {
    answers: BTreeMap<String, Shape>,
    components: Components,
    events: Components,
    /// Status and code by operation, each with the text of one error.
    errors: BTreeMap<String, BTreeMap<(u16, String), String>>,
    is_read: bool,
}

static RECORDED: Mutex<Option<Recorded>> = Mutex::new(None);

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/reference/answers")
}

/// Adds an answer.
pub fn answer(operation: &Operation, status: u16, body: &Value) {
    let mut recorded = RECORDED.lock().unwrap_or_else(PoisonError::into_inner);
    let recorded = recorded.get_or_insert_with(Recorded::default);
    if !recorded.is_read {
        recorded.read();
    }
    match status {
        200 if operation.answer == Answer::Json => recorded.success(operation.id, body),
        400..=499 => recorded.error(operation.id, status, body),
        _ => {}
    }
}

impl Recorded {
    /// Starts with what earlier runs recorded.
    fn read(&mut self) {
        self.is_read = true;
        let read = |name: &str| -> Value {
            let text = fs::read_to_string(folder().join(name)).unwrap_or_else(|_| "{}".to_owned());
            serde_json::from_str(&text).expect("a recording is JSON")
        };
        let shapes = |value: &Value| -> BTreeMap<String, Shape> {
            let all = value.as_object().into_iter().flatten();
            all.map(|(name, schema)| (name.clone(), Shape::of_schema(schema))).collect()
        };
        self.answers = shapes(&read("answers.json"));
        self.components = shapes(&read("components.json"));
        self.events = shapes(&read("events.json"));
        for (id, rows) in read("errors.json").as_object().into_iter().flatten() {
            for row in rows.as_array().into_iter().flatten() {
                let status = row["status"].as_u64().unwrap_or_default() as u16;
                let code = row["code"].as_str().unwrap_or_default().to_owned();
                let text = row["msg"].as_str().unwrap_or_default().to_owned();
                self.errors.entry(id.clone()).or_default().insert((status, code), text);
            }
        }
    }

    fn success(&mut self, id: &str, body: &Value) {
        let before = (self.components.clone(), self.events.clone());
        let mut body = body.clone();
        if let Some(members) = body.as_object_mut() {
            for common in ["result", "msg", "ignored_parameters_unsupported"] {
                members.remove(common);
            }
        }
        let events = body.get_mut("events").filter(|_| id == "get-events").map(Value::take);
        let is_bare = body.as_object().is_some_and(|members| members.is_empty());
        // An answer without members says that none is always there.
        let bare = || Shape::object(BTreeMap::new());
        let mut found = if is_bare { bare() } else { shape("", &body, &mut self.components) };
        if let Some(events) = events {
            for event in events.as_array().into_iter().flatten() {
                let found = shape("", event, &mut self.components);
                add(&mut self.events, &super::validate::event_name(event), found);
            }
            found = Shape::object(BTreeMap::from([(
                "events".to_owned(),
                Shape::list(Some(Shape::component("Event"))),
            )]));
            if body.get("queue_id").is_some() {
                found.merge(Shape::object(BTreeMap::from([
                    ("events".to_owned(), Shape::list(Some(Shape::component("Event")))),
                    ("queue_id".to_owned(), Shape::simple("string")),
                ])));
            }
        }
        let known = self.answers.get(id).cloned();
        add(&mut self.answers, id, found);
        if known.as_ref() != self.answers.get(id) || before != (self.components.clone(), self.events.clone())
        {
            self.write();
        }
    }

    fn error(&mut self, id: &str, status: u16, body: &Value) {
        let code = body["code"].as_str().unwrap_or_default().to_owned();
        let text = body["msg"].as_str().unwrap_or_default().to_owned();
        let known = self.errors.entry(id.to_owned()).or_default();
        // What every form may be refused for says nothing about the operation.
        if MALFORMED.contains(&&*text) {
            return;
        }
        // The shortest text, and of these the first in the alphabet, so that the order of tests does not matter.
        let is_better = |known: &String| (text.len(), &text) < (known.len(), known);
        if known.get(&(status, code.clone())).is_none_or(is_better) {
            known.insert((status, code), text);
            self.write();
        }
    }

    fn write(&self) {
        fs::create_dir_all(folder()).expect("a folder");
        #[cfg(debug_assertions)]
        fs::write("/tmp/api_undeclared.txt", millstream::reference::declared::undeclared().join("\n"))
            .expect("written");
        let schemas = |shapes: &BTreeMap<String, Shape>| {
            let all = shapes.iter().map(|(name, shape)| (name.clone(), shape.schema()));
            Value::Object(all.collect())
        };
        let errors = self.errors.iter().map(|(id, rows)| {
            let rows = rows
                .iter()
                .map(|((status, code), text)| json!({"status": status, "code": code, "msg": text}));
            (id.clone(), Value::Array(rows.collect()))
        });
        put("answers.json", &schemas(&self.answers));
        put("components.json", &schemas(&self.components));
        put("events.json", &schemas(&self.events));
        put("errors.json", &Value::Object(errors.collect()));
    }
}

fn put(name: &str, value: &Value) {
    let text = serde_json::to_string_pretty(value).expect("JSON");
    fs::write(folder().join(name), text + "\n").expect("the recording is written");
}
