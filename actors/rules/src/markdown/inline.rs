//! The order of the inline rules, and their shared functions.
//!
//! Each rule runs over the whole text and replaces what it matches by a placeholder, so a match is opaque to
//! every later rule. Text inside a match, where it may hold markup, is given to the later rules only. Every
//! rule is linear in its text, so a text costs at most (number of rules) × (length).

use std::borrow::Cow;

use crate::formulas::FormulaBudget;

use super::html::FinishedHtml;
use super::linkifier::LinkifierBudget;
use super::links::LinkFacts;
use super::previews::Previews;
use super::{
    MarkdownContext, Mentions, conversations, emoji, emphasis, linkifier, links, mentions, time, urls,
};

/// Input and output of the inline rules.
pub(super) struct Inline<'c> {
    pub context: &'c dyn MarkdownContext,
    pub stash: FinishedHtml,
    pub formulas: FormulaBudget,
    pub linkifier_budget: LinkifierBudget,
    pub mentions: Mentions,
    pub links: LinkFacts,
    pub previews: Previews,
    /// Inside a quote, where mentions are silent and nothing is previewed.
    pub in_quote: bool,
}

/// Rewrites the text; `None` if nothing matched. `next` is the rule that text inside a match starts at.
type Rule = fn(&mut Inline<'_>, &str, usize) -> Option<String>;

// A bit for each character that rules depend on.
const STAR: u16 = 1;
const BACKTICK: u16 = 1 << 1;
const AT: u16 = 1 << 2;
const DOLLAR: u16 = 1 << 3;
const HASH: u16 = 1 << 4;
const ANGLE: u16 = 1 << 5;
const BRACKET: u16 = 1 << 6;
const DOT: u16 = 1 << 7;
const AMPERSAND: u16 = 1 << 8;
const TILDE: u16 = 1 << 9;
const COLON: u16 = 1 << 10;
const NON_ASCII: u16 = 1 << 11;
const ANY: u16 = u16::MAX;

/// The rules in order, each with the characters of which the text must contain at least one.
const RULES: [(u16, Rule); 18] = [
    (BACKTICK, emphasis::code),
    (STAR, emphasis::strong_em),
    (AT, mentions::users),
    (DOLLAR, emphasis::math),
    (HASH, conversations::links),
    (ANGLE, time::times),
    (AT, mentions::groups),
    (BRACKET, links::audio),
    (BRACKET, links::links),
    (DOT | COLON, urls::bare_links),
    (ANY, linkifier::linkifiers),
    (AMPERSAND, emphasis::entities),
    (STAR, emphasis::strong),
    (STAR, emphasis::em),
    (TILDE, emphasis::del),
    (COLON, emoji::names),
    (ANY, emoji::emoticons),
    (NON_ASCII, emoji::literals),
];

/// The bit of each byte.
const BITS: [u16; 256] = bits();

const fn bits() -> [u16; 256] {
    let mut table = [0; 256];
    table[b'*' as usize] = STAR;
    table[b'`' as usize] = BACKTICK;
    table[b'@' as usize] = AT;
    table[b'$' as usize] = DOLLAR;
    table[b'#' as usize] = HASH;
    table[b'<' as usize] = ANGLE;
    table[b'[' as usize] = BRACKET;
    table[b'.' as usize] = DOT;
    table[b'&' as usize] = AMPERSAND;
    table[b'~' as usize] = TILDE;
    table[b':' as usize] = COLON;
    let mut byte = 0x80;
    while byte < 0x100 {
        table[byte] = NON_ASCII;
        byte += 1;
    }
    table
}

impl Inline<'_> {
    /// The HTML of a text with markup.
    pub(super) fn render(&mut self, text: &str) -> String {
        self.render_from(text, 0)
    }

    /// The HTML of a text, applying the rules from number `first` on.
    pub(super) fn render_from(&mut self, text: &str, first: usize) -> String {
        #[cfg(test)]
        super::properties::count_inline_bytes(text.len());
        let present = text.bytes().fold(0, |seen, byte| seen | BITS[usize::from(byte)]);
        let mut current = Cow::Borrowed(text);
        for (at, (needed, rule)) in RULES.iter().enumerate().skip(first) {
            if *needed != ANY && present & needed == 0 {
                continue;
            }
            if let Some(rewritten) = rule(self, &current, at + 1) {
                current = Cow::Owned(rewritten);
            }
        }
        let mut out = String::with_capacity(current.len() + current.len() / 8);
        self.stash.push_expanded(&mut out, &current, LINE_BREAK);
        without_lone_spaces(out)
    }
}

