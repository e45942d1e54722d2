//! The organization's linkifiers: patterns in text that are turned into links.

use regex::{Captures, Regex, RegexBuilder};
use thiserror::Error;

use super::anchor::anchor;
use super::html::{CLOSE, OPEN, escaped_text};
use super::inline::{Inline, Rewrite};
use super::url_template::{TemplateError, UrlTemplate};

/// Largest compiled pattern in bytes, so that one setting cannot take the server's memory.
const PATTERN_BYTES_MAX: usize = 1 << 20;

/// Name of the group around the linkifier's pattern, between the allowed surrounding characters.
const OUTER: &str = "linkifier_outer";

/// Why a linkifier is invalid.
#[derive(Debug, Error)]
pub enum LinkifierError {
    /// Not a valid regular expression, or too large.
    #[error("bad regular expression: {0}")]
    Pattern(#[from] regex::Error),
    #[error(transparent)]
    Template(#[from] TemplateError),
    /// A variable of the template that is not a named group of the pattern.
    #[error("group {0} in URL template is not present in linkifier pattern")]
    UnknownVariable(String),
}

/// A compiled linkifier (docs/api/markdown.md#links): a regular expression whose named groups fill a URL template of
/// RFC 6570. Matching takes time linear in the text.
#[derive(Clone, Debug)]
pub struct Linkifier {
    pattern: Regex,
    template: UrlTemplate,
}

/// A link found in text, by a linkifier or as a bare URL.
pub(super) struct LinkifierMatch {
    pub start: usize,
    pub end: usize,
    pub url: String,
}

impl Linkifier {
    /// Compiles a linkifier.
    pub fn new(pattern: &str, url_template: &str) -> Result<Self, LinkifierError> {
        // Compiled alone first: a pattern such as `a)(b` must not become valid inside the group.
        Regex::new(pattern)?;
        let around = format!(r#"(?:\A|[\s\p{{Z}}'"(,:<])(?P<{OUTER}>{pattern})(?:\z|[^\p{{L}}\p{{N}}])"#);
        let pattern = RegexBuilder::new(&around).size_limit(PATTERN_BYTES_MAX).build()?;
        let template = UrlTemplate::parse(url_template)?;
        let is_group = |name: &&str| pattern.capture_names().flatten().any(|group| group == *name);
        match template.variables().filter(|name| !is_group(name)).min() {
            Some(name) => Err(LinkifierError::UnknownVariable(name.to_owned())),
            None => Ok(Self { pattern, template }),
        }
    }

    /// The alphabetically first group of the pattern that the template does not use.
    pub fn unused_group(&self) -> Option<&str> {
        let groups = self.pattern.capture_names().flatten().filter(|group| *group != OUTER);
        groups.filter(|group| !self.template.variables().any(|name| name == *group)).min()
    }

    /// All matches, first to last, without overlaps.
    pub(super) fn matches(&self, text: &str) -> Vec<LinkifierMatch> {
        let mut found = Vec::new();
        let mut from = 0;
        while let Some(groups) = self.pattern.captures_at(text, from) {
            let Some(outer) = groups.name(OUTER) else { break };
            if outer.is_empty() {
                let width = text[outer.end()..].chars().next().map_or(0, char::len_utf8);
                if width == 0 {
                    break;
                }
                from = outer.end() + width;
                continue;
            }
            found.push(LinkifierMatch { start: outer.start(), end: outer.end(), url: self.url(&groups) });
            from = outer.end();
        }
        found
    }

    fn url(&self, groups: &Captures<'_>) -> String {
        self.template.expand(|name| groups.name(name).map(|group| group.as_str()))
    }
}

/// Applies the linkifiers in their configured order.
pub(super) fn linkifiers(inline: &mut Inline<'_>, text: &str, _next: usize) -> Option<String> {
    let context = inline.context;
    let mut current: Option<String> = None;
    for linkifier in context.linkifiers() {
        let text = current.as_deref().unwrap_or(text);
        let mut rewrite = Rewrite::of(text);
        for found in linkifier.matches(text) {
            let typed = &text[found.start..found.end];
            // A part is the match of an earlier rule.
            if typed.contains([OPEN, CLOSE]) {
                continue;
            }
            let html = anchor(inline, &found.url, &escaped_text(typed), None, None);
            rewrite.put(found.start, found.end, html, &mut inline.stash);
        }
        current = rewrite.finish().or(current);
    }
    current
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(pattern: &str, template: &str, text: &str) -> Vec<(String, String)> {
        let linkifier = Linkifier::new(pattern, template).unwrap();
        let matches = linkifier.matches(text);
        matches.into_iter().map(|found| (text[found.start..found.end].to_owned(), found.url)).collect()
    }

    #[test]
    fn matches_are_between_word_edges() {
        let one = |text: &str, id: &str| vec![(text.to_owned(), format!("https://t.example/{id}"))];
        let run = |text| found(r"#(?P<id>\d+)", "https://t.example/{id}", text);
        assert_eq!(run("see #12, ok"), one("#12", "12"));
        assert_eq!(run("(#12)"), one("#12", "12"));
        assert_eq!(run("x#12"), []);
        assert_eq!(run("#12a"), []);
        assert_eq!(run("#1 #2").len(), 2);
        assert_eq!(found("x*", "https://t.example/", "aé b"), []);
    }

    #[test]
    fn mistakes_are_reported() {
        assert!(matches!(Linkifier::new("(", "/"), Err(LinkifierError::Pattern(_))));
        assert!(matches!(Linkifier::new("a)(b", "/"), Err(LinkifierError::Pattern(_))));
        assert!(matches!(Linkifier::new("a", "/{id}"), Err(LinkifierError::UnknownVariable(_))));
        assert!(matches!(Linkifier::new("a", "/{id"), Err(LinkifierError::Template(_))));
    }
}
