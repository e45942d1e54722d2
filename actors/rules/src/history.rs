//! Which part of a message's edit history is visible (docs/api/messages.md#fetch-the-edit-history).

mod diff;

use crate::error::{EditError, RuleError};
use crate::settings::realm_text;
use diff::DiffBudget;
use model::{ChannelId, EditEntry, Message, Realm, Timestamp, UserId};
use std::borrow::Cow;

/// The part of the history that an organization shows: `message_edit_history_visibility_policy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HistoryPolicy {
    All,
    /// Only moves between topics and channels.
    Moves,
    Nothing,
}

impl HistoryPolicy {
    /// The policy of an organization.
    pub fn of(realm: &Realm) -> Self {
        match realm_text(realm, "message_edit_history_visibility_policy") {
            "moves" => Self::Moves,
            "none" => Self::Nothing,
            _ => Self::All,
        }
    }

    /// Refuses requests for a history that is not shown: `EditError::HistoryDisabled`.
    pub fn check(self) -> Result<(), RuleError> {
        if self == Self::Nothing { Err(EditError::HistoryDisabled.into()) } else { Ok(()) }
    }

    fn shows(self, edit: &EditEntry) -> bool {
        match self {
            Self::All => true,
            Self::Moves => edit.topic.is_some() || edit.channel.is_some(),
            Self::Nothing => false,
        }
    }
}

/// The visible edits of a message (`edit_history`), newest first; if empty, the field is absent. Borrowed where
/// everything is shown.
pub fn visible_edits(message: &Message, policy: HistoryPolicy) -> Cow<'_, [EditEntry]> {
    if policy == HistoryPolicy::All {
        return Cow::Borrowed(without_gap(message));
    }
    let shown = message.edits.iter().filter(|edit| policy.shows(edit));
    Cow::Owned(
        shown.map(|edit| EditEntry { prev_content: None, prev_rendered: None, ..edit.clone() }).collect(),
    )
}

/// The newest steps of a history, up to the first one that is no longer in the message.
fn without_gap(message: &Message) -> &[EditEntry] {
    if !message.is_history_cut() {
        return &message.edits;
    }
    let oldest = message.edits.iter().rposition(|edit| edit.prev_content.is_some());
    &message.edits[..oldest.map_or(0, |oldest| oldest + 1)]
}

/// A message after one change, made by `user` at `at`; `rendered` is HTML.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot<'m> {
    /// Topic; empty for direct messages.
    pub topic: &'m str,
    pub content: &'m str,
    pub rendered: &'m str,
    pub at: Timestamp,
    pub user: UserId,
    /// Topic before, if it changed.
    pub prev_topic: Option<&'m str>,
    /// Channel before and after, if it changed.
    pub channel: Option<(ChannelId, ChannelId)>,
    /// Markdown source before, if it changed.
    pub prev_content: Option<&'m str>,
    /// HTML before, if the content changed.
    pub prev_rendered: Option<&'m str>,
    /// HTML with the changes of the content, if it changed.
    pub content_html_diff: Option<String>,
}

