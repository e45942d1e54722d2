//! All integrations: those of the program, and those in a folder of the operator, which replace others of their name.

use super::definition::{self, Definition, Event, Fault, Source, UrlOption};
use super::engine::{self, TOPIC_SUFFIX};
use super::payload::parse_payload;
use super::{Delivery, EventFilter, Outcome};
use crate::http::BodyKind;
use bytes::Bytes;
use minijinja::{Environment, Value, context};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;
use toml::Spanned;

/// The files of the program: name and text.
const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/incoming_catalog.rs"));
/// The end of the names of shared macros.
const SHARED_SUFFIX: &str = ".jinja";
/// Files in the folder of the operator.
const FILES_MAX: usize = 500;
/// Bytes of one of them.
const FILE_BYTES_MAX: u64 = 256 << 10;

/// Why the catalog cannot be used: every problem with its file and line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogError(Vec<String>);

impl fmt::Display for CatalogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}

impl std::error::Error for CatalogError {}

/// The integrations with their compiled templates.
pub struct Catalog {
    environment: Environment<'static>,
    integrations: BTreeMap<String, Integration>,
    /// What clients are offered, as JSON.
    offer: Bytes,
}

/// One integration of the catalog.
#[derive(Clone, Debug)]
pub struct Integration {
    pub name: String,
    pub display_name: String,
    /// The client of its messages, such as `ZulipGitHubWebhook`.
    pub client: String,
    pub event_header: Option<String>,
    pub decodes_parameters_twice: bool,
    /// Fields of the answer.
    pub answer: Vec<(String, Json)>,
    pub url_options: Vec<UrlOption>,
    /// Whether it knows which payloads are about private repositories.
    pub knows_private: bool,
    names_unsupported: bool,
    events: Vec<KnownEvent>,
}

#[derive(Clone, Debug)]
struct KnownEvent {
    name: String,
    can_skip: bool,
    has_message: bool,
}

impl Integration {
    /// The names of its events that become messages, each once, in the order of the file.
    pub fn event_names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for event in self.events.iter().filter(|event| event.has_message) {
            if !names.contains(&event.name.as_str()) {
                names.push(&event.name);
            }
        }
        names
    }
}

impl Catalog {
    /// The program's integrations, and those in a folder.
    pub fn load(folder: Option<&Path>) -> Result<Self, CatalogError> {
        let mut catalog =
            Self { environment: engine::environment(), integrations: BTreeMap::new(), offer: Bytes::new() };
        let mut problems = Vec::new();
        let (shared, files): (Vec<_>, Vec<_>) =
            FILES.iter().copied().partition(|(name, _)| name.ends_with(SHARED_SUFFIX));
        for (name, text) in shared {
            if let Err(error) = catalog.environment.add_template(name, text) {
                problems.push(format!("{name}:{}: {error}", error.line().unwrap_or(1)));
            }
        }
        for (name, text) in files {
            catalog.add_file(name, name, text, &mut problems);
        }
        if let Some(folder) = folder {
            for (path, name, text) in operator_files(folder)? {
                catalog.add_file(&path, &name, &text, &mut problems);
            }
        }
        catalog.offer = offered(&catalog.integrations).into();
        if problems.is_empty() { Ok(catalog) } else { Err(CatalogError(problems)) }
    }

    /// The value of `realm_incoming_webhook_bots` in registrations.
    pub fn offer(&self) -> Bytes {
        self.offer.clone()
    }

    /// An integration by the last part of its URL.
    pub fn integration(&self, name: &str) -> Option<&Integration> {
        self.integrations.get(name)
    }

    /// All of them, by name.
    pub fn integrations(&self) -> impl Iterator<Item = &Integration> {
        self.integrations.values()
    }

    fn add_file(&mut self, path: &str, name: &str, text: &str, problems: &mut Vec<String>) {
        let added = definition::parse(name, text).and_then(|definition| self.add(&definition, &Source(text)));
        for fault in added.err().unwrap_or_default() {
            problems.push(format!("{path}:{}: {}", fault.line, fault.text));
        }
    }

