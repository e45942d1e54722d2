//! Emoji in text: by name, as emoticon, and as Unicode characters.

use super::html::escaped_attribute;
use super::inline::{Inline, Rewrite, replace_matches};
use crate::emoji::{Literal, ZULIP_PICTURE, code_of, leading_emoticon, scan_literal};

/// `:name:`: custom emoji first, then the standard ones.
pub(super) fn names(inline: &mut Inline<'_>, text: &str, _next: usize) -> Option<String> {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_+-".contains(byte);
    replace_matches(inline, text, ":", |inline, start| {
        let length = text[start + 1..].bytes().take_while(is_name).count();
        let end = start + 1 + length;
        let is_closed = length > 0 && text[end..].starts_with(':');
        let html = is_closed.then(|| emoji_html(inline, &text[start + 1..end]))??;
        Some((end + 1, html))
    })
}

fn emoji_html(inline: &Inline<'_>, name: &str) -> Option<String> {
    if let Some(custom) = inline.context.custom_emoji(name) {
        return Some(image_html(name, &custom.source_url));
    }
    if name == "zulip" {
        return Some(image_html(name, ZULIP_PICTURE));
    }
    Some(standard_html(name, code_of(name)?))
}

fn image_html(name: &str, source: &str) -> String {
    let title = name.replace('_', " ");
    let source = escaped_attribute(source);
    format!(r#"<img alt=":{name}:" class="emoji" src="{source}" title="{title}">"#)
}

fn standard_html(name: &str, code: &str) -> String {
    let title = name.replace('_', " ");
    format!(
        r#"<span aria-label="{title}" class="emoji emoji-{code}" role="img" title="{title}">:{name}:</span>"#
    )
}

/// Characters allowed next to emoticons, besides white space and the ends of the text.
const AROUND_EMOTICONS: [char; 11] = [',', '.', ';', '?', '!', '(', ')', '[', ']', '"', '\''];

/// `:)` and the like between white space and punctuation, if the sender wants them translated.
pub(super) fn emoticons(inline: &mut Inline<'_>, text: &str, _next: usize) -> Option<String> {
    if !inline.context.translate_emoticons() {
        return None;
    }
    let is_edge = |point: char| point.is_whitespace() || AROUND_EMOTICONS.contains(&point);
    let mut rewrite = Rewrite::of(text);
    let mut before = None;
    let mut from = 0;
    for (at, point) in text.char_indices() {
        let may_begin = at >= from && before.is_none_or(is_edge);
        before = Some(point);
        if !may_begin {
            continue;
        }
        let Some((emoticon, name)) = leading_emoticon(&text[at..]) else { continue };
        let end = at + emoticon.len();
        if text[end..].starts_with(|after| !is_edge(after)) {
            continue;
        }
        if let Some(html) = emoji_html(inline, name) {
            rewrite.put(at, end, html, &mut inline.stash);
            from = end;
        }
    }
    rewrite.finish()
}

/// Emoji typed as Unicode characters.
pub(super) fn literals(inline: &mut Inline<'_>, text: &str, _next: usize) -> Option<String> {
    let bytes = text.as_bytes();
    let mut rewrite = Rewrite::of(text);
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        let is_keycap = matches!(byte, b'0'..=b'9' | b'#' | b'*')
            && bytes.get(at + 1).is_some_and(|next| matches!(next, 0xe2 | 0xef));
        if byte.is_ascii() && !is_keycap {
            at += 1;
            continue;
        }
        match scan_literal(&text[at..]) {
            Literal::Emoji { bytes: width, code, name } => {
                rewrite.put(at, at + width, standard_html(name, &code), &mut inline.stash);
                at += width;
            }
            Literal::Text { bytes: width } => at += width.max(1),
        }
    }
    rewrite.finish()
}
