use super::*;
use crate::fixture::{self, ADMINISTRATOR, BOT, GUEST, MEMBER, MODERATOR, OTHER_MEMBER, OWNER};
use crate::topics::{ResolveChange, TOPIC_LENGTH_MAX};
use model::{
    Channel, ChannelId, DirectConversation, GroupSetting, MessageId, RecipientId, SettingValue, Submessage,
    UserId,
};
use proptest::prelude::*;

const SENT: Timestamp = Timestamp(1_000_000_000);
const WEEK: u64 = 604_800;

/// Channels 1 and 2 are public, 3 is private with `MEMBER` in it, 4 is archived.
fn directory() -> Directory {
    let mut dir = fixture::directory();
    for (id, name) in [(1, "general"), (2, "design"), (3, "secret"), (4, "old")] {
        let mut channel = fixture::channel(id, name);
        channel.invite_only = id == 3;
        channel.is_archived = id == 4;
        dir.put_channel(channel);
    }
    fixture::subscribe(&mut dir, 3, MEMBER, 0);
    dir.put_direct(DirectConversation { recipient: RecipientId(1000), users: vec![MEMBER, OTHER_MEMBER] });
    dir
}

fn change(dir: &mut Directory, id: u32, change: impl FnOnce(&mut Channel)) {
    let mut channel = Channel::clone(dir.channel(ChannelId(id)).unwrap());
    change(&mut channel);
    dir.put_channel(channel);
}

fn revoke_from_all(dir: &mut Directory, setting: &str) {
    fixture::set_realm(dir, setting, SettingValue::Group(fixture::no_users()));
}

fn sent(sender: UserId, place: Place) -> Message {
    let mut message = fixture::message(5, sender, place);
    message.content = "hello".into();
    message.sent = SENT;
    message
}

fn check(
    dir: &Directory,
    requester: UserId,
    message: &Message,
    request: EditRequest,
    secs: u64,
) -> Result<EditPlan, RuleError> {
    check_edit(dir, dir.user(requester).unwrap(), message, || true, &request, SENT.plus_secs(secs))
}

fn content(content: &str) -> EditRequest<'_> {
    EditRequest { content: Some(content), ..Default::default() }
}

fn topic(topic: &str) -> EditRequest<'_> {
    EditRequest { topic: Some(topic), ..Default::default() }
}

fn to_channel(id: i64) -> EditRequest<'static> {
    EditRequest { channel: Some(id), ..Default::default() }
}

#[test]
fn content_is_edited_by_its_sender_in_time() {
    let message = sent(MEMBER, fixture::in_channel(1, "lunch"));
    let over = Err(EditError::ContentTimeOver);
    for (requester, limit, secs, expected) in [
        (MEMBER, Some(600), 620, Ok(())),
        (MEMBER, Some(600), 621, over.clone()),
        (MEMBER, Some(0), 20, Ok(())),
        (MEMBER, Some(0), 21, over),
        (MEMBER, None, 1_000_000, Ok(())),
        (OWNER, Some(600), 0, Err(EditError::NotPermitted)),
        (BOT, Some(600), 0, Err(EditError::NotPermitted)),
    ] {
        let mut dir = directory();
        let value = limit.map_or(SettingValue::Null, SettingValue::Int);
        fixture::set_realm(&mut dir, "message_content_edit_limit_seconds", value);
        let found = check(&dir, requester, &message, content("new"), secs);
        assert_eq!(found.map(|_| ()), expected.map_err(RuleError::from), "{requester} {limit:?} {secs}");
    }
    let mut dir = directory();
    fixture::set_realm(&mut dir, "allow_message_editing", SettingValue::Bool(false));
    assert_eq!(check(&dir, OWNER, &message, content("new"), 0), Err(EditError::Disabled.into()));
    assert!(check(&dir, MEMBER, &message, topic("dinner"), 0).is_ok(), "topics are another matter");
}

