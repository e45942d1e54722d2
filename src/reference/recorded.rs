//! What tests recorded: the forms of answers and errors, and an example of each operation. Embedded compressed, and read when it
//! is asked for.

use super::schemas::event_component;
use super::{items, member_texts};
use flate2::read::GzDecoder;
use serde_json::Value;
use std::io::Read;
use std::sync::LazyLock;

include!(concat!(env!("OUT_DIR"), "/reference.rs"));

/// The recordings of answers: `answers`, `components`, `events` and `errors`. Every list has items, and every member a text. Made once,
/// when it is first asked for.
pub fn answers() -> &'static Value {
    static ANSWERS: LazyLock<Value> = LazyLock::new(described_answers);
    &ANSWERS
}

fn described_answers() -> Value {
    let mut answers = decompressed(ANSWERS);
    items::complete("", &mut answers);
    for (part, is_event) in [("answers", false), ("components", false), ("events", true)] {
        for (name, schema) in answers[part].as_object_mut().into_iter().flatten() {
            let owner = if is_event { event_component(name) } else { name.clone() };
            member_texts::describe(&owner, schema);
        }
    }
    answers
}

/// The example of an operation: `request` and `answer`. Null if there is none.
pub fn example(id: &str) -> Value {
    let found = EXAMPLES.iter().find(|(known, _)| *known == id);
    found.map_or(Value::Null, |(_, bytes)| decompressed(bytes))
}

/// What the build embedded is valid; null otherwise.
fn decompressed(bytes: &[u8]) -> Value {
    let mut text = String::new();
    let read = GzDecoder::new(bytes).read_to_string(&mut text);
    read.ok().and_then(|_| serde_json::from_str(&text).ok()).unwrap_or_default()
}
