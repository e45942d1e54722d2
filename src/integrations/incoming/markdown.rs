//! Makes untrusted text safe inside the Markdown of a message: it contains no mentions, and stays inside the link, code span,
//! quote or line that it was put into.

/// Characters of one text that are kept: more than a message may have, so that sending truncates it visibly.
const TEXT_CHARS_MAX: usize = 10_100;
/// Invisible; takes the meaning from the characters around it.
const BREAK: char = '\u{200b}';
/// Names of wildcard mentions.
const WILDCARDS: [&str; 5] = ["all", "everyone", "channel", "stream", "topic"];

/// The first characters of a text, as many as a message can have.
pub fn capped(text: &str) -> &str {
    // Bytes are never fewer than characters, so most texts need no counting.
    if text.len() <= TEXT_CHARS_MAX {
        return text;
    }
    text.char_indices().nth(TEXT_CHARS_MAX).map_or(text, |(end, _)| text.get(..end).unwrap_or(text))
}

/// One line without control characters, for topics.
pub fn line(text: &str) -> String {
    let text = capped(text).trim();
    let plain = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    plain.filter(|c| !is_noncharacter(*c)).collect()
}

fn is_noncharacter(c: char) -> bool {
    let code = u32::from(c);
    (0xfdd0..=0xfdef).contains(&code) || code & 0xfffe == 0xfffe
}

/// One line without mentions and without an open code span.
pub fn inline(text: &str) -> String {
    let text = silent(&line(text));
    if text.matches('`').count().is_multiple_of(2) { text } else { text.replace('`', "'") }
}

/// Several lines without mentions, with their fences closed. Only for the inside of a block, or a message of its own.
pub fn text(text: &str) -> String {
    let plain = capped(text).chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t'));
    closed(silent(&plain.collect::<String>()))
}

/// The text with the fence at its end that would take in what follows.
pub fn closed(mut text: String) -> String {
    let mut open = String::new();
    for line in text.lines() {
        let line = line.trim();
        let mark = if line.starts_with('~') { '~' } else { '`' };
        let marks = line.find(|c| c != mark).map_or(line, |end| line.get(..end).unwrap_or_default());
        if open.is_empty() && marks.len() >= 3 {
            open = marks.to_owned();
        } else if line == open {
            open.clear();
        }
    }
    if !open.is_empty() {
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&open);
    }
    text
}

/// Takes the meaning from mentions: of users, groups and wildcards, loud or silent.
pub fn silent(text: &str) -> String {
    break_mentions(text, |_| true)
}

/// Takes the meaning from wildcard mentions only.
pub fn without_wildcards(text: &str) -> String {
    break_mentions(text, |rest| {
        let name = rest.trim_start_matches('_').trim_start_matches('*');
        WILDCARDS.iter().any(|word| name.strip_prefix(word).is_some_and(|end| end.starts_with('*')))
    })
}

fn break_mentions(text: &str, is_broken: impl Fn(&str) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut pieces = text.split('@');
    out.extend(pieces.next());
    for piece in pieces {
        out.push('@');
        if (piece.starts_with('*') || piece.starts_with("_*")) && is_broken(piece) {
            out.push(BREAK);
        }
        out.push_str(piece);
    }
    out
}

/// A link. Without a usable address only its text.
pub fn link(text: &str, url: &str) -> String {
    let shown = inline(text);
    match address(url) {
        Some(url) => format!("[{}]({url})", bracketless(&shown)),
        None => shown,
    }
}

/// Brackets in pairs stay, others would end the text of the link.
fn bracketless(text: &str) -> String {
    let mut depth = 0i32;
    let balanced = text.chars().all(|c| {
        depth += i32::from(c == '[') - i32::from(c == ']');
        depth >= 0
    });
    if balanced && depth == 0 && !text.contains("](") {
        return text.to_owned();
    }
    text.replace('[', "(").replace(']', ")")
}

