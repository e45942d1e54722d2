//! Fenced blocks: opening lines, and the HTML of code and formulas. `preprocess` handles quotes and spoilers, which
//! contain Markdown.

use super::html::{escaped_attribute, escaped_text};
use super::languages::language_name;
use crate::formulas::{Display, FormulaBudget};

pub(super) const SPOILER_OPEN: &str = r#"<div class="spoiler-block"><div class="spoiler-header">"#;
pub(super) const SPOILER_MIDDLE: &str = r#"</div><div class="spoiler-content" aria-hidden="true">"#;
pub(super) const SPOILER_CLOSE: &str = "</div></div>";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FenceKind {
    Code,
    Quote,
    Math,
    Spoiler,
}

/// The opening line of a fence.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fence<'t> {
    /// The backticks or tildes; a line equal to them closes the fence.
    pub marker: &'t str,
    pub kind: FenceKind,
    /// The language as typed, for code only.
    pub language: Option<&'t str>,
    /// The text after the word, which is a spoiler's title.
    pub header: &'t str,
}

/// Reads a fence's opening line; `None` if it is an ordinary line.
pub(super) fn parse_opening(line: &str) -> Option<Fence<'_>> {
    let mark = line.bytes().next().filter(|byte| matches!(byte, b'`' | b'~'))?;
    let width = line.bytes().take_while(|byte| *byte == mark).count();
    if width < 3 {
        return None;
    }
    let marker = &line[..width];
    let rest = line[width..].trim();
    // Closing backticks on the same line make it an inline code span.
    if rest.contains(['`', '~']) {
        return None;
    }
    let (word, header) = split_word(rest);
    if word.is_empty() && !header.is_empty() {
        return None;
    }
    let kind = match word.to_ascii_lowercase().as_str() {
        "quote" | "quoted" => FenceKind::Quote,
        "math" => FenceKind::Math,
        "spoiler" => FenceKind::Spoiler,
        _ => FenceKind::Code,
    };
    let language = (kind == FenceKind::Code && !word.is_empty()).then_some(word);
    Some(Fence { marker, kind, language, header })
}

/// Separates the language word, also written `{word}` or `.word`, from what follows.
fn split_word(rest: &str) -> (&str, &str) {
    let inner = rest.strip_prefix('{').unwrap_or(rest);
    let inner = inner.strip_prefix('.').unwrap_or(inner);
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"_+-,./#".contains(byte);
    let width = inner.bytes().take_while(is_word).count();
    if width == 0 {
        return ("", rest);
    }
    let (word, after) = inner.split_at(width);
    (word, after.strip_prefix('}').unwrap_or(after).trim_start())
}

/// The HTML of a code block; `None` if there is no code. Trailing white space of lines and blank lines at both
/// ends are dropped.
pub(super) fn render_code(lines: &[&str], language: Option<&str>) -> Option<String> {
    let is_blank = |line: &&str| line.trim_end().is_empty();
    let start = lines.iter().position(|line| !is_blank(line))?;
    let end = lines.iter().rposition(|line| !is_blank(line)).map_or(start, |last| last + 1);
    let language = language.map(language_name).map(escaped_attribute);
    let data = language.map(|name| format!(r#" data-code-language="{name}""#)).unwrap_or_default();
    let lines = lines[start..end].iter().map(|line| escaped_text(line.trim_end()) + "\n");
    let code: String = lines.collect();
    Some(format!(r#"<div class="codehilite"{data}><pre><span></span><code>{code}</code></pre></div>"#))
}

/// The HTML of a block of formulas, one for each part between blank lines; one that cannot be rendered is shown as
/// typed. `None` if there is no formula.
pub(super) fn render_math(lines: &[&str], formulas: &mut FormulaBudget) -> Option<String> {
    let parts = lines.split(|line| line.trim().is_empty()).filter(|part| !part.is_empty());
    let mut html = |part: &[&str]| {
        let tex = part.join("\n");
        let rendered = formulas.render(&tex, Display::Block);
        rendered.unwrap_or_else(|| format!(r#"<span class="tex-error">{}</span>"#, escaped_text(&tex)))
    };
    let parts: Vec<String> = parts.map(&mut html).collect();
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opening(line: &str) -> Option<(FenceKind, Option<&str>, &str)> {
        parse_opening(line).map(|fence| (fence.kind, fence.language, fence.header))
    }

    #[test]
    fn an_opening_line_names_its_kind() {
        assert_eq!(opening("```"), Some((FenceKind::Code, None, "")));
        assert_eq!(opening("~~~~ {.rust}"), Some((FenceKind::Code, Some("rust"), "")));
        assert_eq!(opening("```c++ x"), Some((FenceKind::Code, Some("c++"), "x")));
        assert_eq!(opening("```quote"), Some((FenceKind::Quote, None, "")));
        assert_eq!(opening("``` spoiler The end"), Some((FenceKind::Spoiler, None, "The end")));
        assert_eq!(opening("```Math"), Some((FenceKind::Math, None, "")));
        assert_eq!(opening("```tex"), Some((FenceKind::Code, Some("tex"), "")));
        assert_eq!(opening("```code```"), None);
        assert_eq!(opening("``` (no word)"), None);
        assert_eq!(opening("``"), None);
        assert_eq!(opening("text"), None);
        assert_eq!(opening(""), None);
    }
}