/// The HTML of a line break in a paragraph.
const LINE_BREAK: &str = "<br>\n";

/// Drops white space between a line break and the element that follows it, or the end.
fn without_lone_spaces(html: String) -> String {
    let is_lone = |line: &str| {
        line.starts_with(' ') && matches!(line.trim_start_matches(' ').bytes().next(), None | Some(b'<'))
    };
    if !html.split(LINE_BREAK).skip(1).any(is_lone) {
        return html;
    }
    let mut out = String::with_capacity(html.len());
    for (number, line) in html.split(LINE_BREAK).enumerate() {
        if number > 0 {
            out.push_str(LINE_BREAK);
        }
        out.push_str(if number > 0 && is_lone(line) { line.trim_start_matches(' ') } else { line });
    }
    out
}

/// Collects the replacements of one rule.
pub(super) struct Rewrite<'t> {
    text: &'t str,
    out: String,
    copied: usize,
}

impl<'t> Rewrite<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        Self { text, out: String::new(), copied: 0 }
    }

    /// Puts HTML in the place of `start..end`, which must lie after the previous replacement.
    pub(super) fn put(&mut self, start: usize, end: usize, html: String, stash: &mut FinishedHtml) {
        self.out.push_str(&self.text[self.copied..start]);
        self.out.push_str(&stash.keep(html));
        self.copied = end;
    }

    /// The rewritten text, or `None` if nothing was replaced.
    pub(super) fn finish(mut self) -> Option<String> {
        if self.copied == 0 {
            return None;
        }
        self.out.push_str(&self.text[self.copied..]);
        Some(self.out)
    }
}

/// Replaces matches that begin with `mark`, first to last. `read` returns the end of the match at a position and its HTML.
pub(super) fn replace_matches(
    inline: &mut Inline<'_>,
    text: &str,
    mark: &str,
    mut read: impl FnMut(&mut Inline<'_>, usize) -> Option<(usize, String)>,
) -> Option<String> {
    replace_or_skip(inline, text, mark, |inline, start| match read(inline, start) {
        Some((end, html)) => Some((end, Some(html))),
        None => Some((start + mark.len(), None)),
    })
}

/// Replaces matches as [`replace_matches`] does, where `read` also decides how far to skip without a match, and `None` ends the
/// search.
pub(super) fn replace_or_skip(
    inline: &mut Inline<'_>,
    text: &str,
    mark: &str,
    mut read: impl FnMut(&mut Inline<'_>, usize) -> Option<(usize, Option<String>)>,
) -> Option<String> {
    let mut rewrite = Rewrite::of(text);
    let mut from = 0;
    while let Some(offset) = text[from..].find(mark) {
        let start = from + offset;
        let Some((end, html)) = read(inline, start) else { break };
        if let Some(html) = html {
            rewrite.put(start, end, html, &mut inline.stash);
        }
        from = end;
    }
    rewrite.finish()
}

/// Whether a match may begin at `at`: at the start, after white space, or after one of `allowed`.
pub(super) fn may_begin(text: &str, at: usize, allowed: &[char]) -> bool {
    match text[..at].chars().next_back() {
        None => true,
        Some(before) => before.is_whitespace() || allowed.contains(&before),
    }
}

/// An id written in digits only.
pub(super) fn parse_id(text: &str) -> Option<u64> {
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}
