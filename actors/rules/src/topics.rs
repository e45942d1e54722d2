//! Topic names: normalization, validation, resolved topics (docs/api/topics.md#topic-names).
//!
//! `model::TopicKey` compares topics ignoring case.

use crate::error::RuleError;
use crate::settings;
use crate::text;
pub use crate::text::EMPTY_TOPIC_DISPLAY_NAME;
use model::{Channel, Realm, TopicsPolicy};

/// Longest topic, in code points.
pub const TOPIC_LENGTH_MAX: usize = 60;
/// Another name of the empty topic.
const NO_TOPIC: &str = "(no topic)";
/// The prefix of resolved topics.
pub const RESOLVED_PREFIX: &str = "✔ ";

/// A topic as sent → the topic to store: normalized and truncated. Refuses control characters and non-characters.
pub fn parse_topic(raw: &str) -> Result<String, RuleError> {
    let topic = normalize_topic(raw);
    if let Some(position) = text::forbidden_character(topic) {
        return Err(RuleError::TopicCharacter { position });
    }
    Ok(text::cut(topic, TOPIC_LENGTH_MAX, "..."))
}

/// A topic as sent, for lookups: stripped, and empty for both names of the empty topic.
pub fn normalize_topic(raw: &str) -> &str {
    match text::strip(raw) {
        NO_TOPIC | EMPTY_TOPIC_DISPLAY_NAME => "",
        topic => topic,
    }
}

/// A topic for endpoints that refuse long topics (user_topics, muted_topics) instead of truncating them.
pub fn check_topic_length(raw: &str) -> Result<&str, RuleError> {
    let topic = normalize_topic(raw);
    if topic.chars().count() > TOPIC_LENGTH_MAX {
        return Err(RuleError::TooLong { field: "topic", limit: TOPIC_LENGTH_MAX });
    }
    Ok(topic)
}

/// A topic as a client sees it: those without support of empty topics get the display name.
pub fn shown_topic(topic: &str, client_knows_empty: bool) -> &str {
    if topic.is_empty() && !client_knows_empty { EMPTY_TOPIC_DISPLAY_NAME } else { topic }
}

/// Whether a topic is resolved.
pub fn is_resolved(topic: &str) -> bool {
    topic.starts_with(RESOLVED_PREFIX)
}

/// Resolving or unresolving a topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResolveChange {
    Resolved,
    Unresolved,
}

/// Whether a rename only adds or removes the prefix of resolved topics. A name that becomes too long with the prefix is
/// truncated.
pub fn resolve_change(old: &str, new: &str) -> Option<ResolveChange> {
    let marked = text::cut(&format!("{RESOLVED_PREFIX}{old}"), TOPIC_LENGTH_MAX, "...");
    if !is_resolved(old) && new == marked {
        return Some(ResolveChange::Resolved);
    }
    if is_resolved(old) && old.trim_start_matches(['✔', ' ']) == new {
        return Some(ResolveChange::Unresolved);
    }
    None
}

/// The policy that applies in a channel (docs/api/topics.md#topics-policy); never `Inherit`.
pub fn effective_topics_policy(realm: &Realm, channel: &Channel) -> TopicsPolicy {
    if channel.topics_policy != TopicsPolicy::Inherit {
        return channel.topics_policy;
    }
    match TopicsPolicy::from_name(settings::realm_text(realm, "topics_policy")) {
        None | Some(TopicsPolicy::Inherit) => TopicsPolicy::AllowEmptyTopic,
        Some(policy) => policy,
    }
}

/// Whether a message may have this topic (normalized) in this channel.
pub fn check_topics_policy(realm: &Realm, channel: &Channel, topic: &str) -> Result<(), RuleError> {
    match effective_topics_policy(realm, channel) {
        TopicsPolicy::DisableEmptyTopic if topic.is_empty() => Err(RuleError::EmptyTopicRefused),
        TopicsPolicy::EmptyTopicOnly if !topic.is_empty() => Err(RuleError::NamedTopicRefused),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn topics_are_normalized() {
        let long = "x".repeat(61);
        let cut = format!("{}...", "x".repeat(57));
        let cases: &[(&str, Result<&str, usize>)] = &[
            ("  lunch ", Ok("lunch")),
            ("", Ok("")),
            (" ", Ok("")),
            ("(no topic)", Ok("")),
            (" general chat ", Ok("")),
            ("General Chat", Ok("General Chat")),
            ("a\nb", Err(2)),
            ("ab\0", Err(3)),
            ("a\u{fdd0}", Err(2)),
            (&long, Ok(&cut)),
            (&long[..60], Ok(&long[..60])),
        ];
        for (raw, expected) in cases {
            let expected =
                expected.map(str::to_owned).map_err(|position| RuleError::TopicCharacter { position });
            assert_eq!(parse_topic(raw), expected, "{raw:?}");
        }
    }

    #[test]
    fn only_the_prefix_resolves_a_topic() {
        let [fits, long, longest] = [58, 59, 60].map(|length| "x".repeat(length));
        let (whole, cut) = (format!("✔ {fits}"), format!("✔ {}...", "x".repeat(55)));
        let cases: [(&str, &str, Option<ResolveChange>); 11] = [
            (&fits, &whole, Some(ResolveChange::Resolved)),
            (&long, &cut, Some(ResolveChange::Resolved)),
            (&longest, &cut, Some(ResolveChange::Resolved)),
            (&fits, &cut, None),
            (&cut, &cut[4..], Some(ResolveChange::Unresolved)),
            ("a", "✔ a", Some(ResolveChange::Resolved)),
            ("✔ a", "a", Some(ResolveChange::Unresolved)),
            ("✔ ✔✔ a", "a", Some(ResolveChange::Unresolved)),
            ("a", "✔ b", None),
            ("✔ a", "✔ ✔ a", None),
            ("a", "a", None),
        ];
        for (old, new, expected) in cases {
            assert_eq!(resolve_change(old, new), expected, "{old} → {new}");
        }
    }

    #[test]
    fn policies_of_channel_and_organization() {
        use TopicsPolicy::{AllowEmptyTopic, DisableEmptyTopic, EmptyTopicOnly, Inherit};
        let realm_default = fixture::realm();
        let mut realm_strict = fixture::realm();
        let word = model::SettingValue::Text("disable_empty_topic".into());
        realm_strict.settings.insert("topics_policy".into(), word);
        for (realm, policy, topic, expected) in [
            (&realm_default, Inherit, "", Ok(())),
            (&realm_strict, Inherit, "", Err(RuleError::EmptyTopicRefused)),
            (&realm_strict, AllowEmptyTopic, "", Ok(())),
            (&realm_default, DisableEmptyTopic, "", Err(RuleError::EmptyTopicRefused)),
            (&realm_default, DisableEmptyTopic, "a", Ok(())),
            (&realm_default, EmptyTopicOnly, "", Ok(())),
            (&realm_default, EmptyTopicOnly, "a", Err(RuleError::NamedTopicRefused)),
        ] {
            let mut channel = fixture::channel(1, "general");
            channel.topics_policy = policy;
            assert_eq!(check_topics_policy(realm, &channel, topic), expected, "{policy:?} {topic:?}");
        }
    }
}
