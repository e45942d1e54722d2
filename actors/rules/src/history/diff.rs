//! `content_html_diff`: the new HTML with removed and inserted text in spans
//! (docs/api/messages.md#fetch-the-edit-history).
//!
//! The units of comparison are words and tags. The result has exactly the tags of the new HTML, so it is as well-formed;
//! of the old HTML only text is shown.

use similar::{Algorithm, DiffTag, capture_diff_slices};

/// Comparing takes at most the square of the number of words. Beyond this budget for one history, everything between
/// the common start and end counts as replaced.
const COMPARISONS_MAX: u64 = 50_000_000;
/// Shown for a line break that was removed or inserted.
const LINE_BREAK_MARK: &str = "↵";

/// The remaining comparisons.
pub(super) struct DiffBudget(u64);

impl Default for DiffBudget {
    fn default() -> Self {
        Self(COMPARISONS_MAX)
    }
}

impl DiffBudget {
    /// The new HTML with the changes from the old one marked.
    pub(super) fn html_diff(&mut self, old: &str, new: &str) -> String {
        let (old, new) = (tokens(old), tokens(new));
        let same_before = common(old.iter(), new.iter());
        let same_after = common(old[same_before..].iter().rev(), new[same_before..].iter().rev());
        let old_end = old.len() - same_after;
        let new_end = new.len() - same_after;
        let mut writer = Writer { html: String::from("<div>"), open: None };
        writer.keep(&new[..same_before]);
        for (removed, inserted) in self.changes(&old[same_before..old_end], &new[same_before..new_end]) {
            match removed {
                None => writer.keep(inserted),
                Some(removed) => {
                    writer.remove(removed);
                    writer.insert(inserted);
                }
            }
        }
        writer.keep(&new[new_end..]);
        writer.html.push_str("</div>");
        writer.html
    }

    /// All tokens in order, as runs of changed and unchanged ones.
    fn changes<'s, 't>(&mut self, old: &'s [&'t str], new: &'s [&'t str]) -> Vec<Change<'s, 't>> {
        let cost = ((old.len() + new.len()) as u64).pow(2);
        if cost > self.0 {
            return vec![(Some(old), new)];
        }
        self.0 -= cost;
        let operations = capture_diff_slices(Algorithm::Myers, old, new);
        let changes = operations.iter().map(|operation| {
            let (tag, old_range, new_range) = operation.as_tag_tuple();
            ((tag != DiffTag::Equal).then_some(&old[old_range]), &new[new_range])
        });
        changes.collect()
    }
}

/// The removed tokens (none where nothing changes) and the tokens of the new HTML.
type Change<'s, 't> = (Option<&'s [&'t str]>, &'s [&'t str]);

fn common<'s>(a: impl Iterator<Item = &'s &'s str>, b: impl Iterator<Item = &'s &'s str>) -> usize {
    a.zip(b).take_while(|(a, b)| a == b).count()
}

/// Tags, words, and the white space between them.
fn tokens(html: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = html;
    while let Some(first) = rest.chars().next() {
        let end = match first {
            '<' => rest.find('>').map(|position| position + 1),
            _ if first.is_whitespace() => rest.find(|c: char| !c.is_whitespace()),
            _ => rest.find(|c: char| c == '<' || c.is_whitespace()),
        };
        let (token, after) = rest.split_at(end.unwrap_or(rest.len()));
        tokens.push(token);
        rest = after;
    }
    tokens
}

fn is_tag(token: &str) -> bool {
    token.starts_with('<')
}

/// The text shown for a removed tag: a mark for a line break, or the alternative text of a picture.
fn text_of_tag(tag: &str) -> &str {
    if tag.starts_with("<br") {
        return LINE_BREAK_MARK;
    }
    let alt = tag.strip_prefix("<img ").and_then(|tag| tag.split_once("alt=\""));
    alt.and_then(|(_, alt)| alt.split_once('"')).map_or("", |(alt, _)| alt)
}

/// Writes HTML with spans that never contain a block.
struct Writer {
    html: String,
    /// The class of the open span.
    open: Option<&'static str>,
}

impl Writer {
    fn keep(&mut self, tokens: &[&str]) {
        self.close();
        tokens.iter().for_each(|token| self.html.push_str(token));
    }

    fn remove(&mut self, tokens: &[&str]) {
        for token in tokens {
            self.highlight("highlight_text_deleted", if is_tag(token) { text_of_tag(token) } else { token });
        }
        self.close();
    }

    fn insert(&mut self, tokens: &[&str]) {
        for token in tokens {
            if !is_tag(token) {
                self.highlight("highlight_text_inserted", token);
                continue;
            }
            if token.starts_with("<br") {
                self.highlight("highlight_text_inserted", LINE_BREAK_MARK);
            }
            self.close();
            self.html.push_str(token);
        }
        self.close();
    }

