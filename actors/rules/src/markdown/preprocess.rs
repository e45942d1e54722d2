//! The first step: clean characters, cut the fences out, and give lists the blank line they need.
//! What comes out are lines for the block rules; cut-out code stands in them as placeholders.

use std::borrow::Cow;

use super::MarkdownContext;
use super::fence::{self, Fence, FenceKind};
use super::html::Stash;
use super::list::marker_kind;

/// Fences inside quotes and spoilers are followed this deep; deeper ones are left as text.
const NESTED_FENCES_MAX: usize = 8;

/// Characters from one tab stop to the next.
const TAB_STOP: usize = 4;

/// Tabs become the spaces up to the next stop, line ends a single newline; the characters of placeholders go away.
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
    stash: &mut Stash,
) -> Vec<Cow<'t, str>> {
    let mut cutter = Cutter { lines: text.split('\n'), context, stash };
    cutter.collect(None, 0)
}

struct Cutter<'t, 'c> {
    lines: std::str::Split<'t, char>,
    context: &'c dyn MarkdownContext,
    stash: &'c mut Stash,
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
                let html = fence::render_math(&self.raw_lines(fence.marker));
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
        let mut body = Vec::new();
        for line in self.lines.by_ref() {
            if line.trim_end() == closing {
                break;
            }
            body.push(line);
        }
        body
    }
}

/// Adds a line, and before it a blank one where a list hangs on text or on a list of the other kind:
/// a block ends at a blank line only, and people do not write one there.
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
