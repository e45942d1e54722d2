//! That a shared list is, for every reader, what a list of the reader's own would be.

use super::*;
use crate::api::wire::channel::channel;
use crate::api::wire::fixture::{self, VERONA};
use crate::api::wire::group::group;
use crate::api::wire::user::user;
use crate::http::{Envelope, Reply};
use actix_web::body::to_bytes;
use actors::budget::{ByteBudget, Holder, Purpose};
use model::event::ChannelSummary;
use model::{
    Bot, BotKind, ChannelId, GroupId, MessageId, Role, SettingValue, Subscription, Timestamp, UserGroup,
    UserId,
};
use serde_json::{Value, json};

/// People of every role with every visibility of their address, and a bot.
fn directory() -> Directory {
    let mut directory = fixture::directory();
    let everyone = directory.group_by_name("role:everyone").map(|group| group.id).unwrap();
    let roles = [Role::Owner, Role::Administrator, Role::Moderator, Role::Member, Role::Guest];
    for (role, id) in roles.into_iter().zip(1u32..) {
        for visibility in 1u32..=5 {
            let id = UserId(id * 10 + visibility);
            let mut user = User::new(id, format!("u{id}@x.org"), format!("U{id}"), role, Timestamp(0));
            user.settings.insert("email_address_visibility".into(), SettingValue::Int(i64::from(visibility)));
            user.is_active = visibility != 3;
            directory.put_user(user);
            directory.change_members(everyone, &[id], &[]);
        }
    }
    let mut bot = User::new(UserId(90), "bot@x.org".to_owned(), "Bot", Role::Member, Timestamp(0));
    bot.bot = Some(Bot { kind: BotKind::Generic, owner: Some(UserId(11)), is_system: false });
    directory.put_user(bot);
    directory
}

async fn body(envelope: Envelope) -> Value {
    let response = envelope.reply().unwrap().into_response(&[]);
    serde_json::from_slice(&to_bytes(response.into_body()).await.unwrap()).unwrap()
}

/// Compares the shared list of every reader with one of the reader's own; says how many readers share.
async fn check(shared: &EncodedLists, directory: &Directory) -> usize {
    let mut sharing = 0;
    let readers = directory.users().map(|user| Some(&**user)).chain([None]);
    for reader in readers {
        for (client_gravatar, listed) in
            [(true, Listed::Active), (false, Listed::Inactive), (true, Listed::All)]
        {
            let form = UserForm { client_gravatar, profile_data: true, is_active: listed == Listed::All };
            let Some(list) = shared.people(directory, reader, form, listed) else { continue };
            sharing += 1;
            let mut envelope = Envelope::with_capacity(0);
            list.add_to(&mut envelope, "list", reader);
            let users = directory.users().filter(|user| match listed {
                Listed::Active => user.is_active,
                Listed::Inactive => !user.is_active,
                Listed::All => true,
            });
            let own: Vec<_> = users.map(|listed| user(directory, reader, listed, form)).collect();
            assert_eq!(body(envelope).await["list"], serde_json::to_value(own).unwrap(), "{reader:?}");
        }
    }
    sharing
}

#[actix_web::test]
async fn every_reader_sees_what_a_list_of_its_own_would_show() {
    let (shared, mut directory) = (EncodedLists::default(), directory());
    // All but the bot, and one reader without an account.
    let readers = directory.users().count();
    assert_eq!(check(&shared, &directory).await, readers * 3);
    assert_eq!(shared.state.lock().people.len(), 6 * 3, "one list for each kind of reader");

    // Whatever changes is in the next list.
    let mut hidden = User::clone(directory.user(UserId(41)).unwrap());
    hidden.settings.insert("email_address_visibility".into(), SettingValue::Int(4));
    directory.put_user(hidden);
    directory.put_avatar_file(UserId(42), Some("picture.png"));
    check(&shared, &directory).await;

    // Guests who know only of some people share nothing.
    fixture::restrict_guests(&mut directory);
    assert_eq!(check(&shared, &directory).await, (readers - 6) * 3);
}

#[actix_web::test]
async fn people_of_one_kind_get_the_same_bytes() {
    let (shared, directory) = (EncodedLists::default(), directory());
    let form = UserForm { client_gravatar: true, profile_data: true, is_active: false };
    let list = |id| {
        let reader = directory.user(UserId(id)).map(|user| &**user);
        shared.people(&directory, reader, form, Listed::Active).unwrap()
    };
    assert!(Arc::ptr_eq(&list(41), &list(42)));
    assert!(!Arc::ptr_eq(&list(41), &list(51)), "a guest sees fewer addresses");
}

