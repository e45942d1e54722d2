//! `only_events` and `exclude_events`: lists of names with shell wildcards.

/// Patterns in one list.
pub const PATTERNS_MAX: usize = 100;
/// Characters of a pattern.
pub const PATTERN_CHARS_MAX: usize = 100;

/// The events that a URL asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventFilter {
    pub only: Option<Vec<String>>,
    pub exclude: Option<Vec<String>>,
}

impl EventFilter {
    /// Whether an event passes, by any of its names: the catalog's, and the one that the service uses.
    pub fn accepts(&self, names: &[&str]) -> bool {
        let is_in = |patterns: &Vec<String>| {
            patterns.iter().any(|pattern| names.iter().any(|name| matches(pattern, name)))
        };
        self.only.as_ref().is_none_or(is_in) && !self.exclude.as_ref().is_some_and(is_in)
    }
}

/// Whether a name matches a pattern: `*`, `?`, `[abc]`, `[a-z]` and `[!abc]` have their meaning in a shell. Takes time in
/// proportion to the product of both lengths at most.
fn matches(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    let (mut at, mut place) = (0, 0);
    // The last star, and where the name continued behind it.
    let mut star: Option<(usize, usize)> = None;
    while place < name.len() {
        if pattern.get(at) == Some(&'*') {
            star = Some((at, place));
            at += 1;
            continue;
        }
        match one(&pattern, at, name[place]) {
            Some(next) => (at, place) = (next, place + 1),
            None => match star {
                Some((star_at, taken)) => {
                    star = Some((star_at, taken + 1));
                    (at, place) = (star_at + 1, taken + 1);
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|c| *c == '*')
}

/// Where the pattern continues if its next element matches a character.
fn one(pattern: &[char], at: usize, c: char) -> Option<usize> {
    match pattern.get(at)? {
        '?' => Some(at + 1),
        '[' => match class(pattern, at) {
            Some((negated, members, end)) => (has(members, c) != negated).then_some(end),
            // Without its end it is an ordinary character.
            None => (c == '[').then_some(at + 1),
        },
        other => (*other == c).then_some(at + 1),
    }
}

fn class(pattern: &[char], at: usize) -> Option<(bool, &[char], usize)> {
    let negated = pattern.get(at + 1) == Some(&'!');
    let start = at + 1 + usize::from(negated);
    // A bracket in the first place is a member.
    let length = pattern.get(start + 1..)?.iter().position(|c| *c == ']')? + 1;
    Some((negated, pattern.get(start..start + length)?, start + length + 1))
}

fn has(members: &[char], c: char) -> bool {
    let mut at = 0;
    while let Some(first) = members.get(at) {
        match (members.get(at + 1), members.get(at + 2)) {
            (Some('-'), Some(last)) => {
                if (*first..=*last).contains(&c) {
                    return true;
                }
                at += 3;
            }
            _ if *first == c => return true,
            _ => at += 1,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_those_of_a_shell() {
        for (pattern, name, expected) in [
            ("push", "push", true),
            ("push", "push_tags", false),
            ("push*", "push_tags", true),
            ("*", "", true),
            ("*request*", "pull_request_review", true),
            ("*a*b*c", "xxaxxbxxc", true),
            ("*a*b*c", "xxaxxbxx", false),
            ("p?sh", "push", true),
            ("[pq]ush", "push", true),
            ("[!pq]ush", "push", false),
            ("[a-z]ush", "push", true),
            ("[]]x", "]x", true),
            ("[push", "[push", true),
            ("", "push", false),
            ("Push", "push", false),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
        assert!(!matches(&"*a".repeat(50), &"a".repeat(49)));
    }

    #[test]
    fn filters_know_both_names() {
        let list = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect());
        let only = EventFilter { only: list(&["push*", "star"]), exclude: None };
        assert!(only.accepts(&["push_commits", "push"]) && !only.accepts(&["fork", "fork"]));
        let both = EventFilter { only: list(&["*"]), exclude: list(&["push"]) };
        assert!(!both.accepts(&["push_commits", "push"]) && both.accepts(&["fork"]));
        assert!(EventFilter::default().accepts(&["anything"]));
        let none = EventFilter { only: list(&[]), exclude: None };
        assert!(!none.accepts(&["anything"]));
    }
}
