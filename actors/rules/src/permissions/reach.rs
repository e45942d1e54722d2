//! Whom a change brings to a channel and whom it shuts out: sets of people, before and after (endpoints.md 2 and 6).

use crate::permissions::channel::{sees_channel, sees_content};
use model::{Channel, ChannelId, Directory, User, UserId};

/// What a change did to people's access to one channel. All sorted, people and bots with active accounts only.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccessChange {
    /// Know of the channel from now on.
    pub gains_metadata: Vec<UserId>,
    /// No longer know of it.
    pub loses_metadata: Vec<UserId>,
    /// Can read in it from now on.
    pub gains_content: Vec<UserId>,
    /// Can no longer read in it.
    pub loses_content: Vec<UserId>,
}

impl AccessChange {
    /// Whether nobody's access changed.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Compares who sees a channel in two snapshots: of privacy, permissions, groups, roles, subscriptions. A channel
/// that is not in a snapshot is seen by nobody there.
pub fn access_change(before: &Directory, after: &Directory, channel: ChannelId) -> AccessChange {
    let mut change = AccessChange::default();
    let sees = |dir: &Directory, id: UserId, test: fn(&Directory, &User, &Channel) -> bool| {
        let user = dir.user(id).filter(|user| user.is_active);
        user.zip(dir.channel(channel)).is_some_and(|(user, channel)| test(dir, user, channel))
    };
    for user in after.users().filter(|user| user.is_active) {
        match (sees(before, user.id, sees_channel), sees(after, user.id, sees_channel)) {
            (false, true) => change.gains_metadata.push(user.id),
            (true, false) => change.loses_metadata.push(user.id),
            _ => {}
        }
        match (sees(before, user.id, sees_content), sees(after, user.id, sees_content)) {
            (false, true) => change.gains_content.push(user.id),
            (true, false) => change.loses_content.push(user.id),
            _ => {}
        }
    }
    change
}

/// Whether somebody who could read messages in one channel can no longer do so after they moved to another: for
/// those the messages are gone, and so are their policies for the topic.
pub fn loses_by_move(dir: &Directory, user: &User, origin: &Channel, destination: &Channel) -> bool {
    sees_content(dir, user, origin) && !sees_content(dir, user, destination)
}

/// Everybody with an active account for whom that is so, sorted.
pub fn losers_of_move(dir: &Directory, origin: &Channel, destination: &Channel) -> Vec<UserId> {
    let losers = dir.users().filter(|user| user.is_active && loses_by_move(dir, user, origin, destination));
    losers.map(|user| user.id).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{
        self, ADMINISTRATOR, BOT, GUEST, MEMBER, MODERATOR, OTHER_MEMBER, OWNER, SYSTEM_BOT,
    };
    use model::GroupSetting;

    fn with(change: impl FnOnce(&mut Channel)) -> Directory {
        let mut dir = fixture::directory();
        let mut channel = fixture::channel(1, "a");
        change(&mut channel);
        dir.put_channel(channel);
        fixture::subscribe(&mut dir, 1, MEMBER, 0);
        fixture::subscribe(&mut dir, 1, GUEST, 0);
        dir
    }

    #[test]
    fn privacy_decides_who_sees_a_channel() {
        let public = with(|_| {});
        let private = with(|channel| channel.invite_only = true);
        let web = with(|channel| channel.is_web_public = true);
        let outside = vec![OWNER, ADMINISTRATOR, MODERATOR, OTHER_MEMBER, BOT, SYSTEM_BOT];
        let not_administrators = vec![MODERATOR, OTHER_MEMBER, BOT, SYSTEM_BOT];
        let closed = access_change(&public, &private, ChannelId(1));
        assert_eq!(closed.loses_metadata, not_administrators);
        assert_eq!(closed.loses_content, outside);
        assert!(closed.gains_metadata.is_empty() && closed.gains_content.is_empty());
        let opened = access_change(&private, &public, ChannelId(1));
        assert_eq!(opened.gains_metadata, not_administrators);
        assert_eq!(opened.gains_content, outside);
        assert!(access_change(&public, &web, ChannelId(1)).is_empty(), "the guest was inside already");
        let granted = with(|channel| {
            channel.invite_only = true;
            channel.permissions.subscribe = GroupSetting::only(OTHER_MEMBER);
        });
        let gained = access_change(&private, &granted, ChannelId(1));
        assert_eq!((gained.gains_metadata, gained.gains_content), (vec![OTHER_MEMBER], vec![OTHER_MEMBER]));
        let created = access_change(&fixture::directory(), &private, ChannelId(1));
        assert_eq!(created.gains_content, [MEMBER, GUEST]);
    }

    #[test]
    fn moves_shut_out_those_who_cannot_follow() {
        let mut dir = with(|_| {});
        let mut secret = fixture::channel(2, "secret");
        secret.invite_only = true;
        dir.put_channel(secret.clone());
        dir.put_channel(fixture::channel(3, "b"));
        fixture::subscribe(&mut dir, 2, MEMBER, 0);
        let channel = |id| dir.channel(ChannelId(id)).unwrap();
        assert_eq!(losers_of_move(&dir, channel(1), channel(3)), [GUEST]);
        let to_secret = losers_of_move(&dir, channel(1), channel(2));
        assert_eq!(to_secret, [OWNER, ADMINISTRATOR, MODERATOR, OTHER_MEMBER, GUEST, BOT, SYSTEM_BOT]);
        assert!(losers_of_move(&dir, channel(2), channel(1)).is_empty());
    }
}
