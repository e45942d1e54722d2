//! Narrows of event queues: which messages a queue delivers (docs/api/narrow.md#narrows-of-event-queues).
//!
//! Only operators that can be decided for one message without a lookup: channel, topic, sender, is.

use crate::error::RuleError;
use crate::{topics, visibility};
use model::{Flag, Flags, Message, TopicKey, VisibilityPolicy};
use std::collections::BTreeSet;

/// Maximum number of bytes of all operators and operands of a new narrow; far more than interactive clients send.
const EVENT_NARROW_BYTES_MAX: usize = 4096;

/// A message, with the flags of the queue's owner.
#[derive(Clone, Copy, Debug)]
pub struct NarrowedMessage<'m> {
    pub message: &'m Message,
    /// None for direct messages.
    pub channel_name: Option<&'m str>,
    /// The API address of the sender.
    pub sender_email: &'m str,
    pub flags: Flags,
}

/// How the queue's owner shows the channel and the topic of a message.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shown {
    pub policy: VisibilityPolicy,
    pub is_channel_muted: bool,
}

impl Shown {
    fn is_muted(self) -> bool {
        visibility::is_muted(self.is_channel_muted, self.policy)
    }
}

/// One condition; texts are in lower case. In the order in which they are checked: those that cost least are first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Condition {
    Direct,
    Flagged(Flag),
    Mentioned,
    Unread,
    Resolved,
    ChannelName(String),
    Topic(String),
    Sender(String),
    Followed,
    Muted,
}

/// A parsed narrow of a queue. Without conditions everything matches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventNarrow {
    /// Each once: at most one of each kind holds together with the others, so the first that does not is found soon.
    conditions: BTreeSet<Condition>,
}

impl EventNarrow {
    /// Pairs of operator and operand as registered; equal conditions are one. `EventNarrowOperator` for operators that queues do not know,
    /// `BadNarrow` for unknown operands of `is`, `NarrowTooLong`.
    pub fn parse(pairs: &[(String, String)]) -> Result<Self, RuleError> {
        if pairs.len() > super::NARROW_TERMS_MAX {
            return Err(RuleError::NarrowTooLong { limit: super::NARROW_TERMS_MAX });
        }
        let condition = |(operator, operand): &(String, String)| match operator.as_str() {
            "channel" | "stream" => Ok(Condition::ChannelName(operand.to_lowercase())),
            "topic" => Ok(Condition::Topic(topics::normalize_topic(operand).to_lowercase())),
            "sender" => Ok(Condition::Sender(operand.to_lowercase())),
            "is" => is_condition(operand),
            _ => Err(RuleError::EventNarrowOperator { operator: operator.clone() }),
        };
        Ok(Self { conditions: pairs.iter().map(condition).collect::<Result<_, _>>()? })
    }

    /// Refuses a new narrow whose operators and operands have too many bytes together: `EventNarrowTooLarge`. Stored ones
    /// may have more.
    pub fn check_size(pairs: &[(String, String)]) -> Result<(), RuleError> {
        let bytes: usize = pairs.iter().map(|(operator, operand)| operator.len() + operand.len()).sum();
        match bytes > EVENT_NARROW_BYTES_MAX {
            true => Err(RuleError::EventNarrowTooLarge { limit: EVENT_NARROW_BYTES_MAX }),
            false => Ok(()),
        }
    }

    /// Whether every message matches.
    pub fn is_empty(&self) -> bool {
        self.conditions.is_empty()
    }

    /// Whether the queue gets this message. `shown` is looked up only for conditions that depend on it.
    pub fn matches(&self, candidate: &NarrowedMessage, shown: impl Fn() -> Shown) -> bool {
        self.conditions.iter().all(|condition| condition.holds(candidate, &shown))
    }
}

impl Condition {
    fn holds(&self, candidate: &NarrowedMessage, shown: &impl Fn() -> Shown) -> bool {
        let NarrowedMessage { message, channel_name, sender_email, flags } = *candidate;
        let is_in_channel = message.place.channel().is_some();
        let topic = message.place.topic();
        match self {
            Self::ChannelName(name) => channel_name.is_some_and(|channel| is_in_lower_case(channel, name)),
            Self::Topic(name) => is_in_channel && is_in_lower_case(topic, name),
            Self::Sender(email) => is_in_lower_case(sender_email, email),
            Self::Direct => !is_in_channel,
            Self::Flagged(flag) => flags.contains(*flag),
            Self::Mentioned => flags.is_mention(),
            Self::Unread => !flags.contains(Flag::Read),
            Self::Resolved => is_in_channel && topics::is_resolved(topic),
            Self::Followed => is_in_channel && shown().policy == VisibilityPolicy::Followed,
            Self::Muted => is_in_channel && shown().is_muted(),
        }
    }
}

/// Whether a text is `lower` in lower case; most need no copy for it.
fn is_in_lower_case(text: &str, lower: &str) -> bool {
    TopicKey::fold(text) == lower
}

