//! The block rules: lines are parsed to a tree of paragraphs, lists, quotes and other blocks. Inline rules run later, on
//! the text of the leaves.

use std::borrow::Cow;

use super::list::{self, List};
use super::table::{self, Table};

/// Maximum nesting of lists and quotes; deeper ones are text. It bounds both the stack and the work, which is depth times
/// length.
const DEPTH_MAX: usize = 24;

/// One block. Texts still contain markup, placeholders and line breaks.
#[derive(Debug)]
pub(super) enum Block<'t> {
    Paragraph(Cow<'t, str>),
    /// Text of a list item without a paragraph. After another block it begins with a line break.
    Text(Cow<'t, str>),
    Header(usize, &'t str),
    Rule,
    /// Lines indented by four spaces, without the indentation.
    IndentedCode(Vec<&'t str>),
    Quote(Vec<Block<'t>>),
    List(List<'t>),
    Table(Table<'t>),
}

/// The context of the current lines.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// The message itself, or a quote.
    Normal,
    /// An item whose plain text has no paragraph.
    Tight,
    /// An item after a blank line.
    Loose,
    /// The indentation was already removed to find the item.
    Dedented,
}

/// The destination of parsed blocks.
pub(super) struct Parent<'p, 't> {
    pub blocks: &'p mut Vec<Block<'t>>,
    /// Whether the blocks are those of a list item.
    pub is_item: bool,
}

impl Parent<'_, '_> {
    /// Whether the last block, except for bare text, is a list.
    fn ends_in_list(&self) -> bool {
        matches!(last_element(self.blocks), Some(Block::List(_)))
    }
}

/// The last block that is not bare text.
pub(super) fn last_element<'b, 't>(blocks: &'b [Block<'t>]) -> Option<&'b Block<'t>> {
    blocks.iter().rfind(|block| !matches!(block, Block::Text(_)))
}

/// The last block that is not bare text, mutable.
pub(super) fn last_element_mut<'b, 't>(blocks: &'b mut [Block<'t>]) -> Option<&'b mut Block<'t>> {
    blocks.iter_mut().rfind(|block| !matches!(block, Block::Text(_)))
}

/// Parses lines; blank ones separate blocks.
pub(super) fn parse_lines<'t>(parent: &mut Parent<'_, 't>, lines: &[&'t str], state: State, depth: usize) {
    let mut blank_lines = 0;
    for chunk in lines.split(|line| line.trim().is_empty()) {
        if chunk.is_empty() {
            blank_lines += 1;
            continue;
        }
        // Blank lines do not end code; `push_indented_code` adds one more if code follows.
        if blank_lines > 0
            && let Some(Block::IndentedCode(code)) = last_element_mut(parent.blocks)
        {
            code.extend(std::iter::repeat_n("", blank_lines));
        }
        parse_chunk(parent, chunk, state, depth);
        blank_lines = 0;
    }
}

/// Parses one run of lines without a blank one.
pub(super) fn parse_chunk<'t>(parent: &mut Parent<'_, 't>, lines: &[&'t str], state: State, depth: usize) {
    if depth >= DEPTH_MAX {
        return push_paragraph(parent, lines, state);
    }
    let mut rest = lines;
    while let Some(body) = parse_start(parent, rest, state, depth) {
        let end = body.iter().position(|line| header_of(line).is_some()).unwrap_or(body.len());
        parse_body(parent, &body[..end], state, depth);
        let Some(line) = body.get(end) else { return };
        let Some((level, text)) = header_of(line) else { return };
        parent.blocks.push(Block::Header(level, text));
        rest = &body[end + 1..];
    }
}

/// Parses what only the beginning of a run can be: a continuation of the list above, or code. Returns the remaining
/// lines; `None` if there are none.
fn parse_start<'l, 't>(
    parent: &mut Parent<'_, 't>,
    lines: &'l [&'t str],
    state: State,
    depth: usize,
) -> Option<&'l [&'t str]> {
    let first = lines.first()?;
    let may_continue = indent_of(first) >= list::INDENT && state != State::Dedented;
    if may_continue && (parent.is_item || parent.ends_in_list()) {
        list::continue_last(parent, lines, state, depth);
        return None;
    }
    let code_end = lines.iter().position(|line| indent_of(line) < 4).unwrap_or(lines.len());
    if code_end == 0 {
        return Some(lines);
    }
    push_indented_code(parent.blocks, &lines[..code_end]);
    // The line after the code is not indented enough to continue a list.
    let rest = &lines[code_end..];
    if rest.is_empty() { None } else { Some(rest) }
}

/// Parses lines without a header: a table, or rules and the blocks between them.
fn parse_body<'t>(parent: &mut Parent<'_, 't>, lines: &[&'t str], state: State, depth: usize) {
    let mut rest = lines;
    loop {
        if rest.is_empty() {
            return;
        }
        if let Some(table) = table::parse(rest) {
            return parent.blocks.push(Block::Table(table));
        }
        let Some(at) = rest.iter().position(|line| is_rule(line)) else { break };
        parse_plain(parent, &rest[..at], state, depth);
        parent.blocks.push(Block::Rule);
        match parse_start(parent, &rest[at + 1..], state, depth) {
            Some(after) => rest = after,
            None => return,
        }
    }
    parse_plain(parent, rest, state, depth);
}

