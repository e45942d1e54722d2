//! Links with a label: `[text](url)`.

use super::anchor::{anchor, relative_to_realm};
use super::emphasis::entities;
use super::html::OPEN;
use super::inline::{Inline, replace_matches};
use super::link_target::Targets;
use super::urls::sanitize;
use crate::plain_text::plain_text;

const UNMATCHED: usize = usize::MAX;

/// Facts about a message's links, except for links to conversations.
#[derive(Default)]
pub(super) struct LinkFacts {
    pub has_link: bool,
    /// Paths of linked uploads, each once.
    pub upload_paths: Vec<String>,
}

/// Links with a label. The label is plain text, except for entities and matches of earlier rules. After `!`, links are
/// not replaced: at this feature level, pictures of that form are not supported.
pub(super) fn links(inline: &mut Inline<'_>, text: &str, _next: usize) -> Option<String> {
    let closing = closing_brackets(text);
    let mut targets = Targets::of(text);
    replace_matches(inline, text, "[", |inline, start| {
        let label_end = closing[start];
        if label_end == UNMATCHED || !text[label_end + 1..].starts_with('(') || text[..start].ends_with('!') {
            return None;
        }
        let target = targets.read(label_end + 2)?;
        let url = sanitize(target.url)?;
        let label = text[start + 1..label_end].trim();
        let href = relative_to_realm(&url, inline.context.realm_url());
        let with_entities = entities(inline, label, 0);
        let shown = if label.is_empty() { href } else { with_entities.as_deref().unwrap_or(label) };
        let label_html = inline.stash.expanded(shown);
        if label_html.contains("<a ") {
            return None;
        }
        // The HTML of earlier rules cannot be part of an attribute.
        let name = label.split(OPEN).next().unwrap_or_default();
        let named = (!name.is_empty() && name != url).then_some(name);
        let title = target.title.map(|title| {
            let html = title.contains(OPEN).then(|| plain_text(&inline.stash.expanded(title)));
            html.as_deref().unwrap_or(title).replace(char::is_whitespace, " ")
        });
        Some((target.end, anchor(inline, &url, &label_html, named, title.as_deref())))
    })
}

/// For each position of an opening bracket, the position of its closing bracket.
fn closing_brackets(text: &str) -> Vec<usize> {
    let mut closing = vec![UNMATCHED; text.len()];
    let mut opened = Vec::new();
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'[' => opened.push(at),
            b']' => {
                if let Some(start) = opened.pop() {
                    closing[start] = at;
                }
            }
            _ => {}
        }
    }
    closing
}