/// An address that can be the target of a link: http, https or mailto, with everything encoded that would end it.
pub fn address(url: &str) -> Option<String> {
    let url = capped(url).trim();
    let parsed = url::Url::parse(url).ok()?;
    if !matches!(parsed.scheme(), "http" | "https" | "mailto") {
        return None;
    }
    let mut out = String::with_capacity(url.len());
    for c in url.chars() {
        match c {
            ' ' => out.push_str("%20"),
            '(' => out.push_str("%28"),
            ')' => out.push_str("%29"),
            '<' => out.push_str("%3C"),
            '>' => out.push_str("%3E"),
            '[' => out.push_str("%5B"),
            ']' => out.push_str("%5D"),
            '\\' => out.push_str("%5C"),
            '`' => out.push_str("%60"),
            // A message that is truncated inside a link must not end with a mention.
            '*' => out.push_str("%2A"),
            '"' => out.push_str("%22"),
            c if c.is_control() || c.is_whitespace() => {}
            c => out.push(c),
        }
    }
    Some(out)
}

/// A code span, with more backticks around it than are in it. It contains no mentions, because a long message may be truncated
/// before the end of the span.
pub fn code(text: &str) -> String {
    let text = silent(&line(text));
    if text.is_empty() {
        return String::new();
    }
    let fence = "`".repeat(longest_run(&text, '`') + 1);
    if fence.len() == 1 { format!("`{text}`") } else { format!("{fence} {text} {fence}") }
}

/// A quote of several lines; nothing for an empty text.
pub fn quote(quoted: &str) -> String {
    let quoted = text(quoted);
    block("~~~", "quote", quoted.trim_end())
}

/// A block of code of several lines; nothing for an empty text.
pub fn fenced(inside: &str, language: &str) -> String {
    let plain: String =
        capped(inside).chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect();
    block("```", language, plain.trim_end())
}

/// A fence that is longer than any in the text.
fn block(fence: &str, word: &str, inside: &str) -> String {
    if inside.trim().is_empty() {
        return String::new();
    }
    let mark = if fence.starts_with('~') { '~' } else { '`' };
    let fence = mark.to_string().repeat((longest_run(inside, mark) + 1).max(fence.len()));
    let gap = if mark == '~' { " " } else { "" };
    format!("{fence}{gap}{word}\n{inside}\n{fence}")
}

fn longest_run(text: &str, mark: char) -> usize {
    let (mut longest, mut run) = (0, 0);
    for c in text.chars() {
        run = if c == mark { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mentions_lose_their_meaning() {
        assert_eq!(inline("ask @**all** or\n@*team*"), "ask @\u{200b}**all** or @\u{200b}*team*");
        assert_eq!(inline("a@b.c @hamlet @_**King**"), "a@b.c @hamlet @\u{200b}_**King**");
        assert_eq!(
            without_wildcards("@**King** @**all** @_**topic**"),
            "@**King** @\u{200b}**all** @\u{200b}_**topic**"
        );
        assert_eq!(without_wildcards("@**allan**"), "@**allan**");
    }

    #[test]
    fn links_cannot_be_left() {
        assert_eq!(link("a", "https://x.example/(b)"), "[a](https://x.example/%28b%29)");
        assert_eq!(link("[WIP] x", "https://x.example"), "[[WIP] x](https://x.example)");
        assert_eq!(
            link("a](http://evil) [b", "https://x.example"),
            "[a)(http://evil) (b](https://x.example)"
        );
        assert_eq!(link("x", "https://x.example/@**all**"), "[x](https://x.example/@%2A%2Aall%2A%2A)");
        assert_eq!(link("x", "javascript:alert(1)"), "x");
        assert_eq!(link("x\ny", ""), "x y");
    }

    #[test]
    fn fences_are_longer_than_what_they_hold() {
        assert_eq!(code("a"), "`a`");
        assert_eq!(code("a`b"), "`` a`b ``");
        assert_eq!(quote("a\n~~~\nb\n"), "~~~~ quote\na\n~~~\nb\n~~~\n~~~~");
        assert_eq!(fenced("x", "json"), "```json\nx\n```");
        assert_eq!(quote("a\n```\nb"), "~~~ quote\na\n```\nb\n```\n~~~");
        assert_eq!(quote("~~~ quote\nb"), "~~~~ quote\n~~~ quote\nb\n~~~\n~~~~");
        assert_eq!((quote(" \n"), code("")), (String::new(), String::new()));
        assert_eq!(inline("a ` b"), "a ' b");
        assert_eq!(capped(&"é".repeat(11_000)).chars().count(), TEXT_CHARS_MAX);
    }
}
