//! Notices about topics: resolved, unresolved, moved here, moved away (docs/api/messages.md#notices-of-moves).

use super::silent_mention;
use crate::permissions::edit::{MovePlan, PropagateMode};
use crate::settings::user_text;
use crate::topics::ResolveChange;
use model::{Message, Timestamp, User, UserId, VisibilityPolicy};

/// If resolving is undone within this time, in seconds, its notice is removed again.
pub const RESOLVE_UNDO_GRACE_SECS: u64 = 60;

const RESOLVED: &str = " has marked this topic as resolved.";
const UNRESOLVED: &str = " has marked this topic as unresolved.";

/// The effect of a move, as far as the requester can see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MoveOutcome {
    /// Number of moved messages.
    pub moved: usize,
    /// The old topic still has messages.
    pub leaves_messages: bool,
    /// The new topic had messages before.
    pub joins_messages: bool,
}

/// The part of a topic that moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MovedPart {
    Whole,
    /// A number of messages, at least one.
    Messages(usize),
}

/// The notices of a move, by topic. The requester has read them from the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MoveNotices {
    /// In the topic with its new name.
    pub resolve: Option<ResolveChange>,
    pub old: Option<MovedPart>,
    pub new: Option<MovedPart>,
}

/// Decides the notices of a move. `to_old` and `to_new` are the parameters `send_notification_to_old_thread` and
/// `send_notification_to_new_thread`.
pub fn plan_move_notices(
    plan: &MovePlan,
    changes_content: bool,
    (to_old, to_new): (bool, bool),
    outcome: MoveOutcome,
) -> MoveNotices {
    if outcome.moved == 0 {
        return MoveNotices::default();
    }
    let leaves_nothing = plan.mode == PropagateMode::All || !outcome.leaves_messages;
    let part = |is_whole: bool| if is_whole { MovedPart::Whole } else { MovedPart::Messages(outcome.moved) };
    MoveNotices {
        resolve: plan.resolve.filter(|_| plan.is_only_resolve() && !changes_content),
        // If only the spelling changes, there is no old topic.
        old: (to_old && !plan.is_respelling()).then(|| part(leaves_nothing)),
        new: (to_new && !plan.is_only_resolve()).then(|| part(leaves_nothing && !outcome.joins_messages)),
    }
}

/// The notice in a topic that was resolved or unresolved.
pub fn resolve_text(requester: &User, change: ResolveChange) -> String {
    let what = match change {
        ResolveChange::Resolved => RESOLVED,
        ResolveChange::Unresolved => UNRESOLVED,
    };
    format!("{}{what}", silent_mention(requester))
}

/// The notice in the old topic; `to` is a `topic_link`.
pub fn moved_away_text(requester: &User, to: &str, part: MovedPart) -> String {
    let requester = silent_mention(requester);
    match part {
        MovedPart::Whole => format!("This topic was moved to {to} by {requester}."),
        MovedPart::Messages(1) => format!("A message was moved from this topic to {to} by {requester}."),
        MovedPart::Messages(count) => {
            format!("{count} messages were moved from this topic to {to} by {requester}.")
        }
    }
}

/// The notice in the new topic; `from` is a `topic_link`, `target_url` the absolute `message_url` of the target.
pub fn moved_here_text(requester: &User, from: &str, part: MovedPart, target_url: &str) -> String {
    let requester = silent_mention(requester);
    match part {
        MovedPart::Whole => format!("This topic was moved here from {from} by {requester}."),
        MovedPart::Messages(1) => {
            format!("[A message]({target_url}) was moved here from {from} by {requester}.")
        }
        MovedPart::Messages(count) => {
            format!("{count} messages were moved here from {from} by {requester}.")
        }
    }
}

/// Whether resolving or unresolving undoes a recent one: then its notice, the topic's last message, is deleted instead of
/// sending another one.
pub fn is_resolve_undone(last: &Message, notification_bot: UserId, now: Timestamp) -> bool {
    last.sender == notification_bot
        && (last.content.ends_with(RESOLVED) || last.content.ends_with(UNRESOLVED))
        && now.millis_since(last.sent) < RESOLVE_UNDO_GRACE_SECS * 1000
}

