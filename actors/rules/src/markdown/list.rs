//! Ordered and unordered lists: where items begin, what belongs to which, and which are loose.

use super::block::{Block, Mode, indent_of, parse_chunk, parse_lines};

/// Spaces by which a line must be indented to belong to the item above.
pub(super) const INDENT: usize = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListKind {
    Unordered,
    /// With the number of the first item.
    Ordered(u64),
}

impl ListKind {
    /// Whether an item with this marker continues a list of the other kind value: numbers do not matter.
    fn is_like(self, other: Self) -> bool {
        matches!((self, other), (Self::Unordered, Self::Unordered) | (Self::Ordered(_), Self::Ordered(_)))
    }
}

#[derive(Debug)]
pub(super) struct List<'t> {
    pub kind: ListKind,
    /// Each item's blocks.
    pub items: Vec<Vec<Block<'t>>>,
}

/// The start of an item: its kind, and the text after the marker.
pub(super) struct Marker<'t> {
    pub kind: ListKind,
    text: &'t str,
}

/// Reads a marker after exactly `indent` spaces.
fn marker_after(line: &str, indent: usize) -> Option<Marker<'_>> {
    let body = &line[indent..];
    let digits = body.bytes().take_while(u8::is_ascii_digit).count();
    let (kind, rest) = if digits > 0 {
        (ListKind::Ordered(body[..digits].parse().ok()?), body[digits..].strip_prefix('.')?)
    } else {
        (ListKind::Unordered, body.strip_prefix(['-', '*', '+'])?)
    };
    let text = rest.strip_prefix(' ')?;
    Some(Marker { kind, text: text.trim_start_matches(' ') })
}

/// The marker of an item at the outer level of the lines at hand.
pub(super) fn marker_at_top(line: &str) -> Option<Marker<'_>> {
    let indent = indent_of(line);
    if indent >= INDENT {
        return None;
    }
    marker_after(line, indent)
}

/// Which kind of item begins in this line, at any indentation; `Some(true)` for an ordered one.
pub(super) fn marker_kind(line: &str) -> Option<bool> {
    let first = line.bytes().find(|byte| *byte != b' ')?;
    if !first.is_ascii_digit() && !matches!(first, b'-' | b'*' | b'+') {
        return None;
    }
    marker_after(line, indent_of(line)).map(|marker| marker.kind != ListKind::Unordered)
}

/// Parses a run of lines that begins with an item of this kind. Right after a list of the same kind, which a
/// blank line separates, it continues that list and makes the items on both sides loose.
pub(super) fn parse<'t>(out: &mut Vec<Block<'t>>, lines: &[&'t str], kind: ListKind, depth: usize) {
    let mut mode = Mode::Tight;
    if let Some(Block::List(list)) = out.last_mut()
        && list.kind.is_like(kind)
    {
        if let Some(item) = list.items.last_mut() {
            loosen(item);
        }
        mode = Mode::Normal;
        return push_items(list, lines, mode, depth);
    }
    let mut list = List { kind, items: Vec::new() };
    push_items(&mut list, lines, mode, depth);
    out.push(Block::List(list));
}

/// Adds the items of `lines`; `first_mode` is how the text of the first is taken, the others being tight.
fn push_items<'t>(list: &mut List<'t>, lines: &[&'t str], first_mode: Mode, depth: usize) {
    let mut mode = first_mode;
    let mut at = 0;
    while at < lines.len() {
        let end = next_part(list, lines, at);
        if let Some(marker) = top_item(list, lines[at]) {
            let mut item = Vec::new();
            push_item_lines(&mut item, marker.text, &lines[at + 1..end], mode, depth);
            list.items.push(item);
            mode = Mode::Tight;
        } else if let Some(item) = list.items.last_mut() {
            let indent = indent_of(lines[at]);
            let dedented: Vec<&str> =
                lines[at..end].iter().map(|line| &line[indent_of(line).min(indent)..]).collect();
            parse_lines(item, &dedented, Mode::Dedented, depth + 1);
        }
        at = end;
    }
}

/// The end of the part that begins at `at`: an item, or a group of nested lines under it.
fn next_part(list: &List<'_>, lines: &[&str], at: usize) -> usize {
    let is_nested = |line: &str| indent_of(line) >= INDENT && marker_kind(line).is_some();
    let in_group = is_nested(lines[at]);
    for (offset, line) in lines[at + 1..].iter().enumerate() {
        if top_item(list, line).is_some() || (!in_group && is_nested(line)) {
            return at + 1 + offset;
        }
    }
    lines.len()
}

fn top_item<'t>(list: &List<'_>, line: &'t str) -> Option<Marker<'t>> {
    marker_at_top(line).filter(|marker| marker.kind.is_like(list.kind))
}

fn push_item_lines<'t>(item: &mut Vec<Block<'t>>, text: &'t str, rest: &[&'t str], mode: Mode, depth: usize) {
    let mut lines = Vec::with_capacity(rest.len() + 1);
    lines.push(text);
    lines.extend_from_slice(rest);
    parse_lines(item, &lines, mode, depth + 1);
}

/// Gives an indented run of lines to the item of the last list it belongs to, judged by the indentation.
/// False if the blocks do not end in a list.
pub(super) fn continue_last<'t>(out: &mut [Block<'t>], lines: &[&'t str], mode: Mode, depth: usize) -> bool {
    if mode == Mode::Tight {
        return false;
    }
    let Some(Block::List(list)) = out.last_mut() else { return false };
    let indent = indent_of(lines[0]);
    let mut used = INDENT;
    let Some(mut item) = list.items.last_mut() else { return false };
    while indent >= used + INDENT
        && matches!(item.last(), Some(Block::List(inner)) if !inner.items.is_empty())
    {
        let Some(Block::List(inner)) = item.last_mut() else { return false };
        let Some(inner_item) = inner.items.last_mut() else { return false };
        item = inner_item;
        used += INDENT;
    }
    loosen(item);
    let dedented: Vec<&str> = lines.iter().map(|line| &line[indent_of(line).min(used)..]).collect();
    parse_chunk(item, &dedented, Mode::Dedented, depth + 1);
    true
}

/// Puts the bare texts of an item into paragraphs.
fn loosen(item: &mut [Block<'_>]) {
    for block in item {
        if let Block::Text(text) = block {
            *block = Block::Paragraph(std::mem::take(text));
        }
    }
}