    fn add(&mut self, definition: &Definition, source: &Source<'_>) -> Result<(), Vec<Fault>> {
        let mut faults = Vec::new();
        let name = definition.name.as_ref();
        let mut compile = |part: &str, text: Option<&Spanned<String>>, kind: Part| {
            if let Some(text) = text
                && let Err(fault) = self.compile(&format!("{name}/{part}"), text, kind, definition, source)
            {
                faults.push(fault);
            }
        };
        compile("private", definition.private.as_ref(), Part::Condition);
        compile("unsupported", definition.unsupported.as_ref(), Part::Text);
        for (index, event) in definition.events.iter().enumerate() {
            compile(&format!("{index}/when"), Some(&event.when), Part::Condition);
            compile(&format!("{index}/skip"), event.skip.as_ref(), Part::Condition);
            compile(&format!("{index}{TOPIC_SUFFIX}"), event.topic.as_ref(), Part::Text);
            compile(&format!("{index}/body"), event.body.as_ref(), Part::Body);
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        self.integrations.insert(name.to_owned(), integration(definition));
        let samples = definition.events.iter().filter_map(|event| self.try_sample(definition, event, source));
        let faults: Vec<Fault> = samples.collect();
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    }

    fn compile(
        &mut self,
        name: &str,
        text: &Spanned<String>,
        part: Part,
        definition: &Definition,
        source: &Source<'_>,
    ) -> Result<(), Fault> {
        let macros = definition.macros.as_ref().filter(|_| part == Part::Body);
        let before = macros.map_or(String::new(), |macros| format!("{}\n", macros.as_ref()));
        let template = match part {
            Part::Condition => engine::condition(text.as_ref()),
            Part::Text => text.as_ref().clone(),
            Part::Body => format!("{before}{}", text.as_ref()),
        };
        self.environment.add_template_owned(name.to_owned(), template).map_err(|error| {
            let line = error.line().unwrap_or(1);
            let lines_before = before.matches('\n').count();
            let line = match macros.filter(|_| line <= lines_before) {
                Some(macros) => source.first_line(&macros.span()) + line - 1,
                None => source.first_line(&text.span()) + line.saturating_sub(lines_before + 1),
            };
            Fault { line, text: error.detail().map_or_else(|| error.to_string(), str::to_owned) }
        })
    }

    /// Renders the sample of an event, which must be that event.
    fn try_sample(&self, definition: &Definition, event: &Event, source: &Source<'_>) -> Option<Fault> {
        let sample = event.sample.as_ref()?;
        let fault = |text: String| Some(source.fault(&sample.payload.span(), text));
        let payload = match parse_payload(&BodyKind::Json, sample.payload.as_ref().as_bytes()) {
            Ok(payload) => payload,
            Err(error) => return fault(format!("the sample is not a payload: {error}")),
        };
        let delivery = Delivery {
            event: &sample.event,
            payload: &payload,
            parameters: &BTreeMap::new(),
            topic: None,
            filter: &EventFilter::default(),
            ignores_private: false,
        };
        let integration = self.integration(definition.name.as_ref())?;
        match self.outcome(integration, &delivery) {
            Outcome::Message { event: found, .. } if found == *event.name.as_ref() => None,
            Outcome::Ignored if event.body.is_none() => None,
            other => fault(format!("the sample does not make a message of this event: {other:?}")),
        }
    }

    /// What becomes of a delivery.
    pub fn outcome(&self, integration: &Integration, delivery: &Delivery<'_>) -> Outcome {
        let context = context! {
            payload => delivery.payload,
            event => delivery.event,
            topic => delivery.topic,
            params => delivery.parameters,
        };
        let name = &integration.name;
        let holds = |part: &str| engine::holds(&self.environment, &format!("{name}/{part}"), &context);
        let mut broken = None;
        let found = integration.events.iter().enumerate().find(|(index, _)| {
            holds(&format!("{index}/when")).unwrap_or_else(|error| {
                broken.get_or_insert(error);
                false
            })
        });
        let Some((index, event)) = found else {
            return self.unmatched(integration, delivery, &context, broken);
        };
        if !delivery.filter.accepts(&[&event.name, delivery.event])
            || delivery.ignores_private && integration.knows_private && holds("private").unwrap_or(false)
            || !event.has_message
        {
            return Outcome::Ignored;
        }
        let anomalous = |error: minijinja::Error| Outcome::Anomalous {
            event: event.name.clone(),
            reason: error.to_string(),
        };
        if event.can_skip {
            match holds(&format!("{index}/skip")) {
                Ok(true) => return Outcome::Ignored,
                Ok(false) => {}
                Err(error) => return anomalous(error),
            }
        }
        let render =
            |part: &str| engine::render(&self.environment, &format!("{name}/{index}{part}"), &context);
        match (render(TOPIC_SUFFIX), render("/body")) {
            (Ok(_), Ok(content)) if content.is_empty() => Outcome::Ignored,
            (Ok(topic), Ok(content)) => Outcome::Message { event: event.name.clone(), topic, content },
            (Err(error), _) | (_, Err(error)) => anomalous(error),
        }
    }

    fn unmatched(
        &self,
        integration: &Integration,
        delivery: &Delivery<'_>,
        context: &Value,
        broken: Option<minijinja::Error>,
    ) -> Outcome {
        let event = if delivery.event.is_empty() { "unknown" } else { delivery.event }.to_owned();
        if let Some(error) = broken {
            return Outcome::Anomalous { event, reason: error.to_string() };
        }
        if !integration.names_unsupported {
            return Outcome::Unsupported { event };
        }
        let template = format!("{}/unsupported", integration.name);
        match engine::render(&self.environment, &template, context) {
            Ok(event) => Outcome::Unsupported { event },
            Err(error) => Outcome::Anomalous { event, reason: error.to_string() },
        }
    }
}

fn offered(integrations: &BTreeMap<String, Integration>) -> Vec<u8> {
    let option =
        |key: &str, label: &str, validator: &str| json!({"key": key, "label": label, "validator": validator});
    let offer = integrations.values().map(|integration| {
        let own = integration.url_options.iter();
        let mut options: Vec<Json> = own.map(|own| option(&own.key, &own.label, "check_string")).collect();
        if integration.knows_private {
            let label = "Exclude notifications from private repositories?";
            options.push(option("ignore_private_repositories", label, "check_bool"));
        }
        let events = integration.event_names();
        json!({
            "name": integration.name,
            "display_name": integration.display_name,
            // With one kind of event there is nothing to choose.
            "all_event_types": if events.len() > 1 { json!(events) } else { Json::Null },
            "config_options": [],
            "url_options": options,
        })
    });
    Json::Array(offer.collect()).to_string().into_bytes()
}

/// What a template is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Condition,
    Text,
    /// With the macros of the file before it.
    Body,
}