#[test]
fn content_is_normalized() {
    let dir = directory();
    let message = sent(MEMBER, fixture::in_channel(1, "lunch"));
    for (raw, expected) in
        [("new ", Ok("new")), (" \n", Ok("(deleted)")), ("", Ok("(deleted)")), ("a\0", Err(()))]
    {
        let found = check(&dir, MEMBER, &message, content(raw), 0);
        let found = found.map(|plan| plan.content.unwrap()).map_err(|_| ());
        assert_eq!(found, expected.map(str::to_owned), "{raw:?}");
    }
}

#[test]
fn invalid_combinations_are_refused_in_order() {
    let dir = directory();
    let direct = sent(MEMBER, Place::Direct);
    let message = sent(MEMBER, fixture::in_channel(1, "lunch"));
    let mut poll = message.clone();
    poll.submessages.push(Submessage {
        id: 1,
        msg_type: "widget".into(),
        content: String::new(),
        sender: MEMBER,
    });
    let all = PropagateMode::All;
    let both =
        EditRequest { channel: Some(2), topic: Some("\n✔"), content: Some("x"), ..Default::default() };
    let cases: Vec<(&Message, EditRequest, RuleError)> = vec![
        (&message, EditRequest::default(), EditError::NothingToChange.into()),
        (&message, topic(" lunch "), EditError::NothingToChange.into()),
        (&message, EditRequest { mode: all, ..topic("lunch") }, EditError::NothingToChange.into()),
        (&direct, both, EditError::DirectToChannel.into()),
        (&direct, topic("lunch"), EditError::DirectTopic.into()),
        (&direct, topic(""), EditError::DirectTopic.into()),
        (&direct, EditRequest { mode: all, ..content("x") }, EditError::PropagateWithoutMove.into()),
        (&message, EditRequest { mode: all, ..content("x") }, EditError::PropagateWithoutMove.into()),
        (&message, both, EditError::EmptyTopicResolved.into()),
        (&message, topic("✔ general chat"), EditError::EmptyTopicResolved.into()),
        (&message, topic("✔ "), EditError::EmptyTopicResolved.into()),
        (&message, topic("a\nb"), RuleError::TopicCharacter { position: 2 }),
        (&message, EditRequest { channel: Some(2), ..content("x") }, EditError::ContentWithChannel.into()),
        (&poll, content("x"), EditError::Widget.into()),
        (&message, to_channel(99), RuleError::InvalidChannelId),
        (&message, to_channel(-1), RuleError::InvalidChannelId),
        (&message, to_channel(4), RuleError::InvalidChannelId),
    ];
    for (message, request, expected) in cases {
        assert_eq!(check(&dir, MEMBER, message, request, 0), Err(expected), "{request:?}");
    }
    assert!(check(&dir, MEMBER, &poll, topic("dinner"), 0).is_ok());
    assert!(check(&dir, MEMBER, &direct, content("x"), 0).is_ok());
}

#[test]
fn expected_content_is_checked_for_moves_too() {
    let dir = directory();
    let message = sent(MEMBER, fixture::in_channel(1, "lunch"));
    let right = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
    let mismatch = RuleError::ExpectationMismatch { field: "prev_content_sha256" };
    for request in [content("new"), topic("dinner"), to_channel(2)] {
        for (digest, expected) in [
            (right, Ok(())),
            (&right.to_uppercase(), Ok(())),
            (&right[1..], Err(mismatch.clone())),
            ("", Err(mismatch.clone())),
        ] {
            let request = EditRequest { prev_content_sha256: Some(digest), ..request };
            assert_eq!(check(&dir, MEMBER, &message, request, 0).map(|_| ()), expected, "{request:?}");
        }
    }
}

