//! Links in topic names: what linkifiers match, and bare URLs.

use super::MarkdownContext;
use super::urls::find_link;

/// Characters at which a topic is cut into words that may be URLs.
const BETWEEN_WORDS: [char; 7] = [' ', '!', ';', ')', ',', '\'', '"'];

/// A link found in a topic name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicLink {
    /// The part of the topic that is the link.
    pub text: String,
    /// Where it leads.
    pub url: String,
}

struct LinkMatch {
    start: usize,
    end: usize,
    url: String,
}

/// The links of a topic name (docs/api/markdown.md#links), in the order of the text and without overlaps. Where two
/// would overlap, the earlier linkifier wins, then the earlier start; bare URLs come last.
pub fn topic_links(topic: &str, context: &dyn MarkdownContext) -> Vec<TopicLink> {
    let mut found: Vec<LinkMatch> = Vec::new();
    for linkifier in context.linkifiers() {
        for hit in linkifier.matches(topic) {
            push_unless_overlapping(&mut found, LinkMatch { start: hit.start, end: hit.end, url: hit.url });
        }
    }
    let mut word_start = 0;
    for word in topic.split(BETWEEN_WORDS) {
        if let Some((start, end)) = find_link(word)
            && let Some(url) = url_of(&word[start..end])
        {
            push_unless_overlapping(
                &mut found,
                LinkMatch { start: word_start + start, end: word_start + end, url },
            );
        }
        word_start += word.len() + 1;
    }
    found.sort_by_key(|link| link.start);
    let text_of = |link: &LinkMatch| topic[link.start..link.end].to_owned();
    found.into_iter().map(|link| TopicLink { text: text_of(&link), url: link.url }).collect()
}

fn push_unless_overlapping(found: &mut Vec<LinkMatch>, new: LinkMatch) {
    if found.iter().all(|old| new.end <= old.start || old.end <= new.start) {
        found.push(new);
    }
}

/// The address of a bare link in a topic; an e-mail address is none.
fn url_of(typed: &str) -> Option<String> {
    if typed.contains("://") {
        return Some(typed.to_owned());
    }
    let host = typed.split('/').next().unwrap_or(typed);
    (!host.contains('@')).then(|| format!("https://{typed}"))
}
