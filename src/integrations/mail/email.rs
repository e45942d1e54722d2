//! An e-mail: composed once, rendered as plain text and as HTML. All of its content is text, and escaped when HTML is
//! made.

use rules::plain_text::MarkKind;
use rules::text::escape_html;

/// The beginning of a table.
const TABLE: &str = "<table border=\"1\" cellpadding=\"4\" style=\"border-collapse: collapse\">";

/// The blocks of an e-mail, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Paragraph(String),
    Runs(Vec<Run>),
    Link { words: String, url: String },
}

/// A piece of a paragraph, perhaps the words of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub words: String,
    pub url: Option<String>,
    /// Whether the plain text shows the URL after the words.
    pub shows_url: bool,
    /// What the words, which are in the plain text only, are in HTML.
    pub mark: Option<MarkKind>,
}

impl Run {
    /// Words without a link.
    pub fn plain(words: impl Into<String>) -> Self {
        Self { words: words.into(), url: None, shows_url: false, mark: None }
    }

    /// A part of the layout of a table, or a rule.
    pub fn mark(words: impl Into<String>, kind: MarkKind) -> Self {
        Self { mark: Some(kind), ..Self::plain(words) }
    }

    fn text(&self) -> String {
        match &self.url {
            Some(url) if self.shows_url => format!("{} ({url})", self.words),
            Some(_) | None => self.words.clone(),
        }
    }

    fn html(&self) -> String {
        let words = escaped_lines(&self.words);
        match &self.url {
            Some(url) => format!("<a href=\"{}\">{words}</a>", escape_html(url)),
            None => words,
        }
    }
}

/// An e-mail without its recipient.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Email {
    pub subject: String,
    /// Where replies go, if not to the From address.
    pub reply_to: Option<String>,
    /// The URL that turns off mails of its kind, for the headers that mail programs read.
    pub unsubscribe_link: Option<String>,
    parts: Vec<Part>,
}

impl Email {
    /// An e-mail without content. Line breaks in the subject become spaces: it is a header.
    pub fn new(subject: impl AsRef<str>) -> Self {
        let words = subject.as_ref().split(char::is_control).filter(|word| !word.is_empty());
        let subject = words.collect::<Vec<_>>().join(" ");
        Self { subject, reply_to: None, unsubscribe_link: None, parts: Vec::new() }
    }

    /// Sets where replies go.
    pub fn with_replies_to(self, reply_to: Option<String>) -> Self {
        Self { reply_to, ..self }
    }

    /// Sets the URL that turns off mails of its kind.
    pub fn with_unsubscribe_link(self, url: String) -> Self {
        Self { unsubscribe_link: Some(url), ..self }
    }

    /// Adds a paragraph; its line breaks are kept.
    pub fn paragraph(mut self, text: impl Into<String>) -> Self {
        self.parts.push(Part::Paragraph(text.into()));
        self
    }

    /// Adds a paragraph of text with links in it. The caller answers for the schemes of their URLs.
    pub(super) fn paragraph_of(mut self, runs: Vec<Run>) -> Self {
        self.parts.push(Part::Runs(runs));
        self
    }

    /// Adds a link on a line of its own.
    pub fn link(mut self, words: impl Into<String>, url: impl Into<String>) -> Self {
        self.parts.push(Part::Link { words: words.into(), url: url.into() });
        self
    }

    /// The plain text part.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                Part::Paragraph(words) => text.push_str(words),
                Part::Runs(runs) => text.extend(runs.iter().map(Run::text)),
                Part::Link { words, url } => text.push_str(&format!("{words}:\n{url}")),
            }
            text.push_str("\n\n");
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
        text
    }

    /// The HTML part, without the document around it.
    pub fn html(&self) -> String {
        let mut html = String::new();
        for part in &self.parts {
            match part {
                Part::Paragraph(words) => {
                    html.push_str(&format!("<p>{}</p>\n", escaped_lines(words)));
                }
                Part::Runs(runs) => html.push_str(&html_of(runs)),
                Part::Link { words, url } => {
                    let (words, url) = (escape_html(words), escape_html(url));
                    html.push_str(&format!("<p><a href=\"{url}\">{words}</a></p>\n"));
                }
            }
        }
        html
    }

    /// The complete HTML document, without external resources.
    pub fn document(&self) -> String {
        format!(
            "<!doctype html>\n<html>\n<head><meta charset=\"utf-8\"><title>{}</title></head>\n\
             <body style=\"font-family: sans-serif; line-height: 1.5; max-width: 40em\">\n{}</body>\n</html>\n",
            escape_html(&self.subject),
            self.html()
        )
    }
}

