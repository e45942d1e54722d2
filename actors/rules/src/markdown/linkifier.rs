//! The organization's linkifiers: patterns in text that are turned into links.

use regex::{Captures, Regex, RegexBuilder};
use regex_syntax::hir::{Hir, HirKind};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak};
use thiserror::Error;

use super::anchor::anchor;
use super::html::{CLOSE, OPEN, escaped_text};
use super::inline::{Inline, Rewrite};
use super::url_template::{TemplateError, UrlTemplate};

/// Largest compiled pattern in bytes, so that one setting cannot take the server's memory.
const PATTERN_BYTES_MAX: usize = 1 << 20;

/// Bytes of a compiled pattern times its groups, twice: for each state, a search keeps where each group begins and ends.
const GROUP_BYTES_MAX: usize = 2 << 20;

/// Bytes in which a pattern remembers what it has seen of texts; it is slower, and not wrong, when they are used up.
const CACHE_BYTES_MAX: usize = 256 << 10;

/// A search reads this many bytes at a time: what a pattern reads beyond its match would make the work quadratic.
const WINDOW_BYTES: usize = 512;

/// Longest match that is found in every case, in bytes.
const MATCH_BYTES_MAX: usize = 250;

/// Work of all linkifiers for one text, in bytes read times places of the pattern: at worst some 200 ms. A pattern of ten places
/// finds 3,000 matches, and 80 such patterns read the longest message.
const WORK_MAX: u64 = 16_000_000;

/// Bytes of the longest characters before and after a match: none of the white space before it has four.
const AROUND_BYTES_MAX: usize = 3 + char::MAX_LEN_UTF8;

/// The linkifiers of all organizations, by pattern and template.
static KNOWN: LazyLock<Mutex<KnownLinkifiers>> = LazyLock::new(Mutex::default);

type KnownLinkifiers = HashMap<(String, String), Weak<Compiled>>;

fn known() -> MutexGuard<'static, KnownLinkifiers> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Name of the group around the linkifier's pattern, between the allowed surrounding characters.
const OUTER: &str = "linkifier_outer";

