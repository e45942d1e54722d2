//! How a change of a channel, a user, groups or subscriptions affects who sees the channel.

use crate::permissions::channel::{sees_channel, sees_content, sees_subscribers};
use model::{Channel, Directory, User, UserId};

/// The effect of a change on one user's view of one channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VisibilityDiff {
    pub saw: bool,
    pub sees: bool,
    /// The user sees the channel's subscribers from now on.
    pub gains_subscribers: bool,
    /// The user saw the channel and still does, but sees its subscribers from now on, or no longer, without having subscribed or
    /// unsubscribed.
    pub is_renewed: bool,
}

impl VisibilityDiff {
    /// Whether the user sees the channel from now on.
    pub fn is_gained(self) -> bool {
        self.sees && !self.saw
    }

    /// Whether the user no longer sees the channel.
    pub fn is_lost(self) -> bool {
        self.saw && !self.sees
    }

    /// Whether the user saw the channel and still does, and it is not renewed.
    pub fn is_kept(self) -> bool {
        self.saw && self.sees && !self.is_renewed
    }
}

/// Compares a user's view of a channel in two snapshots. A channel that is not in a snapshot is visible to no user, and
/// a deactivated account sees no channel.
pub fn visibility_diff(
    user: UserId,
    (before, was): (&Directory, Option<&Channel>),
    (after, is): (&Directory, Option<&Channel>),
) -> VisibilityDiff {
    let view = |directory: &Directory, channel: Option<&Channel>| {
        let user = directory.user(user).filter(|user| user.is_active);
        user.zip(channel).map_or((false, false), |(user, channel)| {
            (sees_channel(directory, user, channel), sees_subscribers(directory, user, channel))
        })
    };
    let ((saw, saw_subscribers), (sees, sees_subscribers)) = (view(before, was), view(after, is));
    let is_subscribed = |directory: &Directory, channel: Option<&Channel>| {
        channel.is_some_and(|channel| directory.is_subscribed(channel.id, user))
    };
    let is_outside = !is_subscribed(before, was) && !is_subscribed(after, is);
    VisibilityDiff {
        saw,
        sees,
        gains_subscribers: sees_subscribers && !saw_subscribers,
        is_renewed: saw && sees && saw_subscribers != sees_subscribers && is_outside,
    }
}

/// Whether a user loses access to messages that move from one channel to another: for the user they are deleted, and so
/// is the policy for the topic.
pub fn loses_by_move(dir: &Directory, user: &User, origin: &Channel, destination: &Channel) -> bool {
    sees_content(dir, user, origin) && !sees_content(dir, user, destination)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{
        self, ADMINISTRATOR, BOT, GUEST, MEMBER, MODERATOR, OTHER_MEMBER, OWNER, SYSTEM_BOT,
    };
    use model::{ChannelId, GroupSetting};

    fn with(change: impl FnOnce(&mut Channel)) -> Directory {
        let mut dir = fixture::directory();
        let mut channel = fixture::channel(1, "a");
        change(&mut channel);
        dir.put_channel(channel);
        fixture::subscribe(&mut dir, 1, MEMBER, 0);
        fixture::subscribe(&mut dir, 1, GUEST, 0);
        dir
    }

    fn diff(before: &Directory, after: &Directory, user: UserId) -> VisibilityDiff {
        let channel = |directory: &Directory| directory.channel(ChannelId(1)).cloned();
        let (was, is) = (channel(before), channel(after));
        visibility_diff(user, (before, was.as_deref()), (after, is.as_deref()))
    }

    fn users(before: &Directory, after: &Directory, test: fn(VisibilityDiff) -> bool) -> Vec<UserId> {
        let users = after.users().map(|user| user.id);
        users.filter(|user| test(diff(before, after, *user))).collect()
    }

    #[test]
    fn privacy_decides_who_gains_and_loses_a_channel() {
        let public = with(|_| {});
        let private = with(|channel| channel.invite_only = true);
        let web = with(|channel| channel.is_web_public = true);
        let not_administrators = [MODERATOR, OTHER_MEMBER, BOT, SYSTEM_BOT];
        assert_eq!(users(&public, &private, VisibilityDiff::is_lost), not_administrators);
        assert_eq!(users(&public, &private, VisibilityDiff::is_gained), []);
        assert_eq!(users(&public, &private, VisibilityDiff::is_kept), [OWNER, ADMINISTRATOR, MEMBER, GUEST]);
        assert_eq!(users(&private, &public, VisibilityDiff::is_gained), not_administrators);
        assert_eq!(users(&private, &public, |diff| diff.gains_subscribers), not_administrators);
        let changes = |diff: VisibilityDiff| diff.saw != diff.sees;
        assert_eq!(users(&public, &web, changes), [], "the guest subscribes");
        let granted = with(|channel| {
            channel.invite_only = true;
            channel.permissions.subscribe = GroupSetting::only(OTHER_MEMBER);
        });
        assert_eq!(users(&private, &granted, VisibilityDiff::is_gained), [OTHER_MEMBER]);
        assert_eq!(users(&private, &granted, |diff| diff.gains_subscribers), []);
        let created = users(&fixture::directory(), &private, VisibilityDiff::is_gained);
        assert_eq!(created, [OWNER, ADMINISTRATOR, MEMBER, GUEST]);
    }

    #[test]
    fn a_deactivated_account_loses_its_channels() {
        let before = with(|_| {});
        let mut after = before.clone();
        after.put_user(User { is_active: false, ..User::clone(before.user(MEMBER).unwrap()) });
        assert!(diff(&before, &after, MEMBER).is_lost());
        assert!(diff(&before, &after, OTHER_MEMBER).is_kept());
    }

    #[test]
    fn moves_take_messages_from_users_who_cannot_read_the_destination() {
        let mut dir = with(|_| {});
        let mut secret = fixture::channel(2, "secret");
        secret.invite_only = true;
        dir.put_channel(secret);
        dir.put_channel(fixture::channel(3, "b"));
        fixture::subscribe(&mut dir, 2, MEMBER, 0);
        let channel = |id| dir.channel(ChannelId(id)).unwrap();
        let losers = |from, to| -> Vec<UserId> {
            let users = dir.users().filter(|user| user.is_active);
            let users = users.filter(|user| loses_by_move(&dir, user, channel(from), channel(to)));
            users.map(|user| user.id).collect()
        };
        assert_eq!(losers(1, 3), [GUEST]);
        let to_secret = [OWNER, ADMINISTRATOR, MODERATOR, OTHER_MEMBER, GUEST, BOT, SYSTEM_BOT];
        assert_eq!(losers(1, 2), to_secret);
        assert_eq!(losers(2, 1), []);
    }
}