#[test]
fn channels_are_encoded_again_when_they_read_otherwise() {
    let (shared, mut directory) = (EncodedLists::default(), directory());
    let summary = |directory: &Directory, first| ChannelSummary {
        channel: directory.channel(VERONA).unwrap().clone(),
        first_message: first,
        subscriber_count: directory.subscriber_count(VERONA),
        weekly_traffic: None,
    };
    let shown = |directory: &Directory, first| {
        let summary = summary(directory, first);
        let bytes = shared.channels(directory).encode(std::slice::from_ref(&summary)).object(0);
        let mut whole = bytes.to_vec();
        whole.push(b'}');
        let expected = serde_json::to_value(channel(directory, &summary)).unwrap();
        assert_eq!(serde_json::from_slice::<Value>(&whole).unwrap(), expected);
        bytes
    };
    let first = shown(&directory, None);
    assert_eq!(shown(&directory, None).as_ptr(), first.as_ptr(), "the same bytes");
    shown(&directory, Some(MessageId(7)));
    let mut renamed = model::Channel::clone(directory.channel(VERONA).unwrap());
    renamed.name = "Padua".into();
    renamed.permissions.administer_channel = model::GroupSetting::only(UserId(31));
    directory.put_channel(renamed);
    let before = shown(&directory, Some(MessageId(7)));
    // Deactivated users are not in the values of permissions.
    for is_active in [false, true] {
        directory.put_user(User { is_active, ..User::clone(directory.user(UserId(31)).unwrap()) });
        let after = shown(&directory, Some(MessageId(7)));
        assert_eq!(after == before, is_active);
    }

    let subscribers = |directory: &Directory| {
        let list = shared.channels(directory).subscribers(VERONA);
        serde_json::from_slice::<Value>(&list).unwrap()
    };
    assert_eq!(subscribers(&directory), json!([]));
    directory.put_subscription(VERONA, UserId(41), Subscription::start("#76ce90".into(), MessageId(0)));
    assert_eq!(subscribers(&directory), json!([41]));
    let mut gone = User::clone(directory.user(UserId(41)).unwrap());
    gone.is_active = false;
    directory.put_user(gone);
    assert_eq!(subscribers(&directory), json!([]));
}

#[test]
fn groups_are_encoded_again_when_they_read_otherwise() {
    let (shared, mut directory) = (EncodedLists::default(), directory());
    let shown = |directory: &Directory, listed: ListedGroups| {
        let bytes = shared.groups(directory, listed);
        let groups = directory.groups().filter(|record| {
            (listed.with_deactivated || !record.is_deactivated) && (!listed.only_system || record.is_system)
        });
        let own: Vec<_> = groups.map(|record| group(directory, record)).collect();
        let json: Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(json, serde_json::to_value(own).unwrap());
        bytes
    };
    let all = |directory: &Directory| {
        let kinds = [(false, false), (true, false), (true, true)];
        kinds.map(|(with_deactivated, only_system)| {
            shown(directory, ListedGroups { with_deactivated, only_system })
        })
    };
    let first = all(&directory);
    assert_eq!(all(&directory)[1].as_ptr(), first[1].as_ptr(), "the same bytes");
    let everyone = directory.group_by_name("role:everyone").unwrap().clone();
    let mut tea =
        UserGroup { id: GroupId(900), name: "tea".into(), is_system: false, ..UserGroup::clone(&everyone) };
    directory.put_group(tea.clone());
    assert!(all(&directory)[0].len() > first[0].len());
    // Deactivated members are not shown.
    let mut gone = User::clone(directory.user(UserId(41)).unwrap());
    gone.is_active = false;
    directory.put_user(gone);
    let without = all(&directory);
    tea.is_deactivated = true;
    directory.put_group(tea);
    let [active, listed, system] = all(&directory);
    assert!(active.len() < without[0].len() && listed.len() > active.len() && system.len() < listed.len());
}

