//! The first step: normalizes characters, extracts fenced blocks, and adds the blank line that lists need. The result are
//! lines for the block rules, with placeholders for code.

use std::borrow::Cow;

use super::MarkdownContext;
use super::fence::{self, Fence, FenceKind};
use super::html::FinishedHtml;
use super::list::marker_kind;
use crate::formulas::FormulaBudget;

/// Maximum nesting of fences inside quotes and spoilers; deeper ones are text.
const NESTED_FENCES_MAX: usize = 8;

/// Characters from one tab stop to the next.
const TAB_STOP: usize = 4;

/// Replaces tabs by spaces up to the next stop and line ends by a newline, and removes the characters of placeholders.
pub(super) fn normalize(text: &str) -> Cow<'_, str> {
    if !text.bytes().any(|byte| matches!(byte, b'\t' | b'\r' | b'\x02' | b'\x03')) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut chars = text.chars().peekable();
    let mut column = 0;
    while let Some(point) = chars.next() {
        match point {
            '\t' => {
                let width = TAB_STOP - column % TAB_STOP;
                out.extend(std::iter::repeat_n(' ', width));
                column += width;
            }
            '\r' | '\n' => {
                if point == '\r' {
                    chars.next_if_eq(&'\n');
                }
                out.push('\n');
                column = 0;
            }
            '\u{2}' | '\u{3}' => {}
            _ => {
                out.push(point);
                column += 1;
            }
        }
    }
    Cow::Owned(out)
}

/// Splits normalized text into the lines the block rules read.
pub(super) fn split_lines<'t>(
    text: &'t str,
    context: &dyn MarkdownContext,
    stash: &mut FinishedHtml,
    formulas: &mut FormulaBudget,
) -> Vec<Cow<'t, str>> {
    let mut cutter = Cutter { lines: text.split('\n'), context, stash, formulas };
    cutter.collect(None, 0)
}

struct Cutter<'t, 'c> {
    lines: std::str::Split<'t, char>,
    context: &'c dyn MarkdownContext,
    stash: &'c mut FinishedHtml,
    formulas: &'c mut FormulaBudget,
}

impl<'t> Cutter<'t, '_> {
    /// Reads lines up to the one equal to `closing`, or to the end.
    fn collect(&mut self, closing: Option<&str>, depth: usize) -> Vec<Cow<'t, str>> {
        let mut out = Vec::new();
        while let Some(line) = self.lines.next() {
            if closing.is_some_and(|closing| line.trim_end() == closing) {
                break;
            }
            match fence::parse_opening(line) {
                Some(fence) if depth < NESTED_FENCES_MAX => self.push_fence(&mut out, &fence, depth),
                _ => push_line(&mut out, line),
            }
        }
        out
    }

    fn push_fence(&mut self, out: &mut Vec<Cow<'t, str>>, fence: &Fence<'t>, depth: usize) {
        out.push(Cow::Borrowed(""));
        match fence.kind {
            FenceKind::Quote => {
                let inner = self.collect(Some(fence.marker), depth + 1);
                out.extend(inner.into_iter().map(|line| Cow::Owned(format!("> {line}"))));
            }
            FenceKind::Spoiler => {
                let inner = self.collect(Some(fence.marker), depth + 1);
                self.push_spoiler(out, fence.header, inner);
            }
            FenceKind::Math => {
                let lines = self.raw_lines(fence.marker);
                let html = fence::render_math(&lines, self.formulas);
                out.extend(html.map(|html| Cow::Owned(self.stash.keep(html))));
            }
            FenceKind::Code => {
                let body = self.raw_lines(fence.marker);
                let language = fence.language.or_else(|| self.context.default_code_language());
                let html = fence::render_code(&body, language);
                out.extend(html.map(|html| Cow::Owned(self.stash.keep_block(html))));
            }
        }
        out.push(Cow::Borrowed(""));
    }

    fn push_spoiler(&mut self, out: &mut Vec<Cow<'t, str>>, header: &'t str, inner: Vec<Cow<'t, str>>) {
        let edges = [fence::SPOILER_OPEN, fence::SPOILER_MIDDLE, fence::SPOILER_CLOSE];
        let [open, middle, close] = edges.map(|edge| Cow::Owned(self.stash.keep_block(edge.to_owned())));
        let blank = || Cow::Borrowed("");
        out.extend([open, blank(), Cow::Borrowed(header), blank(), middle, blank()]);
        out.extend(inner);
        out.extend([blank(), close]);
    }

    /// The lines of a fence whose content is not Markdown.
    fn raw_lines(&mut self, closing: &str) -> Vec<&'t str> {
        self.lines.by_ref().take_while(|line| line.trim_end() != closing).collect()
    }
}

/// Adds a line, and before it a blank one where a list follows text or a list of the other kind: a block ends only at a
/// blank line, which users do not type there.
fn push_line<'t>(out: &mut Vec<Cow<'t, str>>, line: &'t str) {
    if let Some(kind) = marker_kind(line)
        && let Some(previous) = out.last()
        && !previous.trim().is_empty()
        && marker_kind(previous) != Some(kind)
    {
        out.push(Cow::Borrowed(""));
    }
    out.push(Cow::Borrowed(line));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_characters_are_normalized() {
        assert_eq!(normalize("a\tb\r\nc\rd\u{2}7\u{3}"), "a   b\nc\nd7");
        assert_eq!(normalize("\tx\n\u{e9}bc\td\tabcd\te"), "    x\n\u{e9}bc d   abcd    e");
        assert!(matches!(normalize("plain\ntext"), Cow::Borrowed(_)));
    }
}
