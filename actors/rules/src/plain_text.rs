//! Converts rendered messages to plain text, for push notifications and e-mails.

use crate::emoji;
use std::ops::Range;

/// A link in a text: where its words are, and where it leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextLink {
    /// The bytes of the text that are its words.
    pub words: Range<usize>,
    /// As in the HTML: absolute, or relative to the organization. Of any scheme.
    pub url: String,
    /// Whether it is the name of a channel, a topic or a message, which is complete without the address.
    pub is_reference: bool,
}

/// A place in a text that stands for the layout of a table or for a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextMark {
    /// The bytes of the text that are shown for it, such as a line break or ` | `.
    pub piece: Range<usize>,
    pub kind: MarkKind,
}

/// What begins or ends at a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkKind {
    /// A row begins; the first one begins the table.
    Row,
    Cell {
        is_head: bool,
    },
    TableEnd,
    Rule,
}

/// A text with its links, and the layout of tables and rules that are not in quotes or lists, all in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkedText {
    pub text: String,
    pub links: Vec<TextLink>,
    pub marks: Vec<TextMark>,
}

impl LinkedText {
    /// The first characters, with the links and marks that are complete in them.
    pub fn cut(self, chars_max: usize) -> Self {
        let (text, is_truncated) = cut(&self.text, chars_max);
        let end = if is_truncated { text.len() - '\u{2026}'.len_utf8() } else { text.len() };
        let links = self.links.into_iter().filter(|link| link.words.end <= end).collect();
        let marks = self.marks.into_iter().filter(|mark| mark.piece.end <= end).collect();
        Self { text, links, marks }
    }
}

/// The text, each block and each row of a table on its own line, without hidden spoilers. Emoji are their names between colons. The HTML must be
/// well-formed, as our renderer's is.
pub fn plain_text(html: &str) -> String {
    Writer::read(html, false).text
}

/// The text for people who read it outside a client: as [`plain_text`], but emoji are characters, where there are any.
pub fn notification_text(html: &str) -> String {
    linked_text(html).text
}

/// As [`notification_text`], with the links.
pub fn linked_text(html: &str) -> LinkedText {
    Writer::read(html, true)
}

/// The text until now, and what is open.
#[derive(Default)]
struct Writer {
    out: String,
    shows_emoji: bool,
    /// Number of open elements inside a hidden one, that one included.
    hidden_depth: usize,
    quote_depth: usize,
    /// The open lists: the number of the next item, if it is ordered.
    lists: Vec<Option<u64>>,
    /// The length right after the marker of a list item, whose text stays on its line.
    after_marker: Option<usize>,
    open_link: Option<TextLink>,
    links: Vec<TextLink>,
    is_in_table: bool,
    /// Cells of the row until now.
    cells: usize,
    is_in_cell: bool,
    marks: Vec<TextMark>,
}

impl Writer {
    fn read(html: &str, shows_emoji: bool) -> LinkedText {
        let mut writer = Self { out: String::with_capacity(html.len() / 2), shows_emoji, ..Self::default() };
        let mut rest = html;
        while let Some(start) = rest.find('<') {
            writer.push_text(&rest[..start]);
            let Some(end) = rest[start..].find('>') else { break };
            rest = writer.tag(&rest[start + 1..start + end], &rest[start + end + 1..]);
        }
        writer.push_text(rest);
        writer.finish()
    }

    /// Without white space around it.
    fn finish(self) -> LinkedText {
        let shift = self.out.len() - self.out.trim_start().len();
        let text = self.out.trim().to_owned();
        let place = |at: usize| at.saturating_sub(shift).min(text.len());
        let (mut links, mut marks) = (self.links, self.marks);
        let words = links.iter_mut().map(|link| &mut link.words);
        for piece in words.chain(marks.iter_mut().map(|mark| &mut mark.piece)) {
            *piece = place(piece.start)..place(piece.end);
        }
        LinkedText { text, links, marks }
    }

