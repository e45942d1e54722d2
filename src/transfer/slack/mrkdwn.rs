//! Slack's markup as Markdown: links, mentions, bold, italic, strikethrough; code is kept.

use super::conversations::SlackConversations;
use super::emoji::emoji_name;
use super::people::People;
use std::collections::VecDeque;
use std::ops::Range;

/// What names mean.
#[derive(Clone, Copy)]
pub struct Names<'n> {
    pub people: &'n People,
    pub conversations: &'n SlackConversations,
}

/// A text as Markdown.
pub fn to_markdown(text: &str, names: Names<'_>) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    // Code is what stands between the same marks, the longer first.
    while let Some(start) = rest.find('`') {
        let (before, from) = rest.split_at(start);
        let mark = if from.starts_with("```") { "```" } else { "`" };
        let inside = from.get(mark.len()..).unwrap_or_default();
        let Some(end) = inside.find(mark).filter(|end| *end > 0) else {
            let (mark, after) = from.split_at(mark.len());
            out.push_str(&prose(before, names));
            out.push_str(mark);
            rest = after;
            continue;
        };
        let (code, after) = inside.split_at(end);
        out.push_str(&prose(before, names));
        out.push_str(&code_block(&plain_links(code), mark));
        rest = after.get(mark.len()..).unwrap_or_default();
        if mark == "```" && !rest.is_empty() && !rest.starts_with('\n') {
            out.push('\n');
        }
    }
    out.push_str(&prose(rest, names));
    out
}

fn code_block(code: &str, mark: &str) -> String {
    if mark == "`" {
        return format!("`{code}`");
    }
    format!("\n```\n{}\n```", code.trim_matches('\n'))
}

/// Links in code are only their labels or addresses.
fn plain_links(code: &str) -> String {
    let label = |token: &str| token.split_once('|').map_or(token, |(_, label)| label).to_owned();
    unescape(&with_links(code, str::to_owned, label))
}

/// Converts what stands between `<` and `>` with `link`, and the rest with `plain`. A `<` that no `>` follows is text.
fn with_links(text: &str, plain: impl Fn(&str) -> String, link: impl Fn(&str) -> String) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    // Once a `<` has no end, none after it has one.
    let mut has_links = true;
    while let Some((before, after)) = rest.split_once('<') {
        out.push_str(&plain(before));
        match has_links.then(|| after.split_once('>')).flatten() {
            Some((token, next)) => {
                out.push_str(&link(token));
                rest = next;
            }
            None => {
                has_links = false;
                out.push('<');
                rest = after;
            }
        }
    }
    out.push_str(&plain(rest));
    out
}

/// Text without code: line by line, because marks do not span lines.
fn prose(text: &str, names: Names<'_>) -> String {
    let lines: Vec<String> = text.split('\n').map(|line| prose_line(line, names)).collect();
    lines.join("\n")
}

fn prose_line(line: &str, names: Names<'_>) -> String {
    let line = match line.strip_prefix("&gt;&gt;&gt;").or_else(|| line.strip_prefix("&gt;")) {
        Some(quoted) => format!("> {}", quoted.trim_start()),
        None => line.replacen("• ", "* ", usize::from(line.trim_start().starts_with("• "))),
    };
    // A quote's own sign is no link.
    let (sign, text) = line.split_at(if line.starts_with("> ") { 2 } else { 0 });
    format!("{sign}{}", with_links(text, marks, |token| link(token, names)))
}

