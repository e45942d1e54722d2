//! Links with a label: `[text](url)`.

use super::UploadPreview;
use super::anchor::{anchor, relative_to_realm, upload_path};
use super::emphasis::entities;
use super::html::{OPEN, escaped_attribute};
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

impl LinkFacts {
    /// Records a reference to an upload.
    pub(super) fn note_upload(&mut self, path: &str) {
        if !self.upload_paths.iter().any(|known| known == path) {
            self.upload_paths.push(path.to_owned());
        }
    }
}

/// `![name](/user_uploads/…)` of an uploaded sound: a player. Other files of this form stay text.
pub(super) fn audio(inline: &mut Inline<'_>, text: &str, _next: usize) -> Option<String> {
    if !text.contains("![") {
        return None;
    }
    let closing = closing_brackets(text);
    let mut targets = Targets::of(text);
    replace_matches(inline, text, "![", |inline, start| {
        let label_end = closing[start + 1];
        if label_end == UNMATCHED || !text[label_end + 1..].starts_with('(') {
            return None;
        }
        let target = targets.read(label_end + 2)?;
        let url = sanitize(target.url)?;
        let path = upload_path(relative_to_realm(&url, inline.context.realm_url()))?;
        if inline.context.upload_preview(path) != Some(UploadPreview::Audio) {
            return None;
        }
        inline.links.note_upload(path);
        // The HTML of earlier rules cannot be part of an attribute.
        let label = text[start + 2..label_end].split(OPEN).next().unwrap_or_default().trim();
        let title = if label.is_empty() { path.rsplit('/').next().unwrap_or(path) } else { label };
        let html = format!(
            r#"<audio controls preload="metadata" src="/user_uploads/{}" title="{}"></audio>"#,
            escaped_attribute(path),
            escaped_attribute(title)
        );
        Some((target.end, html))
    })
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