#[test]
fn inaccessible_messages_are_invalid() {
    let dir = directory();
    for (requester, channel) in [(GUEST, 1), (OWNER, 3), (MEMBER, 4), (OWNER, 4)] {
        let message = sent(requester, fixture::in_channel(channel, "lunch"));
        assert_eq!(
            check(&dir, requester, &message, topic("x"), 0),
            Err(RuleError::InvalidMessage),
            "{requester}"
        );
    }
    let hidden = sent(OTHER_MEMBER, fixture::in_channel(3, "lunch"));
    let mut protected = directory();
    change(&mut protected, 3, |channel| channel.history_public_to_subscribers = false);
    let member = protected.user(MEMBER).unwrap();
    let found = check_edit(&protected, member, &hidden, || false, &topic("x"), SENT);
    assert_eq!(found, Err(RuleError::InvalidMessage));
}

#[test]
fn renaming_a_topic_needs_permission() {
    let message = sent(OTHER_MEMBER, fixture::in_channel(1, "lunch"));
    let refused = Err(EditError::NotPermitted);
    let within: fn(&mut Channel) = |channel| {
        channel.permissions.move_messages_within_channel = GroupSetting::only(MEMBER);
    };
    let administer: fn(&mut Channel) = |channel| {
        channel.permissions.administer_channel = GroupSetting::only(MEMBER);
    };
    let nothing: fn(&mut Channel) = |_| {};
    for (requester, who, changed, expected) in [
        (MEMBER, nothing, 1, refused.clone()),
        (MODERATOR, nothing, 1, refused.clone()),
        (ADMINISTRATOR, nothing, 1, Ok(())),
        (MEMBER, within, 1, Ok(())),
        (MEMBER, within, 2, refused.clone()),
        (MEMBER, administer, 1, Ok(())),
        (OTHER_MEMBER, within, 1, refused),
    ] {
        let mut dir = directory();
        revoke_from_all(&mut dir, "can_move_messages_between_topics_group");
        change(&mut dir, changed, who);
        let found = check(&dir, requester, &message, topic("dinner"), 0);
        assert_eq!(found.map(|_| ()), expected.map_err(RuleError::from), "{requester} {changed}");
    }
    let mut dir = directory();
    revoke_from_all(&mut dir, "can_move_messages_between_topics_group");
    change(&mut dir, 2, within);
    let both = EditRequest { topic: Some("dinner"), ..to_channel(2) };
    assert!(check(&dir, MEMBER, &message, both, 0).is_ok(), "the destination's permission counts too");
}

#[test]
fn resolving_has_a_separate_permission_and_no_time_limit() {
    let open = sent(OTHER_MEMBER, fixture::in_channel(1, "lunch"));
    let resolved = sent(OTHER_MEMBER, fixture::in_channel(1, "✔ lunch"));
    let mut dir = directory();
    revoke_from_all(&mut dir, "can_move_messages_between_topics_group");
    let all = EditRequest { mode: PropagateMode::All, ..topic("✔ lunch") };
    let plan = check(&dir, MEMBER, &open, all, 10 * WEEK).unwrap().movement.unwrap();
    assert_eq!((plan.resolve, plan.oldest_allowed), (Some(ResolveChange::Resolved), None));
    assert!(plan.is_only_resolve());
    let plan = check(&dir, MEMBER, &resolved, topic("lunch"), 10 * WEEK).unwrap().movement.unwrap();
    assert_eq!(plan.resolve, Some(ResolveChange::Unresolved));
    assert_eq!(check(&dir, MEMBER, &open, topic("✔ dinner"), 0), Err(EditError::NotPermitted.into()));

    revoke_from_all(&mut dir, "can_resolve_topics_group");
    let refused = Err(EditError::ResolveNotPermitted.into());
    assert_eq!(check(&dir, MEMBER, &open, topic("✔ lunch"), 0), refused);
    assert_eq!(check(&dir, OWNER, &resolved, topic("lunch"), 0), refused);
    change(&mut dir, 1, |channel| channel.permissions.resolve_topics = GroupSetting::only(MEMBER));
    assert!(check(&dir, MEMBER, &open, topic("✔ lunch"), 0).is_ok());
}

