//! Slack's markup as Markdown: links, mentions, bold, italic, strikethrough; code is kept.

use super::conversations::SlackConversations;
use super::emoji::emoji_name;
use super::people::People;

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

/// Links in code are only their addresses.
fn plain_links(code: &str) -> String {
    let mut out = String::with_capacity(code.len());
    let mut rest = code;
    while let Some((before, after)) = rest.split_once('<') {
        out.push_str(before);
        match after.split_once('>') {
            Some((link, next)) => {
                out.push_str(link.split_once('|').map_or(link, |(_, label)| label));
                rest = next;
            }
            None => {
                out.push('<');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    unescape(&out)
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
    let mut out = String::with_capacity(line.len());
    let mut rest = line.as_str();
    // A quote's own sign is no link.
    if let Some(after) = rest.strip_prefix("> ") {
        out.push_str("> ");
        rest = after;
    }
    while let Some((before, after)) = rest.split_once('<') {
        out.push_str(&marks(before));
        match after.split_once('>') {
            Some((token, next)) => {
                out.push_str(&link(token, names));
                rest = next;
            }
            None => {
                out.push('<');
                rest = after;
            }
        }
    }
    out.push_str(&marks(rest));
    out
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

/// Bold, italic, strikethrough and emoji of a piece without links.
fn marks(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len() + 8);
    let mut position = 0;
    while let Some(sign) = chars.get(position).copied() {
        let mark = match sign {
            '*' => Some("**"),
            '_' => Some("*"),
            '~' => Some("~~"),
            _ => None,
        };
        if let Some(mark) = mark
            && let Some(end) = closing(&chars, position, sign)
        {
            let inside: String = chars.get(position + 1..end).into_iter().flatten().collect();
            out.push_str(mark);
            out.push_str(&marks(&inside));
            out.push_str(mark);
            position = end + 1;
            continue;
        }
        out.push(sign);
        position += 1;
    }
    emoji(&unescape(&out))
}

/// Where a mark that begins at a position ends: no space inside of either, no letter outside.
fn closing(chars: &[char], start: usize, sign: char) -> Option<usize> {
    let is_word = |c: Option<&char>| c.is_some_and(|c| c.is_alphanumeric());
    let before = start.checked_sub(1).and_then(|before| chars.get(before));
    let first = chars.get(start + 1)?;
    if is_word(before) || before == Some(&sign) || first.is_whitespace() || *first == sign {
        return None;
    }
    (start + 2..chars.len()).find(|end| {
        chars.get(*end) == Some(&sign)
            && !chars.get(end - 1).is_some_and(|c| c.is_whitespace())
            && !is_word(chars.get(end + 1))
            && chars.get(end + 1) != Some(&sign)
    })
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
        ] {
            assert_eq!(translated(slack), markdown, "{slack}");
        }
    }
}
