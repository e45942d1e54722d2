//! Renders templates within limits: steps, nesting, and bytes of output.

use super::{filters, markdown};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::ValueKind;
use minijinja::{AutoEscape, Environment, Error, ErrorKind, Output, State, UndefinedBehavior, Value};
use std::io;

/// Steps of one template. The longest included templates take a few thousand.
const FUEL: u64 = 100_000;
/// Calls of macros inside one another.
const NESTING_MAX: usize = 50;
/// Bytes that one template may write, captured text included. A message is truncated to far less.
const WRITTEN_BYTES_MAX: usize = 256 << 10;
/// Bytes that are kept of what a template writes: any message fits.
const KEPT_BYTES_MAX: usize = 64 << 10;

/// The end of the names of templates whose output is a topic.
pub const TOPIC_SUFFIX: &str = "/topic";

/// Names of the ways to make values safe.
const TOPIC: &str = "topic";
const MARKDOWN: &str = "markdown";

/// Bytes written so far, in the state of one rendering.
struct Written(usize);

/// An environment without templates.
pub fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::SemiStrict);
    environment.set_fuel(Some(FUEL));
    environment.set_recursion_limit(NESTING_MAX);
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    environment.set_syntax(syntax.expect("the usual delimiters are valid"));
    environment.set_auto_escape_callback(|name| {
        AutoEscape::Custom(if name.ends_with(TOPIC_SUFFIX) { TOPIC.into() } else { MARKDOWN.into() })
    });
    environment.set_formatter(format_value);
    filters::install(&mut environment);
    environment
}

/// Values are made safe unless a filter made them Markdown. Objects and lists are not texts: the payload is another one than
/// the template expects.
fn format_value(out: &mut Output, state: &mut State, value: &Value) -> Result<(), Error> {
    let text = match value.kind() {
        ValueKind::String if value.is_safe() => value.as_str().unwrap_or_default().to_owned(),
        ValueKind::String if *state.auto_escape() == AutoEscape::Custom(TOPIC.into()) => {
            markdown::line(value.as_str().unwrap_or_default())
        }
        ValueKind::String => markdown::inline(value.as_str().unwrap_or_default()),
        ValueKind::Number => value.to_string(),
        ValueKind::Bool => value.to_string(),
        ValueKind::None => String::new(),
        other => {
            return Err(Error::new(ErrorKind::InvalidOperation, format!("{other} instead of a text")));
        }
    };
    let written = state.get_or_insert_extension_with(|| Written(0));
    written.0 = written.0.saturating_add(text.len());
    if written.0 > WRITTEN_BYTES_MAX {
        return Err(Error::new(ErrorKind::InvalidOperation, "too much output"));
    }
    out.write_str(&text).map_err(Error::from)
}

/// Renders a template by its name.
pub fn render(environment: &Environment<'static>, name: &str, context: &Value) -> Result<String, Error> {
    let mut kept = Kept(Vec::new());
    environment.get_template(name)?.render_captured_to(context, &mut kept)?;
    Ok(compact(String::from_utf8_lossy(&kept.0).trim_end_matches('\u{fffd}').trim()))
}

/// The text with one empty line instead of several, except in fenced blocks.
fn compact(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut fence, mut was_empty) = ("", false);
    for line in text.split('\n') {
        let is_empty = line.trim().is_empty();
        if fence.is_empty() && is_empty && was_empty {
            continue;
        }
        was_empty = is_empty;
        let marks = fence_of(line);
        if fence.is_empty() {
            fence = marks;
        } else if marks.len() >= fence.len() && marks.starts_with(fence) && marks == line.trim() {
            fence = "";
        }
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(line);
    }
    out
}

/// The marks that open or close a fenced block.
fn fence_of(line: &str) -> &str {
    let mark = if line.starts_with('~') { '~' } else { '`' };
    let end = line.find(|c| c != mark).unwrap_or(line.len());
    line.get(..end).filter(|marks| marks.len() >= 3).unwrap_or("")
}

/// Whether a condition holds: a template that writes `1`.
pub fn holds(environment: &Environment<'static>, name: &str, context: &Value) -> Result<bool, Error> {
    Ok(render(environment, name, context)? == "1")
}

/// The source of a condition's template.
pub fn condition(expression: &str) -> String {
    format!("{{% if {} %}}1{{% endif %}}", expression.trim())
}

/// The beginning of what is written; the rest is dropped.
struct Kept(Vec<u8>);

impl io::Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = KEPT_BYTES_MAX.saturating_sub(self.0.len());
        self.0.extend_from_slice(bytes.get(..room.min(bytes.len())).unwrap_or_default());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use minijinja::context;

    fn rendered(source: &str, context: Value) -> Result<String, Error> {
        let mut environment = environment();
        environment.add_template_owned("t/body", source.to_owned())?;
        render(&environment, "t/body", &context)
    }

    #[test]
    fn values_are_escaped_and_markdown_is_not() {
        let context =
            context! { a => "@**all**\nx", url => "https://x.example/", n => 5, none => Value::from(()) };
        let shown =
            rendered("{{ a }} {{ link(a, url) }} {{ n }}{{ none }} {{ a | quote }}", context).unwrap();
        assert_eq!(
            shown,
            "@\u{200b}**all** x [@\u{200b}**all** x](https://x.example/) 5 ~~~ quote\n@\u{200b}**all**\nx\n~~~"
        );
        // Macros return Markdown, with escaped arguments.
        let shown = rendered("{% macro m(x) %}**{{ x }}**{% endmacro %}{{ m(a) }}", context! { a => "b\nc" });
        assert_eq!(shown.unwrap(), "**b c**");
    }

    #[test]
    fn what_is_not_a_text_is_refused() {
        for (source, context) in [
            ("{{ a.b }}", context! {}),
            ("{{ a }}", context! {}),
            ("{{ a }}", context! { a => vec![1] }),
            ("{{ a.b.c }}", context! { a => 1 }),
            ("{{ a | quote }}", context! { a => vec![1] }),
            ("{% for x in a %}{{ x }}{% endfor %}", context! { a => 1 }),
        ] {
            assert!(rendered(source, context).is_err(), "{source}");
        }
        assert_eq!(rendered("{% if a.b %}1{% endif %}2", context! { a => context! {} }).unwrap(), "2");
    }

    #[test]
    fn rendering_is_bounded() {
        let endless = "{% for a in range(10000) %}{% for b in range(10000) %}x{% endfor %}{% endfor %}";
        assert!(rendered(endless, context! {}).is_err());
        let long = "{% set x %}{% for a in range(100) %}{{ t }}{% endfor %}{% endset %}";
        assert!(rendered(long, context! { t => "x".repeat(1 << 20) }).is_err());
        let recursive = "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}";
        assert!(rendered(recursive, context! {}).is_err());
        assert_eq!(compact("a\n\n\nb\n```\n\n\nc\n```\n\n\nd"), "a\n\nb\n```\n\n\nc\n```\n\nd");
        let kept = rendered(&"x".repeat(100_000), context! {}).unwrap();
        assert_eq!(kept.len(), KEPT_BYTES_MAX);
    }
}
