//! Receives the data of one e-mail: up to the line with a single dot, which only CR LF surround. A bare CR or LF ends no
//! line, and an e-mail with one is refused, so that no other server sees more e-mails in the data than this one.

/// An e-mail that is being received.
#[derive(Debug, Default)]
pub struct DataReceiver {
    bytes: Vec<u8>,
    state: State,
    /// Bytes that were received, stored or not.
    received: u64,
    has_bare_ends: bool,
    is_too_large: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    LineStart,
    /// After a dot at the start of a line.
    Dot,
    /// After a dot at the start of a line and CR.
    DotCr,
    Line,
    Cr,
}

/// What became of the data.
#[derive(Debug, PartialEq, Eq)]
pub enum Data {
    /// The e-mail, without the dots that were added for sending.
    Complete(Vec<u8>),
    TooLarge,
    HasBareLineEnds,
}

impl DataReceiver {
    /// Takes bytes. The number of bytes taken, if the e-mail ended with them; otherwise all were taken.
    pub fn take(&mut self, bytes: &[u8], bytes_max: usize) -> Option<usize> {
        for (index, byte) in bytes.iter().enumerate() {
            if self.take_one(*byte) {
                self.received += index as u64 + 1;
                return Some(index + 1);
            }
            if self.bytes.len() > bytes_max {
                (self.bytes, self.is_too_large) = (Vec::new(), true);
            }
        }
        self.received += bytes.len() as u64;
        None
    }

    /// The number of received bytes, stored or not.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// Gives up what is stored; the rest is received for its end only.
    pub fn discard(&mut self) {
        (self.bytes, self.is_too_large) = (Vec::new(), true);
    }

    /// The result, after the end.
    pub fn finish(self) -> Data {
        match (self.is_too_large, self.has_bare_ends) {
            (true, _) => Data::TooLarge,
            (false, true) => Data::HasBareLineEnds,
            (false, false) => Data::Complete(self.bytes),
        }
    }

    /// Whether the e-mail ended.
    fn take_one(&mut self, byte: u8) -> bool {
        let next = match (self.state, byte) {
            (State::DotCr, b'\n') => return true,
            (State::LineStart, b'.') => State::Dot,
            (State::Dot, b'\r') => State::DotCr,
            (State::Cr, b'\n') => State::LineStart,
            (State::Cr | State::DotCr, b'\r') => {
                self.has_bare_ends = true;
                State::Cr
            }
            (_, b'\r') => State::Cr,
            (before, other) => {
                self.has_bare_ends |= other == b'\n' || matches!(before, State::Cr | State::DotCr);
                State::Line
            }
        };
        // The first dot of a line is not part of it; what follows CR there is wrong anyway.
        if !matches!(next, State::Dot | State::DotCr) && !self.is_too_large {
            self.bytes.push(byte);
        }
        self.state = next;
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What becomes of the bytes, taken in pieces, and what follows the end.
    fn receive(bytes: &[u8], piece: usize) -> Option<(Data, Vec<u8>)> {
        let mut receiver = DataReceiver::default();
        let mut taken = 0;
        for piece in bytes.chunks(piece) {
            if let Some(count) = receiver.take(piece, 100) {
                return Some((receiver.finish(), bytes[taken + count..].to_vec()));
            }
            taken += piece.len();
        }
        None
    }

    #[test]
    fn the_end_is_a_line_with_a_dot() {
        let cases: [(&str, Option<(Data, &str)>); 8] = [
            ("a\r\nb\r\n.\r\nQUIT", Some((Data::Complete(b"a\r\nb\r\n".to_vec()), "QUIT"))),
            ("..a\r\n.b\r\n.\r\n", Some((Data::Complete(b".a\r\nb\r\n".to_vec()), ""))),
            (".\r\n", Some((Data::Complete(Vec::new()), ""))),
            ("a\n.\nMAIL FROM:<x>\r\n.\r\n", Some((Data::HasBareLineEnds, ""))),
            ("a\r\n.\nMAIL\r\n.\r\n", Some((Data::HasBareLineEnds, ""))),
            ("a\r.\r\nb\r\n.\r\n", Some((Data::HasBareLineEnds, ""))),
            ("a\n.\r\nb\r\n.\r\n", Some((Data::HasBareLineEnds, ""))),
            ("a\r\n.\r", None),
        ];
        for (bytes, expected) in cases {
            for piece in [1, 2, 3, 100] {
                let expected =
                    expected.as_ref().map(|(data, rest)| (format!("{data:?}"), rest.as_bytes().to_vec()));
                let found = receive(bytes.as_bytes(), piece).map(|(data, rest)| (format!("{data:?}"), rest));
                assert_eq!(found, expected, "{bytes:?} in pieces of {piece}");
            }
        }
        let long = format!("{}\r\n.\r\n", "x".repeat(200));
        assert_eq!(receive(long.as_bytes(), 7), Some((Data::TooLarge, Vec::new())));
    }

    proptest! {
        #[test]
        fn any_lines_come_back(lines in prop::collection::vec("[a.]{0,5}", 0..8)) {
            let text: String = lines.iter().map(|line| format!("{line}\r\n")).collect();
            let sent: String = lines.iter().map(|line| match line.starts_with('.') {
                true => format!(".{line}\r\n"),
                false => format!("{line}\r\n"),
            }).collect();
            let found = receive(format!("{sent}.\r\n").as_bytes(), 3);
            prop_assert_eq!(found, Some((Data::Complete(text.into_bytes()), Vec::new())));
        }

        #[test]
        fn any_bytes_end_only_after_cr_lf(bytes in prop::collection::vec(prop::sample::select(&b".\r\na"[..]), 0..60)) {
            if let Some((_, rest)) = receive(&bytes, 4) {
                let taken = &bytes[..bytes.len() - rest.len()];
                prop_assert!(taken == b".\r\n" || taken.ends_with(b"\r\n.\r\n"));
            }
        }
    }
}