    /// Reads a tag; returns what follows it, and what was read with it.
    fn tag<'h>(&mut self, tag: &str, rest: &'h str) -> &'h str {
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap_or_default();
        let is_void = tag.ends_with('/') || matches!(name, "br" | "hr" | "img" | "input");
        let is_end = tag.starts_with('/');
        if self.hidden_depth > 0 {
            match (is_void, is_end) {
                (true, _) => {}
                (false, true) => self.hidden_depth -= 1,
                (false, false) => self.hidden_depth += 1,
            }
            return rest;
        }
        match name {
            "div" if tag.contains("spoiler-content") => {
                self.push_line();
                self.out.push_str("(\u{2026})");
                self.hidden_depth = 1;
            }
            "span" if tag.contains("\"katex-html\"") => self.hidden_depth = 1,
            "span" if self.shows_emoji => {
                if let Some((characters, after)) = emoji_at(tag, rest) {
                    self.push_text(&characters);
                    return after;
                }
            }
            "math" if !is_end => {
                let (tex, after) = formula(rest);
                self.push_text(tex);
                return after;
            }
            "a" if is_end => self.end_link(),
            "a" => self.begin_link(tag, rest),
            "img" => self.push_text(attribute(tag, "alt")),
            "blockquote" if is_end => self.quote_depth = self.quote_depth.saturating_sub(1),
            "blockquote" => self.quote_depth += 1,
            "ul" | "ol" => {
                self.push_line();
                match (is_end, name) {
                    (true, _) => drop(self.lists.pop()),
                    (false, "ol") => self.lists.push(Some(attribute(tag, "start").parse().unwrap_or(1))),
                    (false, _) => self.lists.push(None),
                }
            }
            "li" if !is_end => self.begin_item(),
            "table" | "tr" | "td" | "th" | "hr" => self.layout(name, is_end),
            "p" | "div" | "li" | "br" | "pre" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => self.push_line(),
            _ => {}
        }
        rest
    }

    /// Rows of tables are lines with ` | ` between the cells, and rules are lines of dashes.
    fn layout(&mut self, name: &str, is_end: bool) {
        let line_end = self.out.strip_suffix('\n').map_or(self.out.len(), str::len);
        match (name, is_end) {
            ("tr", false) => {
                self.push_line();
                self.begin_line();
                (self.is_in_table, self.cells) = (true, 0);
                self.mark(line_end, MarkKind::Row);
            }
            ("td" | "th", false) => {
                let start = self.out.len();
                if self.cells > 0 {
                    self.out.push_str(" | ");
                }
                (self.is_in_cell, self.cells) = (true, self.cells + 1);
                self.mark(start, MarkKind::Cell { is_head: name == "th" });
            }
            ("td" | "th", true) => self.is_in_cell = false,
            ("table", true) => {
                self.push_line();
                self.is_in_table = false;
                self.mark(line_end, MarkKind::TableEnd);
            }
            ("hr", _) => {
                self.push_line();
                self.begin_line();
                self.out.push_str("---\n");
                self.mark(line_end, MarkKind::Rule);
            }
            _ => self.push_line(),
        }
    }

    /// Marks what was written since `start`, and is not part of the mark before.
    fn mark(&mut self, start: usize, kind: MarkKind) {
        let start = start.max(self.marks.last().map_or(0, |mark| mark.piece.end));
        if self.quote_depth == 0 && self.lists.is_empty() {
            self.marks.push(TextMark { piece: start..self.out.len(), kind });
        }
    }

    fn begin_item(&mut self) {
        self.push_line();
        self.begin_line();
        (1..self.lists.len()).for_each(|_| self.out.push_str("  "));
        match self.lists.last_mut() {
            Some(Some(number)) => {
                self.out.push_str(&format!("{number}. "));
                *number = number.saturating_add(1);
            }
            Some(None) | None => self.out.push_str("\u{2022} "),
        }
        self.after_marker = Some(self.out.len());
    }

    fn begin_link(&mut self, tag: &str, rest: &str) {
        if !rest.starts_with('<') {
            self.begin_line();
        }
        let class = attribute(tag, "class");
        self.open_link = Some(TextLink {
            words: self.out.len()..self.out.len(),
            url: unescape(attribute(tag, "href")),
            is_reference: ["stream", "stream-topic", "message-link"].contains(&class),
        });
    }

    /// A link without words is one around a picture, which has a link with words beside it.
    fn end_link(&mut self) {
        let Some(mut link) = self.open_link.take() else { return };
        link.words.end = self.out.len();
        let has_words = self.out.get(link.words.clone()).is_some_and(|words| !words.trim().is_empty());
        if has_words && !link.url.is_empty() {
            self.links.push(link);
        }
    }

    fn push_line(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with('\n') && self.after_marker != Some(self.out.len()) {
            self.out.push('\n');
        }
    }

    /// Marks a new line as quoted.
    fn begin_line(&mut self) {
        if self.out.is_empty() || self.out.ends_with('\n') {
            (0..self.quote_depth).for_each(|_| self.out.push_str("> "));
        }
    }

    fn push_text(&mut self, text: &str) {
        let is_at_start = self.out.is_empty() || self.out.ends_with('\n');
        let is_between = is_at_start || (self.is_in_table && !self.is_in_cell);
        if self.hidden_depth > 0 || text.is_empty() || (text.trim().is_empty() && is_between) {
            return;
        }
        let text = unescape(text);
        for (index, line) in text.split('\n').enumerate() {
            if index > 0 {
                self.push_line();
            }
            if !line.is_empty() {
                self.begin_line();
            }
            self.out.push_str(line);
        }
    }
}

