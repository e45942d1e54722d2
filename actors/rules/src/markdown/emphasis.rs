//! Inline rules that depend only on the text: code, formulas, bold, italic, strikethrough, entities.

use std::collections::HashMap;

use super::html::{OPEN, escaped_text};
use super::inline::{Inline, Rewrite, replace_or_skip};
use crate::formulas::Display;

/// Longest accepted HTML entity; the longest name in HTML has 31 letters.
const ENTITY_BYTES_MAX: usize = 34;

/// `` `code` ``: closed by as many backticks as opened it.
pub(super) fn code(inline: &mut Inline<'_>, text: &str, _next: usize) -> Option<String> {
    let runs = runs_of(text, b'`');
    let last_of_width: HashMap<usize, usize> =
        runs.iter().enumerate().map(|(number, (_, width))| (*width, number)).collect();
    let mut rewrite = Rewrite::of(text);
    let mut number = 0;
    while let Some((start, width)) = runs.get(number).copied() {
        // A part of the run may open the span; the other backticks are then the start of its text.
        let opening =
            (1..=width).rev().find(|width| last_of_width.get(width).is_some_and(|last| *last > number));
        let Some(opening) = opening else {
            number += 1;
            continue;
        };
        let closing = (number + 1..runs.len()).find(|closing| runs[*closing].1 == opening);
        let Some(closing) = closing else { break };
        let body = &text[start + opening..runs[closing].0];
        let html = format!("<code>{}</code>", escaped_text(body));
        rewrite.put(start, runs[closing].0 + opening, html, &mut inline.stash);
        number = closing + 1;
    }
    rewrite.finish()
}

/// Start and width of every run of a byte.
fn runs_of(text: &str, byte: u8) -> Vec<(usize, usize)> {
    let bytes = text.as_bytes();
    let mut runs = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let width = bytes[at..].iter().take_while(|found| **found == byte).count();
        if width > 0 {
            runs.push((at, width));
        }
        at += width.max(1);
    }
    runs
}

/// `***both***`: no star and no line break inside, no white space at the edges.
pub(super) fn strong_em(inline: &mut Inline<'_>, text: &str, next: usize) -> Option<String> {
    starred(inline, text, next, "***", ("<strong><em>", "</em></strong>"))
}

/// `*italic*`: no star and no line break inside, no white space at the edges.
pub(super) fn em(inline: &mut Inline<'_>, text: &str, next: usize) -> Option<String> {
    starred(inline, text, next, "*", ("<em>", "</em>"))
}

fn starred(
    inline: &mut Inline<'_>,
    text: &str,
    next: usize,
    marker: &str,
    (open, close): (&str, &str),
) -> Option<String> {
    replace_or_skip(inline, text, marker, |inline, start| {
        let body_start = start + marker.len();
        let body_end = body_start + text[body_start..].find(['*', '\n'])?;
        let body = &text[body_start..body_end];
        if body.is_empty() {
            return Some((start + 1, None));
        }
        if body.trim().len() < body.len() || !text[body_end..].starts_with(marker) {
            return Some((body_end, None));
        }
        let html = format!("{open}{}{close}", inline.render_from(body, next));
        Some((body_end + marker.len(), Some(html)))
    })
}

/// `**bold**`: anything but a line break inside.
pub(super) fn strong(inline: &mut Inline<'_>, text: &str, next: usize) -> Option<String> {
    replace_or_skip(inline, text, "**", |inline, start| {
        let body_start = start + 2;
        let line = text[body_start..].split('\n').next().unwrap_or_default();
        let first_width = line.chars().next().map_or(0, char::len_utf8);
        let Some(length) = line[first_width..].find("**").filter(|_| first_width > 0) else {
            return Some((body_start + line.len(), None));
        };
        let body = &line[..first_width + length];
        let html = format!("<strong>{}</strong>", inline.render_from(body, next));
        Some((body_start + body.len() + 2, Some(html)))
    })
}

/// `~~deleted~~`: exactly two tildes, none and no line break inside.
pub(super) fn del(inline: &mut Inline<'_>, text: &str, next: usize) -> Option<String> {
    let runs = runs_of(text, b'~');
    let mut rewrite = Rewrite::of(text);
    let mut number = 0;
    while let Some([(start, width), (end, end_width)]) = runs.get(number..number + 2).and_then(pair) {
        let body = &text[start + width..end];
        if width != 2 || end_width != 2 || body.contains('\n') {
            number += 1;
            continue;
        }
        let html = format!("<del>{}</del>", inline.render_from(body, next));
        rewrite.put(start, end + 2, html, &mut inline.stash);
        number += 2;
    }
    rewrite.finish()
}

fn pair(runs: &[(usize, usize)]) -> Option<[(usize, usize); 2]> {
    runs.try_into().ok()
}

/// `$$tex$$`; a formula that cannot be rendered is shown as typed.
pub(super) fn math(inline: &mut Inline<'_>, text: &str, _next: usize) -> Option<String> {
    let may_touch = |point: char| !point.is_alphanumeric() && point != '_' && point != '$';
    replace_or_skip(inline, text, "$$", |inline, start| {
        let body_start = start + 2;
        let body_end = body_start + formula_length(&text[body_start..]);
        let body = &text[body_start..body_end];
        if body.is_empty() {
            return Some((start + 1, None));
        }
        let begins = text[..start].chars().next_back().is_none_or(may_touch) && !body.starts_with('_');
        let after = text[body_end..].strip_prefix("$$");
        if !begins || !after.is_some_and(|after| after.chars().next().is_none_or(may_touch)) {
            return Some((body_end, None));
        }
        // A placeholder is code or a mention, which no formula contains.
        let rendered = if body.contains(OPEN) { None } else { inline.formulas.render(body, Display::Inline) };
        let html = rendered.unwrap_or_else(|| {
            format!(r#"<span class="tex-error">$${}$$</span>"#, inline.stash.expanded(body))
        });
        Some((body_end + 2, Some(html)))
    })
}

/// Bytes up to a line break or a dollar sign that no backslash precedes.
fn formula_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_end = |at: &usize| match bytes[*at] {
        b'\n' => true,
        b'$' => *at == 0 || bytes[*at - 1] != b'\\',
        _ => false,
    };
    (0..bytes.len()).find(is_end).unwrap_or(bytes.len())
}

/// `&copy;`, `&#42;`: entities the user typed stay entities.
pub(super) fn entities(inline: &mut Inline<'_>, text: &str, _next: usize) -> Option<String> {
    let mut rewrite = Rewrite::of(text);
    for (start, _) in text.match_indices('&') {
        let Some(width) = entity_width(&text.as_bytes()[start..]) else { continue };
        rewrite.put(start, start + width, text[start..start + width].to_owned(), &mut inline.stash);
    }
    rewrite.finish()
}

fn entity_width(bytes: &[u8]) -> Option<usize> {
    let bytes = &bytes[..bytes.len().min(ENTITY_BYTES_MAX)];
    let end = bytes.iter().position(|byte| *byte == b';')?;
    let is_entity = match &bytes[1..end] {
        [b'#', b'x' | b'X', digits @ ..] => !digits.is_empty() && digits.iter().all(u8::is_ascii_hexdigit),
        [b'#', digits @ ..] => !digits.is_empty() && digits.iter().all(u8::is_ascii_digit),
        name => !name.is_empty() && name.iter().all(u8::is_ascii_alphanumeric),
    };
    is_entity.then_some(end + 1)
}