/// What stands between `<` and `>`.
fn link(token: &str, names: Names<'_>) -> String {
    let (target, label) = match token.split_once('|') {
        Some((target, label)) => (target, Some(unescape(label))),
        None => (token, None),
    };
    if let Some(user) = target.strip_prefix('@') {
        let named = names.people.mention(user);
        return named.unwrap_or_else(|| format!("@{}", label.unwrap_or_else(|| user.to_owned())));
    }
    if let Some(channel) = target.strip_prefix('#') {
        let name = names.conversations.channel_name(channel).map(str::to_owned).or(label);
        return name.map_or_else(|| format!("#{channel}"), |name| format!("#**{name}**"));
    }
    if let Some(command) = target.strip_prefix('!') {
        return match command.split('^').next().unwrap_or(command) {
            "here" | "channel" | "everyone" => "@**all**".to_owned(),
            _ => label.unwrap_or_else(|| format!("@{command}")),
        };
    }
    let url = unescape(target);
    let shown = url.strip_prefix("mailto:").unwrap_or(&url);
    match label {
        Some(label) if label != shown && !label.is_empty() => {
            format!("[{}]({url})", label.replace(['[', ']'], ""))
        }
        Some(_) | None => shown.to_owned(),
    }
}

/// Bold, italic, strikethrough and emoji of a piece without links. Each character is visited once, however marks are nested.
fn marks(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut ends = MarkEnds::of(&chars);
    let mut out = String::with_capacity(text.len() + 8);
    // Marks that have begun, the innermost last: where each ends, and what it is in Markdown.
    let mut begun: Vec<(usize, &str)> = Vec::new();
    let mut inner_from = 0;
    for (position, sign) in chars.iter().copied().enumerate() {
        if let Some((_, mark)) = begun.pop_if(|(end, _)| *end == position) {
            out.push_str(mark);
            continue;
        }
        let inner = inner_from..begun.last().map_or(chars.len(), |(end, _)| *end);
        match ends.of_mark(position, inner) {
            Some((end, mark)) => {
                out.push_str(mark);
                begun.push((end, mark));
                inner_from = position + 1;
            }
            None => out.push(sign),
        }
    }
    emoji(&unescape(&out))
}

/// The signs of marks, and what they are in Markdown.
const MARKS: [(char, &str); 3] = [('*', "**"), ('_', "*"), ('~', "~~")];

/// Where marks can end: no space before, no letter and not the same sign after. Each is dropped once the text is past it.
struct MarkEnds<'c> {
    chars: &'c [char],
    /// By the position of the sign in `MARKS`, in order.
    by_sign: [VecDeque<usize>; MARKS.len()],
}

impl<'c> MarkEnds<'c> {
    fn of(chars: &'c [char]) -> Self {
        let mut own = Self { chars, by_sign: Default::default() };
        for (position, sign) in chars.iter().enumerate() {
            let next = chars.get(position + 1);
            let queue = MARKS.iter().position(|(known, _)| known == sign);
            if let Some(queue) = queue.and_then(|number| own.by_sign.get_mut(number))
                && !is_word(next)
                && next != Some(sign)
                && follows_text(chars, position)
            {
                queue.push_back(position);
            }
        }
        own
    }

    /// Where the mark that begins at a position ends, and its Markdown: no letter before it and no space after it, both in the
    /// innermost mark around it, `inner`. Positions are asked for in order.
    fn of_mark(&mut self, start: usize, inner: Range<usize>) -> Option<(usize, &'static str)> {
        let sign = self.chars.get(start)?;
        let number = MARKS.iter().position(|(known, _)| known == sign)?;
        let (_, mark) = MARKS.get(number).copied()?;
        let before = start.checked_sub(1).filter(|before| inner.contains(before));
        let before = before.and_then(|before| self.chars.get(before));
        let first = self.chars.get(start + 1).filter(|_| inner.contains(&(start + 1)))?;
        if is_word(before) || before == Some(sign) || first.is_whitespace() || first == sign {
            return None;
        }
        let ends = self.by_sign.get_mut(number)?;
        while ends.front().is_some_and(|end| *end < start + 2) {
            ends.pop_front();
        }
        // The end of the mark around it is no letter.
        let last = inner.end.checked_sub(1).filter(|last| {
            *last >= start + 2 && self.chars.get(*last) == Some(sign) && follows_text(self.chars, *last)
        });
        let end = ends.front().copied().filter(|end| *end < inner.end).or(last)?;
        Some((end, mark))
    }
}

fn is_word(c: Option<&char>) -> bool {
    c.is_some_and(|c| c.is_alphanumeric())
}

