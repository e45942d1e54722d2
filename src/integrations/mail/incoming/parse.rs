//! An e-mail as a message: its topic from the subject, its text from the plain or the HTML part.

use super::address::Options;
use super::heads::head_bytes;
use super::html::to_markdown;
use super::nested::{MAIL_TYPE, is_attached_mail, without_nested};
use super::quotes::{without_footer, without_quotes};
use mail_parser::{HeaderValue, Message, MessageParser, MessagePart, MimeHeaders, PartType};
use memchr::{memchr, memmem};
use rules::content::CONTENT_LENGTH_MAX;
use rules::text::{cut, without_forbidden_characters};

/// The topic of e-mails without a subject: an empty topic is not permitted everywhere.
const NO_SUBJECT: &str = "Email with no subject";
/// The text of e-mails without one.
const NO_BODY: &str = "(No email body)";
/// Ends a text that was truncated.
const TRUNCATED: &str = "\n[message truncated]";
/// Lines that could be headers or begin parts, each of which takes many times its size once it is parsed.
const HEADERS_MAX: usize = 200_000;
/// Attachments that become files; of more, the message has the number.
const FILES_MAX: usize = 20;
/// Longest `Message-ID`, in characters.
const MESSAGE_ID_CHARS_MAX: usize = 1000;
/// Longest name of an attachment, and longest sender, in characters.
const NAME_CHARS_MAX: usize = 100;
/// Words before a subject that say how the e-mail was sent.
const PREFIXES: [&str; 4] = ["re", "aw", "fwd", "fw"];

/// What a message is made from.
#[derive(Debug, PartialEq, Eq)]
pub struct ParsedMail {
    pub topic: String,
    /// Who sent it, if the message says that.
    preamble: String,
    body: String,
    /// Its attachments with a name, up to a number.
    pub files: Vec<MailFile>,
    /// The number of other attachments.
    left_out: usize,
    /// `Message-ID`: the same for an e-mail that arrives again.
    pub message_id: Option<String>,
    /// Whether a program wrote it: an answer to it, or to its answer, could go on forever.
    pub is_automatic: bool,
}

/// An attachment with its content.
#[derive(Debug, PartialEq, Eq)]
pub struct MailFile {
    pub name: String,
    pub content_type: Option<String>,
    pub bytes: Vec<u8>,
}

impl ParsedMail {
    /// The text of the message, with a line for each attachment.
    pub fn content(&self, attachments: &[String]) -> String {
        let mut lines: String = attachments.iter().map(|line| format!("\n{line}")).collect();
        if self.left_out > 0 {
            let word = if self.left_out == 1 { "attachment" } else { "attachments" };
            lines.push_str(&format!("\n({} more {word} left out)", self.left_out));
        }
        if !lines.is_empty() {
            lines.insert(0, '\n');
        }
        let room = CONTENT_LENGTH_MAX.saturating_sub(self.preamble.chars().count() + lines.chars().count());
        [self.preamble.clone(), cut(self.body.trim_end(), room, TRUNCATED), lines].concat()
    }
}

/// Why an e-mail becomes no message.
#[derive(Debug, PartialEq, Eq)]
pub enum Unreadable {
    NotMail,
    NoText,
    /// More or longer headers, or more parts, than any e-mail has.
    TooManyHeaders,
}