/// The TeX of a formula, and what follows its MathML.
fn formula(math: &str) -> (&str, &str) {
    let (math, after) = math.split_once("</math>").unwrap_or((math, ""));
    let tex = math.split_once("application/x-tex\">").map_or("", |(_, tex)| tex);
    (tex.split_once("</annotation>").map_or("", |(tex, _)| tex), after)
}

/// The characters of an emoji that begins with this tag, and what follows its name.
fn emoji_at<'h>(tag: &str, rest: &'h str) -> Option<(String, &'h str)> {
    let code = attribute(tag, "class").strip_prefix("emoji emoji-")?;
    Some((emoji::characters(code)?, &rest[rest.find('<')?..]))
}

/// The first characters of a text, and whether it was truncated.
pub fn cut(text: &str, chars_max: usize) -> (String, bool) {
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => (format!("{}\u{2026}", text[..end].trim_end()), true),
        None => (text.to_owned(), false),
    }
}

fn attribute<'t>(tag: &'t str, name: &str) -> &'t str {
    let Some(start) = tag.find(&format!(" {name}=\"")) else { return "" };
    let value = &tag[start + name.len() + 3..];
    value.split('"').next().unwrap_or_default()
}

fn unescape(text: &str) -> String {
    if !text.contains('&') {
        return text.to_owned();
    }
    let replaced = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
    replaced.replace("&#39;", "'").replace("&#x27;", "'").replace("&nbsp;", " ").replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formulas::{Display, FormulaBudget};
    use crate::markdown::{NoNames, render};

    #[test]
    fn html_to_plain_text() {
        let cases = [
            ("<p>Hello <strong>you</strong> &amp; me</p>", "Hello you & me"),
            ("<p>one</p>\n<p>two<br>\nthree</p>", "one\ntwo\nthree"),
            ("<ul>\n<li>a</li>\n<li>b</li>\n</ul>", "\u{2022} a\n\u{2022} b"),
            ("<ol start=\"5\">\n<li>a</li>\n<li>\n<p>b</p>\n</li>\n</ol>", "5. a\n6. b"),
            ("<ol>\n<li>a<ul>\n<li>b</li>\n</ul>\n</li>\n<li>c</li>\n</ol>", "1. a\n  \u{2022} b\n2. c"),
            ("<blockquote>\n<ol>\n<li>a</li>\n</ol>\n</blockquote>", "> 1. a"),
            ("<blockquote>\n<p>said</p>\n</blockquote>\n<p>answered</p>", "> said\nanswered"),
            ("<p><img alt=\":smile:\" class=\"emoji\" src=\"x\"></p>", ":smile:"),
            (
                "<div class=\"spoiler-block\"><div class=\"spoiler-header\">\n<p>end</p>\n</div><div \
                 class=\"spoiler-content\" aria-hidden=\"true\">\n<p>he <img alt=\"x\"> dies</p>\n</div></div>\n<p>so</p>",
                "end\n(\u{2026})\nso",
            ),
            ("<p>&lt;b&gt; &amp;lt;</p>", "<b> &lt;"),
            ("", ""),
        ];
        for (html, text) in cases {
            assert_eq!(plain_text(html), text, "{html}");
        }
    }

    #[test]
    fn links_are_where_their_words_are() {
        let html = render(
            "> [here](https://example.com/?a=1&b=2) and <b>\n\n1. [file](/user_uploads/1/a)",
            &NoNames,
        )
        .unwrap()
        .html;
        let found = linked_text(&html);
        assert_eq!(found.text, "> here and <b>\n1. file");
        let words = |link: &TextLink| (found.text[link.words.clone()].to_owned(), link.url.clone());
        let links: Vec<_> = found.links.iter().map(words).collect();
        let expected = [("here", "https://example.com/?a=1&b=2"), ("file", "user_uploads/1/a")];
        assert_eq!(links.len(), 2, "{html}");
        for (link, (words, url)) in links.iter().zip(expected) {
            assert!(link.0 == words && link.1.ends_with(url), "{link:?} in {html}");
        }
        let short = found.cut(8);
        assert_eq!((short.text.as_str(), short.links.len()), ("> here a\u{2026}", 1));
        assert_eq!(linked_text("<a href=\"https://example.com\"><img src=\"x\"></a>").links, []);
    }

    #[test]
    fn tables_are_lines_and_rules_dashes() {
        let table = "| a | b |\n|---|---|\n| 1 | [2](https://example.com) |\n| | 4 |";
        let html = render(&format!("before\n\n{table}\n\n---\n\nafter"), &NoNames).unwrap().html;
        let found = linked_text(&html);
        assert_eq!(found.text, "before\na | b\n1 | 2\n | 4\n---\nafter", "{html}");
        assert_eq!(plain_text(&html), found.text);
        let shown = |mark: &TextMark| (mark.kind, &found.text[mark.piece.clone()]);
        let marks: Vec<_> = found.marks.iter().map(shown).collect();
        let (head, cell) = (MarkKind::Cell { is_head: true }, MarkKind::Cell { is_head: false });
        let row = |cell| [(MarkKind::Row, "\n"), (cell, ""), (cell, " | ")];
        let ends = [(MarkKind::TableEnd, "\n"), (MarkKind::Rule, "---\n")];
        let expected: Vec<_> = [row(head), row(cell), row(cell)].concat().into_iter().chain(ends).collect();
        assert_eq!(marks, expected, "{html}");
        assert_eq!(found.clone().cut(9).marks, found.marks[..2]);
        let quoted = linked_text(&render(&format!("```quote\n{table}\n```"), &NoNames).unwrap().html);
        assert_eq!((quoted.text.as_str(), quoted.marks.len()), ("> a | b\n> 1 | 2\n>  | 4", 0));
        let alone = linked_text(&render("| a |\n|---|\n| b |", &NoNames).unwrap().html);
        assert_eq!(alone.text, "a\nb");
        assert_eq!(alone.marks.last().unwrap().piece, 3..3);
    }

    #[test]
    fn emoji_are_characters_for_people() {
        let html = render("> so :heart: :smile:\n\n:flag_ascension_island: `:smile:` :zulip:", &NoNames)
            .unwrap()
            .html;
        let named = plain_text(&html);
        assert!(named.starts_with("> so :heart: :smile:"), "{named}");
        let shown = notification_text(&html);
        let flag = "\u{1f1e6}\u{1f1e8}";
        assert!(shown.starts_with(&format!("> so \u{2764} \u{1f604}\n{flag} :smile:")), "{shown}");
        assert_eq!(notification_text("<span class=\"emoji emoji-x\">:x:</span>"), ":x:");
    }

    #[test]
    fn formulas_are_their_tex() {
        let formula = FormulaBudget::of_message().render("\\sqrt{x} < 2", Display::Inline).unwrap();
        assert_eq!(plain_text(&format!("<p>If {formula}, stop.</p>")), "If \\sqrt{x} < 2, stop.");
    }

    #[test]
    fn long_texts_are_truncated_between_characters() {
        assert_eq!(cut("äöü", 3), ("äöü".to_owned(), false));
        assert_eq!(cut("äöüß", 3), ("äöü\u{2026}".to_owned(), true));
    }
}
