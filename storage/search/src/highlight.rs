//! Messages with the words of a search marked (docs/api/narrow.md#search).

use crate::html::texts;
use crate::language::Language;
use crate::matching::Matcher;
use std::ops::Range;

const START: &str = "<span class=\"highlight\">";
const END: &str = "</span>";

/// What is shown instead of the topic of a direct message.
const DIRECT: &str = "\u{7}";

/// Marks the words of one search.
#[derive(Debug)]
pub struct Highlighter(Matcher);

impl Highlighter {
    /// A highlighter for a search in texts of a language.
    pub fn new(text: &str, language: Language) -> Self {
        Self(Matcher::new(text, language))
    }

    /// HTML with each word marked. Tags and entities stay as they are.
    pub fn content(&mut self, rendered: &str) -> String {
        let mut ranges = Vec::new();
        for text in texts(rendered).filter(|text| !text.is_fixed) {
            let shifted = |range: Range<usize>| text.start + range.start..text.start + range.end;
            let mut addresses = Addresses::of(text.text);
            let none_known = || 0;
            self.0.hits(text.text, none_known, |hit| {
                if !(hit.is_part && addresses.contain(hit.range.start)) {
                    ranges.push(shifted(hit.range));
                }
            });
        }
        marked(rendered, ranges)
    }

    /// A topic as HTML, with each word marked; none for direct messages.
    pub fn subject(&mut self, topic: Option<&str>) -> String {
        let Some(topic) = topic else { return DIRECT.to_owned() };
        self.content(&escape(topic))
    }
}

fn marked(html: &str, mut ranges: Vec<Range<usize>>) -> String {
    // A name before the words that it consists of.
    ranges.sort_unstable_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
    let mut out = String::with_capacity(html.len() + ranges.len() * (START.len() + END.len()));
    let mut done = 0;
    for range in ranges {
        if range.start < done {
            continue;
        }
        out.push_str(&html[done..range.start]);
        out.push_str(START);
        out.push_str(&html[range.clone()]);
        out.push_str(END);
        done = range.end;
    }
    out.push_str(&html[done..]);
    out
}

/// The addresses with a scheme in a text, for places that ascend.
struct Addresses<'t> {
    text: &'t str,
    /// The address that was found last.
    last: Range<usize>,
}

impl<'t> Addresses<'t> {
    fn of(text: &'t str) -> Self {
        Self { text, last: 0..0 }
    }

    /// Whether a place is in one of them. Places must not descend.
    fn contain(&mut self, place: usize) -> bool {
        while self.last.end <= place {
            let rest = &self.text[self.last.end..];
            let Some(at) = rest.find("://") else {
                self.last = self.text.len()..usize::MAX;
                break;
            };
            let start = self.last.end + at;
            let end = self.text[start..].find(char::is_whitespace).map_or(self.text.len(), |n| start + n);
            self.last = start..end;
        }
        self.last.contains(&place)
    }
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}