/// Reads an e-mail. Blocks for as long as parsing takes.
///
/// # Errors
/// Data that is no e-mail, has neither a plain nor an HTML text, or has too many or too long headers.
pub fn parse(bytes: &[u8], options: Options) -> Result<ParsedMail, Unreadable> {
    let (flat, parser) = (without_nested(bytes), parser());
    if headers_max(bytes) > HEADERS_MAX || head_bytes(&flat, &parser).is_none() {
        return Err(Unreadable::TooManyHeaders);
    }
    let head = &bytes[..memmem::find(bytes, b"\r\n\r\n").map_or(bytes.len(), |end| end + 4)];
    let head = MessageParser::new().parse_headers(head).filter(|mail| !mail.headers().is_empty());
    let head = head.ok_or(Unreadable::NotMail)?;
    let mail = parser.parse(&*flat).ok_or(Unreadable::NotMail)?;
    let source = Source { original: bytes, flat: &flat };
    let subject = head.subject().unwrap_or_default();
    let includes_quotes = options.includes_quotes || is_forwarded(subject);
    let mut body = body(&mail, source, includes_quotes, options.prefers_html).ok_or(Unreadable::NoText)?;
    body.retain(|point| point != '\0');
    if !options.includes_footer {
        body = without_footer(&body);
    }
    if body.trim().is_empty() {
        body = NO_BODY.to_owned();
    }
    let preamble = if options.shows_sender { format!("From: {}\n", sender(&head)) } else { String::new() };
    let files: Vec<MailFile> =
        mail.attachments().filter_map(|part| file(part, source)).take(FILES_MAX).collect();
    let left_out = mail.attachment_count().saturating_sub(files.len());
    let message_id = head.message_id().map(|id| id.chars().take(MESSAGE_ID_CHARS_MAX).collect());
    let (topic, is_automatic) = (topic(subject), is_automatic(&head));
    Ok(ParsedMail { topic, preamble, body, files, left_out, message_id, is_automatic })
}

/// At least as many headers and parts as an e-mail has: each header has a line with a colon, each part begins behind hyphens.
fn headers_max(mail: &[u8]) -> usize {
    let has_sign = |line: &[u8]| memchr(b':', line).is_some() || memmem::find(line, b"--").is_some();
    mail.split(|byte| *byte == b'\n').filter(|line| has_sign(line)).count()
}

/// Parses the contents. The headers of parts that are not about their contents are not read.
fn parser() -> MessageParser {
    MessageParser::new().with_mime_headers().default_header_ignore()
}

/// An e-mail as it came, and as it was parsed: with the same positions.
#[derive(Clone, Copy)]
struct Source<'m> {
    original: &'m [u8],
    flat: &'m [u8],
}

impl Source<'_> {
    /// A part as it came, if that is not what was parsed: with the headers that were parsed, and its own contents.
    fn part(self, part: &MessagePart<'_>) -> Option<MessagePart<'static>> {
        let (head, body) = (part.raw_header_offset() as usize, part.raw_body_offset() as usize);
        let contents = body..part.raw_end_offset() as usize;
        let original = self.original.get(contents.clone())?;
        if self.flat.get(contents)? == original {
            return None;
        }
        let alone = [self.flat.get(head..body)?, original].concat();
        parser().parse(&alone)?.parts.into_iter().next().map(MessagePart::into_owned)
    }
}

/// The text: the plain part, or the HTML part where that is preferred or alone.
fn body(mail: &Message<'_>, source: Source<'_>, includes_quotes: bool, prefers_html: bool) -> Option<String> {
    let part = |ids: &[u32], find: fn(&PartType<'_>) -> Option<String>| {
        let mut parts = ids.iter().filter_map(|id| mail.part(*id));
        parts.find_map(|part| match source.part(part) {
            Some(original) => find(&original.body),
            None => find(&part.body),
        })
    };
    let plain = part(&mail.text_body, |body| match body {
        PartType::Text(text) => Some(text.replace("\r\n", "\n")),
        _ => None,
    });
    let html = part(&mail.html_body, |body| match body {
        PartType::Html(html) => Some(html.clone().into_owned()),
        _ => None,
    });
    if plain.is_none() && html.is_none() {
        return None;
    }
    let plain = plain.map(|plain| if includes_quotes { plain } else { without_quotes(&plain) });
    let html = html.map(|html| to_markdown(&html, includes_quotes));
    let (first, second) = if prefers_html { (html, plain) } else { (plain, html) };
    let has_text = |text: &String| !text.trim().is_empty();
    first.filter(has_text).or(second.filter(has_text)).or(Some(String::new()))
}

