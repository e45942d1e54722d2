//! Notices about channels: created, renamed, privacy changed, archived and others
//! (docs/api/channels.md#channel-notices).
//!
//! Notices in the channel itself are sent if the organization enables them (`sends_channel_events`), in the topic
//! `channel_events_topic`. The creator has read the notice of a new channel from the start; all users have read the notice
//! of archiving.

use super::{channel_link, quoted, silent_mention};
use crate::permissions::channel_update::ChannelChange;
use crate::permissions::create::ChannelPrivacy;
use crate::settings::{ChannelPermission, realm_bool, realm_int};
use crate::topics::effective_topics_policy;
use model::{Channel, Directory, GroupId, GroupSetting, Realm, TopicsPolicy, User};

/// The topic of new channels, in the organization's channel for announcements.
pub const NEW_CHANNELS_TOPIC: &str = "new channels";
/// The topic of notices in a channel itself.
pub const CHANNEL_EVENTS_TOPIC: &str = "channel events";

/// Whether notices about a channel are sent to the channel.
pub fn sends_channel_events(realm: &Realm) -> bool {
    realm_bool(realm, "send_channel_events_messages")
}

/// The topic of notices in a channel; empty if the channel has no other topics.
pub fn channel_events_topic(realm: &Realm, channel: &Channel) -> &'static str {
    match effective_topics_policy(realm, channel) {
        TopicsPolicy::EmptyTopicOnly => "",
        _ => CHANNEL_EVENTS_TOPIC,
    }
}

/// The first message of a channel.
pub fn created_text(creator: &User, privacy: ChannelPrivacy, description: &str) -> String {
    let (kind, creator) = (privacy.name(), silent_mention(creator));
    let description = quoted_description(description);
    format!("**{kind}** channel created by {creator}. **Description:**\n{description}")
}

/// The message in the channel for announcements; none without channels.
pub fn announced_text(creator: &User, channels: &[&Channel]) -> Option<String> {
    let creator = silent_mention(creator);
    let links: Vec<String> = channels.iter().map(|channel| channel_link(channel)).collect();
    match links.as_slice() {
        [] => None,
        [link] => Some(format!("{creator} created a new channel {link}.")),
        links => Some(format!("{creator} created the following channels: {}.", links.join(", "))),
    }
}

/// The retention period changed: days, -1 for unlimited, none for the organization's value.
fn retention_changed_text(realm: &Realm, requester: &User, old: Option<i32>, new: Option<i32>) -> String {
    let effective = |days: Option<i32>| match days {
        Some(days) => i64::from(days),
        None => realm_int(realm, "message_retention_days").unwrap_or(-1),
    };
    let period = |days: Option<i32>| match effective(days) {
        ..=0 => "Forever".to_owned(),
        1 => "1 day".to_owned(),
        days => format!("{days} days"),
    };
    let (old_period, new_period) = (period(old), period(new));
    let summary = match effective(new) {
        ..=0 => "Messages in this channel will now be retained forever.".to_owned(),
        _ => format!(
            "Messages in this channel will now be automatically deleted {new_period} after they are sent."
        ),
    };
    format!(
        "{} has changed the [message retention period](/help/message-retention-policy) for this channel:\n\
         * **Old retention period**: {old_period}\n\
         * **New retention period**: {new_period}\n\n\
         {summary}",
        silent_mention(requester)
    )
}

/// The notice of an archived channel.
pub fn archived_text(name: &str) -> String {
    format!("Channel {name} has been archived.")
}

/// The notice of a change of a channel; none for changes without one. `before` is the channel before the change.
pub fn channel_change_text(
    dir: &Directory,
    requester: &User,
    before: &Channel,
    change: &ChannelChange,
) -> Option<String> {
    let by = silent_mention(requester);
    Some(match change {
        ChannelChange::Name(name) => format!("{by} renamed channel **{}** to **{name}**.", before.name),
        ChannelChange::Description(text) => format!(
            "{by} changed the description for this channel.\n\n\
             * **Old description:**\n{}\n\
             * **New description:**\n{}",
            quoted_description(&before.description),
            quoted_description(text)
        ),
        ChannelChange::Privacy(after) => format!(
            "{by} changed the [access permissions](/help/channel-permissions) for this channel \
             from **{}** to **{}**.",
            ChannelPrivacy::of(before).name(),
            after.name()
        ),
        ChannelChange::Permission(ChannelPermission::SendMessage, after) => format!(
            "{by} changed the [posting permissions](/help/channel-posting-policy) for this channel:\n\n\
             * **Old**: {}\n\
             * **New**: {}",
            holders_text(dir, &before.permissions.send_message),
            holders_text(dir, after)
        ),
        ChannelChange::Retention(days) => {
            retention_changed_text(dir.realm(), requester, before.message_retention_days, *days)
        }
        ChannelChange::Unarchived => format!("Channel {} un-archived.", before.name),
        ChannelChange::TopicsPolicy(_)
        | ChannelChange::Default(_)
        | ChannelChange::Folder(_)
        | ChannelChange::Permission(..) => return None,
    })
}

/// The holders of a permission: groups and users, mentioned silently.
fn holders_text(dir: &Directory, setting: &GroupSetting) -> String {
    let group = |id: &GroupId| dir.group(*id).map(|group| format!("@_*{}*", group.name));
    let names: Vec<String> = match setting {
        GroupSetting::Group(id) => group(id).into_iter().collect(),
        GroupSetting::Anonymous { members, subgroups } => {
            let users = members.iter().filter_map(|id| dir.user(*id)).filter(|user| user.is_active);
            subgroups.iter().filter_map(group).chain(users.map(|user| silent_mention(user))).collect()
        }
    };
    match names.is_empty() {
        true => "@_*role:nobody*".to_owned(),
        false => names.join(", "),
    }
}

