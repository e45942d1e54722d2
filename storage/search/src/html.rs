//! The visible texts of rendered HTML: what is between tags, divided at entities.

use memchr::memchr2;

/// A text between two tags or entities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Text<'h> {
    /// Where it begins in the HTML.
    pub start: usize,
    pub text: &'h str,
    /// Inside of an element that must not get other elements: MathML.
    pub is_fixed: bool,
}

/// The texts of HTML, in order.
pub(crate) fn texts(html: &str) -> impl Iterator<Item = Text<'_>> {
    let (mut at, mut is_fixed) = (0, false);
    std::iter::from_fn(move || {
        loop {
            let rest = html.get(at..).filter(|rest| !rest.is_empty())?;
            if rest.starts_with('<') {
                let length = rest.find('>').map_or(rest.len(), |end| end + 1);
                let tag = &rest[..length];
                is_fixed = (is_fixed || tag.starts_with("<math")) && !tag.starts_with("</math");
                at += length;
            } else if let Some(length) = entity(rest) {
                at += length;
            } else {
                let start = at;
                at += end_of_text(rest);
                return Some(Text { start, text: &html[start..at], is_fixed });
            }
        }
    })
}

/// Where the next tag or entity begins. The first character is text, also a lone `&`.
fn end_of_text(rest: &str) -> usize {
    let mut from = rest.chars().next().map_or(0, char::len_utf8);
    while let Some(found) = memchr2(b'<', b'&', &rest.as_bytes()[from..]) {
        let end = from + found;
        if rest[end..].starts_with('<') || entity(&rest[end..]).is_some() {
            return end;
        }
        from = end + 1;
    }
    rest.len()
}

/// The length of the entity at the beginning of a text.
fn entity(rest: &str) -> Option<usize> {
    let inner = rest.strip_prefix('&')?;
    let length = inner.bytes().take(10).position(|byte| byte == b';')?;
    let name = &inner.as_bytes()[..length];
    let is_name = !name.is_empty() && name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'#');
    is_name.then_some(length + 2)
}