/// Runs as paragraphs, tables and rules.
fn html_of(runs: &[Run]) -> String {
    let mut html = "<p>".to_owned();
    let mut open = OpenTable::default();
    for run in runs {
        match run.mark {
            None => html.push_str(&run.html()),
            Some(MarkKind::Row) => html.push_str(&open.row()),
            Some(MarkKind::Cell { is_head }) => html.push_str(&open.cell(if is_head { "th" } else { "td" })),
            Some(MarkKind::TableEnd) => html.push_str(&open.end()),
            Some(MarkKind::Rule) => html.push_str("</p>\n<hr>\n<p>"),
        }
    }
    html.push_str(&open.end());
    html.push_str("</p>\n");
    html.replace("<p></p>\n", "")
}

/// What is open of a table between two paragraphs.
#[derive(Default)]
struct OpenTable {
    has_row: bool,
    cell: Option<&'static str>,
}

impl OpenTable {
    fn row(&mut self) -> String {
        let cell = self.end_cell();
        match std::mem::replace(&mut self.has_row, true) {
            true => format!("{cell}</tr>\n<tr>"),
            false => format!("</p>\n{TABLE}\n<tr>"),
        }
    }

    fn cell(&mut self, name: &'static str) -> String {
        let before = self.end_cell();
        self.cell = Some(name);
        format!("{before}<{name}>")
    }

    fn end_cell(&mut self) -> String {
        self.cell.take().map_or_else(String::new, |name| format!("</{name}>"))
    }

    /// The end of the table, if there is one, and the beginning of the next paragraph.
    fn end(&mut self) -> String {
        let cell = self.end_cell();
        let has_table = std::mem::take(&mut self.has_row);
        if has_table { format!("{cell}</tr>\n</table>\n<p>") } else { String::new() }
    }
}

fn escaped_lines(words: &str) -> String {
    escape_html(words).replace('\n', "<br>\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn email_as_text_and_escaped_html() {
        let email = Email::new("Hi <you>\r\nBcc: all@example.com")
            .paragraph("One & two\nthree <b>")
            .link("Press \"here\"", "https://x.example/?a=1&b=\"");
        assert_eq!(email.subject, "Hi <you> Bcc: all@example.com");
        assert_eq!(email.text(), "One & two\nthree <b>\n\nPress \"here\":\nhttps://x.example/?a=1&b=\"\n");
        assert_eq!(
            email.html(),
            "<p>One &amp; two<br>\nthree &lt;b&gt;</p>\n\
             <p><a href=\"https://x.example/?a=1&amp;b=&quot;\">Press &quot;here&quot;</a></p>\n"
        );
        assert!(email.document().contains("<title>Hi &lt;you&gt; Bcc: all@example.com</title>"));
    }
    #[test]
    fn tables_and_rules_are_between_paragraphs() {
        let (head, cell) = (MarkKind::Cell { is_head: true }, MarkKind::Cell { is_head: false });
        let table = |until: usize| {
            let runs = [
                Run::plain("Iago:"),
                Run::mark("\n", MarkKind::Row),
                Run::mark("", head),
                Run::plain("<a>"),
                Run::mark("\n", MarkKind::Row),
                Run::mark("", cell),
                Run::plain("1"),
                Run::mark(" | ", cell),
                Run::plain("2"),
                Run::mark("\n", MarkKind::TableEnd),
                Run::mark("---\n", MarkKind::Rule),
            ];
            Email::new("").paragraph_of(runs.into_iter().take(until).collect())
        };
        assert_eq!(table(11).text(), "Iago:\n<a>\n1 | 2\n---\n");
        let expected = format!(
            "<p>Iago:</p>\n{TABLE}\n<tr><th>&lt;a&gt;</th></tr>\n<tr><td>1</td><td>2</td></tr>\n</table>\n"
        );
        assert_eq!(table(11).html(), format!("{expected}<hr>\n"));
        assert_eq!(table(9).html(), expected, "the rest is cut off");
    }
}
