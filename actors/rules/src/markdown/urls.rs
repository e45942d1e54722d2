//! URLs: the ones that may be linked, and how bare ones are found in text.

use super::anchor::{anchor, relative_to_realm};
use super::html::escaped_text;
use super::inline::{Inline, Rewrite};
use memchr::memchr2;

/// Characters that a bare link may follow, besides white space.
const BEFORE: [char; 6] = ['\'', '"', '(', ',', ':', '<'];

/// Punctuation after a link that is not part of it.
const TRAILING: [char; 10] = ['!', ':', ';', '?', ')', ',', '.', '\'', '"', '>'];

/// Maximum nesting of parentheses in a path.
const PARENTHESES_MAX: usize = 6;

/// Positions within one word at which a link may begin; bounds the work, which would be quadratic.
const STARTS_MAX: usize = 16;

/// Schemes that may be linked: those of the HTML standard's safe list, and `file` and `ftp`.
const SCHEMES: [&str; 25] = [
    "http",
    "https",
    "ftp",
    "file",
    "bitcoin",
    "geo",
    "im",
    "irc",
    "ircs",
    "magnet",
    "mailto",
    "matrix",
    "mms",
    "news",
    "nntp",
    "openpgp4fpr",
    "sip",
    "sms",
    "smsto",
    "ssh",
    "tel",
    "urn",
    "webcal",
    "wtai",
    "xmpp",
];

/// Top-level domains that are usually file extensions.
const FILE_ENDINGS: [&str; 5] = ["java", "md", "mov", "py", "zip"];

/// The URL to link for typed text, with a scheme and encoded spaces; `None` if it may not be linked. URLs with `//` get a
/// scheme as well, because clients outside a browser have no page to take it from.
pub(super) fn sanitize(url: &str) -> Option<String> {
    let url = url.trim().replace(' ', "%20");
    if url.is_empty() || url.contains(|point: char| point.is_control() || point.is_whitespace()) {
        return None;
    }
    if let Some((scheme, rest)) = split_scheme(&url) {
        let scheme = scheme.to_ascii_lowercase();
        let is_safe = SCHEMES.contains(&scheme.as_str());
        let has_host =
            !matches!(scheme.as_str(), "http" | "https" | "ftp") || rest.len() > 2 && rest.starts_with("//");
        return (is_safe && has_host).then_some(url);
    }
    if let Some(host) = url.strip_prefix("//") {
        return (!host.is_empty() && !host.starts_with('/')).then(|| format!("https:{url}"));
    }
    if url.starts_with(['/', '#']) {
        return Some(url);
    }
    let path = url.split(['?', '#']).next().unwrap_or(&url);
    if path.contains('@') && !path.contains('/') {
        return Some(format!("mailto:{url}"));
    }
    Some(format!("http://{url}"))
}

/// Separates the scheme. A host with a port, such as `example.com:80`, has none.
fn split_scheme(url: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = url.split_once(':')?;
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    let is_host = scheme.contains('.') && rest.starts_with(|first: char| first.is_ascii_digit());
    // A URL without a valid scheme before its colon is relative; one with an empty scheme is not a URL at all.
    (is_scheme && !is_host || scheme.is_empty()).then_some((scheme, rest))
}

/// Links and e-mail addresses written without any markup.
pub(super) fn bare_links(inline: &mut Inline<'_>, text: &str, _next: usize) -> Option<String> {
    let mut rewrite = Rewrite::of(text);
    for (start, end) in links_in(text) {
        let typed = &text[start..end];
        if let Some(url) = sanitize(typed) {
            // A link to the organization becomes relative, so its label differs from its URL.
            let href = relative_to_realm(&url, inline.context.realm_url());
            let named = (href != url).then_some(typed);
            let html = anchor(inline, &url, &escaped_text(typed), named, None);
            rewrite.put(start, end, html, &mut inline.stash);
        }
    }
    rewrite.finish()
}

/// Whether a text has a link or an e-mail address without any markup.
pub(super) fn has_link(text: &str) -> bool {
    links_in(text).next().is_some()
}

/// Start and end of each link in a text: at most one in each word.
fn links_in(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            let hint = next_link_position(text, from)?;
            let before = text[from..hint].char_indices().rfind(|(_, point)| point.is_whitespace());
            let word_start = from + before.map_or(0, |(at, point)| at + point.len_utf8());
            let word_end = text[hint..].find(char::is_whitespace).map_or(text.len(), |length| hint + length);
            from = word_end;
            if let Some((start, end)) = find_link(&text[word_start..word_end]) {
                return Some((word_start + start, word_start + end));
            }
        }
    })
}

/// The next position from `from` on that only words with links have: a dot inside the word, or `://`. Prose, in which dots
/// end sentences, is skipped quickly.
fn next_link_position(text: &str, from: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = from;
    loop {
        at += memchr2(b'.', b':', &bytes[at..])?;
        let rest = &bytes[at..];
        if rest.starts_with(b"://") || rest[0] == b'.' && rest.get(1).is_some_and(|next| *next > b'.') {
            return Some(at);
        }
        at += 1;
    }
}

/// Start and end of the link in a word. There is at most one, because only punctuation may follow it.
pub(super) fn find_link(word: &str) -> Option<(usize, usize)> {
    next_link_position(word, 0)?;
    let tail = word.trim_end_matches(TRAILING).len();
    let mut starts = 0;
    let mut before = None;
    for (at, point) in word.char_indices() {
        let may_start = before.is_none_or(|before| BEFORE.contains(&before));
        before = Some(point);
        if !may_start {
            continue;
        }
        starts += 1;
        if starts > STARTS_MAX || at > tail {
            return None;
        }
        let end = end_of_url(word, at, tail).or_else(|| end_of_name(word, at, tail));
        if let Some(end) = end {
            return Some((at, end));
        }
    }
    None
}

