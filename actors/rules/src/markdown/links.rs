//! `[text](url)`, and the anchor every link ends up as.

use super::emphasis::entities;
use super::html::escaped_attribute;
use super::inline::{Inline, Rewrite};
use super::urls::{relative_to_realm, sanitize};

const UNMATCHED: usize = usize::MAX;

/// What is known of a message's links, apart from those to conversations.
#[derive(Default)]
pub(super) struct LinkFacts {
    pub has_link: bool,
    /// Paths of linked uploads, each once.
    pub upload_paths: Vec<String>,
}

/// Links with a text of their own. The text is no markup, except for entities and what earlier rules made of it.
pub(super) fn links(inline: &mut Inline<'_>, text: &str, _next: usize) -> Option<String> {
    let closing = closing_brackets(text);
    let mut rewrite = Rewrite::of(text);
    let mut from = 0;
    while let Some(offset) = text[from..].find('[') {
        let start = from + offset;
        from = start + 1;
        let label_end = closing[start];
        if label_end == UNMATCHED || !text[label_end + 1..].starts_with('(') {
            continue;
        }
        let target_start = label_end + 2;
        let target_end = closing[label_end + 1];
        if target_end == UNMATCHED {
            continue;
        }
        let Some(url) = target_url(&text[target_start..target_end]).and_then(sanitize) else { continue };
        let label = text[start + 1..label_end].trim();
        let with_entities = entities(inline, label, 0);
        let shown = if label.is_empty() { &url } else { with_entities.as_deref().unwrap_or(label) };
        let label_html = inline.stash.expanded(shown);
        if label_html.contains("<a ") {
            continue;
        }
        let named = (!label.is_empty() && label != url).then_some(label);
        let html = anchor(inline, &url, &label_html, named);
        from = target_end + 1;
        rewrite.put(start, from, html, &mut inline.stash);
    }
    rewrite.finish()
}

/// For each position of an opening bracket or parenthesis, the position of what closes it.
fn closing_brackets(text: &str) -> Vec<usize> {
    let mut closing = vec![UNMATCHED; text.len()];
    let mut brackets = Vec::new();
    let mut parentheses = Vec::new();
    for (at, byte) in text.bytes().enumerate() {
        let opened = match byte {
            b'[' => {
                brackets.push(at);
                None
            }
            b'(' => {
                parentheses.push(at);
                None
            }
            b']' => brackets.pop(),
            b')' => parentheses.pop(),
            _ => None,
        };
        if let Some(opened) = opened {
            closing[opened] = at;
        }
    }
    closing
}

/// The URL between the parentheses, without a title. `None` if it holds white space or finished HTML.
fn target_url(target: &str) -> Option<&str> {
    let target = target.trim();
    let url = match target.split_once(char::is_whitespace) {
        Some((url, title)) => {
            let title = title.trim();
            let is_quoted = |quote| title.len() > 1 && title.starts_with(quote) && title.ends_with(quote);
            (is_quoted('"') || is_quoted('\'')).then_some(url)?
        }
        None => target,
    };
    let url = url.strip_prefix('<').and_then(|url| url.strip_suffix('>')).unwrap_or(url);
    (!url.is_empty() && !url.contains(char::is_control)).then_some(url)
}

/// The HTML of a link, which is noted for the message's flags and its previews. `label_html` is finished;
/// `named` is the label where it says something else than the URL.
pub(super) fn anchor(inline: &mut Inline<'_>, url: &str, label_html: &str, named: Option<&str>) -> String {
    let href = relative_to_realm(url, inline.context.realm_url());
    inline.links.has_link = true;
    if let Some(path) = upload_path(href)
        && !inline.links.upload_paths.iter().any(|known| known == path)
    {
        inline.links.upload_paths.push(path.to_owned());
    }
    let html = format!(r#"<a href="{}">{label_html}</a>"#, escaped_attribute(href));
    if !inline.in_quote {
        inline.previews.note(inline.context, href, named, &html);
    }
    html
}

/// The path of an upload a link leads to, such as `1/ab/cat.png`.
pub(super) fn upload_path(href: &str) -> Option<&str> {
    let path = href.strip_prefix('/').unwrap_or(href).strip_prefix("user_uploads/")?;
    let path = path.split(['?', '#']).next()?;
    (!path.is_empty()).then_some(path)
}
