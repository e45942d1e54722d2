//! E-mails within e-mails stay attachments. The parser would open them without a limit, and each level takes room on the
//! stack: some 100 KB of them would end the process.

use memchr::memchr_iter;
use std::borrow::Cow;

/// The subtypes of `message/…` and `multipart/…` whose parts are e-mails.
const OPENED: [&[u8]; 3] = [b"rfc822", b"global", b"digest"];
/// What they become; of the same length.
const CLOSED: &[u8] = b"x-mail";
/// The type of an attached e-mail, as the parser says it.
const CLOSED_TYPE: (&str, &str) = ("message", "x-mail");
/// The content type of an attached e-mail.
pub const MAIL_TYPE: &str = "message/rfc822";
const NAME: &[u8] = b"content-type";

/// An e-mail in which no part has a type that the parser opens. All lengths stay the same.
///
/// Whatever could be the name `Content-Type` counts, wherever in a line: the parser accepts more than the standard.
pub fn without_nested(mail: &[u8]) -> Cow<'_, [u8]> {
    let mut flat = Cow::Borrowed(mail);
    let mut done = 0;
    for colon in memchr_iter(b':', mail) {
        if !is_content_type(&mail[..colon]) {
            continue;
        }
        let end = end_of_type(mail, (colon + 1).max(done));
        close_types(&mut flat, (colon + 1).max(done), end);
        done = end;
    }
    flat
}

/// Whether a file of this type is an e-mail.
pub fn is_attached_mail(content_type: &str, subtype: &str) -> bool {
    (content_type, subtype) == CLOSED_TYPE
}

/// Whether the text before a colon ends in the name of the header, with white space anywhere.
fn is_content_type(before: &[u8]) -> bool {
    let mut rest = before.iter().rev().take_while(|byte| **byte != b'\n');
    NAME.iter().rev().all(|wanted| {
        let next = rest.find(|byte| !byte.is_ascii_whitespace());
        next.is_some_and(|byte| byte.eq_ignore_ascii_case(wanted))
    })
}

/// Where the parameters begin, or the header ends.
fn end_of_type(mail: &[u8], start: usize) -> usize {
    let rest = mail.get(start..).unwrap_or_default();
    let ends = |at: usize| match rest[at] {
        b';' => true,
        b'\n' => !matches!(rest.get(at + 1), Some(b' ' | b'\t')),
        _ => false,
    };
    start + (0..rest.len()).find(|at| ends(*at)).unwrap_or(rest.len())
}

/// Replaces the types between two positions, and ends them where a comment begins.
fn close_types(flat: &mut Cow<'_, [u8]>, start: usize, end: usize) {
    for at in start..end {
        let left = &flat[at..end];
        let is_opened =
            OPENED.iter().any(|word| left.get(..word.len()).is_some_and(|it| it.eq_ignore_ascii_case(word)));
        if is_opened {
            flat.to_mut()[at..at + CLOSED.len()].copy_from_slice(CLOSED);
        } else if left[0] == b'(' {
            flat.to_mut()[at] = b';';
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mail_parser::{MessageParser, PartType};
    use proptest::prelude::*;

    fn closed(mail: &str) -> String {
        String::from_utf8(without_nested(mail.as_bytes()).into_owned()).unwrap()
    }

    #[test]
    fn only_types_are_replaced() {
        for (mail, expected) in [
            ("Content-Type: message/rfc822\n\nx", "Content-Type: message/x-mail\n\nx"),
            (
                "content-TYPE :\r\n message/\n\tGlobal; name=global.eml",
                "content-TYPE :\r\n message/\n\tx-mail; name=global.eml",
            ),
            (
                "Content-Type: multipart/digest; boundary=digest",
                "Content-Type: multipart/x-mail; boundary=digest",
            ),
            ("--x Content-Type: message/(a;b)rfc822", "--x Content-Type: message/;a;b)rfc822"),
            ("Content-Type: x:\n message/rfc822", "Content-Type: x:\n message/x-mail"),
        ] {
            assert_eq!(closed(mail), expected);
        }
        for mail in [
            "Subject: global digest of rfc822",
            "a: b\n\nmessage/rfc822",
            "Content-Type: text/plain\nX: digest",
        ] {
            assert!(matches!(without_nested(mail.as_bytes()), Cow::Borrowed(_)), "{mail}");
        }
    }

    /// With a type for each level, parsing and dropping them would take more than the stack of a thread.
    #[test]
    fn a_hundred_thousand_levels_are_one() {
        let mail = format!("Subject: x\r\n{}x", "Content-Type:message/rfc822\r\n\r\n".repeat(100_000));
        let flat = without_nested(mail.as_bytes());
        let parsed = MessageParser::default().parse(&*flat).unwrap();
        assert!(parsed.parts.iter().all(|part| !matches!(part.body, PartType::Message(_))));
    }

    proptest! {
        #[test]
        fn nothing_nests(pieces in prop::collection::vec(prop::sample::select(&[
            "Content-Type:", "content - type\t: ", "message", "/", "rfc822", "GLOBAL", "(", ")", ";", "=", ":", "\r\n ", "\n", "\r\n\r\n",
            "multipart/digest; boundary=y", "--y", "--y\r\n", "Content-Transfer-Encoding: base64\r\n", "\"", "x",
            "Content-Type: message/rfc822\r\n\r\n",
        ][..]), 0..30)) {
            let mail = format!("Subject: x\r\n{}", pieces.concat());
            let flat = without_nested(mail.as_bytes());
            prop_assert_eq!(flat.len(), mail.len());
            let nested = MessageParser::default().parse(&*flat).into_iter().flat_map(|mail| mail.parts)
                .any(|part| matches!(part.body, PartType::Message(_)));
            prop_assert!(!nested, "{:?}", mail);
        }
    }
}