fn quoted_description(description: &str) -> String {
    quoted(if description.is_empty() { "*No description.*" } else { description })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::permissions::create::resolve_privacy;
    use model::SettingValue;

    #[test]
    fn new_channels_are_announced() {
        let creator = fixture::member();
        let privacy = |invite_only, web, history| resolve_privacy(invite_only, web, history).unwrap();
        for (privacy, description, expected) in [
            (
                privacy(false, false, None),
                "A *new* one",
                "**Public** channel created by @_**member|4**. **Description:**\n```` quote\nA *new* one\n````",
            ),
            (
                privacy(false, true, None),
                "",
                "**Web-public** channel created by @_**member|4**. **Description:**\n```` quote\n*No description.*\n````",
            ),
            (
                privacy(true, false, Some(true)),
                "x",
                "**Private, shared history** channel created by @_**member|4**. **Description:**\n```` quote\nx\n````",
            ),
            (
                privacy(true, false, None),
                "x",
                "**Private, protected history** channel created by @_**member|4**. **Description:**\n```` quote\nx\n````",
            ),
        ] {
            assert_eq!(created_text(&creator, privacy, description), expected);
        }
        let (a, b) = (fixture::channel(1, "a"), fixture::channel(2, "b"));
        for (channels, expected) in [
            (vec![], None),
            (vec![&a], Some("@_**member|4** created a new channel #**a**.")),
            (vec![&a, &b], Some("@_**member|4** created the following channels: #**a**, #**b**.")),
        ] {
            assert_eq!(announced_text(&creator, &channels).as_deref(), expected);
        }
    }

    #[test]
    fn notices_of_changes() {
        let dir = fixture::directory();
        let mut before = fixture::channel(1, "a");
        before.description = "old".into();
        let privacy = resolve_privacy(true, false, Some(true)).unwrap();
        let permission = |which, value| ChannelChange::Permission(which, value);
        for (change, expected) in [
            (ChannelChange::Name("b".into()), Some("@_**member|4** renamed channel **a** to **b**.")),
            (
                ChannelChange::Description(String::new()),
                Some(
                    "@_**member|4** changed the description for this channel.\n\n* **Old description:**\n```` quote\nold\n````\n* **New description:**\n```` quote\n*No description.*\n````",
                ),
            ),
            (
                ChannelChange::Privacy(privacy),
                Some(
                    "@_**member|4** changed the [access permissions](/help/channel-permissions) for this channel from **Public** to **Private, shared history**.",
                ),
            ),
            (
                permission(ChannelPermission::SendMessage, fixture::no_users()),
                Some(
                    "@_**member|4** changed the [posting permissions](/help/channel-posting-policy) for this channel:\n\n* **Old**: @_*role:everyone*\n* **New**: @_*role:nobody*",
                ),
            ),
            (
                ChannelChange::Retention(Some(3)),
                Some(
                    "@_**member|4** has changed the [message retention period](/help/message-retention-policy) for this channel:\n* **Old retention period**: Forever\n* **New retention period**: 3 days\n\nMessages in this channel will now be automatically deleted 3 days after they are sent.",
                ),
            ),
            (ChannelChange::Unarchived, Some("Channel a un-archived.")),
            (ChannelChange::Folder(Some(model::FolderId(1))), None),
            (permission(ChannelPermission::Subscribe, fixture::no_users()), None),
        ] {
            let text = channel_change_text(&dir, &fixture::member(), &before, &change);
            assert_eq!(text.as_deref(), expected, "{change:?}");
        }
        assert_eq!(archived_text("design"), "Channel design has been archived.");
    }

    #[test]
    fn retention_notices_have_effective_periods() {
        let mut realm = fixture::realm();
        realm.settings.insert("message_retention_days".into(), SettingValue::Int(1));
        let text = |old, new| retention_changed_text(&realm, &fixture::member(), old, new);
        assert_eq!(
            text(Some(30), Some(-1)),
            "@_**member|4** has changed the [message retention period](/help/message-retention-policy) for this channel:\n* **Old retention period**: 30 days\n* **New retention period**: Forever\n\nMessages in this channel will now be retained forever."
        );
        assert!(text(Some(-1), None).ends_with(
            "* **Old retention period**: Forever\n* **New retention period**: 1 day\n\nMessages in this channel will now be automatically deleted 1 day after they are sent."
        ));
    }

    #[test]
    fn who_can_post_is_mentioned_silently() {
        let mut dir = fixture::directory();
        let listed = GroupSetting::Anonymous {
            members: vec![fixture::MEMBER, fixture::FORMER],
            subgroups: vec![model::GroupId(4)],
        };
        let mut own = model::UserGroup::clone(dir.group_by_name("role:members").unwrap());
        (own.id, own.name, own.is_system) = (model::GroupId(20), "cooks".into(), false);
        dir.put_group(own);
        for (setting, expected) in [
            (fixture::group("role:everyone"), "@_*role:everyone*"),
            (fixture::no_users(), "@_*role:nobody*"),
            (GroupSetting::Group(model::GroupId(20)), "@_*cooks*"),
            (listed, "@_*role:moderators*, @_**member|4**"),
            (GroupSetting::only(fixture::FORMER), "@_*role:nobody*"),
        ] {
            assert_eq!(holders_text(&dir, &setting), expected);
        }
    }

    #[test]
    fn notices_have_their_topic() {
        let realm = fixture::realm();
        let mut channel = fixture::channel(1, "a");
        assert_eq!(channel_events_topic(&realm, &channel), "channel events");
        channel.topics_policy = TopicsPolicy::EmptyTopicOnly;
        assert_eq!(channel_events_topic(&realm, &channel), "");
        assert!(sends_channel_events(&realm));
    }
}