fn is_condition(word: &str) -> Result<Condition, RuleError> {
    Ok(match word {
        "dm" | "private" => Condition::Direct,
        "alerted" => Condition::Flagged(Flag::HasAlertWord),
        "mentioned" => Condition::Mentioned,
        "starred" => Condition::Flagged(Flag::Starred),
        "followed" => Condition::Followed,
        "resolved" => Condition::Resolved,
        "unread" => Condition::Unread,
        "muted" => Condition::Muted,
        _ => return Err(RuleError::BadNarrow { desc: format!("unknown 'is' operand {word}") }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use model::Place;

    fn narrow(pairs: &[(&str, &str)]) -> Result<EventNarrow, RuleError> {
        let pairs: Vec<_> = pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        EventNarrow::parse(&pairs)
    }

    #[test]
    fn conditions_match_messages() {
        let in_topic = fixture::message(1, fixture::MEMBER, fixture::in_channel(1, "✔ Lunch"));
        let direct = fixture::message(2, fixture::MEMBER, Place::Direct);
        let here = NarrowedMessage {
            message: &in_topic,
            channel_name: Some("Verona"),
            sender_email: "Member@example.org",
            flags: Flags::only(Flag::Mentioned),
        };
        let shown_here = Shown { policy: VisibilityPolicy::Followed, is_channel_muted: true };
        let there = NarrowedMessage {
            message: &direct,
            channel_name: None,
            flags: Flags::only(Flag::Read).with(Flag::Starred),
            ..here
        };
        for (pairs, in_here, in_there) in [
            (vec![], true, true),
            (vec![("stream", "verona")], true, false),
            (vec![("channel", "Verona"), ("topic", "✔ LUNCH")], true, false),
            (vec![("channel", "Verona"), ("topic", "x")], false, false),
            (vec![("topic", "")], false, false),
            (vec![("sender", "member@EXAMPLE.org")], true, true),
            (vec![("sender", "x@example.org")], false, false),
            (vec![("is", "dm")], false, true),
            (vec![("is", "private")], false, true),
            (vec![("is", "mentioned")], true, false),
            (vec![("is", "starred")], false, true),
            (vec![("is", "unread")], true, false),
            (vec![("is", "resolved")], true, false),
            (vec![("is", "followed")], true, false),
            (vec![("is", "muted")], false, false),
            (vec![("is", "alerted")], false, false),
        ] {
            let narrow = narrow(&pairs).unwrap();
            assert_eq!(narrow.is_empty(), pairs.is_empty());
            assert_eq!(narrow.matches(&here, || shown_here), in_here, "{pairs:?}");
            assert_eq!(narrow.matches(&there, Shown::default), in_there, "{pairs:?}");
        }
    }

    #[test]
    fn equal_conditions_are_one_and_costly_ones_are_last() {
        let mut pairs = vec![("is", "followed"); 30];
        pairs.extend([("topic", "Lunch"), ("topic", " lunch "), ("stream", "verona"), ("channel", "Verona")]);
        pairs.extend([("is", "dm"), ("is", "private")]);
        let narrow = narrow(&pairs).unwrap();
        assert_eq!(narrow.conditions.len(), 4, "{narrow:?}");
        let message = fixture::message(1, fixture::MEMBER, fixture::in_channel(1, "Lunch"));
        let candidate = NarrowedMessage {
            message: &message,
            channel_name: Some("Verona"),
            sender_email: "member@example.org",
            flags: Flags::NONE,
        };
        let unreachable = || -> Shown { panic!("another condition does not hold") };
        assert!(!narrow.matches(&candidate, unreachable));
    }

    #[test]
    fn texts_of_new_narrows_are_bounded_together() {
        let size = |operands: [&str; 2]| {
            let pairs = operands.map(|operand| ("topic".to_owned(), operand.to_owned()));
            EventNarrow::parse(&pairs).expect("a stored narrow of any size");
            EventNarrow::check_size(&pairs).map_err(|error| error.to_string())
        };
        // With both operators 4,096 bytes, in fewer characters.
        let (half, rest) = ("é".repeat(1_021), format!("{}ab", "é".repeat(1_021)));
        assert_eq!(size([&half, &rest]), Ok(()));
        let refused = Err("narrow is too long (limit: 4096 bytes)".to_owned());
        assert_eq!(size([&half, &format!("{rest}c")]), refused);
    }

    #[test]
    fn unknown_operators_and_operands_are_refused() {
        for operator in ["bogus", "dm", "search", "has", "id", "near", "channels"] {
            let text = narrow(&[(operator, "x")]).unwrap_err().to_string();
            assert_eq!(text, format!("Operator {operator} not supported."));
        }
        let text = narrow(&[("is", "bogus")]).unwrap_err().to_string();
        assert_eq!(text, "Invalid narrow operator: unknown 'is' operand bogus");
    }
}