/// Tables, lists, quotes and paragraphs.
fn parse_plain<'t>(parent: &mut Parent<'_, 't>, lines: &[&'t str], state: State, depth: usize) {
    let Some(first) = lines.first() else { return };
    if let Some(table) = table::parse(lines) {
        return parent.blocks.push(Block::Table(table));
    }
    if let Some(marker) = list::marker_at_top(first) {
        return list::parse(parent.blocks, lines, marker.kind, depth);
    }
    match quote_start(lines) {
        Some(at) => {
            parse_plain(parent, &lines[..at], state, depth);
            parse_quote(parent.blocks, &lines[at..], depth);
        }
        None => push_paragraph(parent, lines, state),
    }
}

fn push_paragraph<'t>(parent: &mut Parent<'_, 't>, lines: &[&'t str], state: State) {
    let text = match lines {
        [] => return,
        [line] => Cow::Borrowed(line.trim_start_matches(' ')),
        [first, ..] => {
            let joined = lines.join("\n");
            Cow::Owned(joined[first.len() - first.trim_start_matches(' ').len()..].to_owned())
        }
    };
    match state {
        State::Tight => push_bare_text(parent.blocks, text),
        State::Normal | State::Loose | State::Dedented => parent.blocks.push(Block::Paragraph(text)),
    }
}

/// Adds text to an item: its beginning, or a line below its last block.
fn push_bare_text<'t>(blocks: &mut Vec<Block<'t>>, text: Cow<'t, str>) {
    let is_first = blocks.is_empty();
    match blocks.last_mut() {
        Some(Block::Text(above)) => *above = Cow::Owned(format!("{above}\n{text}")),
        _ if is_first => blocks.push(Block::Text(text)),
        _ => blocks.push(Block::Text(Cow::Owned(format!("\n{text}")))),
    }
}

fn push_indented_code<'t>(out: &mut Vec<Block<'t>>, lines: &[&'t str]) {
    let dedented = lines.iter().map(|line| &line[4..]);
    if let Some(Block::IndentedCode(code)) = last_element_mut(out) {
        code.push("");
        code.extend(dedented);
    } else {
        out.push(Block::IndentedCode(dedented.collect()));
    }
}

/// Parses a quote, which extends to the end of the run, with marks or without. After a blank line a new quote begins.
fn parse_quote<'t>(out: &mut Vec<Block<'t>>, lines: &[&'t str], depth: usize) {
    let inner: Vec<&str> = lines.iter().map(|line| quoted_text(line).unwrap_or(line)).collect();
    let mut blocks = Vec::new();
    let mut children = Parent { blocks: &mut blocks, is_item: false };
    parse_lines(&mut children, &inner, State::Normal, depth + 1);
    out.push(Block::Quote(blocks));
}

/// The first line that begins a quote. Empty `>` lines at the end of a run begin none.
fn quote_start(lines: &[&str]) -> Option<usize> {
    let is_empty_mark = |line: &&str| quoted_text(line).is_some_and(|text| text.trim().is_empty());
    let end = lines.iter().rposition(|line| !is_empty_mark(line))? + 1;
    lines[..end].iter().position(|line| quoted_text(line).is_some())
}

/// The text after a quote mark, which may be indented by up to three spaces.
fn quoted_text(line: &str) -> Option<&str> {
    let indent = indent_of(line);
    if indent > 3 {
        return None;
    }
    let text = line[indent..].strip_prefix('>')?;
    Some(text.strip_prefix(' ').unwrap_or(text))
}

/// Level and text of a header line: up to six `#`, white space, text, and any closing `#`s.
fn header_of(line: &str) -> Option<(usize, &str)> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    if !(1..=6).contains(&level) {
        return None;
    }
    let text = line[level..].strip_prefix(' ')?;
    Some((level, text.trim_end().trim_end_matches('#').trim()))
}

/// At least three of one of `-`, `_`, `*`, alone on the line, with at most two spaces between them.
fn is_rule(line: &str) -> bool {
    let indent = indent_of(line);
    let Some(mark) = line.as_bytes().get(indent).copied().filter(|byte| matches!(byte, b'-' | b'_' | b'*'))
    else {
        return false;
    };
    if indent > 3 {
        return false;
    }
    let mut marks = 0;
    let mut spaces = 0;
    for byte in line[indent..].trim_end_matches(' ').bytes() {
        if byte == mark {
            marks += 1;
            spaces = 0;
        } else if byte == b' ' && spaces < 2 {
            spaces += 1;
        } else {
            return false;
        }
    }
    marks >= 3
}

/// Number of spaces the line begins with.
pub(super) fn indent_of(line: &str) -> usize {
    line.bytes().take_while(|byte| *byte == b' ').count()
}