    /// White space alone opens no span: between blocks there must be none.
    fn highlight(&mut self, class: &'static str, text: &str) {
        if self.open.is_none() && !text.trim().is_empty() {
            self.html.push_str(&format!(r#"<span class="{class}">"#));
            self.open = Some(class);
        }
        if self.open.is_some() || class == "highlight_text_inserted" {
            self.html.push_str(text);
        }
    }

    fn close(&mut self) {
        if self.open.take().is_some() {
            self.html.push_str("</span>");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn diff(old: &str, new: &str) -> String {
        DiffBudget::default().html_diff(old, new)
    }

    const DELETED: &str = r#"<span class="highlight_text_deleted">"#;
    const INSERTED: &str = r#"<span class="highlight_text_inserted">"#;

    #[test]
    fn changes_are_marked() {
        let deleted = |text: &str| format!("{DELETED}{text}</span>");
        let inserted = |text: &str| format!("{INSERTED}{text}</span>");
        for (old, new, expected) in [
            ("<p>a</p>", "<p>a</p>", "<div><p>a</p></div>".to_owned()),
            (
                "<p>Hello</p>",
                "<p>Howdy</p>",
                format!("<div><p>{}{}</p></div>", deleted("Hello"), inserted("Howdy")),
            ),
            ("<p>a b</p>", "<p>a b c</p>", format!("<div><p>a b {}</p></div>", inserted("c"))),
            ("<p>a b c</p>", "<p>a c</p>", format!("<div><p>a {}c</p></div>", deleted("b "))),
            ("<p>a</p>", "<p><b>a</b></p>", "<div><p><b>a</b></p></div>".to_owned()),
            (
                "<p>a</p>",
                "<p>a<br>\nb</p>",
                format!("<div><p>a{}<br>\n{}</p></div>", inserted("↵"), inserted("b")),
            ),
            ("<p>a<br>\nb</p>", "<p>a</p>", format!("<div><p>a{}</p></div>", deleted("↵\nb"))),
            (
                r#"<p>x <img alt=":blob:" class="emoji"></p>"#,
                "<p>x</p>",
                format!("<div><p>x{}</p></div>", deleted(":blob:")),
            ),
            ("<p>a</p>", "<p>a</p>\n<p>b</p>", format!("<div><p>a</p>\n<p>{}</p></div>", inserted("b"))),
            ("", "<p>a</p>", format!("<div><p>{}</p></div>", inserted("a"))),
        ] {
            assert_eq!(diff(old, new), expected, "{old} → {new}");
        }
    }

    #[test]
    fn a_spent_budget_replaces_everything_between() {
        let mut budget = DiffBudget(0);
        let expected = format!("<div><p>a {DELETED}b c d</span>{INSERTED}x c y</span> e</p></div>");
        assert_eq!(budget.html_diff("<p>a b c d e</p>", "<p>a x c y e</p>"), expected);
    }

    /// The result without one kind of span and its text, and without the marks of the other.
    fn without(diff: &str, dropped: &str, kept: &str) -> String {
        let mut text = String::new();
        let mut rest = diff.strip_prefix("<div>").unwrap().strip_suffix("</div>").unwrap();
        while let Some(start) = [rest.find(dropped), rest.find(kept)].into_iter().flatten().min() {
            text.push_str(&rest[..start]);
            let is_dropped = rest[start..].starts_with(dropped);
            let after = &rest[start + if is_dropped { dropped.len() } else { kept.len() }..];
            let (inside, after) = after.split_once("</span>").unwrap();
            if !is_dropped {
                text.push_str(inside);
            }
            rest = after;
        }
        text + rest
    }

    proptest! {
        #[test]
        fn the_new_html_is_complete(
            old in proptest::collection::vec("<b>|</b>|<br>|a|b|c| |\n", 0..30),
            new in proptest::collection::vec("<b>|</b>|<br>|a|b|c| |\n", 0..30),
            budget in 0_u64..2000,
        ) {
            let (old, new) = (old.concat(), new.concat());
            let diff = DiffBudget(budget).html_diff(&old, &new);
            prop_assert_eq!(without(&diff, DELETED, INSERTED).replace('↵', ""), new);
            let words = |html: &str| -> String {
                tokens(html).into_iter().filter(|token| !is_tag(token) && !token.trim().is_empty()).collect()
            };
            let before = without(&diff, INSERTED, DELETED).replace('↵', "");
            prop_assert_eq!(words(&before), words(&old));
        }
    }
}