fn is_name_char(point: char) -> bool {
    point.is_alphanumeric() || matches!(point, '_' | '-' | '.')
}

/// The end of an `http(s)://` link at `start`; `tail` is where the word's trailing punctuation begins.
fn end_of_url(word: &str, start: usize, tail: usize) -> Option<usize> {
    let scheme = ["https://", "http://"].into_iter().find(|scheme| {
        word.get(start..start + scheme.len()).is_some_and(|head| head.eq_ignore_ascii_case(scheme))
    })?;
    let host_start = start + scheme.len();
    let host_length = word[host_start..]
        .find(|point: char| !is_name_char(point) && !matches!(point, ':' | '@'))
        .unwrap_or(word.len() - host_start);
    let host_end = host_start + host_length;
    if host_length == 0 || tail <= host_start {
        return None;
    }
    if tail <= host_end {
        return Some(tail);
    }
    let has_path = word[host_end..].starts_with(['/', '?', '#']);
    if has_path { end_of_path(word, host_end, tail) } else { None }
}

/// The end of an e-mail address, or of a link that begins with a domain.
fn end_of_name(word: &str, start: usize, tail: usize) -> Option<usize> {
    let length = word[start..].find(|point| !is_name_char(point)).unwrap_or(word.len() - start);
    let name_end = start + length;
    if length == 0 {
        return None;
    }
    if word[name_end..].starts_with('@') {
        return end_of_address(word, name_end + 1, tail);
    }
    let domain = &word[start..name_end.min(tail.max(start))];
    if !is_domain(domain) {
        return None;
    }
    if tail <= name_end {
        return Some(tail);
    }
    if word[name_end..].starts_with('/') { end_of_path(word, name_end, tail) } else { None }
}

/// The end of an e-mail address whose domain begins at `start`.
fn end_of_address(word: &str, start: usize, tail: usize) -> Option<usize> {
    let domain = word.get(start..tail)?;
    let (host, top) = domain.rsplit_once('.')?;
    let is_word = |point: char| point.is_alphanumeric() || point == '_';
    let is_address =
        !host.is_empty() && !top.is_empty() && host.chars().all(is_name_char) && top.chars().all(is_word);
    is_address.then_some(tail)
}

/// Whether the name has at least two parts and ends in a top-level domain.
fn is_domain(name: &str) -> bool {
    let Some((host, top)) = name.rsplit_once('.') else { return false };
    let top = top.to_lowercase();
    !host.is_empty()
        && host.split('.').all(|label| !label.is_empty())
        && !FILE_ENDINGS.contains(&top.as_str())
        && tld::exist(&top)
}

/// The end of a path: the earliest place in the trailing punctuation at which all parentheses are closed.
fn end_of_path(word: &str, start: usize, tail: usize) -> Option<usize> {
    let mut depth = 0;
    for (at, byte) in word.bytes().enumerate().skip(start) {
        if at >= tail && depth == 0 {
            return Some(at);
        }
        match byte {
            b'(' if depth < PARENTHESES_MAX => depth += 1,
            b')' if depth > 0 => depth -= 1,
            b'(' | b')' | b'"' | b'\x02' => return None,
            _ => {}
        }
    }
    (depth == 0).then_some(word.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_safe_schemes_are_linked() {
        assert_eq!(sanitize("https://a.example").as_deref(), Some("https://a.example"));
        assert_eq!(sanitize("a.example/x").as_deref(), Some("http://a.example/x"));
        assert_eq!(sanitize("a.example:80/x").as_deref(), Some("http://a.example:80/x"));
        assert_eq!(sanitize("ada@a.example").as_deref(), Some("mailto:ada@a.example"));
        assert_eq!(sanitize("/help").as_deref(), Some("/help"));
        assert_eq!(sanitize("#narrow").as_deref(), Some("#narrow"));
        assert_eq!(sanitize("//a.example/x").as_deref(), Some("https://a.example/x"));
        assert_eq!(sanitize("https://a.example/x y").as_deref(), Some("https://a.example/x%20y"));
        for unsafe_url in [
            "javascript:alert(1)",
            "JavaScript:x",
            "data:text/html,x",
            "vbscript:x",
            "http:",
            "web+x:1",
            "//",
            "///x",
            "",
            "java\u{1}script:x",
            ":x",
        ] {
            assert_eq!(sanitize(unsafe_url), None, "{unsafe_url:?}");
        }
    }

    #[test]
    fn bare_links_end_before_punctuation() {
        let found = |word: &'static str| find_link(word).map(|(start, end)| &word[start..end]);
        assert_eq!(found("https://a.example/x."), Some("https://a.example/x"));
        assert_eq!(found("(https://a.example/x_(y))."), Some("https://a.example/x_(y)"));
        assert_eq!(found("https://a.example:8000"), Some("https://a.example:8000"));
        assert_eq!(found("https://a.example?q=1!"), Some("https://a.example?q=1"));
        assert_eq!(found("http://localhost"), Some("http://localhost"));
        assert_eq!(found("example.com,"), Some("example.com"));
        assert_eq!(found("see:example.com/a"), Some("example.com/a"));
        assert_eq!(found("ada@mail.example."), Some("ada@mail.example"));
        for text in [
            "e.g.",
            "1.5",
            "README.md",
            "a..com",
            "xhttps://a.com",
            "example.com-x",
            "https://",
            "*example.com*",
            "https://a.example/\"x",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }
}
