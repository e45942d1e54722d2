use super::*;
use crate::fixture;
use model::{Bot, BotKind, MessageId, Role, SettingValue, UserId};

/// A change of the scene, and the expected notifications: push, mail.
type Case = (&'static str, fn(&mut Scene), Option<Trigger>, Option<Trigger>);

struct Scene {
    user: User,
    sender: User,
    subscription: Option<Subscription>,
    policy: VisibilityPolicy,
    flags: Flags,
    mutes_sender: bool,
    is_present: bool,
}

impl Scene {
    /// A channel message to an absent user with default settings.
    fn new() -> Self {
        Self {
            user: fixture::user(UserId(1), "reader", Role::Member),
            sender: fixture::user(UserId(2), "writer", Role::Member),
            subscription: Some(Subscription::start("#76ce90".into(), MessageId(0))),
            policy: VisibilityPolicy::Inherit,
            flags: Flags::NONE,
            mutes_sender: false,
            is_present: false,
        }
    }

    fn set(&mut self, name: &str, value: bool) {
        self.user.settings.insert(name.to_owned(), SettingValue::Bool(value));
    }

    fn flag(&mut self, flag: Flag) {
        self.flags = self.flags.with(flag);
    }

    fn channel(&mut self) -> &mut Subscription {
        self.subscription.as_mut().unwrap()
    }

    fn check(&self, what: &str, push: Option<Trigger>, mail: Option<Trigger>) {
        let receipt = Receipt {
            user: &self.user,
            sender: &self.sender,
            subscription: self.subscription.as_ref(),
            policy: self.policy,
            flags: self.flags,
            mutes_sender: self.mutes_sender,
            is_present: self.is_present,
        };
        assert_eq!((receipt.push(), receipt.mail()), (push, mail), "{what}");
    }
}

fn check_all(cases: &[Case]) {
    for (what, change, push, mail) in cases {
        let mut scene = Scene::new();
        change(&mut scene);
        scene.check(what, *push, *mail);
    }
}

#[test]
fn direct_messages() {
    use Trigger::Direct;
    check_all(&[
        ("as it is", |s| s.subscription = None, Some(Direct), Some(Direct)),
        (
            "mentions change nothing",
            |s| {
                s.subscription = None;
                s.flag(Flag::ChannelWildcardMentioned)
            },
            Some(Direct),
            Some(Direct),
        ),
        (
            "no push",
            |s| {
                s.subscription = None;
                s.set("enable_offline_push_notifications", false)
            },
            None,
            Some(Direct),
        ),
        (
            "no mail",
            |s| {
                s.subscription = None;
                s.set("enable_offline_email_notifications", false)
            },
            Some(Direct),
            None,
        ),
        (
            "present",
            |s| {
                s.subscription = None;
                s.is_present = true
            },
            Some(Direct),
            None,
        ),
        (
            "present, and then no push",
            |s| {
                s.subscription = None;
                s.is_present = true;
                s.set("enable_online_push_notifications", false)
            },
            None,
            None,
        ),
        (
            "away, and push only then",
            |s| {
                s.subscription = None;
                s.set("enable_online_push_notifications", false)
            },
            Some(Direct),
            Some(Direct),
        ),
    ]);
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table has a row for each case, and nothing else")]
fn mentions() {
    use Trigger::{FollowedWildcard, Mention, Wildcard};
    check_all(&[
        ("nothing", |_| {}, None, None),
        ("by name", |s| s.flag(Flag::Mentioned), Some(Mention), Some(Mention)),
        (
            "by name in a muted channel",
            |s| {
                s.flag(Flag::Mentioned);
                s.channel().is_muted = true
            },
            Some(Mention),
            Some(Mention),
        ),
        (
            "by name in a muted topic",
            |s| {
                s.flag(Flag::Mentioned);
                s.policy = VisibilityPolicy::Muted
            },
            Some(Mention),
            Some(Mention),
        ),
        (
            "by name, no push",
            |s| {
                s.flag(Flag::Mentioned);
                s.set("enable_offline_push_notifications", false)
            },
            None,
            Some(Mention),
        ),
        ("of all", |s| s.flag(Flag::ChannelWildcardMentioned), Some(Wildcard), Some(Wildcard)),
        ("of the topic", |s| s.flag(Flag::TopicWildcardMentioned), Some(Wildcard), Some(Wildcard)),
        (
            "of all, unwanted",
            |s| {
                s.flag(Flag::ChannelWildcardMentioned);
                s.set("wildcard_mentions_notify", false)
            },
            None,
            None,
        ),
        (
            "of all, wanted here",
            |s| {
                s.flag(Flag::ChannelWildcardMentioned);
                s.set("wildcard_mentions_notify", false);
                s.channel().wildcard_mentions_notify = Some(true)
            },
            Some(Wildcard),
            Some(Wildcard),
        ),
        (
            "of all, unwanted here",
            |s| {
                s.flag(Flag::ChannelWildcardMentioned);
                s.channel().wildcard_mentions_notify = Some(false)
            },
            None,
            None,
        ),
        (
            "of all in a muted channel",
            |s| {
                s.flag(Flag::ChannelWildcardMentioned);
                s.channel().is_muted = true
            },
            None,
            None,
        ),
        (
            "of all in an unmuted topic of it",
            |s| {
                s.flag(Flag::ChannelWildcardMentioned);
                s.channel().is_muted = true;
                s.policy = VisibilityPolicy::Unmuted
            },
            Some(Wildcard),
            Some(Wildcard),
        ),
        (
            "of all in a muted topic",
            |s| {
                s.flag(Flag::ChannelWildcardMentioned);
                s.policy = VisibilityPolicy::Muted
            },
            None,
            None,
        ),
        (
            "of all in a followed topic",
            |s| {
                s.flag(Flag::ChannelWildcardMentioned);
                s.set("wildcard_mentions_notify", false);
                s.policy = VisibilityPolicy::Followed
            },
            Some(FollowedWildcard),
            Some(FollowedWildcard),
        ),
        ("an alert word", |s| s.flag(Flag::HasAlertWord), None, None),
    ]);
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table has a row for each case, and nothing else")]
fn topics_and_channels() {
    use Trigger::{Channel, FollowedTopic};
    check_all(&[
        ("followed", |s| s.policy = VisibilityPolicy::Followed, Some(FollowedTopic), Some(FollowedTopic)),
        (
            "followed in a muted channel",
            |s| {
                s.policy = VisibilityPolicy::Followed;
                s.channel().is_muted = true
            },
            Some(FollowedTopic),
            Some(FollowedTopic),
        ),
        (
            "followed, no push",
            |s| {
                s.policy = VisibilityPolicy::Followed;
                s.set("enable_followed_topic_push_notifications", false)
            },
            None,
            Some(FollowedTopic),
        ),
        (
            "followed, no mail",
            |s| {
                s.policy = VisibilityPolicy::Followed;
                s.set("enable_followed_topic_email_notifications", false)
            },
            Some(FollowedTopic),
            None,
        ),
        ("everything by push", |s| s.set("enable_stream_push_notifications", true), Some(Channel), None),
        ("everything by mail", |s| s.set("enable_stream_email_notifications", true), None, Some(Channel)),
        (
            "everything here",
            |s| {
                s.channel().push_notifications = Some(true);
                s.channel().email_notifications = Some(true)
            },
            Some(Channel),
            Some(Channel),
        ),
        (
            "everything but here",
            |s| {
                s.set("enable_stream_push_notifications", true);
                s.channel().push_notifications = Some(false)
            },
            None,
            None,
        ),
        (
            "everything, muted channel",
            |s| {
                s.set("enable_stream_push_notifications", true);
                s.channel().is_muted = true
            },
            None,
            None,
        ),
        (
            "everything, muted topic",
            |s| {
                s.set("enable_stream_push_notifications", true);
                s.policy = VisibilityPolicy::Muted
            },
            None,
            None,
        ),
    ]);
}

#[test]
fn read_own_and_muted_messages_do_not_notify() {
    type Change = fn(&mut Scene);
    let changes: [(&str, Change); 6] = [
        ("own", |s| s.sender = s.user.clone()),
        ("read", |s| s.flag(Flag::Read)),
        ("never received", |s| s.flag(Flag::Historical)),
        ("from a muted user", |s| s.mutes_sender = true),
        ("for a deactivated user", |s| s.user.is_active = false),
        ("for a bot", |s| s.user.bot = Some(Bot { kind: BotKind::Generic, owner: None, is_system: false })),
    ];
    for (what, change) in changes {
        let mut scene = Scene::new();
        scene.subscription = None;
        change(&mut scene);
        scene.check(what, None, None);
        scene.subscription = Scene::new().subscription;
        scene.flag(Flag::Mentioned);
        scene.check(what, None, None);
    }
}
