//! The catalog of incoming webhooks against example payloads, in a folder for each integration: a JSON file for each example,
//! and beside it the message that it becomes, in a Markdown file of the same name.

use millstream::http::BodyKind;
use millstream::integrations::incoming::{
    Catalog, Delivery, EventFilter, Integration, Outcome, parse_payload,
};
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

pub static CATALOG: LazyLock<Catalog> = LazyLock::new(|| Catalog::load(None).expect("the catalog"));

/// An example as in its file. `form` has fields instead of a JSON body.
#[derive(Deserialize)]
struct Example {
    #[serde(default)]
    event: String,
    #[serde(default)]
    parameters: BTreeMap<String, String>,
    payload: Option<Box<RawValue>>,
    form: Option<BTreeMap<String, String>>,
}

impl Example {
    fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).expect("the file");
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    fn body(&self) -> (BodyKind, String) {
        match (&self.payload, &self.form) {
            (Some(payload), None) => (BodyKind::Json, payload.get().to_owned()),
            (None, Some(form)) => {
                let mut encoded = form_urlencoded::Serializer::new(String::new());
                (BodyKind::Form, encoded.extend_pairs(form).finish())
            }
            _ => panic!("an example has a payload or a form"),
        }
    }

    fn outcome(&self, integration: &Integration) -> Outcome {
        let (kind, body) = self.body();
        outcome(integration, (&kind, body.as_bytes()), &self.event, &self.parameters)
    }
}

fn outcome(
    integration: &Integration,
    (kind, body): (&BodyKind, &[u8]),
    event: &str,
    parameters: &BTreeMap<String, String>,
) -> Outcome {
    let payload = parse_payload(kind, body).expect("a payload");
    let delivery = Delivery {
        event,
        payload: &payload,
        parameters,
        topic: parameters.get("topic").map(String::as_str),
        filter: &EventFilter::default(),
        ignores_private: parameters.contains_key("ignore_private_repositories"),
    };
    CATALOG.outcome(integration, &delivery)
}

/// The outcome as in the file beside an example.
fn shown(outcome: &Outcome, parameters: &BTreeMap<String, String>) -> String {
    match outcome {
        Outcome::Message { event, topic, content } => {
            let topic = parameters.get("topic").unwrap_or(topic);
            format!("event: {event}\ntopic: {topic}\n\n{content}\n")
        }
        Outcome::Ignored => "ignored\n".to_owned(),
        Outcome::Unsupported { event } => format!("unsupported: {event}\n"),
        Outcome::Anomalous { event, reason } => format!("anomalous: {event}: {reason}\n"),
    }
}

/// The examples of an integration.
fn examples(integration: &Integration) -> Vec<PathBuf> {
    let folder = Path::new(ROOT).join("tests/integrations/incoming").join(&integration.name);
    let files = fs::read_dir(&folder).into_iter().flatten().map(|entry| entry.expect("a file").path());
    let mut files: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|extension| extension == "json")).collect();
    files.sort();
    files
}