#[test]
fn moving_between_channels_needs_permission() {
    let message = sent(OTHER_MEMBER, fixture::in_channel(1, "lunch"));
    let mut dir = directory();
    assert!(check(&dir, MEMBER, &message, to_channel(2), 0).is_ok());
    assert!(check(&dir, MEMBER, &message, to_channel(3), 0).is_ok());
    assert_eq!(check(&dir, OWNER, &message, to_channel(3), 0), Err(RuleError::InvalidChannelId));
    revoke_from_all(&mut dir, "can_move_messages_between_channels_group");
    let refused = Err(EditError::MoveNotPermitted.into());
    assert_eq!(check(&dir, MEMBER, &message, to_channel(2), 0), refused);
    assert!(check(&dir, ADMINISTRATOR, &message, to_channel(2), 0).is_ok());
    change(&mut dir, 2, |channel| {
        channel.permissions.move_messages_out_of_channel = GroupSetting::only(MEMBER);
    });
    assert_eq!(check(&dir, MEMBER, &message, to_channel(2), 0), refused);
    change(&mut dir, 1, |channel| {
        channel.permissions.move_messages_out_of_channel = GroupSetting::only(MEMBER);
    });
    assert!(check(&dir, MEMBER, &message, to_channel(2), 0).is_ok());
    change(&mut dir, 2, |channel| channel.permissions.send_message = GroupSetting::only(OWNER));
    assert_eq!(check(&dir, MEMBER, &message, to_channel(2), 0), Err(RuleError::PostingNotPermitted));
}

#[test]
fn topics_policy_of_the_destination_applies() {
    let mut dir = directory();
    change(&mut dir, 2, |channel| channel.topics_policy = model::TopicsPolicy::EmptyTopicOnly);
    let message = sent(MEMBER, fixture::in_channel(1, "lunch"));
    assert_eq!(check(&dir, MEMBER, &message, to_channel(2), 0), Err(RuleError::NamedTopicRefused));
    let both = EditRequest { topic: Some("general chat"), ..to_channel(2) };
    assert_eq!(check(&dir, MEMBER, &message, both, 0).unwrap().movement.unwrap().topic, "");
    change(&mut dir, 1, |channel| channel.topics_policy = model::TopicsPolicy::DisableEmptyTopic);
    assert_eq!(check(&dir, MEMBER, &message, topic(""), 0), Err(RuleError::EmptyTopicRefused));
}

#[test]
fn old_messages_cannot_be_moved() {
    use PropagateMode::{All, Later, One};
    let message = sent(OTHER_MEMBER, fixture::in_channel(1, "lunch"));
    let topic_over = Err(EditError::TopicTimeOver);
    let channel_over = Err(EditError::ChannelTimeOver);
    for (requester, request, mode, secs, expected) in [
        (MEMBER, topic("x"), One, WEEK + 20, Ok(())),
        (MEMBER, topic("x"), One, WEEK + 21, topic_over.clone()),
        (MEMBER, topic("x"), Later, WEEK + 21, topic_over.clone()),
        (MEMBER, topic("x"), All, WEEK + 21, Ok(())),
        (MODERATOR, topic("x"), One, 9 * WEEK, Ok(())),
        (MEMBER, to_channel(2), One, WEEK + 21, channel_over.clone()),
        (MEMBER, to_channel(2), Later, WEEK + 20, Ok(())),
        (MEMBER, to_channel(2), Later, WEEK + 21, channel_over),
        (ADMINISTRATOR, to_channel(2), Later, 9 * WEEK, Ok(())),
        (MEMBER, EditRequest { topic: Some("x"), ..to_channel(2) }, One, WEEK + 21, topic_over),
    ] {
        let request = EditRequest { mode, ..request };
        let found = check(&directory(), requester, &message, request, secs).map(|_| ());
        assert_eq!(found, expected.map_err(RuleError::from), "{requester} {request:?} {secs}");
    }
}

