use super::*;
use crate::fixture::{
    self, ADMINISTRATOR, ALL_USERS, BOT, GUEST, MEMBER, MODERATOR, OTHER_MEMBER, OWNER, SYSTEM_BOT,
};
use model::{GroupSetting, UserId};
use proptest::prelude::*;

const VERONA: u32 = 1;

fn with(change: impl FnOnce(&mut Channel)) -> (Directory, Channel) {
    let mut dir = fixture::directory();
    let mut channel = fixture::channel(VERONA, "Verona");
    change(&mut channel);
    dir.put_channel(channel.clone());
    (dir, channel)
}

fn those(dir: &Directory, may: impl Fn(&User) -> bool) -> Vec<UserId> {
    ALL_USERS.into_iter().filter(|id| may(dir.user(*id).unwrap())).collect()
}

#[test]
fn public_channels_are_open_to_non_guests() {
    let (mut dir, channel) = with(|_| {});
    let non_guests = [OWNER, ADMINISTRATOR, MODERATOR, MEMBER, OTHER_MEMBER, BOT, SYSTEM_BOT];
    assert_eq!(those(&dir, |user| sees_channel(&dir, user, &channel)), non_guests);
    assert_eq!(those(&dir, |user| sees_content(&dir, user, &channel)), non_guests);
    assert_eq!(those(&dir, |user| sees_subscribers(&dir, user, &channel)), non_guests);
    fixture::subscribe(&mut dir, VERONA, GUEST, 5);
    assert_eq!(those(&dir, |user| sees_channel(&dir, user, &channel)), ALL_USERS);
    let guest = dir.user(GUEST).unwrap();
    assert_eq!(history_of(&dir, guest, &channel), Some(History::Whole));
    assert_eq!(check_may_list_subscribers(&dir, guest, &channel), Ok(()));
}

#[test]
fn web_public_channels_are_open_to_all() {
    let (dir, channel) = with(|channel| channel.is_web_public = true);
    assert_eq!(those(&dir, |user| sees_content(&dir, user, &channel)), ALL_USERS);
    assert_eq!(those(&dir, |user| sees_subscribers(&dir, user, &channel)), ALL_USERS);
    let guest = dir.user(GUEST).unwrap();
    assert_eq!(check_may_list_subscribers(&dir, guest, &channel), Err(RuleError::InvalidChannelId));
}

#[test]
fn private_channels_are_for_subscribers() {
    let (mut dir, channel) = with(|channel| {
        channel.invite_only = true;
        channel.history_public_to_subscribers = false;
        channel.permissions.administer_channel = GroupSetting::only(MODERATOR);
        channel.permissions.subscribe = GroupSetting::only(OTHER_MEMBER);
    });
    fixture::subscribe(&mut dir, VERONA, MEMBER, 5);
    let seeing = [OWNER, ADMINISTRATOR, MODERATOR, MEMBER, OTHER_MEMBER];
    assert_eq!(those(&dir, |user| sees_channel(&dir, user, &channel)), seeing);
    assert_eq!(those(&dir, |user| sees_content(&dir, user, &channel)), [MEMBER, OTHER_MEMBER]);
    assert_eq!(those(&dir, |user| sees_subscribers(&dir, user, &channel)), [OWNER, ADMINISTRATOR, MEMBER]);
    assert_eq!(
        those(&dir, |user| administers_channel(&dir, user, &channel)),
        [OWNER, ADMINISTRATOR, MODERATOR]
    );
    let history = |id| history_of(&dir, dir.user(id).unwrap(), &channel);
    let span = SubscriptionSpan { after: MessageId(5), until: None };
    assert_eq!(history(MEMBER), Some(History::Delivered(&[span])));
    assert_eq!(history(OTHER_MEMBER), Some(History::Delivered(&[])));
    assert_eq!(history(OWNER), None);
    assert!(!history(MEMBER).unwrap().includes(MessageId(5)));
    assert!(history(MEMBER).unwrap().includes(MessageId(6)));
    let administer = |id| access_channel_administration(&dir, dir.user(id).unwrap(), 1).map(|_| ());
    assert_eq!(administer(OWNER), Ok(()));
    assert_eq!(administer(MEMBER), Err(RuleError::ChannelNotAdministered));
    assert_eq!(administer(GUEST), Err(RuleError::InvalidChannelId));
}

#[test]
fn guests_gain_nothing_from_groups() {
    let (dir, channel) = with(|channel| {
        channel.invite_only = true;
        channel.permissions.subscribe = GroupSetting::only(GUEST);
        channel.permissions.add_subscribers = GroupSetting::only(GUEST);
        channel.permissions.administer_channel = GroupSetting::only(GUEST);
    });
    let guest = dir.user(GUEST).unwrap();
    assert!(!sees_channel(&dir, guest, &channel));
    assert!(!sees_content(&dir, guest, &channel));
    assert!(!administers_channel(&dir, guest, &channel));
}

#[test]
fn missing_and_hidden_channels_have_the_same_error() {
    let (dir, _) = with(|channel| channel.invite_only = true);
    let member = dir.user(MEMBER).unwrap();
    for id in [1, 77, -1, i64::MAX] {
        let found = access_channel_metadata(&dir, member, ChannelRef::Id(id), Archived::Allowed);
        assert_eq!(found.map(|_| ()), Err(RuleError::InvalidChannelId));
    }
    for name in ["Verona", "nowhere"] {
        let expected = Err(RuleError::InvalidChannelName { name: name.into() });
        let found = access_channel_content(&dir, member, ChannelRef::Name(name), Archived::Allowed);
        assert_eq!(found.map(|_| ()), expected);
    }
}

