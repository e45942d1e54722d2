//! `[text](url)`.

use super::anchor::{anchor_with_title, relative_to_realm};
use super::emphasis::entities;
use super::html::OPEN;
use super::inline::{Inline, Rewrite};
use super::link_target::Targets;
use super::urls::sanitize;

const UNMATCHED: usize = usize::MAX;

/// What is known of a message's links, apart from those to conversations.
#[derive(Default)]
pub(super) struct LinkFacts {
    pub has_link: bool,
    /// Paths of linked uploads, each once.
    pub upload_paths: Vec<String>,
}

/// Links with a text of their own. The text is no markup, except for entities and what earlier rules made of it.
/// Behind `!` they stay as they are, for a picture that clients of this feature level would not be shown.
pub(super) fn links(inline: &mut Inline<'_>, text: &str, _next: usize) -> Option<String> {
    let closing = closing_brackets(text);
    let mut targets = Targets::of(text);
    let mut rewrite = Rewrite::of(text);
    let mut from = 0;
    while let Some(offset) = text[from..].find('[') {
        let start = from + offset;
        from = start + 1;
        let label_end = closing[start];
        if label_end == UNMATCHED || !text[label_end + 1..].starts_with('(') || text[..start].ends_with('!') {
            continue;
        }
        let Some(target) = targets.read(label_end + 2) else { continue };
        let Some(url) = sanitize(target.url) else { continue };
        let label = text[start + 1..label_end].trim();
        let href = relative_to_realm(&url, inline.context.realm_url());
        let with_entities = entities(inline, label, 0);
        let shown = if label.is_empty() { href } else { with_entities.as_deref().unwrap_or(label) };
        let label_html = inline.stash.expanded(shown);
        if label_html.contains("<a ") {
            continue;
        }
        // What an earlier rule made of the label has no place in an attribute.
        let name = label.split(OPEN).next().unwrap_or_default();
        let named = (!name.is_empty() && name != url).then_some(name);
        let title = target.title.map(|title| title.replace(char::is_whitespace, " "));
        let html = anchor_with_title(inline, &url, &label_html, named, title.as_deref());
        from = target.end;
        rewrite.put(start, from, html, &mut inline.stash);
    }
    rewrite.finish()
}

/// For each position of an opening bracket, the position of what closes it.
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