#[test]
fn whole_topics_need_recent_messages() {
    let message = sent(OTHER_MEMBER, fixture::in_channel(1, "lunch"));
    let mut dir = directory();
    fixture::set_realm(&mut dir, "move_messages_between_streams_limit_seconds", SettingValue::Int(60));
    let all = |request| EditRequest { mode: PropagateMode::All, ..request };
    let oldest = |dir: &Directory, requester, request| {
        let plan = check(dir, requester, &message, all(request), WEEK).unwrap().movement.unwrap();
        plan.oldest_allowed.map(|oldest| (SENT.plus_secs(WEEK).millis_since(oldest)) / 1000)
    };
    assert_eq!(oldest(&dir, MEMBER, topic("x")), Some(WEEK + 20));
    assert_eq!(oldest(&dir, MEMBER, to_channel(2)), Some(80));
    assert_eq!(oldest(&dir, MEMBER, EditRequest { topic: Some("x"), ..to_channel(2) }), Some(80));
    assert_eq!(oldest(&dir, MEMBER, EditRequest { topic: Some("✔ lunch"), ..to_channel(2) }), Some(80));
    assert_eq!(oldest(&dir, MODERATOR, to_channel(2)), None);
    fixture::set_realm(&mut dir, "move_messages_between_streams_limit_seconds", SettingValue::Null);
    assert_eq!(oldest(&dir, MEMBER, to_channel(2)), None);

    let plan = check(&dir, MEMBER, &message, all(topic("x")), WEEK).unwrap().movement.unwrap();
    let young = SENT.plus_secs(WEEK);
    let old = Timestamp(0);
    let id = MessageId;
    let part = |first, total, allowed| {
        Err(EditError::PartOfTopicTimeOver { first_allowed: id(first), total, allowed }.into())
    };
    for (ages, expected) in [
        (vec![(id(3), young), (id(4), young)], Ok(())),
        (vec![(id(3), old)], Err(EditError::WholeTopicTimeOver.into())),
        (vec![(id(4), young), (id(3), old)], part(4, 2, 1)),
        (vec![(id(9), young), (id(2), old), (id(5), young)], part(5, 3, 2)),
    ] {
        assert_eq!(plan.check_ages(ages), expected);
    }
}

#[test]
fn modes_select_messages() {
    for (word, moved) in [
        ("change_one", [false, true, false]),
        ("change_later", [false, true, true]),
        ("change_all", [true; 3]),
    ] {
        let mode = parse_propagate_mode(word).unwrap();
        assert_eq!([4, 5, 6].map(|id| mode.includes(MessageId(5), MessageId(id))), moved, "{word}");
    }
    assert_eq!(parse_propagate_mode("all").unwrap_err().to_string(), "Invalid propagate_mode");
}

proptest! {
    /// A permitted plan changes something, and only what was requested.
    #[test]
    fn permitted_plans_match_the_request(
        new_topic in proptest::option::of("(✔ )?[lL]unch|\\PC{0,70}"),
        new_channel in proptest::option::of(0_i64..6),
        new_content in proptest::option::of("[a-z ]{0,5}"),
        requester in 1_u32..9,
        secs in 0_u64..2_000_000,
    ) {
        let dir = directory();
        let message = sent(MEMBER, fixture::in_channel(1, "lunch"));
        let request = EditRequest {
            content: new_content.as_deref(),
            topic: new_topic.as_deref(),
            channel: new_channel,
            ..Default::default()
        };
        if let Ok(plan) = check(&dir, UserId(requester), &message, request, secs) {
            prop_assert_eq!(plan.content.is_some(), new_content.is_some());
            prop_assert!(plan.content.is_none() || UserId(requester) == MEMBER);
            if let Some(movement) = &plan.movement {
                prop_assert!(movement.changes_topic() || movement.changes_channel());
                prop_assert!(movement.topic.chars().count() <= TOPIC_LENGTH_MAX);
                prop_assert!(!movement.changes_topic() || new_topic.is_some());
                prop_assert!(!movement.destination.is_archived);
            } else {
                // Naming the present channel is permitted and has no effect.
                prop_assert!(plan.content.is_some() || new_channel == Some(1));
            }
        }
    }
}