/// `Name <address>`, or the address alone.
fn sender(mail: &Message<'_>) -> String {
    let Some(from) = mail.from().and_then(|from| from.first()) else { return "unknown".to_owned() };
    let address = from.address().unwrap_or("unknown");
    let name: String = from.name().unwrap_or_default().chars().filter(|point| !point.is_control()).collect();
    let words =
        if name.trim().is_empty() { address.to_owned() } else { format!("{} <{address}>", name.trim()) };
    words.chars().filter(|point| !point.is_control()).take(NAME_CHARS_MAX).collect()
}

/// An attachment that has a name.
fn file(part: &MessagePart<'_>, source: Source<'_>) -> Option<MailFile> {
    let name: String = part.attachment_name()?.chars().filter(|point| !point.is_control()).collect();
    let name: String = name.chars().take(NAME_CHARS_MAX).collect();
    let content_type = part.content_type().and_then(|kind| match (kind.ctype(), kind.subtype()?) {
        (kind, subtype) if is_attached_mail(kind, subtype) => Some(MAIL_TYPE.to_owned()),
        (kind, subtype) => Some(format!("{kind}/{subtype}")),
    });
    (!name.trim().is_empty()).then(|| MailFile {
        name,
        content_type,
        bytes: source.part(part).as_ref().unwrap_or(part).contents().to_vec(),
    })
}

/// Whether a program wrote it, by the headers of RFC 3834 and older ones.
fn is_automatic(mail: &Message<'_>) -> bool {
    let value = |name: &'static str| match mail.header(name) {
        Some(HeaderValue::Text(value)) => value.trim().to_ascii_lowercase(),
        _ => String::new(),
    };
    let submitted = value("Auto-Submitted");
    let is_submitted = !submitted.is_empty() && submitted != "no" && !submitted.starts_with("no;");
    let precedence = value("Precedence");
    is_submitted
        || matches!(precedence.as_str(), "bulk" | "junk" | "auto_reply")
        || ["X-Autoreply", "X-Autorespond"].iter().any(|name| mail.header(*name).is_some())
}

/// The topic of a subject: without `Re:` and `Fwd:`, and without characters that topics cannot have.
fn topic(subject: &str) -> String {
    let printable = without_forbidden_characters(subject);
    let mut rest = printable.trim();
    while let Some(after) = prefix_length(rest) {
        rest = rest[after..].trim_start();
    }
    if rest.is_empty() { NO_SUBJECT.to_owned() } else { rest.to_owned() }
}

/// Bytes of a `Re:`, `[Fwd:` or alike at the start.
fn prefix_length(subject: &str) -> Option<usize> {
    let inner = subject.trim_start_matches(['[', '(', ' ']);
    let word = inner.bytes().take_while(u8::is_ascii_alphabetic).count();
    let is_prefix = PREFIXES.iter().any(|prefix| inner[..word].eq_ignore_ascii_case(prefix));
    let after = inner[word..].trim_start_matches(' ');
    let end = after.strip_prefix([':', ']', ')'])?;
    is_prefix.then(|| subject.len() - end.len())
}

