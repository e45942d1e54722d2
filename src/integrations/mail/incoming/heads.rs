//! The heads of an e-mail and of its parts, found before the parser reads them: what a head says takes many times its size once
//! it is parsed, and the end of each part with parts is searched in all that follows.

use mail_parser::MessageParser;
use memchr::memchr_iter;

/// Bytes of all heads of an e-mail together.
pub const HEAD_BYTES_MAX: usize = 256 << 10;
/// Bytes of one header about contents: each of its parameters may be compared with all others.
const CONTENT_HEADER_BYTES_MAX: usize = 16 << 10;
/// How the names of these headers begin.
const CONTENT: &[u8] = b"content-";
/// Parts of an e-mail that have parts.
const MULTIPARTS_MAX: usize = 50;

/// Heads that were found.
struct Heads<'m> {
    mail: &'m [u8],
    parser: &'m MessageParser,
    bytes: usize,
    multiparts: usize,
    /// What separates parts, as the heads say it.
    boundaries: Vec<Vec<u8>>,
}

/// The bytes of the heads of an e-mail and its parts, at least; none where they, or the parts with parts, are too many, or a header
/// is too long.
///
/// A head begins the e-mail, and there is one behind each boundary that a head before it names, wherever in a line: the parser
/// accepts more than the standard.
pub fn head_bytes(mail: &[u8], parser: &MessageParser) -> Option<usize> {
    let mut heads = Heads { mail, parser, bytes: 0, multiparts: 0, boundaries: Vec::new() };
    heads.add(0)?;
    for dash in memchr_iter(b'-', mail) {
        let Some(rest) = mail[dash..].strip_prefix(b"--") else { continue };
        // A boundary can begin with another one.
        let found = heads.boundaries.iter().filter(|boundary| rest.starts_with(boundary));
        let lengths: Vec<usize> = found.map(Vec::len).collect();
        for length in lengths {
            heads.add(dash + 2 + length)?;
        }
    }
    Some(heads.bytes)
}

impl Heads<'_> {
    /// Adds a head that begins at a position, or behind the rest of the line there.
    fn add(&mut self, start: usize) -> Option<()> {
        let end = end_of_head(self.mail, start);
        self.bytes += end - start;
        if self.bytes > HEAD_BYTES_MAX {
            return None;
        }
        let text = &self.mail[start..end];
        if has_long_content_header(text) {
            return None;
        }
        let spaces = text.iter().take_while(|byte| byte.is_ascii_whitespace() && **byte != b'\n').count();
        let text = &text[spaces..];
        self.add_boundaries(text.strip_prefix(b"\n").unwrap_or(text));
        (self.multiparts <= MULTIPARTS_MAX).then_some(())
    }

    /// The parser takes one of several headers with a boundary.
    fn add_boundaries(&mut self, head: &[u8]) {
        let Some(parsed) = self.parser.parse_headers(head) else { return };
        let types = parsed.headers().iter().filter_map(|header| header.value().as_content_type());
        for boundary in types.filter_map(|content_type| content_type.attribute("boundary")) {
            self.multiparts += 1;
            let boundary = boundary.as_bytes();
            if !boundary.is_empty() && !self.boundaries.iter().any(|known| known == boundary) {
                self.boundaries.push(boundary.to_vec());
            }
        }
    }
}

/// Whether a header about contents is too long. Every line may begin one: the parser takes it for the continuation of the line
/// before only if that has a colon.
fn has_long_content_header(head: &[u8]) -> bool {
    let is_long = |start: usize| {
        let header = &head[start..];
        let line = header.iter().take_while(|byte| **byte != b'\n');
        let mut name = line.filter(|byte| !byte.is_ascii_whitespace()).skip_while(|byte| **byte == b':');
        CONTENT.iter().all(|wanted| name.next().is_some_and(|byte| byte.eq_ignore_ascii_case(wanted)))
            && end_of_header(header) > CONTENT_HEADER_BYTES_MAX
    };
    std::iter::once(0).chain(lines_after(head, 0)).any(is_long)
}

/// Behind the line and those that continue it.
fn end_of_header(header: &[u8]) -> usize {
    let is_end = |line: &usize| !matches!(header.get(*line), Some(b' ' | b'\t'));
    lines_after(header, 0).find(is_end).unwrap_or(header.len())
}

