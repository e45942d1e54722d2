//! HTML of e-mails as Markdown: paragraphs, emphasis, links, lists and code. It goes over the tags one by one, so that
//! neither deep nor broken nesting matters.

use html5gum::{StartTag, Token, Tokenizer};

/// Elements without content.
const VOID: [&str; 8] = ["br", "hr", "img", "input", "link", "meta", "col", "wbr"];
/// Elements whose content is not text.
const UNSEEN: [&str; 6] = ["head", "script", "style", "title", "template", "select"];
/// Classes and ids of the element in which mail programs put the e-mail that is answered.
const QUOTES: [&str; 6] =
    ["gmail_quote", "yahoo_quoted", "moz-cite-prefix", "zmail_extra", "protonmail_quote", "appendonsend"];
/// Ids after which Outlook repeats the e-mail that is answered.
const QUOTE_STARTS: [&str; 2] = ["divRplyFwdMsg", "OLK_SRC_BODY_SECTION"];
/// Open emphasis and links that are remembered; deeper ones are text.
const SPANS_MAX: usize = 32;
/// Deepest list that is shown by its indentation.
const LIST_DEPTH_MAX: usize = 8;

/// The text of an HTML document as Markdown.
pub fn to_markdown(html: &str, with_quotes: bool) -> String {
    let mut writer = Writer { with_quotes, ..Writer::default() };
    for Ok(token) in Tokenizer::new(html) {
        match token {
            Token::StartTag(tag) => {
                if !writer.start(&tag) {
                    break;
                }
            }
            Token::EndTag(tag) => writer.end(&String::from_utf8_lossy(&tag.name)),
            Token::String(text) => writer.text(&String::from_utf8_lossy(&text)),
            Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
        }
    }
    let lines = writer.out.lines().map(str::trim_end);
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}

#[derive(Default)]
struct Writer {
    out: String,
    with_quotes: bool,
    /// The element that is left out, and how many elements of its name are open inside it.
    hidden: Option<(String, usize)>,
    /// Emphasis and links: the element, where its text starts, and the address.
    spans: Vec<(String, usize, String)>,
    /// The lists that are open: the number of the next item, or none without numbers.
    lists: Vec<Option<u32>>,
    pre_depth: usize,
    quote_depth: usize,
}

impl Writer {
    /// False at the start of a repeated e-mail that goes on to the end.
    fn start(&mut self, tag: &StartTag<()>) -> bool {
        let name = String::from_utf8_lossy(&tag.name).into_owned();
        let is_void = VOID.contains(&name.as_str());
        if let Some((hidden, depth)) = &mut self.hidden {
            *depth += usize::from(*hidden == name && !is_void);
            return true;
        }
        let attribute = |name: &str| {
            let value = tag.attributes.get(name.as_bytes());
            value.map(|value| String::from_utf8_lossy(value).into_owned()).unwrap_or_default()
        };
        let marks = format!("{} {}", attribute("class"), attribute("id"));
        let has_mark = |list: &[&str]| marks.split_whitespace().any(|mark| list.contains(&mark));
        if !self.with_quotes && has_mark(&QUOTE_STARTS) {
            return false;
        }
        let is_quote = has_mark(&QUOTES) || (name == "blockquote" && attribute("type") == "cite");
        if !is_void && (UNSEEN.contains(&name.as_str()) || (is_quote && !self.with_quotes)) {
            self.hidden = Some((name, 0));
            return true;
        }
        self.open(&name, &attribute);
        true
    }

    fn open(&mut self, name: &str, attribute: &dyn Fn(&str) -> String) {
        match name {
            "br" => self.out.push('\n'),
            "hr" => {
                self.blank_line();
                self.out.push_str("---\n");
            }
            "img" => self.text(&attribute("alt")),
            "b" | "strong" | "i" | "em" | "a" if self.spans.len() < SPANS_MAX => {
                let href = if name == "a" { attribute("href") } else { String::new() };
                self.spans.push((name.to_owned(), self.out.len(), href));
            }
            "ul" | "ol" => {
                self.line();
                self.lists.push((name == "ol").then_some(1));
            }
            "li" => self.item(),
            "pre" => {
                self.blank_line();
                self.out.push_str("```\n");
                self.pre_depth += 1;
            }
            "blockquote" => {
                self.blank_line();
                self.quote_depth += 1;
            }
            "td" | "th" if !self.out.ends_with(char::is_whitespace) => self.out.push(' '),
            _ => self.edge(name),
        }
    }

    fn end(&mut self, name: &str) {
        if let Some((hidden, depth)) = &mut self.hidden {
            match (hidden == name, *depth) {
                (true, 0) => self.hidden = None,
                (true, _) => *depth -= 1,
                (false, _) => {}
            }
            return;
        }
        match name {
            "b" | "strong" | "i" | "em" | "a" => self.close_span(name),
            "ul" | "ol" => {
                self.lists.pop();
                self.line();
            }
            "pre" if self.pre_depth > 0 => {
                self.pre_depth -= 1;
                self.line();
                self.out.push_str("```\n");
            }
            "blockquote" => {
                self.line();
                self.quote_depth = self.quote_depth.saturating_sub(1);
                self.blank_line();
            }
            _ => self.edge(name),
        }
    }