#[test]
fn archived_channels_count_only_where_allowed() {
    let (dir, _) = with(|channel| channel.is_archived = true);
    let member = dir.user(MEMBER).unwrap();
    for (archived, found) in [(Archived::Allowed, true), (Archived::Refused, false)] {
        assert_eq!(access_channel_metadata(&dir, member, ChannelRef::Id(1), archived).is_ok(), found);
        assert_eq!(access_channel_content(&dir, member, ChannelRef::Name("VERONA"), archived).is_ok(), found);
    }
}

#[test]
fn posting_is_checked_in_order() {
    let unauthorized = || Err(RuleError::SendingNotAuthorized { name: "Verona".into() });
    let unpermitted = || Err(RuleError::PostingNotPermitted);
    let check = |dir: &Directory, id, channel: &Channel| check_may_post(dir, dir.user(id).unwrap(), channel);

    let (mut dir, channel) = with(|_| {});
    assert_eq!(check(&dir, MEMBER, &channel), Ok(()));
    assert_eq!(check(&dir, GUEST, &channel), unauthorized());
    fixture::subscribe(&mut dir, VERONA, GUEST, 0);
    assert_eq!(check(&dir, GUEST, &channel), Ok(()));

    let (dir, channel) = with(|channel| {
        channel.is_archived = true;
        channel.permissions.send_message = fixture::group("role:administrators");
    });
    assert_eq!(check(&dir, MEMBER, &channel), unpermitted());
    assert_eq!(check(&dir, OWNER, &channel), unauthorized());
    assert_eq!(check(&dir, SYSTEM_BOT, &channel), unauthorized());

    let (mut dir, channel) = with(|channel| {
        channel.invite_only = true;
        channel.permissions.send_message = GroupSetting::only(MEMBER);
    });
    assert_eq!(check(&dir, MEMBER, &channel), unauthorized());
    assert_eq!(check(&dir, BOT, &channel), unauthorized());
    assert_eq!(check(&dir, SYSTEM_BOT, &channel), Ok(()));
    fixture::subscribe(&mut dir, VERONA, MEMBER, 0);
    assert_eq!(check(&dir, BOT, &channel), Ok(()));
    assert_eq!(check(&dir, OWNER, &channel), unpermitted());
}

#[test]
fn groups_that_grant_content_may_post_where_history_is_shared() {
    for (shared, expected) in [(true, true), (false, false)] {
        let (dir, channel) = with(|channel| {
            channel.invite_only = true;
            channel.history_public_to_subscribers = shared;
            channel.permissions.subscribe = GroupSetting::only(MEMBER);
        });
        assert_eq!(check_may_post(&dir, dir.user(MEMBER).unwrap(), &channel).is_ok(), expected);
    }
}

#[test]
fn channels_to_post_in_are_found_by_id_and_name() {
    let (dir, _) = with(|_| {});
    let member = dir.user(MEMBER).unwrap();
    let post = |wanted| access_channel_to_post(&dir, member, wanted).map(|channel| channel.id);
    assert_eq!(post(ChannelRef::Name(" verona ")), Ok(ChannelId(1)));
    assert_eq!(post(ChannelRef::Id(1)), Ok(ChannelId(1)));
    assert_eq!(post(ChannelRef::Id(99_999)), Err(RuleError::ChannelIdDoesNotExist { id: 99_999 }));
    assert_eq!(post(ChannelRef::Name(" x ")), Err(RuleError::ChannelDoesNotExist { name: "x".into() }));
    assert_eq!(post(ChannelRef::Name("")), Err(RuleError::ChannelNameEmpty));
}

proptest! {
    /// Content implies metadata, history implies content, and each additional permission only adds access.
    #[test]
    fn more_permissions_never_reduce_access(
        private: bool, shared: bool, subscribed: bool, holder in 1u32..9, viewer in 1u32..9,
    ) {
        let build = |subscribed: bool, web: bool, granted: bool| {
            let (mut dir, channel) = with(|channel| {
                channel.invite_only = private && !web;
                channel.is_web_public = web;
                channel.history_public_to_subscribers = shared || !private || web;
                if granted {
                    channel.permissions.add_subscribers = GroupSetting::only(UserId(holder));
                }
            });
            if subscribed {
                fixture::subscribe(&mut dir, VERONA, UserId(viewer), 3);
            }
            (dir, channel)
        };
        let rights = |(dir, channel): &(Directory, Channel)| {
            let user = dir.user(UserId(viewer)).unwrap();
            let history = history_of(dir, user, channel);
            let rights = [
                sees_channel(dir, user, channel),
                sees_content(dir, user, channel),
                check_may_post(dir, user, channel).is_ok(),
                history.is_some_and(|history| history.includes(MessageId(9))),
                history.is_some_and(|history| history.includes(MessageId(2))),
            ];
            assert!(rights[0] || !rights[1], "content without metadata");
            assert_eq!(history.is_some(), rights[1], "history without content");
            assert!(rights[3] || !rights[4], "old messages but not new ones");
            rights
        };
        let before = rights(&build(subscribed, false, false));
        for wider in [build(true, false, false), build(subscribed, true, false), build(subscribed, false, true)] {
            for (had, has) in before.iter().zip(rights(&wider)) {
                prop_assert!(has || !had);
            }
        }
    }
}
