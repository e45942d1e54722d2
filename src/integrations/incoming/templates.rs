//! The templates of an integration. Those of the program are compiled when the first delivery needs them, because few are ever
//! used; those of an operator at the start, which finds their faults.

use super::definition::{self, Definition, Fault, Source};
use super::engine::{self, TOPIC_SUFFIX};
use super::program_files;
use minijinja::{Environment, Error, Value};
use std::fmt;
use std::sync::{Arc, LazyLock};
use toml::Spanned;

type Compile = Box<dyn FnOnce() -> Environment<'static> + Send>;

/// The templates of one integration. Cheap to clone.
#[derive(Clone)]
pub struct Templates(Arc<LazyLock<Environment<'static>, Compile>>);

impl Templates {
    /// Those of a file of the program, which a test compiles: here they have no faults.
    pub fn of_program(file_name: &'static str, text: &'static str) -> Self {
        Self(Arc::new(LazyLock::new(Box::new(move || {
            let parsed = definition::parse(file_name, text);
            let compiled = parsed.and_then(|definition| compile(&definition, &Source(text)));
            compiled.unwrap_or_else(|_| engine::environment())
        }))))
    }

    /// Those of a definition, compiled now.
    pub fn compiled(definition: &Definition, source: &Source<'_>) -> Result<Self, Vec<Fault>> {
        let environment = compile(definition, source)?;
        Ok(Self(Arc::new(LazyLock::new(Box::new(move || environment)))))
    }

    /// Whether the condition of a name holds.
    pub fn holds(&self, name: &str, context: &Value) -> Result<bool, Error> {
        engine::holds(&self.0, name, context)
    }

    /// The text that the template of a name makes.
    pub fn render(&self, name: &str, context: &Value) -> Result<String, Error> {
        engine::render(&self.0, name, context)
    }
}

impl fmt::Debug for Templates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Templates")
    }
}

/// What a template is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Condition,
    Text,
    /// With the macros of the file before it.
    Body,
}

fn compile(definition: &Definition, source: &Source<'_>) -> Result<Environment<'static>, Vec<Fault>> {
    let mut environment = engine::environment();
    let mut faults = Vec::new();
    for (name, text) in program_files::shared() {
        if let Err(error) = environment.add_template(name, text) {
            faults.push(Fault { line: error.line().unwrap_or(1), text: format!("{name}: {error}") });
        }
    }
    let mut add = |name: &str, text: Option<&Spanned<String>>, part: Part| {
        if let Some(text) = text
            && let Err(fault) = add_template(&mut environment, (name, text, part), definition, source)
        {
            faults.push(fault);
        }
    };
    add("private", definition.private.as_ref(), Part::Condition);
    add("unsupported", definition.unsupported.as_ref(), Part::Text);
    for (index, event) in definition.events.iter().enumerate() {
        add(&format!("{index}/when"), Some(&event.when), Part::Condition);
        add(&format!("{index}/skip"), event.skip.as_ref(), Part::Condition);
        add(&format!("{index}{TOPIC_SUFFIX}"), event.topic.as_ref(), Part::Text);
        add(&format!("{index}/body"), event.body.as_ref(), Part::Body);
    }
    if faults.is_empty() { Ok(environment) } else { Err(faults) }
}

fn add_template(
    environment: &mut Environment<'static>,
    (name, text, part): (&str, &Spanned<String>, Part),
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
    environment.add_template_owned(name.to_owned(), template).map_err(|error| {
        let line = error.line().unwrap_or(1);
        let lines_before = before.matches('\n').count();
        let line = match macros.filter(|_| line <= lines_before) {
            Some(macros) => source.first_line(&macros.span()) + line - 1,
            None => source.first_line(&text.span()) + line.saturating_sub(lines_before + 1),
        };
        Fault { line, text: error.detail().map_or_else(|| error.to_string(), str::to_owned) }
    })
}
