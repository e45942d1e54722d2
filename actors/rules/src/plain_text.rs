//! Converts rendered messages to plain text, for push notifications and e-mails.

use crate::emoji;

/// The text, each block on its own line, without hidden spoilers. Emoji are their names between colons. The HTML must be
/// well-formed, as our renderer's is.
pub fn plain_text(html: &str) -> String {
    text_of(html, false)
}

/// The text for people who read it outside a client: as [`plain_text`], but emoji are characters, where there are any.
pub fn notification_text(html: &str) -> String {
    text_of(html, true)
}

fn text_of(html: &str, shows_emoji: bool) -> String {
    let mut out = String::with_capacity(html.len() / 2);
    // Number of open elements inside a hidden one, that one included.
    let mut hidden_depth = 0usize;
    let mut quote_depth = 0usize;
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        push_text(&mut out, &rest[..start], hidden_depth, quote_depth);
        let Some(end) = rest[start..].find('>') else { break };
        let tag = &rest[start + 1..start + end];
        rest = &rest[start + end + 1..];
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap_or_default();
        let is_void = tag.ends_with('/') || matches!(name, "br" | "hr" | "img" | "input");
        let is_end = tag.starts_with('/');
        if hidden_depth > 0 {
            match (is_void, is_end) {
                (true, _) => {}
                (false, true) => hidden_depth -= 1,
                (false, false) => hidden_depth += 1,
            }
            continue;
        }
        match name {
            "div" if tag.contains("spoiler-content") => {
                push_line(&mut out);
                out.push_str("(\u{2026})");
                hidden_depth = 1;
            }
            "span" if tag.contains("\"katex-html\"") => hidden_depth = 1,
            "span" if shows_emoji => {
                if let Some((characters, after)) = emoji_at(tag, rest) {
                    push_text(&mut out, &characters, 0, quote_depth);
                    rest = after;
                }
            }
            "math" if !is_end => {
                let (tex, after) = formula(rest);
                push_text(&mut out, tex, 0, quote_depth);
                rest = after;
            }
            "img" => push_text(&mut out, attribute(tag, "alt"), 0, quote_depth),
            "blockquote" if is_end => quote_depth = quote_depth.saturating_sub(1),
            "blockquote" => quote_depth += 1,
            "li" if !is_end => {
                push_line(&mut out);
                out.push_str("\u{2022} ");
            }
            "p" | "div" | "li" | "br" | "tr" | "pre" | "ul" | "ol" | "table" | "h1" | "h2" | "h3" | "h4"
            | "h5" | "h6" => push_line(&mut out),
            "td" | "th" if is_end => out.push(' '),
            _ => {}
        }
    }
    push_text(&mut out, rest, hidden_depth, quote_depth);
    out.trim().to_owned()
}

/// The TeX of a formula, and what follows its MathML.
fn formula(math: &str) -> (&str, &str) {
    let (math, after) = math.split_once("</math>").unwrap_or((math, ""));
    let tex = math.split_once("application/x-tex\">").map_or("", |(_, tex)| tex);
    (tex.split_once("</annotation>").map_or("", |(tex, _)| tex), after)
}

/// The characters of an emoji that begins with this tag, and what follows its name.
fn emoji_at<'h>(tag: &str, rest: &'h str) -> Option<(String, &'h str)> {
    let code = attribute(tag, "class").strip_prefix("emoji emoji-")?;
    Some((emoji::characters(code)?, &rest[rest.find('<')?..]))
}

/// The first characters of a text, and whether it was truncated.
pub fn cut(text: &str, chars_max: usize) -> (String, bool) {
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => (format!("{}\u{2026}", text[..end].trim_end()), true),
        None => (text.to_owned(), false),
    }
}

fn push_line(out: &mut String) {
    // The text of a list item stays on the line of its bullet.
    if !out.is_empty() && !out.ends_with('\n') && !out.ends_with("\u{2022} ") {
        out.push('\n');
    }
}

fn push_text(out: &mut String, text: &str, hidden_depth: usize, quote_depth: usize) {
    if hidden_depth > 0
        || text.is_empty()
        || (text.trim().is_empty() && (out.is_empty() || out.ends_with('\n')))
    {
        return;
    }
    let text = unescape(text);
    for (index, line) in text.split('\n').enumerate() {
        if index > 0 {
            push_line(out);
        }
        if !line.is_empty() && (out.is_empty() || out.ends_with('\n')) {
            (0..quote_depth).for_each(|_| out.push_str("> "));
        }
        out.push_str(line);
    }
}

fn attribute<'t>(tag: &'t str, name: &str) -> &'t str {
    let Some(start) = tag.find(&format!(" {name}=\"")) else { return "" };
    let value = &tag[start + name.len() + 3..];
    value.split('"').next().unwrap_or_default()
}

fn unescape(text: &str) -> String {
    if !text.contains('&') {
        return text.to_owned();
    }
    let replaced = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
    replaced.replace("&#39;", "'").replace("&#x27;", "'").replace("&nbsp;", " ").replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formulas::{Display, FormulaBudget};
    use crate::markdown::{NoNames, render};

    #[test]
    fn html_to_plain_text() {
        let cases = [
            ("<p>Hello <strong>you</strong> &amp; me</p>", "Hello you & me"),
            ("<p>one</p>\n<p>two<br>\nthree</p>", "one\ntwo\nthree"),
            ("<ul>\n<li>a</li>\n<li>b</li>\n</ul>", "\u{2022} a\n\u{2022} b"),
            ("<blockquote>\n<p>said</p>\n</blockquote>\n<p>answered</p>", "> said\nanswered"),
            ("<p><img alt=\":smile:\" class=\"emoji\" src=\"x\"></p>", ":smile:"),
            (
                "<div class=\"spoiler-block\"><div class=\"spoiler-header\">\n<p>end</p>\n</div><div \
                 class=\"spoiler-content\" aria-hidden=\"true\">\n<p>he <img alt=\"x\"> dies</p>\n</div></div>\n<p>so</p>",
                "end\n(\u{2026})\nso",
            ),
            ("<p>&lt;b&gt; &amp;lt;</p>", "<b> &lt;"),
            ("", ""),
        ];
        for (html, text) in cases {
            assert_eq!(plain_text(html), text, "{html}");
        }
    }

    #[test]
    fn emoji_are_characters_for_people() {
        let html = render("> so :heart: :smile:\n\n:flag_ascension_island: `:smile:` :zulip:", &NoNames)
            .unwrap()
            .html;
        let named = plain_text(&html);
        assert!(named.starts_with("> so :heart: :smile:"), "{named}");
        let shown = notification_text(&html);
        let flag = "\u{1f1e6}\u{1f1e8}";
        assert!(shown.starts_with(&format!("> so \u{2764} \u{1f604}\n{flag} :smile:")), "{shown}");
        assert_eq!(notification_text("<span class=\"emoji emoji-x\">:x:</span>"), ":x:");
    }

    #[test]
    fn formulas_are_their_tex() {
        let formula = FormulaBudget::of_message().render("\\sqrt{x} < 2", Display::Inline).unwrap();
        assert_eq!(plain_text(&format!("<p>If {formula}, stop.</p>")), "If \\sqrt{x} < 2, stop.");
    }

    #[test]
    fn long_texts_are_truncated_between_characters() {
        assert_eq!(cut("äöü", 3), ("äöü".to_owned(), false));
        assert_eq!(cut("äöüß", 3), ("äöü\u{2026}".to_owned(), true));
    }
}