/// The starts of all further lines.
fn lines_after(text: &[u8], start: usize) -> impl Iterator<Item = usize> {
    memchr_iter(b'\n', &text[start..]).map(move |newline| start + newline + 1)
}

/// Behind the first empty line, or the end of the e-mail.
fn end_of_head(mail: &[u8], start: usize) -> usize {
    let empty = |line: usize| {
        let ends = [&b"\n"[..], b"\r\n"];
        ends.into_iter().find(|end| mail[line..].starts_with(end)).map(|end| line + end.len())
    };
    lines_after(mail, start).find_map(empty).unwrap_or(mail.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found(mail: &str) -> Option<usize> {
        head_bytes(mail.replace('\n', "\r\n").as_bytes(), &MessageParser::new().with_mime_headers())
    }

    fn multipart(parts: &str) -> String {
        format!("Subject: x\nContent-Type: multipart/mixed; boundary=b\n\n--b\n{parts}\n--b--\n")
    }

    #[test]
    fn heads_of_parts_are_counted_together() {
        let part = |bytes: usize| format!("X: {}\n\nx\n--b\n", "y".repeat(bytes));
        assert_eq!(found(&multipart(&part(2 * HEAD_BYTES_MAX))), None);
        assert_eq!(found(&multipart(&part(HEAD_BYTES_MAX / 5).repeat(6))), None);
        assert!(found(&multipart(&part(HEAD_BYTES_MAX / 5).repeat(4))).is_some());
        assert_eq!(found(&format!("Subject: {}", "x".repeat(HEAD_BYTES_MAX))), None);
    }

    #[test]
    fn headers_about_contents_are_short() {
        let parameters = |bytes: usize| ";a*1=b".repeat(bytes / 6);
        for before in ["", "X: y\n", "x\n ", ": : ", "X: y\n\tz\n"] {
            for name in ["Content-Type", "content - DISPOSITION ", "Content-Id"] {
                let part = |bytes| format!("{before}{name}: x/y{}\n\nx\n--b\n", parameters(bytes));
                assert_eq!(found(&multipart(&part(CONTENT_HEADER_BYTES_MAX + 6))), None, "{before}{name}");
                assert!(found(&multipart(&part(CONTENT_HEADER_BYTES_MAX / 2))).is_some(), "{before}{name}");
            }
        }
    }

    #[test]
    fn contents_are_not_counted() {
        let text = "a: b; c=d -- e\n".repeat(HEAD_BYTES_MAX / 10);
        for mail in [format!("Subject: x\n\n{text}"), multipart(&format!("\n{text}"))] {
            assert!(found(&mail).is_some_and(|bytes| bytes < 200), "{:?}", found(&mail));
        }
    }

    #[test]
    fn parts_with_parts_are_counted() {
        let part = "Content-Type: multipart/mixed; boundary=c\n\nx\n--b\n";
        assert!(found(&multipart(&part.repeat(MULTIPARTS_MAX - 1))).is_some());
        assert_eq!(found(&multipart(&part.repeat(MULTIPARTS_MAX))), None);
    }

    proptest! {
        /// Of whatever the parser takes for a head.
        #[test]
        fn no_head_is_left_out(pieces in prop::collection::vec(prop::sample::select(&[
            "Content-Type: multipart/mixed; boundary=b\r\n", "Content-Type: multipart/x; boundary=bb\r\n", "\r\n", "--b", "--b\r\n",
            "--bb\r\n", "--b--\r\n", "-", "Content-Type: text/plain\r\n", ": ", "x", "\n", " ", "\r\n\r\n", "y: z\r\n",
            "Content-Type: multipart/mixed;\r\n boundary=\"b\"\r\n\r\n--b\r\n", "Content-Transfer-Encoding: base64\r\n",
        ][..]), 0..40)) {
            let mail = pieces.concat();
            let parser = MessageParser::new().with_mime_headers().default_header_ignore();
            let parsed = parser.parse(&mail);
            let parts = parsed.iter().flat_map(|mail| &mail.parts);
            let heads: u32 = parts.map(|part| part.raw_body_offset() - part.raw_header_offset()).sum();
            let found = head_bytes(mail.as_bytes(), &parser);
            prop_assert!(found.is_none_or(|found| found >= heads as usize), "{:?} {} {:?}", found, heads, mail);
        }
    }
}
