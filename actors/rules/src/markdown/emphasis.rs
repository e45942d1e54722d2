//! Inline rules that need nothing but the text: code, formulas, bold, italic, strike-through, entities.

use std::collections::HashMap;

use super::html::escaped_text;
use super::inline::{Inline, Rewrite};

/// Length of the longest HTML entity we let through; the longest name in HTML has 31 letters.
const ENTITY_BYTES_MAX: usize = 34;

/// `` `code` ``: as many backticks close it as opened it.
pub(super) fn code(inline: &mut Inline<'_>, text: &str, _next: usize) -> Option<String> {
    let runs = runs_of(text, b'`');
    let last_of_width: HashMap<usize, usize> =
        runs.iter().enumerate().map(|(number, (_, width))| (*width, number)).collect();
    let mut rewrite = Rewrite::of(text);
    let mut number = 0;
    while let Some((start, width)) = runs.get(number).copied() {
        // Fewer backticks than the run has may open the span as well; the others are then its first text.
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
    let mut rewrite = Rewrite::of(text);
    let mut from = 0;
    while let Some(offset) = text[from..].find(marker) {
        let start = from + offset;
        let body_start = start + marker.len();
        let Some(length) = text[body_start..].find(['*', '\n']) else { break };
        let body = &text[body_start..body_start + length];
        let is_tight = !body.is_empty() && body.trim().len() == body.len();
        if is_tight && text[body_start + length..].starts_with(marker) {
            let html = format!("{open}{}{close}", inline.render_from(body, next));
            from = body_start + length + marker.len();
            rewrite.put(start, from, html, &mut inline.stash);
        } else {
            from = if length == 0 { start + 1 } else { body_start + length };
        }
    }
    rewrite.finish()
}

/// `**bold**`: anything but a line break inside.
pub(super) fn strong(inline: &mut Inline<'_>, text: &str, next: usize) -> Option<String> {
    let mut rewrite = Rewrite::of(text);
    let mut from = 0;
    while let Some(offset) = text[from..].find("**") {
        let start = from + offset;
        let body_start = start + 2;
        let line_end = text[body_start..].find('\n').map_or(text.len(), |length| body_start + length);
        let line = &text[body_start..line_end];
        let first_width = line.chars().next().map_or(0, char::len_utf8);
        let Some(length) = line[first_width..].find("**").filter(|_| first_width > 0) else {
            from = line_end;
            continue;
        };
        let body = &line[..first_width + length];
        let html = format!("<strong>{}</strong>", inline.render_from(body, next));
        from = body_start + body.len() + 2;
        rewrite.put(start, from, html, &mut inline.stash);
    }
    rewrite.finish()
}

/// `~~gone~~`: exactly two tildes, none and no line break inside.
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

/// `$$tex$$`, in the form clients know for a formula that could not be typeset: this server has no TeX.
pub(super) fn math(inline: &mut Inline<'_>, text: &str, _next: usize) -> Option<String> {
    let mut rewrite = Rewrite::of(text);
    let mut from = 0;
    while let Some(offset) = text[from..].find("$$") {
        let start = from + offset;
        let is_word = |point: char| point.is_alphanumeric() || point == '_';
        let before = text[..start].chars().next_back();
        let body_start = start + 2;
        let body_end = body_start + formula_length(&text[body_start..]);
        let body = &text[body_start..body_end];
        let mut after = text[body_end..].chars().skip(2);
        let closes = text[body_end..].starts_with("$$")
            && !after.next().is_some_and(|point| is_word(point) || point == '$');
        let begins = !before.is_some_and(|point| is_word(point) || point == '$');
        if begins && closes && !body.is_empty() && !body.starts_with('_') {
            let mut html = String::from(r#"<span class="tex-error">$$"#);
            html.push_str(&inline.stash.expanded(body));
            html.push_str("$$</span>");
            from = body_end + 2;
            rewrite.put(start, from, html, &mut inline.stash);
        } else if body.is_empty() {
            from = start + 1;
        } else {
            from = body_end;
        }
    }
    rewrite.finish()
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
