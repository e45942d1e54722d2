//! The block rules: lines become a tree of paragraphs, lists, quotes and the rest. Inline rules run later,
//! over the text the leaves hold.

use std::borrow::Cow;

use super::list::{self, List};
use super::table::{self, Table};

/// Lists and quotes are followed this deep; what is nested deeper is text. It bounds both the stack and the
/// work, which is depth times length.
const DEPTH_MAX: usize = 24;

/// One block. Text is still raw: markup, placeholders and line breaks are inside.
#[derive(Debug)]
pub(super) enum Block<'t> {
    Paragraph(Cow<'t, str>),
    /// The text of a list item without blank lines around it, which gets no paragraph.
    Text(Cow<'t, str>),
    Header(usize, &'t str),
    Rule,
    /// Lines indented by four spaces, without the indentation.
    IndentedCode(Vec<&'t str>),
    Quote(Vec<Block<'t>>),
    List(List<'t>),
    Table(Table<'t>),
}

/// How the text of the surrounding block is taken.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Normal,
    /// Inside a list item: plain text needs no paragraph.
    Tight,
    /// Indentation was already used up to find the list item this belongs to.
    Dedented,
}

/// Parses lines, in which blank ones separate blocks, into `out`.
pub(super) fn parse_lines<'t>(out: &mut Vec<Block<'t>>, lines: &[&'t str], mode: Mode, depth: usize) {
    for chunk in lines.split(|line| line.trim().is_empty()) {
        if !chunk.is_empty() {
            parse_chunk(out, chunk, mode, depth);
        }
    }
}

/// Parses one run of lines without a blank one.
pub(super) fn parse_chunk<'t>(out: &mut Vec<Block<'t>>, lines: &[&'t str], mode: Mode, depth: usize) {
    if depth >= DEPTH_MAX {
        return push_paragraph(out, lines, mode);
    }
    if mode != Mode::Dedented
        && indent_of(lines[0]) >= list::INDENT
        && list::continue_last(out, lines, mode, depth)
    {
        return;
    }
    let code_end = lines.iter().position(|line| indent_of(line) < 4).unwrap_or(lines.len());
    if code_end > 0 {
        push_indented_code(out, &lines[..code_end]);
    }
    parse_headers(out, &lines[code_end..], mode, depth);
}

/// Headers and rules may stand between the lines of any other block, so they cut it first.
fn parse_headers<'t>(out: &mut Vec<Block<'t>>, lines: &[&'t str], mode: Mode, depth: usize) {
    let mut start = 0;
    for (at, line) in lines.iter().enumerate() {
        let block = match header_of(line) {
            Some((level, text)) => Block::Header(level, text),
            None if is_rule(line) => Block::Rule,
            None => continue,
        };
        parse_body(out, &lines[start..at], mode, depth);
        out.push(block);
        start = at + 1;
    }
    parse_body(out, &lines[start..], mode, depth);
}

/// Lists, quotes, tables and paragraphs.
fn parse_body<'t>(out: &mut Vec<Block<'t>>, lines: &[&'t str], mode: Mode, depth: usize) {
    let Some(first) = lines.first() else { return };
    if let Some(marker) = list::marker_at_top(first) {
        return list::parse(out, lines, marker.kind, depth);
    }
    if let Some(at) = quote_start(lines) {
        parse_body(out, &lines[..at], mode, depth);
        return parse_quote(out, &lines[at..], depth);
    }
    match table::parse(lines) {
        Some(table) => out.push(Block::Table(table)),
        None => push_paragraph(out, lines, mode),
    }
}

fn push_paragraph<'t>(out: &mut Vec<Block<'t>>, lines: &[&'t str], mode: Mode) {
    let text = match lines {
        [] => return,
        [line] => Cow::Borrowed(line.trim_start()),
        [first, ..] => {
            let joined = lines.join("\n");
            Cow::Owned(joined[first.len() - first.trim_start().len()..].to_owned())
        }
    };
    match mode {
        Mode::Tight => out.push(Block::Text(text)),
        Mode::Normal | Mode::Dedented => out.push(Block::Paragraph(text)),
    }
}

fn push_indented_code<'t>(out: &mut Vec<Block<'t>>, lines: &[&'t str]) {
    let dedented = lines.iter().map(|line| &line[4..]);
    if let Some(Block::IndentedCode(code)) = out.last_mut() {
        code.push("");
        code.extend(dedented);
    } else {
        out.push(Block::IndentedCode(dedented.collect()));
    }
}

/// Everything up to the end of the run belongs to the quote, marked or not. A quote right after a quote
/// continues it.
fn parse_quote<'t>(out: &mut Vec<Block<'t>>, lines: &[&'t str], depth: usize) {
    let inner: Vec<&str> = lines.iter().map(|line| quoted_text(line).unwrap_or(line)).collect();
    if let Some(Block::Quote(children)) = out.last_mut() {
        return parse_lines(children, &inner, Mode::Normal, depth + 1);
    }
    let mut children = Vec::new();
    parse_lines(&mut children, &inner, Mode::Normal, depth + 1);
    out.push(Block::Quote(children));
}

/// The first line that begins a quote. `>` lines with nothing after them begin none at the end of a run.
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