fn is_forwarded(subject: &str) -> bool {
    let inner = subject.trim_start_matches(['[', '(', ' ']).to_ascii_lowercase();
    ["fwd:", "fw:", "fwd ", "fwd]"].iter().any(|start| inner.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::integrations::mail::incoming::heads::HEAD_BYTES_MAX;
    use proptest::prelude::*;

    fn parsed(mail: &str) -> ParsedMail {
        parse(mail.replace('\n', "\r\n").as_bytes(), Options::default()).unwrap()
    }

    #[test]
    fn subjects_become_topics() {
        let cases = [
            ("Lunch", "Lunch"),
            ("Re: Lunch", "Lunch"),
            ("RE: Fwd: AW: Lunch", "Lunch"),
            ("[Fwd: Lunch]", "Lunch]"),
            ("Regarding: lunch", "Regarding: lunch"),
            ("", NO_SUBJECT),
            ("Re:", NO_SUBJECT),
            ("a\u{7}b\u{200b}", "ab\u{200b}"),
        ];
        for (subject, expected) in cases {
            assert_eq!(
                topic(subject).replace('\u{200b}', ""),
                expected.replace('\u{200b}', ""),
                "{subject:?}"
            );
        }
    }

    #[test]
    fn the_plain_part_is_the_text() {
        let mail = parsed(
            "From: =?utf-8?q?J=C3=B6rg?= <j@a.example>\nSubject: Re: =?utf-8?b?w6Q=?=\nMIME-Version: 1.0\n\
             Content-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: multipart/alternative; boundary=y\n\n\
             --y\nContent-Type: text/plain; charset=iso-8859-1\nContent-Transfer-Encoding: quoted-printable\n\nGr=FC=DFe\n\
             -- \nJ\n--y\nContent-Type: text/html\n\n<b>no</b>\n--y--\n--x\nContent-Type: application/pdf\n\
             Content-Disposition: attachment; filename=\"a`b].pdf\"\n\nxx\n--x--\n",
        );
        assert_eq!(mail.topic, "ä");
        let file = MailFile {
            name: "a`b].pdf".into(),
            content_type: Some("application/pdf".into()),
            bytes: b"xx".to_vec(),
        };
        assert_eq!((&mail.files, mail.left_out), (&vec![file], 0));
        assert_eq!(mail.content(&["[x](y)".into()]), "Grüße\n\n[x](y)");
        assert!(!mail.is_automatic);
    }

    #[test]
    fn attached_mails_are_files() {
        let mail = parsed(
            "Subject: x\nContent-Type: multipart/mixed; boundary=x\n\n--x\n\nsee the mail\n--x\n\
             Content-Type: message/rfc822; name=\"a.eml\"\n\nSubject: inner\n\ninner text\n--x--\n",
        );
        assert_eq!(mail.content(&[]), "see the mail");
        let [file] = &mail.files[..] else { panic!("{:?}", mail.files) };
        assert_eq!((file.name.as_str(), file.content_type.as_deref()), ("a.eml", Some("message/rfc822")));
        assert_eq!(String::from_utf8_lossy(&file.bytes), "Subject: inner\r\n\r\ninner text");
    }

    #[test]
    fn contents_are_what_was_sent() {
        let text = "The Content-Type: text/html (see the docs) and (b) digest;\n\nContent-Type: message/rfc822 (more)";
        assert_eq!(parsed(&format!("Subject: x\n\n{text}\n")).content(&[]), text);
        let commented = format!("Subject: x\nContent-Type: text/plain (as written)\n\n{text}\n");
        assert_eq!(parsed(&commented).content(&[]), text);
        let encoded = text.replace('=', "=3D").replace("html", "ht=6Dl");
        let quoted = format!("Subject: x\nContent-Transfer-Encoding: quoted-printable\n\n{encoded}\n");
        assert_eq!(parsed(&quoted).content(&[]), text);
        let inner = "Content-Type: multipart/mixed; boundary=y\n\n--y\nContent-Type: message/rfc822\n\nSubject: z\n\nz\n--y--";
        let mail = parsed(&format!(
            "Subject: x\nContent-Type: multipart/mixed; boundary=x\n\n--x\n\n{text}\n--x\n\
             Content-Type: message/rfc822; name=\"a.eml\"\n\n{inner}\n--x--\n",
        ));
        assert_eq!(mail.content(&[]), text);
        assert_eq!(String::from_utf8_lossy(&mail.files[0].bytes), inner.replace('\n', "\r\n"));
    }

    #[test]
    fn options_change_the_text() {
        let mail = "From: Ada <ada@a.example>\r\nSubject: x\r\nContent-Type: multipart/alternative; boundary=y\r\n\r\n--y\r\n\
                    Content-Type: text/plain\r\n\r\nplain\r\n--\r\nfoot\r\n--y\r\nContent-Type: text/html\r\n\r\n<b>html</b>\r\n--y--\r\n";
        let content = |options| parse(mail.as_bytes(), options).unwrap().content(&[]);
        let plain = Options::default();
        assert_eq!(content(plain), "plain");
        assert_eq!(content(Options { shows_sender: true, ..plain }), "From: Ada <ada@a.example>\nplain");
        assert_eq!(content(Options { includes_footer: true, ..plain }), "plain\n--\nfoot");
        assert_eq!(content(Options { prefers_html: true, ..plain }), "**html**");
    }

    #[test]
    fn forwarded_mails_keep_their_quotes() {
        let quoted = "look\n\nOn Monday, Ada wrote:\n> this\n";
        assert_eq!(parsed(&format!("Subject: Re: x\n\n{quoted}")).content(&[]), "look");
        assert_eq!(parsed(&format!("Subject: Fwd: x\n\n{quoted}")).content(&[]), quoted.trim_end());
    }

    #[test]
    fn automatic_mails_are_recognized() {
        for header in [
            "Auto-Submitted: auto-replied",
            "Auto-Submitted: auto-generated",
            "Precedence: bulk",
            "X-Autoreply: yes",
        ] {
            assert!(parsed(&format!("Subject: x\n{header}\n\nx\n")).is_automatic, "{header}");
        }
        for header in ["Auto-Submitted: no", "Precedence: list", "X-Mailer: bulk"] {
            assert!(!parsed(&format!("Subject: x\n{header}\n\nx\n")).is_automatic, "{header}");
        }
    }

    #[test]
    fn long_texts_are_truncated() {
        let mail = parsed(&format!("Subject: x\n\n{}\n", "ä".repeat(20_000)));
        let lines = ["[a](b)".to_owned()];
        for content in [mail.content(&[]), mail.content(&lines)] {
            assert_eq!(content.chars().count(), CONTENT_LENGTH_MAX);
            assert!(content.contains(TRUNCATED));
        }
        assert_eq!(parsed("Subject: x\n\n").content(&[]), NO_BODY);
        assert_eq!(parse(b"", Options::default()), Err(Unreadable::NotMail));
        let long = format!("Subject: x\r\n{}\r\nx", "A:b\r\n".repeat(HEAD_BYTES_MAX / 4));
        assert_eq!(parse(long.as_bytes(), Options::default()), Err(Unreadable::TooManyHeaders));
        let part = "Subject: x\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nX: ";
        let part = format!("{part}{}\r\n\r\nx\r\n--b--\r\n", "y".repeat(HEAD_BYTES_MAX));
        assert_eq!(parse(part.as_bytes(), Options::default()), Err(Unreadable::TooManyHeaders));
        let lines = format!("Subject: x\r\n\r\n{}", "--\r\n".repeat(HEADERS_MAX));
        assert_eq!(parse(lines.as_bytes(), Options::default()), Err(Unreadable::TooManyHeaders));
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_mail_or_not(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = parse(&bytes, Options::default());
        }

        #[test]
        fn any_parts_are_a_mail_or_not(pieces in prop::collection::vec(prop::sample::select(&[
            "Subject: x\r\n", "Content-Type: multipart/mixed; boundary=x\r\n", "\r\n", "--x\r\n", "--x--\r\n", "a",
            "Content-Type: text/html\r\n", "Content-Type: message/rfc822\r\n", "Content-Transfer-Encoding: base64\r\n", "<b>",
        ][..]), 0..30)) {
            let _ = parse(pieces.concat().as_bytes(), Options { prefers_html: true, ..Options::default() });
        }
    }
}