    /// The edges of blocks.
    fn edge(&mut self, name: &str) {
        match name {
            "p" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "table" => self.blank_line(),
            "div" | "tr" | "section" | "article" | "header" | "footer" | "li" | "dt" | "dd" => self.line(),
            _ => {}
        }
    }

    fn item(&mut self) {
        self.line();
        let depth = self.lists.len().clamp(1, LIST_DEPTH_MAX);
        self.out.push_str(&"  ".repeat(depth - 1));
        match self.lists.last_mut() {
            Some(Some(number)) => {
                self.out.push_str(&format!("{number}. "));
                *number = number.saturating_add(1);
            }
            Some(None) | None => self.out.push_str("* "),
        }
    }

    /// Puts the marks around what a span contains.
    fn close_span(&mut self, name: &str) {
        let Some(at) = self.spans.iter().rposition(|(open, ..)| open == name) else { return };
        let (_, start, href) = self.spans.remove(at);
        let Some(inner) = self.out.get(start..).map(str::to_owned) else { return };
        let text = inner.trim();
        if text.is_empty() || text.contains('\n') {
            return;
        }
        let marked = match name {
            "b" | "strong" => format!("**{text}**"),
            "i" | "em" => format!("*{text}*"),
            _ if !is_web_address(&href) || href == text => return,
            _ => format!("[{}]({href})", text.replace(['[', ']'], "")),
        };
        let before = &inner[..inner.len() - inner.trim_start().len()];
        let after = &inner[inner.trim_end().len()..];
        self.out.truncate(start);
        self.out.push_str(&[before, &marked, after].concat());
    }

    fn text(&mut self, text: &str) {
        if self.hidden.is_some() {
            return;
        }
        if self.pre_depth > 0 {
            return self.out.push_str(text);
        }
        for point in text.chars() {
            let is_space = point.is_whitespace();
            if is_space && (self.out.is_empty() || self.out.ends_with(char::is_whitespace)) {
                continue;
            }
            if self.quote_depth > 0 && (self.out.is_empty() || self.out.ends_with('\n')) {
                self.out.push_str("> ");
            }
            self.out.push(if is_space { ' ' } else { point });
        }
    }

    fn line(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push('\n');
        }
    }

    fn blank_line(&mut self) {
        self.line();
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }
}

fn is_web_address(href: &str) -> bool {
    let has_scheme = ["http://", "https://", "mailto:"].iter().any(|scheme| href.starts_with(scheme));
    has_scheme && !href.contains([' ', ')', '\n', '<', '>'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn html_becomes_markdown() {
        let cases = [
            (
                "<p>Hello <b>you</b> &amp; <i> me </i></p><p>two<br>three</p>",
                "Hello **you** & *me*\n\ntwo\nthree",
            ),
            ("<div>a</div><div>b</div>", "a\nb"),
            (
                "<a href=\"https://a.example/x\">here</a> <a href=\"javascript:x\">there</a>",
                "[here](https://a.example/x) there",
            ),
            ("<ul><li>a</li><li>b<ol><li>c</li></ol></li></ul>", "* a\n* b\n  1. c"),
            ("<style>p {}</style><script>x</script><title>t</title>text", "text"),
            ("<pre>a\n  b</pre>", "```\na\n  b\n```"),
            ("<blockquote>said<br>so</blockquote>yes", "> said\n> so\n\nyes"),
            ("  lots \n of   <span> space </span> ", "lots of space"),
            ("<b>unclosed", "unclosed"),
            ("</b></p></ul>x", "x"),
            ("<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>", "a b\nc"),
        ];
        for (html, markdown) in cases {
            assert_eq!(to_markdown(html, true), markdown, "{html}");
        }
    }

    #[test]
    fn repeated_mails_are_left_out() {
        let cases = [
            "Yes.<div class=\"gmail_quote\">On Monday <div>Ada</div> wrote: <blockquote>it</blockquote></div>",
            "Yes.<blockquote type=\"cite\">it <blockquote>this</blockquote></blockquote>",
            "Yes.<div id=\"divRplyFwdMsg\">From: Ada</div><div>it</div>",
        ];
        for html in cases {
            assert_eq!(to_markdown(html, false), "Yes.", "{html}");
            assert!(to_markdown(html, true).len() > 5, "{html}");
        }
    }

    #[test]
    fn deep_nesting_is_no_problem() {
        let html = format!("{}x{}", "<div><ul><li><b>".repeat(50_000), "</b>".repeat(50_000));
        assert!(to_markdown(&html, false).contains('x'));
    }

    proptest! {
        #[test]
        fn any_html_has_a_text(pieces in prop::collection::vec(prop::sample::select(&[
            "<b>", "</b>", "<a href=https://a.example>", "</a>", "<ul>", "</ul>", "<li>", "<pre>", "</pre>", "<blockquote>",
            "</blockquote>", "<br>", "é", " ", "x", "<script>", "</script>", "<", "&amp;", "<div class=gmail_quote>", "</div>",
        ][..]), 0..40)) {
            to_markdown(&pieces.concat(), false);
            to_markdown(&pieces.concat(), true);
        }
    }
}
