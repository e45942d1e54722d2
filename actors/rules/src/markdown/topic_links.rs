//! Links in topic names: matches of linkifiers, and bare URLs.

use super::MarkdownContext;
use super::linkifier::{LinkifierBudget, LinkifierMatch};
use super::urls::find_link;

/// Characters that separate words of a topic.
const BETWEEN_WORDS: [char; 7] = [' ', '!', ';', ')', ',', '\'', '"'];

/// A link found in a topic name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicLink {
    /// The part of the topic that is the link.
    pub text: String,
    pub url: String,
}

/// The links of a topic name (docs/api/markdown.md#links), in the order of the text and without overlaps. Where two
/// would overlap, the earlier linkifier wins, then the earlier start; bare URLs come last.
pub fn topic_links(topic: &str, context: &dyn MarkdownContext) -> Vec<TopicLink> {
    let mut found = Vec::new();
    let mut budget = LinkifierBudget::of_text();
    for linkifier in context.linkifiers() {
        for link in linkifier.matches(topic, &mut budget) {
            push_unless_overlapping(&mut found, link);
        }
    }
    let mut word_start = 0;
    for word in topic.split(BETWEEN_WORDS) {
        if let Some((start, end)) = find_link(word)
            && let Some(url) = url_of(&word[start..end])
        {
            let link = LinkifierMatch { start: word_start + start, end: word_start + end, url };
            push_unless_overlapping(&mut found, link);
        }
        word_start += word.len() + 1;
    }
    found.sort_by_key(|link| link.start);
    let link =
        |found: LinkifierMatch| TopicLink { text: topic[found.start..found.end].into(), url: found.url };
    found.into_iter().map(link).collect()
}

fn push_unless_overlapping(found: &mut Vec<LinkifierMatch>, new: LinkifierMatch) {
    if found.iter().all(|old| new.end <= old.start || old.end <= new.start) {
        found.push(new);
    }
}

/// The URL of a bare link in a topic; e-mail addresses are not linked.
fn url_of(typed: &str) -> Option<String> {
    if typed.contains("://") {
        return Some(typed.to_owned());
    }
    let host = typed.split('/').next().unwrap_or(typed);
    (!host.contains('@')).then(|| format!("https://{typed}"))
}
