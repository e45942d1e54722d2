//! Notices about channels: created, renamed, privacy changed, archived and others
//! (docs/api/channels.md#channel-notices).
//!
//! Those in a channel itself are sent only if the organization wants such messages (`sends_channel_events`), in
//! the topic `channel_events_topic`. Who made a channel has read of it from the start; that it is archived, everybody.

use super::{channel_link, quoted, silent_mention};
use crate::permissions::channel_update::ChannelChange;
use crate::permissions::create::ChannelPrivacy;
use crate::settings::{ChannelPermission, realm_bool, realm_int};
use crate::topics::effective_topics_policy;
use model::{Channel, Directory, GroupId, GroupSetting, Realm, TopicsPolicy, User};

/// Where new channels are announced, in the channel that the organization has chosen for that.
pub const NEW_CHANNELS_TOPIC: &str = "new channels";
/// Where a channel's own notices are.
pub const CHANNEL_EVENTS_TOPIC: &str = "channel events";

/// Whether notices about a channel are sent to it.
pub fn sends_channel_events(realm: &Realm) -> bool {
    realm_bool(realm, "send_channel_events_messages")
}

/// The topic of a channel's own notices.
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

/// In the channel for announcements; none without channels.
pub fn announced_text(creator: &User, channels: &[&Channel]) -> Option<String> {
    let creator = silent_mention(creator);
    let links: Vec<String> = channels.iter().map(|channel| channel_link(channel)).collect();
    match links.as_slice() {
        [] => None,
        [link] => Some(format!("{creator} created a new channel {link}.")),
        links => Some(format!("{creator} created the following channels: {}.", links.join(", "))),
    }
}

/// The channel has another name.
pub fn renamed_text(requester: &User, old: &str, new: &str) -> String {
    format!("{} renamed channel **{old}** to **{new}**.", silent_mention(requester))
}

/// The channel has another description, in Markdown.
pub fn description_changed_text(requester: &User, old: &str, new: &str) -> String {
    let (old, new) = (quoted_description(old), quoted_description(new));
    format!(
        "{} changed the description for this channel.\n\n\
         * **Old description:**\n{old}\n\
         * **New description:**\n{new}",
        silent_mention(requester)
    )
}

/// Others can read the channel.
pub fn privacy_changed_text(requester: &User, old: ChannelPrivacy, new: ChannelPrivacy) -> String {
    format!(
        "{} changed the [access permissions](/help/channel-permissions) for this channel \
         from **{}** to **{}**.",
        silent_mention(requester),
        old.name(),
        new.name()
    )
}

/// Others can write in the channel.
pub fn posting_changed_text(
    dir: &Directory,
    requester: &User,
    old: &GroupSetting,
    new: &GroupSetting,
) -> String {
    format!(
        "{} changed the [posting permissions](/help/channel-posting-policy) for this channel:\n\n\
         * **Old**: {}\n\
         * **New**: {}",
        silent_mention(requester),
        holders_text(dir, old),
        holders_text(dir, new)
    )
}