/// Whether a user has read a notice of resolving from the start, by a personal setting. The requester always has.
pub fn reads_resolve_notice(user: &User, policy: VisibilityPolicy) -> bool {
    match user_text(user, "resolved_topic_notice_auto_read_policy") {
        "always" => true,
        "never" => false,
        _ => policy != VisibilityPolicy::Followed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::topics::resolve_change;
    use MovedPart::{Messages, Whole};
    use PropagateMode::{All, Later, One};
    use model::SettingValue;
    use std::sync::Arc;

    fn plan(to_channel: u32, topic: &str, mode: PropagateMode) -> MovePlan {
        MovePlan {
            origin: Arc::new(fixture::channel(1, "general")),
            destination: Arc::new(fixture::channel(to_channel, "x")),
            old_topic: "lunch".into(),
            topic: topic.into(),
            mode,
            resolve: resolve_change("lunch", topic),
            oldest_allowed: None,
        }
    }

    #[test]
    fn moves_have_notices_in_both_topics() {
        let resolved = Some(ResolveChange::Resolved);
        let many = Some(Messages(3));
        // channel, topic, mode, changes content, (moved, leaves, joins) → resolve, old, new
        for (channel, topic, mode, content, (moved, leaves, joins), resolve, old, new) in [
            (1, "dinner", All, false, (3, false, false), None, Some(Whole), Some(Whole)),
            (1, "dinner", All, false, (3, true, true), None, Some(Whole), many),
            (1, "dinner", Later, false, (3, true, false), None, many, many),
            (1, "dinner", Later, false, (3, false, false), None, Some(Whole), Some(Whole)),
            (1, "dinner", Later, true, (3, false, true), None, Some(Whole), many),
            (1, "dinner", One, false, (1, true, false), None, Some(Messages(1)), Some(Messages(1))),
            (2, "lunch", All, false, (3, false, false), None, Some(Whole), Some(Whole)),
            (1, "LUNCH", All, false, (3, false, false), None, None, Some(Whole)),
            (1, "LUNCH", One, false, (1, true, true), None, None, Some(Messages(1))),
            (2, "LUNCH", All, false, (3, false, true), None, Some(Whole), many),
            (1, "✔ lunch", All, false, (3, false, false), resolved, Some(Whole), None),
            (1, "✔ lunch", All, true, (3, false, false), None, Some(Whole), None),
            (2, "✔ lunch", All, false, (3, false, false), None, Some(Whole), Some(Whole)),
            (1, "dinner", All, false, (0, false, false), None, None, None),
        ] {
            let plan = plan(channel, topic, mode);
            let outcome = MoveOutcome { moved, leaves_messages: leaves, joins_messages: joins };
            let notices = plan_move_notices(&plan, content, (true, true), outcome);
            assert_eq!(notices, MoveNotices { resolve, old, new }, "{channel} {topic} {mode:?}");
            let silent = plan_move_notices(&plan, content, (false, false), outcome);
            assert_eq!(silent, MoveNotices { resolve, ..Default::default() });
        }
    }

    #[test]
    fn texts_equal_those_of_zulip() {
        let requester = fixture::member();
        for (text, expected) in [
            (
                resolve_text(&requester, ResolveChange::Resolved),
                "@_**member|4** has marked this topic as resolved.",
            ),
            (
                resolve_text(&requester, ResolveChange::Unresolved),
                "@_**member|4** has marked this topic as unresolved.",
            ),
            (
                moved_away_text(&requester, "#**a>b**", Whole),
                "This topic was moved to #**a>b** by @_**member|4**.",
            ),
            (
                moved_away_text(&requester, "#**a>b**", Messages(1)),
                "A message was moved from this topic to #**a>b** by @_**member|4**.",
            ),
            (
                moved_away_text(&requester, "#**a>b**", Messages(7)),
                "7 messages were moved from this topic to #**a>b** by @_**member|4**.",
            ),
            (
                moved_here_text(&requester, "#**a>b**", Whole, "u"),
                "This topic was moved here from #**a>b** by @_**member|4**.",
            ),
            (
                moved_here_text(&requester, "#**a>b**", Messages(1), "https://x/#narrow/near/5"),
                "[A message](https://x/#narrow/near/5) was moved here from #**a>b** by @_**member|4**.",
            ),
            (
                moved_here_text(&requester, "#**a>b**", Messages(2), "u"),
                "2 messages were moved here from #**a>b** by @_**member|4**.",
            ),
        ] {
            assert_eq!(text, expected);
        }
    }

    #[test]
    fn resolving_is_undone_within_a_minute() {
        let mut notice = fixture::message(9, fixture::SYSTEM_BOT, fixture::in_channel(1, "✔ lunch"));
        notice.sent = Timestamp(1_000_000);
        let undone = |notice: &Message, secs| {
            is_resolve_undone(notice, fixture::SYSTEM_BOT, notice.sent.plus_secs(secs))
        };
        notice.content = resolve_text(&fixture::member(), ResolveChange::Resolved);
        assert_eq!([0, 59, 60].map(|secs| undone(&notice, secs)), [true, true, false]);
        notice.sender = fixture::MEMBER;
        assert!(!undone(&notice, 0), "messages of users are not deleted");
        notice.sender = fixture::SYSTEM_BOT;
        notice.content = "something else".into();
        assert!(!undone(&notice, 0));
    }

    #[test]
    fn resolve_notices_are_read_by_setting() {
        use VisibilityPolicy::{Followed, Inherit, Muted};
        for (policy, expected) in
            [("always", [true; 3]), ("except_followed", [true, true, false]), ("never", [false; 3])]
        {
            let mut user = fixture::member();
            let name = "resolved_topic_notice_auto_read_policy".to_owned();
            user.settings.insert(name, SettingValue::Text(policy.into()));
            assert_eq!([Inherit, Muted, Followed].map(|topic| reads_resolve_notice(&user, topic)), expected);
        }
        assert!(!reads_resolve_notice(&fixture::member(), Followed));
    }
}