/// Why a linkifier is invalid.
#[derive(Debug, Error)]
pub enum LinkifierError {
    /// Not a valid regular expression, or too large.
    #[error("bad regular expression: {0}")]
    Pattern(#[from] regex::Error),
    #[error(transparent)]
    Template(#[from] TemplateError),
    /// A variable of the template that is not a named group of the pattern.
    #[error("group {0} in URL template is not present in linkifier pattern")]
    UnknownVariable(String),
}

/// A compiled linkifier (docs/api/markdown.md#links): a regular expression whose named groups fill a URL template of
/// RFC 6570. Matching takes time linear in the text, and no more than [`LinkifierBudget`] has. Clones share what was compiled,
/// which takes up to some megabytes.
#[derive(Clone, Debug)]
pub struct Linkifier(Arc<Compiled>);

#[derive(Debug)]
struct Compiled {
    pattern: Regex,
    template: UrlTemplate,
    /// Places of the pattern at which a match can be at the same time, also those that read nothing: each byte of a text costs as
    /// many steps.
    places: u64,
    /// Bytes of the longest match with the characters around it, if there is a longest one.
    longest: Option<usize>,
}

/// What is left of the work of linkifiers for one text. What comes after it is used up is no link.
#[derive(Debug)]
pub(super) struct LinkifierBudget(u64);

impl LinkifierBudget {
    /// The budget of one text.
    pub(super) fn of_text() -> Self {
        Self(WORK_MAX)
    }

    /// Whether nothing is left.
    pub(super) fn is_spent(&self) -> bool {
        self.0 == 0
    }

    /// Takes work from the budget; false, and nothing is left, if it has less.
    fn spend(&mut self, work: u64) -> bool {
        let left = self.0.checked_sub(work);
        self.0 = left.unwrap_or_default();
        left.is_some()
    }

    /// Puts back what was spent and not needed.
    fn put_back(&mut self, work: u64) {
        self.0 = self.0.saturating_add(work);
    }
}

/// A match with the characters around it.
struct Found {
    start: usize,
    end: usize,
    /// Where the search goes on.
    next: usize,
    link: LinkifierMatch,
}

/// A link found in text, by a linkifier or as a bare URL.
pub(super) struct LinkifierMatch {
    pub start: usize,
    pub end: usize,
    pub url: String,
}

impl Linkifier {
    /// Compiles a linkifier.
    pub fn new(pattern: &str, url_template: &str) -> Result<Self, LinkifierError> {
        // Compiled alone first: a pattern such as `a)(b` must not become valid inside the group.
        let alone = RegexBuilder::new(pattern).size_limit(PATTERN_BYTES_MAX).build()?;
        let parsed = regex_syntax::parse(pattern).ok();
        let places = parsed.as_ref().map_or(u64::MAX, |parsed| places(parsed).saturating_add(1));
        let longest = parsed.and_then(|parsed| parsed.properties().maximum_len());
        let longest = longest.map(|longest| longest.saturating_add(AROUND_BYTES_MAX));
        let around = around(pattern);
        // Its own groups, and that around it.
        let groups = alone.captures_len() + 1;
        let bytes_max = PATTERN_BYTES_MAX.min(GROUP_BYTES_MAX / (2 * groups));
        let mut builder = RegexBuilder::new(&around);
        let pattern = builder.size_limit(bytes_max).dfa_size_limit(CACHE_BYTES_MAX).build()?;
        let template = UrlTemplate::parse(url_template)?;
        let is_group = |name: &&str| pattern.capture_names().flatten().any(|group| group == *name);
        match template.variables().filter(|name| !is_group(name)).min() {
            Some(name) => Err(LinkifierError::UnknownVariable(name.to_owned())),
            None => Ok(Self(Arc::new(Compiled { pattern, template, places, longest }))),
        }
    }

    /// A linkifier that was compiled before, by any organization that still has it; otherwise compiles it.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn shared(pattern: &str, url_template: &str) -> Result<Self, LinkifierError> {
        let key = (pattern.to_owned(), url_template.to_owned());
        if let Some(compiled) = known().get(&key).and_then(Weak::upgrade) {
            return Ok(Self(compiled));
        }
        let compiled = Self::new(pattern, url_template)?;
        let mut known = known();
        // Instead of growing, if there is another way.
        if known.len() == known.capacity() {
            known.retain(|_, linkifier| linkifier.strong_count() > 0);
        }
        known.insert(key, Arc::downgrade(&compiled.0));
        Ok(compiled)
    }

    /// The alphabetically first group of the pattern that the template does not use.
    pub fn unused_group(&self) -> Option<&str> {
        let groups = self.0.pattern.capture_names().flatten().filter(|group| *group != OUTER);
        groups.filter(|group| !self.0.template.variables().any(|name| name == *group)).min()
    }

    /// All matches, first to last, without overlaps, as far as the budget allows.
    pub(super) fn matches(&self, text: &str, budget: &mut LinkifierBudget) -> Vec<LinkifierMatch> {
        let mut found = Vec::new();
        let mut from = 0;
        loop {
            let end = text.floor_char_boundary(from + WINDOW_BYTES);
            if !budget.spend(self.0.places.saturating_mul((end - from) as u64)) {
                break;
            }
            // Matches that begin later are found in a later window, with more text behind them.
            let room = MATCH_BYTES_MAX + char::MAX_LEN_UTF8;
            let begin_max = if end < text.len() { end - room } else { end };
            match self.search(&text[..end], from) {
                Some(at) if at.link.start <= begin_max => {
                    let unread = (end - from).saturating_sub(self.read_max(at.start - from));
                    budget.put_back(self.0.places.saturating_mul(unread as u64));
                    from = at.next;
                    let is_whole = at.end < end || end == text.len();
                    found.extend((is_whole && at.link.start < at.link.end).then_some(at.link));
                }
                Some(at) => from = at.start,
                None if end == text.len() => break,
                None => from = text.floor_char_boundary(begin_max),
            }
            if from >= text.len() {
                break;
            }
        }
        found
    }

    /// Bytes that a search reads at most to find a match so far behind its beginning: what begins later is no longer followed.
    fn read_max(&self, before: usize) -> usize {
        self.0
            .longest
            .map_or(usize::MAX, |longest| before.saturating_add(longest).saturating_add(char::MAX_LEN_UTF8))
    }

    /// The first match from a position on.
    fn search(&self, text: &str, from: usize) -> Option<Found> {
        let groups = self.0.pattern.captures_at(text, from)?;
        let (whole, outer) = (groups.get(0)?, groups.name(OUTER)?);
        let width = text[outer.end()..].chars().next().map_or(1, char::len_utf8);
        Some(Found {
            start: whole.start(),
            end: whole.end(),
            next: if outer.is_empty() { outer.end() + width } else { outer.end() },
            link: LinkifierMatch { start: outer.start(), end: outer.end(), url: self.url(&groups) },
        })
    }

    fn url(&self, groups: &Captures<'_>) -> String {
        self.0.template.expand(|name| groups.name(name).map(|group| group.as_str()))
    }
}

/// A linkifier's pattern between the allowed surrounding characters.
fn around(pattern: &str) -> String {
    format!(r#"(?:\A|[\s\p{{Z}}'"(,:<])(?P<{OUTER}>{pattern})(?:\z|[^\p{{L}}\p{{N}}])"#)
}

/// The places of a pattern at which a match can be at the same time. What reads nothing is a place, too: a search visits it.
fn places(pattern: &Hir) -> u64 {
    match pattern.kind() {
        HirKind::Empty | HirKind::Look(_) | HirKind::Class(_) => 1,
        HirKind::Literal(literal) => literal.0.len() as u64,
        HirKind::Repetition(repetition) => {
            let times = repetition.max.unwrap_or(repetition.min).max(1);
            places(&repetition.sub).saturating_mul(u64::from(times)).saturating_add(1)
        }
        HirKind::Capture(capture) => places(&capture.sub).saturating_add(2),
        HirKind::Concat(parts) => parts.iter().map(places).fold(0, u64::saturating_add),
        HirKind::Alternation(parts) => parts.iter().map(places).fold(1, u64::saturating_add),
    }
}

/// Applies the linkifiers in their configured order.
pub(super) fn linkifiers(inline: &mut Inline<'_>, text: &str, _next: usize) -> Option<String> {
    let context = inline.context;
    let mut current: Option<String> = None;
    for linkifier in context.linkifiers() {
        let text = current.as_deref().unwrap_or(text);
        let mut rewrite = Rewrite::of(text);
        for found in linkifier.matches(text, &mut inline.linkifier_budget) {
            let typed = &text[found.start..found.end];
            // A part is the match of an earlier rule.
            if typed.contains([OPEN, CLOSE]) {
                continue;
            }
            let html = anchor(inline, &found.url, &escaped_text(typed), None, None);
            rewrite.put(found.start, found.end, html, &mut inline.stash);
        }
        current = rewrite.finish().or(current);
    }
    current
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(pattern: &str, template: &str, text: &str) -> Vec<(String, String)> {
        let linkifier = Linkifier::new(pattern, template).unwrap();
        let matches = linkifier.matches(text, &mut LinkifierBudget::of_text());
        matches.into_iter().map(|found| (text[found.start..found.end].to_owned(), found.url)).collect()
    }

    #[test]
    fn equal_linkifiers_are_compiled_once_while_they_are_used() {
        let shared = |pattern: &str| Linkifier::shared(pattern, "https://shared.example/").unwrap();
        let first = shared("shared-a");
        assert!(
            Arc::ptr_eq(&first.0, &shared("shared-a").0) && !Arc::ptr_eq(&first.0, &shared("shared-b").0)
        );
        let unused = Arc::downgrade(&first.0);
        drop(first);
        assert!(unused.upgrade().is_none());
        assert!(Linkifier::shared("(", "https://shared.example/").is_err());
    }

    #[test]
    fn matches_are_between_word_edges() {
        let one = |text: &str, id: &str| vec![(text.to_owned(), format!("https://t.example/{id}"))];
        let run = |text| found(r"#(?P<id>\d+)", "https://t.example/{id}", text);
        assert_eq!(run("see #12, ok"), one("#12", "12"));
        assert_eq!(run("(#12)"), one("#12", "12"));
        assert_eq!(run("x#12"), []);
        assert_eq!(run("#12a"), []);
        assert_eq!(run("#1 #2").len(), 2);
        assert_eq!(found("x*", "https://t.example/", "aé b"), []);
    }

    #[test]
    fn long_texts_are_searched_in_windows() {
        let text = format!("{} #12 {}#34", "\u{e9} ".repeat(2_000), "#x ".repeat(700));
        let ids: Vec<_> = found(r"#(?P<id>\d+)", "/{id}", &text).into_iter().map(|(_, url)| url).collect();
        assert_eq!(ids, ["/12", "/34"]);
        for length in [MATCH_BYTES_MAX, 3 * WINDOW_BYTES] {
            for before in (0..WINDOW_BYTES + 2).step_by(101) {
                let text =
                    format!("{} {} {}", "x ".repeat(before), "7".repeat(length), "x ".repeat(WINDOW_BYTES));
                let expected = usize::from(length <= MATCH_BYTES_MAX);
                assert_eq!(found(r"(?P<id>\d+)", "/{id}", &text).len(), expected, "{length} after {before}");
            }
        }
    }

    #[test]
    fn work_does_not_depend_on_the_pattern() {
        let boundaries = format!(r"(?P<id>[ab](?:{}[ab é]?){{5}}%dc)", r"\b".repeat(100));
        for (pattern, text) in [
            (r"(?P<id>[ab](?:[ab ]*a[ab ]{200}z1)?)", " a b".repeat(2_500)),
            (r"(?P<id>[ab]*a[ab]{400}%dc)", "ab".repeat(20_000)),
            (boundaries.as_str(), " a".repeat(20_000)),
        ] {
            let linkifier = Linkifier::new(pattern, "/{id}").unwrap();
            let mut budget = LinkifierBudget::of_text();
            let count = linkifier.matches(&text, &mut budget).len();
            assert!(budget.is_spent(), "{pattern}");
            assert!(count as u64 * WINDOW_BYTES as u64 <= WORK_MAX / 200, "{count} links of {pattern}");
            assert_eq!(linkifier.matches(&text, &mut budget).len(), 0);
        }
        let many_groups = format!(r"(?P<id>[ab](?:{}[ab é]?){{25}}%dc)", "()".repeat(400));
        assert!(matches!(Linkifier::new(&many_groups, "/{id}"), Err(LinkifierError::Pattern(_))));
        let usual = r"(?P<org>[\w-]+)/(?P<repo>[\w.-]+)#(?P<id>\d+)(?:@(?P<commit>[0-9a-f]{7,40}))?";
        assert!(Linkifier::new(usual, "/{org}/{repo}/{id}").is_ok());
        let mut budget = LinkifierBudget::of_text();
        let linkifier = Linkifier::new(r"#(?P<id>\d+)", "/{id}").unwrap();
        assert_eq!(linkifier.matches(&"#1 ".repeat(1_000), &mut budget).len(), 1_000);
        assert!(!budget.is_spent());
    }

    #[test]
    fn lists_of_tickets_are_links_of_several_linkifiers() {
        let github = r"(?P<org>[a-zA-Z0-9_-]{1,39})/(?P<repo>[a-zA-Z0-9_-]{1,100})#(?P<id>[0-9]{1,10})";
        let tickets: String = (0..500).map(|id| format!("zulip/zulip#{id} ")).collect();
        let text = format!("{tickets}#1 #2 #3");
        let mut budget = LinkifierBudget::of_text();
        for (pattern, count) in [(github, 500), (r"#(?P<id>\d+)", 3)] {
            let linkifier = Linkifier::new(pattern, "/{id}").unwrap();
            assert_eq!(linkifier.matches(&text, &mut budget).len(), count, "{pattern}");
        }
    }

    #[test]
    fn the_longest_match_is_that_of_the_pattern_with_the_characters_around_it() {
        for pattern in
            [r"#\d{1,9}", r"(?i)tea-[0-9]{3}", "é|ab", "", r"\bx?\b", r"#\d+", ".{2}", r"[^\x00-\x{10FFFF}]"]
        {
            let parsed = regex_syntax::parse(&around(pattern)).unwrap();
            let linkifier = Linkifier::new(pattern, "/").unwrap();
            assert_eq!(linkifier.0.longest, parsed.properties().maximum_len(), "{pattern}");
        }
    }

    #[test]
    fn mistakes_are_reported() {
        assert!(matches!(Linkifier::new("(", "/"), Err(LinkifierError::Pattern(_))));
        assert!(matches!(Linkifier::new("a)(b", "/"), Err(LinkifierError::Pattern(_))));
        assert!(matches!(Linkifier::new("a", "/{id}"), Err(LinkifierError::UnknownVariable(_))));
        assert!(matches!(Linkifier::new("a", "/{id"), Err(LinkifierError::Template(_))));
    }
}
