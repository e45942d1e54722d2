//! All integrations: those of the program, and those in a folder of the operator, which replace others of their name.

use super::definition::{self, Definition, Event, Fault, Source, UrlOption};
use super::engine::TOPIC_SUFFIX;
use super::payload::parse_payload;
use super::program_files;
use super::templates::Templates;
use super::{Delivery, EventFilter, Outcome};
use crate::http::BodyKind;
use crate::text_file::read_text;
use bytes::Bytes;
use minijinja::{Value, context};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;

/// Files in the folder of the operator.
const FILES_MAX: usize = 500;
/// Bytes of one of them.
const FILE_BYTES_MAX: usize = 256 << 10;

/// Why the catalog cannot be used: every problem with its file and line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogError(Vec<String>);

impl fmt::Display for CatalogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}

impl std::error::Error for CatalogError {}

/// The integrations with their templates.
pub struct Catalog {
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
    templates: Templates,
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
        let mut catalog = Self { integrations: BTreeMap::new(), offer: Bytes::new() };
        let mut problems = Vec::new();
        for (name, text) in program_files::integrations() {
            match definition::parse(name, text) {
                Ok(definition) => catalog.insert(&definition, Templates::of_program(name, text)),
                Err(faults) => problems.extend(faults.iter().map(|fault| problem(name, fault))),
            }
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
        problems.extend(added.err().unwrap_or_default().iter().map(|fault| problem(path, fault)));
    }

    /// Adds an integration whose templates and samples are tried now.
    fn add(&mut self, definition: &Definition, source: &Source<'_>) -> Result<(), Vec<Fault>> {
        self.insert(definition, Templates::compiled(definition, source)?);
        let samples = definition.events.iter().filter_map(|event| self.try_sample(definition, event, source));
        let faults: Vec<Fault> = samples.collect();
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    }

    fn insert(&mut self, definition: &Definition, templates: Templates) {
        self.integrations.insert(definition.name.as_ref().clone(), integration(definition, templates));
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
        let templates = &integration.templates;
        let holds = |name: &str| templates.holds(name, &context);
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
        let render = |part: &str| templates.render(&format!("{index}{part}"), &context);
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
        match integration.templates.render("unsupported", context) {
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

fn problem(path: &str, fault: &Fault) -> String {
    format!("{path}:{}: {}", fault.line, fault.text)
}

fn integration(definition: &Definition, templates: Templates) -> Integration {
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
        templates,
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
        let text = read_text(&path, FILE_BYTES_MAX).map_err(|error| unreadable(&path, &error))?;
        files.push((path.display().to_string(), name.to_owned(), text));
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_program_have_no_faults() {
        let mut catalog = Catalog { integrations: BTreeMap::new(), offer: Bytes::new() };
        let mut problems = Vec::new();
        for (name, text) in program_files::integrations() {
            catalog.add_file(name, name, text, &mut problems);
        }
        assert_eq!(problems, [] as [String; 0]);
        assert!(catalog.integrations.len() > 10);
    }
}
