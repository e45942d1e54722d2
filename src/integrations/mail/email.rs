//! An e-mail: composed once, rendered as plain text and as HTML. All of its content is text, and escaped when HTML is
//! made.

use rules::text::escape_html;

/// The blocks of an e-mail, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Paragraph(String),
    Link { words: String, url: String },
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
                    let lines = escape_html(words).replace('\n', "<br>\n");
                    html.push_str(&format!("<p>{lines}</p>\n"));
                }
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
}
