//! The description of an organization on a page of this server: its headings follow that of the page, and its emoji are
//! characters, because these pages have no pictures of them.

use rules::emoji;

/// The lowest heading of HTML.
const LEVEL_MAX: usize = 6;
/// After a character that is also a sign of text, such as a heart, it asks for the form of an emoji.
const AS_EMOJI: char = '\u{fe0f}';

/// The HTML of a description, as it is rendered for clients, for the place below the heading of a page: the highest heading is
/// of level 2, and none is more than one level below the one before it.
pub(super) fn below_heading(html: &str) -> String {
    let mut out = String::with_capacity(html.len());
    // The levels of the headings that are open, as written.
    let mut open: Vec<usize> = Vec::new();
    let mut rest = html;
    while let Some((before, tag, after)) = next_tag(rest) {
        out.push_str(before);
        rest = after;
        if let Some(level) = heading_level(tag) {
            open.retain(|above| *above < level);
            open.push(level);
            out.push_str(&format!("<h{}>", shown_level(&open)));
        } else if tag.strip_prefix('/').and_then(heading_level).is_some() {
            out.push_str(&format!("</h{}>", shown_level(&open)));
        } else {
            out.push_str(&format!("<{tag}>"));
            if let Some((characters, after)) = shown_emoji(tag, rest) {
                out.push_str(&characters);
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

/// What is before the first tag, the tag without its brackets, and what follows it. The renderer escapes brackets everywhere else.
fn next_tag(html: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = html.split_once('<')?;
    let (tag, after) = rest.split_once('>')?;
    Some((before, tag, after))
}

/// The level of a heading's name, such as `h3`.
fn heading_level(tag: &str) -> Option<usize> {
    let level = tag.strip_prefix('h')?.parse().ok()?;
    (1..=LEVEL_MAX).contains(&level).then_some(level)
}

/// The level on the page of the last one of these headings, of which each is below the one before it.
fn shown_level(open: &[usize]) -> usize {
    (open.len() + 1).min(LEVEL_MAX)
}

/// The characters of an emoji that begins with this tag, and what follows its name.
fn shown_emoji<'h>(tag: &str, rest: &'h str) -> Option<(String, &'h str)> {
    let (_, code) = tag.strip_prefix("span ")?.split_once("class=\"emoji emoji-")?;
    let (code, _) = code.split_once('"')?;
    let mut characters = emoji::characters(code)?;
    if characters.chars().count() == 1 {
        characters.push(AS_EMOJI);
    }
    let (name, _) = rest.split_once('<')?;
    Some((characters, rest.strip_prefix(name)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rules::markdown::{NoNames, render};

    fn shown(text: &str) -> String {
        below_heading(&render(text, &NoNames).unwrap().html)
    }

    #[test]
    fn headings_follow_that_of_the_page() {
        for (text, levels) in [
            ("# a\n\n## b\n\n# c", vec![2, 3, 2]),
            ("### a\n\n# b", vec![2, 2]),
            ("# a\n\n### b\n\n### c\n\n## d\n\n### e", vec![2, 3, 3, 3, 4]),
            ("# a\n\n## b\n\n### c\n\n#### d\n\n##### e\n\n###### f", vec![2, 3, 4, 5, 6, 6]),
        ] {
            let html = shown(text);
            let begun = html.split("<h").skip(1).map(|rest| rest[..1].parse::<usize>().unwrap());
            let ended = html.split("</h").skip(1).map(|rest| rest[..1].parse::<usize>().unwrap());
            assert_eq!(
                (begun.collect::<Vec<_>>(), ended.collect::<Vec<_>>()),
                (levels.clone(), levels),
                "{html}"
            );
        }
    }

    #[test]
    fn emoji_are_characters_with_their_names() {
        let html = shown("We :smile: and :heart:, see <h1> and `:smile:`");
        assert!(html.contains(">\u{1f604}\u{fe0f}</span> and "), "{html}");
        assert!(html.contains(">\u{2764}\u{fe0f}</span>, see &lt;h1&gt;"), "{html}");
        assert!(html.contains("aria-label=\"smile\"") && html.contains("<code>:smile:</code>"), "{html}");
    }

    #[test]
    fn everything_else_stays() {
        for text in ["", "plain", "**b** [x](https://x.example/?a=1&b=2)", "---\n\n* a\n* b", "a < b > c"] {
            assert_eq!(shown(text), render(text, &NoNames).unwrap().html, "{text}");
        }
        for damaged in ["<p", "a <", "<span class=\"emoji emoji-1f604\" x>:smile:"] {
            assert!(below_heading(damaged).len() >= damaged.len(), "{damaged}");
        }
    }
}
