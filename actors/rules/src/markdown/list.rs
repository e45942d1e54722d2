//! Ordered and unordered lists: where items begin, which lines belong to them, and which items are loose.

use super::block::{
    Block, Parent, State, indent_of, last_element, last_element_mut, parse_chunk, parse_lines,
};

/// Spaces of one level of lists.
pub(super) const INDENT: usize = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListKind {
    Unordered,
    /// With the number of the first item.
    Ordered(u64),
}

impl ListKind {
    /// Whether both are ordered or both unordered; numbers do not matter.
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

/// The marker of an item at the outer level of the current lines.
pub(super) fn marker_at_top(line: &str) -> Option<Marker<'_>> {
    let indent = indent_of(line);
    if indent >= INDENT {
        return None;
    }
    marker_after(line, indent)
}

/// Whether an item begins in this line, at any indentation; `Some(true)` for an ordered one.
pub(super) fn marker_kind(line: &str) -> Option<bool> {
    let first = line.bytes().find(|byte| *byte != b' ')?;
    if !first.is_ascii_digit() && !matches!(first, b'-' | b'*' | b'+') {
        return None;
    }
    marker_after(line, indent_of(line)).map(|marker| marker.kind != ListKind::Unordered)
}

/// Whether the line begins an item one level deeper. With more indentation it is text.
fn is_nested_item(line: &str) -> bool {
    (INDENT..2 * INDENT).contains(&indent_of(line)) && marker_kind(line).is_some()
}

/// A part of a run of items.
struct Part<'t> {
    /// Whether these are items of a list inside the item above.
    is_nested: bool,
    lines: Vec<&'t str>,
}

/// Parses a run of lines that begins with an item of this kind. Right after a list of the same kind, which a
/// blank line separates, it continues that list and makes the items on both sides loose.
pub(super) fn parse<'t>(out: &mut Vec<Block<'t>>, lines: &[&'t str], kind: ListKind, depth: usize) {
    let mut parts = parts_of(lines, kind).into_iter();
    if let Some(Block::List(list)) = last_element_mut(out)
        && list.kind.is_like(kind)
    {
        if let Some(item) = list.items.last_mut() {
            loosen(item);
        }
        if let Some(first) = parts.next() {
            push_item(list, &first.lines, State::Loose, depth);
        }
        return push_parts(list, parts, depth);
    }
    let mut list = List { kind, items: Vec::new() };
    push_parts(&mut list, parts, depth);
    out.push(Block::List(list));
}

/// Cuts a run into items and groups of nested items; other lines belong to the part above them.
fn parts_of<'t>(lines: &[&'t str], kind: ListKind) -> Vec<Part<'t>> {
    let mut parts: Vec<Part<'t>> = Vec::new();
    for line in lines {
        let marker = marker_at_top(line).filter(|marker| marker.kind.is_like(kind));
        match (marker, parts.last_mut()) {
            (Some(marker), _) => parts.push(Part { is_nested: false, lines: vec![marker.text] }),
            (None, Some(part)) if part.is_nested || !is_nested_item(line) => part.lines.push(line),
            (None, _) => parts.push(Part { is_nested: true, lines: vec![line] }),
        }
    }
    parts
}

fn push_parts<'t>(list: &mut List<'t>, parts: impl Iterator<Item = Part<'t>>, depth: usize) {
    for part in parts {
        match list.items.last_mut() {
            Some(blocks) if part.is_nested => {
                let mut item = Parent { blocks, is_item: true };
                parse_lines(&mut item, &part.lines, State::Tight, depth + 1);
            }
            _ => push_item(list, &part.lines, State::Tight, depth),
        }
    }
}

fn push_item<'t>(list: &mut List<'t>, lines: &[&'t str], state: State, depth: usize) {
    let mut blocks = Vec::new();
    parse_lines(&mut Parent { blocks: &mut blocks, is_item: true }, lines, state, depth + 1);
    list.items.push(blocks);
}

/// The line without the indentation of this many levels, if it has that.
pub(super) fn without_indent(line: &str, levels: usize) -> &str {
    if indent_of(line) >= INDENT * levels { &line[INDENT * levels..] } else { line }
}

/// The end of a sequence of blocks: the number of nested lists, and whether the innermost one ends in an item.
struct Level {
    lists: usize,
    ends_in_item: bool,
}

/// Descends into the last lists and items to the level of the indentation.
fn level_of(blocks: &[Block<'_>], wanted: usize, start: usize) -> Level {
    let mut level = Level { lists: 0, ends_in_item: false };
    let mut blocks = blocks;
    while wanted > start + level.lists {
        let Some(Block::List(list)) = last_element(blocks) else { break };
        level = Level { lists: level.lists + 1, ends_in_item: false };
        if wanted > start + level.lists
            && let Some(item) = list.items.last()
        {
            level.ends_in_item = true;
            blocks = item;
        }
    }
    level
}

/// Adds an indented run of lines to the item of the last list that its indentation selects.
pub(super) fn continue_last<'t>(parent: &mut Parent<'_, 't>, lines: &[&'t str], state: State, depth: usize) {
    let start = usize::from(state == State::Tight);
    let level = level_of(parent.blocks, indent_of(lines[0]) / INDENT, start);
    let dedented: Vec<&str> = lines.iter().map(|line| without_indent(line, start + level.lists)).collect();
    if parent.is_item {
        return match last_element_mut(parent.blocks) {
            Some(Block::List(list)) => push_into_list(list, &dedented, depth),
            _ => parse_chunk(parent, &dedented, State::Dedented, depth + 1),
        };
    }
    let Some(blocks) = last_item(parent.blocks, level.lists) else { return };
    if !level.ends_in_item
        && let Some(Block::Text(text)) = blocks.first_mut()
    {
        blocks[0] = Block::Paragraph(std::mem::take(text));
    }
    parse_chunk(&mut Parent { blocks, is_item: true }, &dedented, State::Dedented, depth + 1);
}

/// Adds items to the list at the end of the item above, or blocks to its last item.
fn push_into_list<'t>(list: &mut List<'t>, lines: &[&'t str], depth: usize) {
    if let Some(marker) = lines.first().and_then(|line| marker_at_top(line)) {
        return push_parts(list, parts_of(lines, marker.kind).into_iter(), depth);
    }
    if let Some(blocks) = list.items.last_mut() {
        parse_chunk(&mut Parent { blocks, is_item: true }, lines, State::Dedented, depth + 1);
    }
}

/// The last item of the innermost of `lists` nested lists.
fn last_item<'b, 't>(blocks: &'b mut Vec<Block<'t>>, lists: usize) -> Option<&'b mut Vec<Block<'t>>> {
    let mut blocks = blocks;
    for _ in 0..lists {
        let Some(Block::List(list)) = last_element_mut(blocks) else { return None };
        blocks = list.items.last_mut()?;
    }
    Some(blocks)
}

/// Turns the bare texts of an item, its first and its last, into paragraphs.
fn loosen(item: &mut [Block<'_>]) {
    let last = item.len().wrapping_sub(1);
    for (at, block) in item.iter_mut().enumerate() {
        if let Block::Text(text) = block
            && (at == 0 || at == last)
        {
            let text = std::mem::take(text);
            *block = Block::Paragraph(if at == 0 { text } else { text.trim_start().to_owned().into() });
        }
    }
}