#[actix_web::test]
async fn list_has_the_channels_that_it_was_asked_for_and_no_others() {
    let (shared, mut directory) = (EncodedLists::default(), directory());
    (10..20).for_each(|id| directory.put_channel(fixture::channel(ChannelId(id), &format!("room {id}"))));
    let summaries: Vec<ChannelSummary> =
        directory.channels().map(|record| summary(&directory, record)).collect();
    let encoded = shared.channels(&directory).encode(&summaries);
    // Every choice of the first eight, which has all kinds of neighbors.
    for choice in 0u32..256 {
        let chosen: Vec<usize> = (0..8).filter(|index| choice >> index & 1 == 1).collect();
        let mut envelope = Envelope::with_capacity(0);
        envelope.open_field("list").push(b'[');
        encoded.add_to(&mut envelope, chosen.iter().copied());
        envelope.buffer().push(b']');
        let own: Vec<_> = chosen.iter().map(|index| channel(&directory, &summaries[*index])).collect();
        assert_eq!(body(envelope).await["list"], serde_json::to_value(own).unwrap(), "{chosen:?}");
    }
    // Some of the channels are found in the same table, with those between them left out.
    let some = [summaries[2].clone(), summaries[5].clone()];
    let found = shared.channels(&directory).encode(&some);
    assert_eq!(found.object(1).as_ptr(), encoded.object(5).as_ptr());
}

fn summary(directory: &Directory, record: &Arc<model::Channel>) -> ChannelSummary {
    ChannelSummary {
        channel: record.clone(),
        first_message: None,
        subscriber_count: directory.subscriber_count(record.id),
        weekly_traffic: None,
    }
}

#[test]
fn what_is_kept_is_bounded() {
    let (shared, directory) = (EncodedLists::default(), directory());
    let form = UserForm { client_gravatar: true, profile_data: true, is_active: false };
    for role in [11, 41, 51] {
        let reader = directory.user(UserId(role)).map(|user| &**user);
        shared.people(&directory, reader, form, Listed::Active).unwrap();
    }
    shared.statuses(&directory);
    let mut state = shared.state.lock();
    let bytes = state.bytes();
    state.evict_to(bytes);
    assert_eq!((state.people.len(), state.statuses.len()), (3, 1), "they fit");
    state.evict_to(bytes - 1);
    assert_eq!((state.people.len(), state.statuses.len()), (2, 1), "the oldest is dropped");
    state.evict_to(0);
    assert_eq!((state.bytes(), state.people.len()), (0, 0));
}

/// The bytes that an answer with the list of all users is charged for, and the answer.
fn charged(shared: &EncodedLists, directory: &Directory, budget: &ByteBudget) -> (u64, Reply) {
    let form = UserForm { client_gravatar: true, profile_data: true, is_active: false };
    let reader = directory.user(UserId(41)).map(|user| &**user);
    let list = shared.people(directory, reader, form, Listed::Active).unwrap();
    let mut envelope = shared.envelope(0);
    list.add_to(&mut envelope, "list", reader);
    let before = budget.used_bytes();
    let held = budget.reserve(Holder::Server, Purpose::Answer, 0).unwrap();
    let reply = envelope.reply().unwrap().holding(held).unwrap();
    (budget.used_bytes() - before, reply)
}

/// A client that reads slowly keeps the state of the list that it began with. With many such states the memory would have no bound.
#[test]
fn readers_are_charged_for_lists_while_answers_keep_too_many_old_ones() {
    let (mut shared, mut directory) = (EncodedLists::default(), directory());
    let budget = ByteBudget::unbounded();
    let change = |directory: &mut Directory| {
        let mut renamed = User::clone(directory.user(UserId(42)).unwrap());
        renamed.full_name.push('x');
        directory.put_user(renamed);
    };
    let (own, first) = charged(&shared, &directory, &budget);
    assert_eq!(shared.uncached.get(), 0, "the cache has what the answer has");
    change(&mut directory);
    let (_, second) = charged(&shared, &directory, &budget);
    let old = shared.uncached.get();
    assert!(old > 2 * own as usize, "the answer keeps the list of all users: {old}");
    shared.uncached_bytes_max = old - 1;
    let (in_full, third) = charged(&shared, &directory, &budget);
    assert!(in_full > own + old as u64 / 2, "{in_full} for a list of about {old} bytes");
    drop(first);
    assert_eq!(shared.uncached.get(), 0);
    assert!(charged(&shared, &directory, &budget).0 <= own + 8, "no answer is charged for shared parts");
    drop((second, third));
    assert_eq!((shared.uncached.get(), budget.used_bytes()), (0, 0));
}

/// A list that has no room in a cache is counted from the beginning.
#[test]
fn list_that_is_not_cached_is_counted_while_an_answer_has_it() {
    let (shared, directory) = (EncodedLists::default(), directory());
    let bytes = shared.groups(&directory, ListedGroups { with_deactivated: true, only_system: false });
    assert_eq!(shared.uncached.get(), 0);
    shared.state.lock().evict_to(0);
    assert_eq!(shared.uncached.get(), bytes.len());
    drop(bytes);
    assert_eq!(shared.uncached.get(), 0);
}