fn integration(definition: &Definition) -> Integration {
    let client = definition.client.clone().unwrap_or_else(|| definition.display_name.replace(' ', ""));
    let json = |value: &toml::Value| serde_json::to_value(value).unwrap_or_default();
    Integration {
        name: definition.name.as_ref().clone(),
        display_name: definition.display_name.clone(),
        client: format!("Zulip{client}Webhook"),
        event_header: definition.event_header.clone(),
        decodes_parameters_twice: definition.decodes_parameters_twice,
        answer: definition.answer.iter().map(|(name, value)| (name.clone(), json(value))).collect(),
        url_options: definition.url_options.clone(),
        knows_private: definition.private.is_some(),
        names_unsupported: definition.unsupported.is_some(),
        events: definition.events.iter().map(known_event).collect(),
    }
}

fn known_event(event: &Event) -> KnownEvent {
    KnownEvent {
        name: event.name.as_ref().clone(),
        can_skip: event.skip.is_some(),
        has_message: event.body.is_some(),
    }
}

/// The files `*.toml` in a folder, by name: path, name and text.
fn operator_files(folder: &Path) -> Result<Vec<(String, String, String)>, CatalogError> {
    let unreadable =
        |path: &Path, reason: &dyn fmt::Display| CatalogError(vec![format!("{}: {reason}", path.display())]);
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(|error| unreadable(folder, &error))? {
        let path = entry.map_err(|error| unreadable(folder, &error))?.path();
        let Some(name) =
            path.file_name().and_then(|name| name.to_str()).filter(|name| name.ends_with(".toml"))
        else {
            continue;
        };
        if files.len() == FILES_MAX {
            return Err(unreadable(folder, &format!("more than {FILES_MAX} files")));
        }
        let size = fs::metadata(&path).map_err(|error| unreadable(&path, &error))?.len();
        if size > FILE_BYTES_MAX {
            return Err(unreadable(&path, &format!("larger than {FILE_BYTES_MAX} bytes")));
        }
        let text = fs::read_to_string(&path).map_err(|error| unreadable(&path, &error))?;
        files.push((path.display().to_string(), name.to_owned(), text));
    }
    files.sort();
    Ok(files)
}