/// Every state of a message that the policy shows, the original first. If content is not shown, all have the current
/// one. A truncated history starts with the oldest state whose content is known.
pub fn snapshots(message: &Message, policy: HistoryPolicy) -> Vec<Snapshot<'_>> {
    let mut budget = DiffBudget::default();
    let mut found = Vec::with_capacity(message.edits.len() + 1);
    let mut state = Snapshot {
        topic: message.place.topic(),
        content: &message.content,
        rendered: &message.rendered,
        at: message.sent,
        user: message.sender,
        prev_topic: None,
        channel: None,
        prev_content: None,
        prev_rendered: None,
        content_html_diff: None,
    };
    let shows_content = policy == HistoryPolicy::All;
    let (edits, oldest) = match (shows_content, without_gap(message).split_last()) {
        (true, Some((oldest, newer))) if message.is_history_cut() => (newer, Some(oldest)),
        _ => (message.edits.as_slice(), None),
    };
    for edit in edits.iter().filter(|edit| policy.shows(edit)) {
        let prev_content = edit.prev_content.as_deref().filter(|_| shows_content);
        let prev_rendered = edit.prev_rendered.as_deref().filter(|_| shows_content);
        let prev_topic = edit.topic.as_ref().map(|(before, _)| before.as_str());
        found.push(Snapshot {
            at: edit.at,
            user: edit.user,
            prev_topic,
            channel: edit.channel,
            prev_content,
            prev_rendered,
            content_html_diff: prev_rendered.map(|before| budget.html_diff(before, state.rendered)),
            ..state.clone()
        });
        state.topic = prev_topic.unwrap_or(state.topic);
        state.content = prev_content.unwrap_or(state.content);
        state.rendered = prev_rendered.unwrap_or(state.rendered);
    }
    if let Some(oldest) = oldest {
        (state.at, state.user) = (oldest.at, oldest.user);
    }
    found.push(state);
    found.reverse();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use model::SettingValue;

    fn edit(at: u64) -> EditEntry {
        EditEntry {
            user: fixture::MEMBER,
            at: Timestamp(at),
            prev_content: None,
            prev_rendered: None,
            channel: None,
            topic: None,
        }
    }

    /// Sent as `a` in `one`; made `b`; moved to `two`; made `c` and moved to `three` at once; moved to channel 2.
    fn message() -> Message {
        let mut message = fixture::message(5, fixture::OWNER, fixture::in_channel(2, "three"));
        message.content = "c".into();
        message.rendered = "<p>c</p>".into();
        message.sent = Timestamp(1);
        let content = |text: &str, entry| EditEntry {
            prev_content: Some(text.into()),
            prev_rendered: Some(format!("<p>{text}</p>").into()),
            ..entry
        };
        message.edits = vec![
            EditEntry { channel: Some((ChannelId(1), ChannelId(2))), ..edit(5) },
            content("b", EditEntry { topic: Some(("two".into(), "three".into())), ..edit(4) }),
            EditEntry { topic: Some(("one".into(), "two".into())), ..edit(3) },
            content("a", edit(2)),
        ];
        message.version = 2;
        message
    }

    #[test]
    fn a_truncated_history_shows_its_newest_part_without_a_gap() {
        let mut message = message();
        message.edits.pop();
        let visible = visible_edits(&message, HistoryPolicy::All);
        assert_eq!(visible.iter().map(|edit| edit.at.0).collect::<Vec<_>>(), [5, 4]);
        assert_eq!(visible_edits(&message, HistoryPolicy::Moves).len(), 3, "no move is missing");
        let states = snapshots(&message, HistoryPolicy::All);
        let shown: Vec<_> =
            states.iter().map(|state| (state.at.0, state.content, state.prev_content)).collect();
        assert_eq!(shown, [(4, "c", None), (5, "c", None)]);
        assert_eq!(states[0].user, fixture::MEMBER);
        message.edits.retain(|edit| edit.prev_content.is_none());
        assert!(visible_edits(&message, HistoryPolicy::All).is_empty());
    }

    #[test]
    fn messages_have_the_edits_that_the_policy_shows() {
        let mut realm = fixture::realm();
        let message = message();
        for (word, shown, with_content) in
            [("all", vec![5, 4, 3, 2], 2), ("moves", vec![5, 4, 3], 0), ("none", vec![], 0)]
        {
            let name = "message_edit_history_visibility_policy".to_owned();
            realm.settings.insert(name, SettingValue::Text(word.into()));
            let policy = HistoryPolicy::of(&realm);
            let visible = visible_edits(&message, policy);
            assert_eq!(visible.iter().map(|edit| edit.at.0).collect::<Vec<_>>(), shown, "{word}");
            assert_eq!(visible.iter().filter(|edit| edit.prev_content.is_some()).count(), with_content);
            assert_eq!(policy.check().is_ok(), word != "none");
        }
    }

    #[test]
    fn snapshots_begin_with_the_original() {
        let message = message();
        let states = |policy| -> Vec<String> {
            let snapshots = snapshots(&message, policy);
            let states = snapshots.iter().map(|s| {
                format!(
                    "{} {} {} {} | {:?} {:?} {:?}",
                    s.at.0,
                    s.user,
                    s.topic,
                    s.content,
                    s.prev_topic,
                    s.prev_content,
                    s.channel.map(|(a, b)| (a.0, b.0))
                )
            });
            states.collect()
        };
        assert_eq!(
            states(HistoryPolicy::All),
            [
                "1 1 one a | None None None",
                "2 4 one b | None Some(\"a\") None",
                "3 4 two b | Some(\"one\") None None",
                "4 4 three c | Some(\"two\") Some(\"b\") None",
                "5 4 three c | None None Some((1, 2))",
            ]
        );
        assert_eq!(
            states(HistoryPolicy::Moves),
            [
                "1 1 one c | None None None",
                "3 4 two c | Some(\"one\") None None",
                "4 4 three c | Some(\"two\") None None",
                "5 4 three c | None None Some((1, 2))",
            ]
        );
        let all = snapshots(&message, HistoryPolicy::All);
        assert_eq!(all[1].prev_rendered, Some("<p>a</p>"));
        assert_eq!(all.iter().filter(|snapshot| snapshot.content_html_diff.is_some()).count(), 2);
    }
}