/// Messages are kept for another time: days, -1 for ever, none as long as the organization says.
pub fn retention_changed_text(realm: &Realm, requester: &User, old: Option<i32>, new: Option<i32>) -> String {
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

/// The channel is no longer in use.
pub fn archived_text(name: &str) -> String {
    format!("Channel {name} has been archived.")
}

/// The channel is in use again.
pub fn unarchived_text(name: &str) -> String {
    format!("Channel {name} un-archived.")
}

/// What a channel is told of one of its changes; none for changes that are not told. `before` is the channel as it
/// was; a channel that changes its name or is archived is told after that.
pub fn channel_change_text(
    dir: &Directory,
    requester: &User,
    before: &Channel,
    change: &ChannelChange,
) -> Option<String> {
    match change {
        ChannelChange::Name(name) => Some(renamed_text(requester, &before.name, name)),
        ChannelChange::Description(text) => {
            Some(description_changed_text(requester, &before.description, text))
        }
        ChannelChange::Privacy(after) => {
            Some(privacy_changed_text(requester, ChannelPrivacy::of(before), *after))
        }
        ChannelChange::Permission(ChannelPermission::SendMessage, after) => {
            Some(posting_changed_text(dir, requester, &before.permissions.send_message, after))
        }
        ChannelChange::Retention(days) => {
            Some(retention_changed_text(dir.realm(), requester, before.message_retention_days, *days))
        }
        ChannelChange::Unarchived => Some(unarchived_text(&before.name)),
        _ => None,
    }
}

/// Who has a permission: groups and people, mentioned silently.
pub fn holders_text(dir: &Directory, setting: &GroupSetting) -> String {
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
    fn new_channels_introduce_themselves() {
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
    fn changes_are_told_in_the_words_clients_know() {
        let requester = fixture::member();
        let public = resolve_privacy(false, false, None).unwrap();
        let shared = resolve_privacy(true, false, Some(true)).unwrap();
        for (text, expected) in [
            (renamed_text(&requester, "a", "b"), "@_**member|4** renamed channel **a** to **b**."),
            (
                description_changed_text(&requester, "old", ""),
                "@_**member|4** changed the description for this channel.\n\n* **Old description:**\n```` quote\nold\n````\n* **New description:**\n```` quote\n*No description.*\n````",
            ),
            (
                privacy_changed_text(&requester, public, shared),
                "@_**member|4** changed the [access permissions](/help/channel-permissions) for this channel from **Public** to **Private, shared history**.",
            ),
            (archived_text("design"), "Channel design has been archived."),
            (unarchived_text("design"), "Channel design un-archived."),
        ] {
            assert_eq!(text, expected);
        }
    }

    #[test]
    fn retention_is_told_as_it_will_be() {
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
            (fixture::nobody(), "@_*role:nobody*"),
            (GroupSetting::Group(model::GroupId(20)), "@_*cooks*"),
            (listed, "@_*role:moderators*, @_**member|4**"),
            (GroupSetting::only(fixture::FORMER), "@_*role:nobody*"),
        ] {
            assert_eq!(holders_text(&dir, &setting), expected);
        }
        let requester = fixture::member();
        assert_eq!(
            posting_changed_text(&dir, &requester, &fixture::group("role:everyone"), &fixture::nobody()),
            "@_**member|4** changed the [posting permissions](/help/channel-posting-policy) for this channel:\n\n* **Old**: @_*role:everyone*\n* **New**: @_*role:nobody*"
        );
    }

    #[test]
    fn only_some_changes_are_told() {
        let dir = fixture::directory();
        let before = fixture::channel(1, "a");
        let requester = fixture::member();
        let privacy = resolve_privacy(true, false, None).unwrap();
        let told = |change| channel_change_text(&dir, &requester, &before, &change);
        for (change, expected) in [
            (ChannelChange::Name("b".into()), renamed_text(&requester, "a", "b")),
            (ChannelChange::Description("x".into()), description_changed_text(&requester, "", "x")),
            (
                ChannelChange::Privacy(privacy),
                privacy_changed_text(&requester, ChannelPrivacy::of(&before), privacy),
            ),
            (
                ChannelChange::Permission(ChannelPermission::SendMessage, fixture::nobody()),
                posting_changed_text(&dir, &requester, &fixture::group("role:everyone"), &fixture::nobody()),
            ),
            (
                ChannelChange::Retention(Some(3)),
                retention_changed_text(dir.realm(), &requester, None, Some(3)),
            ),
            (ChannelChange::Unarchived, unarchived_text("a")),
        ] {
            assert_eq!(told(change), Some(expected));
        }
        assert_eq!(told(ChannelChange::Folder(Some(model::FolderId(1)))), None);
        assert_eq!(told(ChannelChange::Permission(ChannelPermission::Subscribe, fixture::nobody())), None);
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
