//! Fenced blocks: how one opens, and the HTML of code and formulas. Quotes and spoilers hold Markdown, so
//! `preprocess` takes them apart further.

use super::html::{escaped_attribute, push_text};
use super::languages::language_name;

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
    // An inline code span may stand at the start of a line; its closing backticks tell it apart.
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
    let mut out = String::from(r#"<div class="codehilite""#);
    if let Some(language) = language {
        out.push_str(r#" data-code-language=""#);
        out.push_str(&escaped_attribute(language_name(language)));
        out.push('"');
    }
    out.push_str("><pre><span></span><code>");
    for line in &lines[start..end] {
        push_text(&mut out, line.trim_end());
        out.push('\n');
    }
    out.push_str("</code></pre></div>");
    Some(out)
}

/// The HTML of a block of formulas, one for each part between blank lines, in the form clients know for a
/// formula that could not be typeset: this server has no TeX. `None` if there is no formula.
pub(super) fn render_math(lines: &[&str]) -> Option<String> {
    let mut parts = Vec::new();
    for part in lines.split(|line| line.trim().is_empty()) {
        if part.is_empty() {
            continue;
        }
        let mut html = String::from(r#"<span class="tex-error">"#);
        push_text(&mut html, &part.join("\n"));
        html.push_str("</span>");
        parts.push(html);
    }
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
