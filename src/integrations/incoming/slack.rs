//! Slack's mrkdwn as Markdown: links, mentions of channels and people, bold, italic and struck text.

use super::markdown::{address, capped, closed, inline, without_wildcards};

/// Slack's text as Markdown. Code spans and blocks stay as they are.
pub fn from_mrkdwn(text: &str) -> String {
    let text = capped(text);
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('`') {
        let (before, from) = rest.split_at(start);
        let fence = if from.starts_with("```") { "```" } else { "`" };
        let Some(length) = from.get(fence.len()..).and_then(|inside| inside.find(fence)) else { break };
        let (span, after) = from.split_at(length + 2 * fence.len());
        out.push_str(&prose(before));
        push_code(&mut out, span, fence);
        rest = after;
    }
    out.push_str(&prose(rest));
    closed(without_wildcards(&out))
}

/// Blocks begin and end on lines of their own.
fn push_code(out: &mut String, span: &str, fence: &str) {
    if fence.len() == 1 {
        return out.push_str(&unescape(span));
    }
    let inside = span.trim_start_matches("```").trim_end_matches("```").trim_matches('\n');
    if !out.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
    out.push_str(&format!("```\n{}\n```\n", unescape(inside)));
}

fn prose(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        let (before, from) = rest.split_at(start);
        out.push_str(&unescape(&emphasis(before)));
        let inside = from.get(1..).unwrap_or_default();
        match inside.find(['>', '\n']).filter(|end| inside.as_bytes().get(*end) == Some(&b'>')) {
            Some(end) => {
                let (reference, after) = inside.split_at(end);
                out.push_str(&refer(reference));
                rest = after.get(1..).unwrap_or_default();
            }
            None => {
                out.push('<');
                rest = inside;
                if !rest.contains('>') {
                    break;
                }
            }
        }
    }
    out.push_str(&unescape(&emphasis(rest)));
    out
}

/// What is between angle brackets: a link, a channel, a user, a group, or a wildcard mention.
fn refer(reference: &str) -> String {
    let (target, label) = match reference.split_once('|') {
        Some((target, label)) => (target, Some(label)),
        None => (reference, None),
    };
    let target = unescape(target);
    let named = |sign: &str, id: &str| inline(&format!("{sign}{}", label.map_or(id.to_owned(), unescape)));
    match target.split_at_checked(1) {
        Some(("#", id)) => named("#", id),
        Some(("@", id)) => named("@", id),
        Some(("!", id)) => match id.split('^').next() {
            Some("subteam" | "date") => label.map_or(id.to_owned(), |label| inline(&unescape(label))),
            // A wildcard: no mention, so that another service cannot notify all users.
            _ => format!("@{}", inline(label.map_or(id, |label| label.trim_start_matches('@')))),
        },
        _ => match (address(&target), label) {
            (Some(url), Some(label)) => super::markdown::link(&unescape(label), &url),
            (Some(_), None) => target,
            // Not a reference: what was written.
            (None, _) => format!("<{reference}>"),
        },
    }
}

fn unescape(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

/// `*bold*`, `_italic_` and `~struck~` at the borders of words, within a line.
fn emphasis(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len() + 8);
    let mut at = 0;
    while let Some(c) = chars.get(at) {
        let marks = match c {
            '*' => "**",
            '_' => "*",
            '~' => "~~",
            _ => "",
        };
        match closing(&chars, at).filter(|_| !marks.is_empty()) {
            Some(end) => {
                let inside: String = chars.get(at + 1..end).unwrap_or_default().iter().collect();
                out.push_str(&format!("{marks}{}{marks}", emphasis(&inside)));
                at = end + 1;
            }
            None => {
                out.push(*c);
                at += 1;
            }
        }
    }
    out
}

/// Where emphasis that begins at a mark ends: no space inside beside the marks, no letter outside beside them.
fn closing(chars: &[char], start: usize) -> Option<usize> {
    let mark = chars.get(start)?;
    let is_word = |c: Option<&char>| c.is_some_and(|c| c.is_alphanumeric() || *c == '_');
    let before = start.checked_sub(1).and_then(|at| chars.get(at));
    if is_word(before)
        || before == Some(mark)
        || chars.get(start + 1).is_none_or(|c| c.is_whitespace() || c == mark)
    {
        return None;
    }
    let length = chars.get(start + 1..)?.iter().position(|c| c == mark || *c == '\n')?;
    let end = start + 1 + length;
    let is_end = chars.get(end) == Some(mark)
        && !chars.get(end - 1).is_some_and(|c| c.is_whitespace())
        && chars.get(end + 1) != Some(mark)
        && !is_word(chars.get(end + 1));
    is_end.then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mrkdwn_becomes_markdown() {
        for (slack, expected) in [
            ("*bold* and _italic_ and ~gone~", "**bold** and *italic* and ~~gone~~"),
            ("*bold _both_*", "**bold *both***"),
            ("2*3*4 and snake_case_name", "2*3*4 and snake_case_name"),
            ("* item one *", "* item one *"),
            ("<https://example.com|Overlook Hotel> :star:", "[Overlook Hotel](https://example.com) :star:"),
            ("<https://example.com/a_b_c>", "https://example.com/a_b_c"),
            ("<mailto:a@b.c|a@b.c>", "[a@b.c](mailto:a@b.c)"),
            ("<#C123|general> <@U1|bob> <@U2>", "#general @bob @U2"),
            ("<!channel> <!here|here> <!subteam^S1|@ops>", "@channel @here @ops"),
            ("a &lt;b&gt; &amp; c", "a <b> & c"),
            ("`*x*` ```a\n*b*``` after", "`*x*` \n```\na\n*b*\n```\n after"),
            ("@**all** @**King Hamlet** **x**", "@\u{200b}**all** @**King Hamlet** **x**"),
            ("1 < 2", "1 < 2"),
            ("open ` tick *b*", "open ` tick **b**"),
        ] {
            assert_eq!(from_mrkdwn(slack), expected, "{slack}");
        }
    }
}
