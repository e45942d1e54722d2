//! Escaping, and placeholders: finished HTML passes through the remaining rules as an opaque character sequence.

/// Opens a placeholder. User text cannot contain it: `preprocess` removes it.
pub(super) const OPEN: char = '\u{2}';
/// Closes a placeholder.
pub(super) const CLOSE: char = '\u{3}';

/// Text with `&`, `<` and `>` escaped; quotes stay.
pub(super) fn escaped_text(text: &str) -> String {
    escaped(text, |byte| matches!(byte, b'&' | b'<' | b'>'))
}

/// An attribute's value, escaped for double quotes.
pub(super) fn escaped_attribute(value: &str) -> String {
    escaped(value, |byte| matches!(byte, b'&' | b'<' | b'>' | b'"'))
}

fn escaped(text: &str, is_escaped: impl Fn(u8) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.bytes().position(&is_escaped) {
        out.push_str(&rest[..at]);
        out.push_str(entity_of(rest.as_bytes()[at]));
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
    out
}

fn entity_of(byte: u8) -> &'static str {
    match byte {
        b'&' => "&amp;",
        b'<' => "&lt;",
        b'>' => "&gt;",
        _ => "&quot;",
    }
}

/// Finished HTML by number; a placeholder in the text names the number.
#[derive(Default)]
pub(super) struct FinishedHtml {
    entries: Vec<Stashed>,
}

struct Stashed {
    html: String,
    is_block: bool,
}

impl FinishedHtml {
    /// Stores HTML inside a line and returns its placeholder.
    pub(super) fn keep(&mut self, html: String) -> String {
        self.store(html, false)
    }

    /// Stores HTML that is a block, or one edge of a block.
    pub(super) fn keep_block(&mut self, html: String) -> String {
        self.store(html, true)
    }

    fn store(&mut self, html: String, is_block: bool) -> String {
        self.entries.push(Stashed { html, is_block });
        format!("{OPEN}{}{CLOSE}", self.entries.len() - 1)
    }

    /// The HTML of a block, if the text is only its placeholder.
    pub(super) fn lone_block(&self, text: &str) -> Option<&str> {
        let number = text.trim().strip_prefix(OPEN)?.strip_suffix(CLOSE)?;
        let stashed = self.entries.get(number.parse::<usize>().ok()?)?;
        stashed.is_block.then_some(stashed.html.as_str())
    }

    /// Appends text escaped, with placeholders replaced by their HTML and line breaks by `line_break`.
    pub(super) fn push_expanded(&self, out: &mut String, text: &str, line_break: &str) {
        let is_special = |byte: u8| matches!(byte, b'\n' | b'\x02' | b'&' | b'<' | b'>');
        let mut rest = text;
        while let Some(at) = rest.bytes().position(is_special) {
            out.push_str(&rest[..at]);
            let after = &rest[at + 1..];
            rest = match rest.as_bytes()[at] {
                b'\n' => {
                    out.push_str(line_break);
                    after
                }
                b'\x02' => self.push_placeholder(out, after),
                byte => {
                    out.push_str(entity_of(byte));
                    after
                }
            };
        }
        out.push_str(rest);
    }

    /// Appends the HTML of the placeholder whose number `text` begins with; returns the text after the placeholder.
    fn push_placeholder<'t>(&self, out: &mut String, text: &'t str) -> &'t str {
        let (number, rest) = text.split_once(CLOSE).unwrap_or((text, ""));
        if let Some(stashed) = number.parse::<usize>().ok().and_then(|number| self.entries.get(number)) {
            out.push_str(&stashed.html);
        }
        rest
    }

    /// Text escaped, with placeholders expanded and line breaks unchanged.
    pub(super) fn expanded(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        self.push_expanded(&mut out, text, "\n");
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_escaped_in_attributes_only() {
        assert_eq!(escaped_text("a<b>&\"'"), "a&lt;b&gt;&amp;\"'");
        assert_eq!(escaped_attribute("a<b>&\"'"), "a&lt;b&gt;&amp;&quot;'");
    }

    #[test]
    fn placeholders_are_expanded_to_html() {
        let mut stash = FinishedHtml::default();
        let first = stash.keep("<b>".to_owned());
        let second = stash.keep_block("<hr>".to_owned());
        assert_eq!(stash.expanded(&format!("1{first}<{second}\n")), "1<b>&lt;<hr>\n");
        assert_eq!(stash.lone_block(&second), Some("<hr>"));
        assert_eq!(stash.lone_block(&first), None);
        assert_eq!(stash.lone_block("\u{2}9\u{3}"), None);
        assert_eq!(stash.expanded("\u{2}9"), "");
    }
}