/// Whether there is a character before a position, and it is no space.
fn follows_text(chars: &[char], position: usize) -> bool {
    let before = position.checked_sub(1).and_then(|before| chars.get(before));
    before.is_some_and(|c| !c.is_whitespace())
}

/// Replaces names of emoji that differ, and removes skin tones.
fn emoji(text: &str) -> String {
    if !text.contains(':') {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(':') {
        out.push_str(before);
        let name = after.split(':').next().unwrap_or_default();
        let is_name = !name.is_empty() && after.get(name.len()..).is_some_and(|next| next.starts_with(':'));
        match emoji_name(name).filter(|_| is_name) {
            Some(here) => {
                out.push_str(&format!(":{here}:"));
                rest = after.get(name.len() + 1..).unwrap_or_default();
                if let Some((tone, next)) =
                    rest.strip_prefix(":skin-tone-").and_then(|rest| rest.split_once(':'))
                    && tone.bytes().all(|byte| byte.is_ascii_digit())
                {
                    rest = next;
                }
            }
            None => {
                out.push(':');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

fn unescape(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translated(text: &str) -> String {
        let (mut people, conversations) = (People::default(), SlackConversations::default());
        people.stranger("U1", Some("Olga Berg".into()), false);
        to_markdown(text, Names { people: &people, conversations: &conversations })
    }

    #[test]
    fn texts_become_markdown() {
        for (slack, markdown) in [
            ("*bold* _it_ ~gone~", "**bold** *it* ~~gone~~"),
            ("*_both_*", "***both***"),
            ("2*3*4 snake_case_name * no * ~ no ~", "2*3*4 snake_case_name * no * ~ no ~"),
            ("hi <@U1>, <@U1|olga>", "hi @**Olga Berg**, @**Olga Berg**"),
            ("<@U9> <@U9|otto>", "@U9 @otto"),
            ("see <#C1|general>", "see #**general**"),
            (
                "<!here> <!channel> <!subteam^S1|@cooks> <!date^1^{date}|May 1>",
                "@**all** @**all** @cooks May 1",
            ),
            ("<https://x.example/?a=1&amp;b=2>", "https://x.example/?a=1&b=2"),
            ("<https://x.example|the *site*>", "[the *site*](https://x.example)"),
            ("<mailto:o@x.example|o@x.example>", "o@x.example"),
            ("a &lt;b&gt; &amp; c", "a <b> & c"),
            ("`*code* &amp; <https://x.example|x.example>`", "`*code* & x.example`"),
            ("see ```let a = 1;\nb```", "see \n```\nlet a = 1;\nb\n```"),
            ("&gt; quoted *text*", "> quoted **text**"),
            ("• one\n• two", "* one\n* two"),
            (":+1::skin-tone-3: 10:30:00 :unknown_thing:", ":+1: 10:30:00 :unknown_thing:"),
            (":thumbsup: :flag-de: :cat:", ":+1: :flag_germany: :kitten:"),
            ("open ` mark and <broken", "open ` mark and <broken"),
            ("<a <https://x.example> < *b* <c", "a <https://x.example < **b** <c"),
            ("*a *b *c***", "**a **b **c******"),
            ("_a *b* c_ *d _e_ f* _g", "*a **b** c* **d *e* f** _g"),
            ("*a_b* _c*d_", "**a_b** *c*d*"),
            ("*&amp;lt;*", "**&lt;**"),
        ] {
            assert_eq!(translated(slack), markdown, "{slack}");
        }
    }

    /// An end that is not there is not searched for again, and nested marks need no stack.
    #[test]
    fn long_texts_of_signs_without_an_end_and_of_nested_marks() {
        const COUNT: usize = 200_000;
        for sign in ["<", "<a|b", "<a ", "*a ", "_*a ", "`<a", "` ", ":a "] {
            let text = sign.repeat(COUNT);
            assert_eq!(translated(&text), text, "{sign}");
        }
        let nested = vec!["*a"; COUNT].join(" ") + &"*".repeat(COUNT);
        assert_eq!(translated(&nested), nested.replace('*', "**"));
    }
}
