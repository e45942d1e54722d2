//! The target of `[text](url "title")`: where it ends, and which part is the title.
//!
//! White space and balanced parentheses may be part of the URL, and a title may contain either kind of quotes, so the end
//! depends on quotes that may turn out not to begin a title.

/// Bytes read to find the ends of all targets, for each byte of the text. Only texts full of unfinished links reach the
/// limit; links after it are text.
const WORK_PER_BYTE: usize = 64;

/// The target of one link.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Target<'t> {
    pub url: &'t str,
    pub title: Option<&'t str>,
    /// The position after the closing parenthesis.
    pub end: usize,
}

/// Reads the targets of one text.
pub(super) struct Targets<'t> {
    text: &'t str,
    budget: usize,
}

/// A quote character and where it was seen.
#[derive(Default)]
struct Quote {
    byte: u8,
    /// The position after the first one; 0 if there is none.
    start: usize,
    /// The position after the last further one; 0 if there is none.
    end: usize,
}

impl Quote {
    fn is_open(&self) -> bool {
        self.start > 0
    }

    /// Whether the last character that is not a space closed it.
    fn is_closed_by(&self, last: u8) -> bool {
        self.end > 0 && last == self.byte
    }
}

impl<'t> Targets<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        Self { text, budget: text.len() * WORK_PER_BYTE }
    }

    /// The target that begins at `start`, after the opening parenthesis; `None` if it is not closed.
    pub(super) fn read(&mut self, start: usize) -> Option<Target<'t>> {
        let start = start + self.text[start..].len() - self.text[start..].trim_start().len();
        let target = self.read_in_angles(start).or_else(|| self.read_plain(start))?;
        Some(Target { url: target.url.trim(), title: target.title.map(str::trim), end: target.end })
    }

    /// `<url>` or `<url> "title"`.
    fn read_in_angles(&self, start: usize) -> Option<Target<'t>> {
        let inner = self.text[start..].strip_prefix('<')?;
        let width = inner.find(['<', '>'])?;
        let rest = inner[width..].strip_prefix('>')?.trim_start();
        let quote = rest.chars().next().filter(|quote| matches!(quote, '"' | '\''));
        let (title, rest) = match quote {
            Some(quote) => {
                let (title, rest) = rest[1..].split_once(quote)?;
                (Some(title), rest.trim_start())
            }
            None => (None, rest),
        };
        let rest = rest.strip_prefix(')')?;
        Some(Target { url: &inner[..width], title, end: self.text.len() - rest.len() })
    }

    /// Anything up to the closing parenthesis. From the first quote on, parentheses count as part of a title until it turns
    /// out that there is none.
    fn read_plain(&mut self, start: usize) -> Option<Target<'t>> {
        let (mut first, mut second) = (Quote::default(), Quote::default());
        let mut depth = 1_usize;
        // Depth of parentheses, and the position of the closing one, if the first quote does not begin a title.
        let mut plain_depth = 1_usize;
        let mut plain_end = None;
        let mut last = 0;
        for (at, byte) in self.text.bytes().enumerate().skip(start) {
            self.budget = self.budget.checked_sub(1)?;
            match byte {
                b'(' if !first.is_open() => depth += 1,
                b'(' => plain_depth = plain_depth.saturating_sub(1),
                b')' if first.is_closed_by(last) || second.is_closed_by(last) => depth = 0,
                b')' if !first.is_open() => depth -= 1,
                b')' if plain_depth > 0 => {
                    plain_depth -= 1;
                    if plain_depth == 0 {
                        plain_end = Some(at);
                    }
                }
                b'\'' | b'"' if !first.is_open() => {
                    (plain_depth, depth) = (depth, 1);
                    first = Quote { byte, start: at + 1, end: 0 };
                }
                b'\'' | b'"' if byte == first.byte => first.end = at + 1,
                b'\'' | b'"' if !second.is_open() => second = Quote { byte, start: at + 1, end: 0 },
                b'\'' | b'"' => second.end = at + 1,
                _ => {}
            }
            if depth == 0 {
                return Some(self.closed(start, at, last, &first, &second));
            }
            if byte != b' ' {
                last = byte;
            }
        }
        plain_end.map(|at| Target { url: &self.text[start..at], title: None, end: at + 1 })
    }

    /// The target that the parenthesis at `at` closes.
    fn closed(&self, start: usize, at: usize, last: u8, first: &Quote, second: &Quote) -> Target<'t> {
        let title = [first, second].into_iter().find(|quote| quote.is_closed_by(last));
        let (url_end, title) = match title {
            Some(quote) => (quote.start - 1, Some(&self.text[quote.start..quote.end - 1])),
            None => (at, None),
        };
        Target { url: &self.text[start..url_end], title, end: at + 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(target: &str) -> Option<(&str, Option<&str>)> {
        Targets::of(target).read(0).map(|target| (target.url, target.title))
    }

    #[test]
    fn a_title_follows_the_url() {
        assert_eq!(read("u)"), Some(("u", None)));
        assert_eq!(read(" u \"t\" ) x"), Some(("u", Some("t"))));
        assert_eq!(read("u 't (x) \"y\"')"), Some(("u", Some("t (x) \"y\""))));
        assert_eq!(read("<u v> \"t\")"), Some(("u v", Some("t"))));
        assert_eq!(read("u v)"), Some(("u v", None)));
        assert_eq!(read("u(v)w)x)"), Some(("u(v)w", None)));
    }

    #[test]
    fn quotes_do_not_always_begin_a_title() {
        assert_eq!(read("u\"v)"), Some(("u\"v", None)));
        assert_eq!(read("it's)"), Some(("it's", None)));
        assert_eq!(read("u'\"t\")"), Some(("u'", Some("t"))));
        assert_eq!(read("u"), None);
        assert_eq!(read("u(v)"), None);
        assert_eq!(read("(u \"v)"), None);
    }
}