#[test]
fn every_example_becomes_the_message_beside_it() {
    let mut wrong = Vec::new();
    for integration in CATALOG.integrations() {
        for path in examples(integration) {
            let example = Example::read(&path);
            let found = shown(&example.outcome(integration), &example.parameters);
            let expected = fs::read_to_string(path.with_extension("md")).unwrap_or_default();
            if found != expected {
                wrong.push(format!("{}\n--- expected\n{expected}--- found\n{found}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{} examples differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_event_has_an_example() {
    for integration in CATALOG.integrations() {
        let paths = examples(integration);
        assert!(!paths.is_empty(), "{} has no examples", integration.name);
        let outcomes = paths.iter().map(|path| Example::read(path).outcome(integration));
        let seen: BTreeSet<String> = outcomes
            .filter_map(|outcome| match outcome {
                Outcome::Message { event, .. } => Some(event),
                _ => None,
            })
            .collect();
        let missing: Vec<&str> =
            integration.event_names().into_iter().filter(|name| !seen.contains(*name)).collect();
        assert!(missing.is_empty(), "{} has no examples of {missing:?}", integration.name);
    }
}

#[test]
fn every_integration_and_event_is_documented() {
    let page = fs::read_to_string(Path::new(ROOT).join("docs/webhooks.md")).expect("the page");
    for integration in CATALOG.integrations() {
        let url = format!("/api/v1/external/{}", integration.name);
        assert!(page.contains(&url), "docs/webhooks.md lacks {url}");
        for event in integration.event_names() {
            assert!(
                page.contains(&format!("`{event}`")),
                "docs/webhooks.md lacks {event} of {}",
                integration.name
            );
        }
        for option in &integration.url_options {
            assert!(page.contains(&format!("`{}`", option.key)), "docs/webhooks.md lacks {}", option.key);
        }
    }
}

/// A payload with one value replaced or removed: the `place`-th one.
fn mutated(value: &mut Value, place: &mut usize, with: Option<&Value>) -> bool {
    match value {
        Value::Object(members) => {
            let keys: Vec<String> = members.keys().cloned().collect();
            for key in keys {
                if *place == 0 {
                    match with {
                        Some(with) => members.insert(key, with.clone()),
                        None => members.remove(&key),
                    };
                    return true;
                }
                *place -= 1;
                if members.get_mut(&key).is_some_and(|member| mutated(member, place, with)) {
                    return true;
                }
            }
            false
        }
        Value::Array(items) => items.iter_mut().any(|item| {
            if *place == 0 {
                *item = with.cloned().unwrap_or(Value::Null);
                return true;
            }
            *place -= 1;
            mutated(item, place, with)
        }),
        _ => false,
    }
}

/// What a value is replaced with.
fn replacements() -> impl Strategy<Value = Option<Value>> {
    let long = "@**all** ](http://evil.example) ``` ~~~ ".repeat(2_000);
    prop_oneof![
        Just(None),
        Just(Some(Value::Null)),
        Just(Some(json!(true))),
        Just(Some(json!(-1))),
        Just(Some(json!(1e300))),
        Just(Some(json!(18_446_744_073_709_551_615_u64))),
        Just(Some(json!(""))),
        Just(Some(json!([]))),
        Just(Some(json!({}))),
        Just(Some(json!([[[{}]]]))),
        Just(Some(json!({"name": {"login": []}}))),
        Just(Some(json!(long))),
        "\\PC{0,40}".prop_map(|text| Some(json!(text))),
        "[@*_`~#\\[\\]()|<>!\\n{}%]{1,30}".prop_map(|text| Some(json!(text))),
    ]
}

static EXAMPLES: LazyLock<Vec<(&'static Integration, Example)>> = LazyLock::new(|| {
    let all = CATALOG.integrations().flat_map(|integration| {
        examples(integration).into_iter().map(move |path| (integration, Example::read(&path)))
    });
    all.filter(|(_, example)| example.payload.is_some()).collect()
});

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn broken_payloads_are_refused_or_become_bounded_messages(
        index in any::<prop::sample::Index>(),
        changes in prop::collection::vec((0usize..200, replacements()), 1..4),
    ) {
        let (integration, example) = &EXAMPLES[index.index(EXAMPLES.len())];
        let text = example.payload.as_ref().map_or("{}", |payload| payload.get());
        let mut payload: Value = serde_json::from_str(text).expect("JSON");
        for (place, with) in &changes {
            mutated(&mut payload, &mut place.clone(), with.as_ref());
        }
        let body = payload.to_string();
        let found = outcome(integration, (&BodyKind::Json, body.as_bytes()), &example.event, &example.parameters);
        if let Outcome::Message { topic, content, .. } = found {
            prop_assert!(content.len() <= 64 << 10, "{} bytes", content.len());
            prop_assert!(!topic.chars().any(char::is_control), "{topic:?}");
            let is_code = integration.name == "json";
            prop_assert!(is_code || !content.contains("@**all**"), "{content}");
        }
    }
}
