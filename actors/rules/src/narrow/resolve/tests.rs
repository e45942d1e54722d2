use super::*;
use crate::fixture::{self, GUEST, MEMBER, OTHER_MEMBER, OWNER};
use crate::narrow::parse_narrow;
use model::{DirectConversation, SettingValue};
use proptest::prelude::*;
use serde_json::{Value, json};

const VERONA: ChannelId = ChannelId(1);
const SECRET: ChannelId = ChannelId(2);
const WEB: ChannelId = ChannelId(4);

fn directory() -> Directory {
    let mut dir = fixture::directory();
    for (id, name) in [(1, "Verona"), (2, "secret"), (3, "protected"), (4, "web")] {
        let mut channel = fixture::channel(id, name);
        channel.invite_only = id == 2 || id == 3;
        channel.history_public_to_subscribers = id != 3;
        channel.is_web_public = id == 4;
        dir.put_channel(channel);
    }
    for channel in [2, 3] {
        fixture::subscribe(&mut dir, channel, MEMBER, 0);
    }
    let mut put =
        |recipient, users| dir.put_direct(DirectConversation { recipient: RecipientId(recipient), users });
    put(100, vec![MEMBER]);
    put(101, vec![OWNER, MEMBER]);
    put(102, vec![OWNER, MEMBER, OTHER_MEMBER]);
    dir
}

fn plan_narrow(
    dir: &Directory,
    requester: Option<&User>,
    terms: &[Term],
    locate: impl FnOnce(MessageId) -> Option<Conversation>,
) -> Result<Plan, RuleError> {
    locate_narrow(dir, requester, terms, locate)?.plan(dir, requester)
}

fn plan_as(dir: &Directory, requester: Option<UserId>, narrow: Value) -> Result<Plan, RuleError> {
    let terms = parse_narrow(&narrow).unwrap();
    let requester = requester.map(|id| dir.user(id).unwrap()).map(|user| &**user);
    plan_narrow(dir, requester, &terms, |id| match id {
        MessageId(50) => Some(Conversation::Topic(SECRET, TopicKey::new("plan"))),
        MessageId(51) => Some(Conversation::Direct(RecipientId(101))),
        _ => None,
    })
}

fn plan(narrow: Value) -> Result<Plan, RuleError> {
    plan_as(&directory(), Some(MEMBER), narrow)
}

/// The sets of a plan; false for those to subtract.
fn sets(narrow: Value) -> Vec<(bool, MessageSet)> {
    plan(narrow).unwrap().terms.into_iter().map(|term| (!term.negated, term.set)).collect()
}

#[test]
fn each_operator_becomes_its_set() {
    let ids = |ids: &[u32]| MessageSet::Ids(ids.iter().copied().map(MessageId).collect());
    let lunch = || TopicKey::new("lunch");
    for (operator, operand, expected) in [
        ("channel", json!("VERONA"), MessageSet::Channel(VERONA)),
        ("stream", json!(2), MessageSet::Channel(SECRET)),
        ("channels", json!("public"), MessageSet::Channels(vec![VERONA, WEB])),
        ("streams", json!("web-public"), MessageSet::Channels(vec![WEB])),
        ("topic", json!("Lunch"), MessageSet::TopicAnywhere(lunch())),
        ("topic", json!("general chat"), MessageSet::TopicAnywhere(TopicKey::new(""))),
        ("dm", json!([1]), MessageSet::Direct(RecipientId(101))),
        ("dm", json!([4]), MessageSet::Direct(RecipientId(100))),
        ("dm", json!([5, 1, 4]), MessageSet::Direct(RecipientId(102))),
        ("dm", json!([6]), MessageSet::Nothing),
        ("pm-with", json!("owner@example.org, other@example.org"), MessageSet::Direct(RecipientId(102))),
        ("dm-including", json!(1), MessageSet::DirectsWith(OWNER)),
        ("dm-including", json!("member@example.org"), MessageSet::AllDirects),
        ("group-pm-with", json!(1), MessageSet::GroupDirectsWith(OWNER)),
        ("sender", json!("OWNER@example.org"), MessageSet::Sender(OWNER)),
        ("sender", json!(6), MessageSet::Sender(GUEST)),
        ("is", json!("private"), MessageSet::AllDirects),
        ("is", json!("alerted"), MessageSet::Flagged(Flag::HasAlertWord)),
        ("is", json!("mentioned"), MessageSet::Mentioned),
        ("is", json!("starred"), MessageSet::Flagged(Flag::Starred)),
        ("is", json!("followed"), MessageSet::Followed),
        ("is", json!("resolved"), MessageSet::Resolved),
        ("is", json!("unread"), MessageSet::Unread),
        ("is", json!("muted"), MessageSet::Muted),
        ("has", json!("link"), MessageSet::Has(Content::Link)),
        ("has", json!("image"), MessageSet::Has(Content::Image)),
        ("has", json!("attachment"), MessageSet::Has(Content::Attachment)),
        ("has", json!("reaction"), MessageSet::Has(Content::Reaction)),
        ("id", json!(313), ids(&[313])),
        ("id", json!("313"), ids(&[313])),
        ("id", json!(10_000_000_000_000_000_i64), MessageSet::Nothing),
    ] {
        for negated in [false, true] {
            let narrow = json!([{"operator": operator, "operand": operand, "negated": negated}]);
            assert_eq!(sets(narrow.clone()), [(!negated, expected.clone())], "{narrow}");
        }
    }
    assert_eq!(sets(json!([["in", "home"]])), [(false, MessageSet::Muted)]);
    assert_eq!(
        sets(json!([{"operator": "in", "operand": "home", "negated": true}])),
        [(false, MessageSet::Muted)]
    );
    assert!(sets(json!([["in", "all"], ["near", "12"], {"operator": "near", "operand": 12}])).is_empty());
}

#[test]
fn unknown_operands_are_refused_by_name() {
    for (narrow, desc) in [
        (json!([["stream", "nonexistent"]]), "unknown channel nonexistent"),
        (json!([{"operator": "channel", "operand": -7}]), "unknown channel -7"),
        (json!([["channels", "private"]]), "unknown channels operand private"),
        (json!([["sender", "nobody@zulip.com"]]), "unknown user nobody@zulip.com"),
        (json!([{"operator": "sender", "operand": 99999}]), "unknown user 99999"),
        (json!([{"operator": "dm", "operand": [1, 99999]}]), "unknown user in [1, 99999]"),
        (json!([["dm", "owner@example.org,x@y"]]), "unknown user in owner@example.org,x@y"),
        (json!([["dm-including", "x@y"]]), "unknown user x@y"),
        (json!([["is", "bogus"]]), "unknown 'is' operand bogus"),
        (json!([["has", "bogus"]]), "unknown 'has' operand bogus"),
        (json!([["in", "bogus"]]), "unknown 'in' operand bogus"),
        (json!([["id", "x"]]), "Invalid message ID"),
        (json!([{"operator": "id", "operand": -1}]), "Invalid message ID"),
        (json!([["with", "x"]]), "Invalid 'with' operator"),
        (json!([["with", "99"]]), "Invalid 'with' operator"),
        (json!([["with", "99"], ["channel", "Verona"]]), "Invalid 'with' operator"),
        (json!([["with", "50"], ["with", "50"]]), "Duplicate 'with' operators."),
        (json!([["bogus", "x"]]), "unknown operator bogus"),
    ] {
        assert_eq!(plan(narrow.clone()), Err(bad(desc)), "{narrow}");
    }
    assert!(plan(json!([["search", "lunch"]])).unwrap().is_search);
}

#[test]
fn channel_and_direct_terms_exclude_each_other() {
    for narrow in [
        json!([["channel", "Verona"], ["is", "dm"]]),
        json!([{"operator": "dm", "operand": [1], "negated": true}, ["topic", "x"]]),
        json!([["channels", "public"], {"operator": "dm-including", "operand": 1}]),
        json!([["with", "50"], ["is", "private"]]),
    ] {
        let text = plan(narrow).unwrap_err().to_string();
        let expected = "Invalid narrow operator combination: No message can be both a channel message and direct message";
        assert_eq!(text, expected);
    }
}

#[test]
fn topics_are_bound_to_the_channel_of_the_narrow() {
    let topic = || MessageSet::Topic(VERONA, TopicKey::new("lunch"));
    let both = plan(json!([["stream", "Verona"], ["topic", "LUNCH"]])).unwrap();
    assert_eq!(both.terms, [PlanTerm { set: topic(), negated: false }]);
    assert_eq!(both.narrowest(), Some(&topic()));
    let without = json!([["stream", "Verona"], {"operator": "topic", "operand": "lunch", "negated": true}]);
    assert_eq!(sets(without), [(true, MessageSet::Channel(VERONA)), (false, topic())]);
    let contradiction = json!([["stream", "Verona"], ["stream", "web"], ["topic", "lunch"]]);
    assert_eq!(sets(contradiction).len(), 3);
}

#[test]
fn whole_channels_are_searched_only_where_their_history_is_open() {
    let dir = directory();
    for (requester, narrow, expected) in [
        (MEMBER, json!([]), None),
        (MEMBER, json!([["channel", "Verona"]]), Some(vec![VERONA])),
        (MEMBER, json!([["channel", "Verona"], ["topic", "x"]]), Some(vec![VERONA])),
        (MEMBER, json!([["channel", "Verona"], ["is", "resolved"], ["is", "followed"]]), Some(vec![VERONA])),
        (MEMBER, json!([["channel", "Verona"], ["is", "starred"]]), None),
        (MEMBER, json!([["channel", "Verona"], ["is", "unread"]]), None),
        (MEMBER, json!([["topic", "x"]]), None),
        (MEMBER, json!([{"operator": "channel", "operand": 1, "negated": true}]), None),
        (MEMBER, json!([["channel", "secret"]]), Some(vec![SECRET])),
        (MEMBER, json!([["channel", "protected"]]), None),
        (OWNER, json!([["channel", "secret"]]), None),
        (GUEST, json!([["channel", "web"]]), Some(vec![WEB])),
        (MEMBER, json!([["channels", "public"]]), Some(vec![VERONA, WEB])),
        (MEMBER, json!([["channels", "public"], ["is", "mentioned"]]), None),
        (GUEST, json!([["channels", "public"]]), None),
        (MEMBER, json!([{"operator": "with", "operand": 50}]), Some(vec![SECRET])),
        (OWNER, json!([["channel", "secret"], ["channels", "public"]]), Some(vec![VERONA, WEB])),
    ] {
        let plan = plan_as(&dir, Some(requester), narrow.clone()).unwrap();
        assert_eq!(plan.scope, expected.map_or(Scope::OwnHistory, Scope::Channels), "{requester} {narrow}");
    }
}

/// A channel that the requester may not see does not exist, except for former subscribers.
#[test]
fn channels_are_found_by_users_who_may_see_them() {
    let mut dir = directory();
    fixture::unsubscribe(&mut dir, 2, MEMBER, 5);
    for (requester, operand, is_known) in [
        (OTHER_MEMBER, json!("secret"), false),
        (OTHER_MEMBER, json!(2), false),
        (GUEST, json!("Verona"), false),
        (OTHER_MEMBER, json!("Verona"), true),
        (MEMBER, json!("secret"), true),
        (OWNER, json!(2), true),
    ] {
        let narrow = json!([{"operator": "channel", "operand": operand}]);
        let shown = operand.as_str().map_or_else(|| operand.to_string(), str::to_owned);
        let found = plan_as(&dir, Some(requester), narrow).map(|_| ());
        let unknown = bad(format!("unknown channel {shown}"));
        assert_eq!(found, if is_known { Ok(()) } else { Err(unknown) }, "{requester} {operand}");
    }
}

#[test]
fn with_is_replaced_by_the_conversation_of_its_message() {
    let plan_topic = || MessageSet::Topic(SECRET, TopicKey::new("plan"));
    let moved = json!([["channel", "Verona"], ["topic", "x"], ["with", "50"], ["has", "link"]]);
    assert_eq!(sets(moved), [(true, plan_topic()), (true, MessageSet::Has(Content::Link))]);
    let direct = json!([{"operator": "dm", "operand": [6]}, ["with", "51"]]);
    assert_eq!(sets(direct), [(true, MessageSet::Direct(RecipientId(101)))]);
    let unreadable = json!([["channel", "Verona"], ["topic", "x"], ["with", "99"]]);
    assert_eq!(sets(unreadable), [(true, MessageSet::Topic(VERONA, TopicKey::new("x")))]);
    let unreadable = json!([{"operator": "dm", "operand": [1]}, ["with", "99"]]);
    assert_eq!(sets(unreadable), [(true, MessageSet::Direct(RecipientId(101)))]);
}

#[test]
fn first_unread_skips_muted_messages() {
    for (narrow, expected) in [
        (json!([]), SkippedMuting::TopicsAndChannels),
        (json!([["topic", "x"]]), SkippedMuting::TopicsAndChannels),
        (json!([["channel", "Verona"]]), SkippedMuting::Topics),
        (json!([["channel", "Verona"], ["topic", "x"]]), SkippedMuting::Topics),
        (json!([{"operator": "channel", "operand": 1, "negated": true}]), SkippedMuting::TopicsAndChannels),
        (json!([["dm", "owner@example.org"]]), SkippedMuting::Nothing),
        (json!([["is", "dm"]]), SkippedMuting::Nothing),
        (json!([["dm-including", "owner@example.org"]]), SkippedMuting::Nothing),
        (json!([["group-pm-with", "owner@example.org"]]), SkippedMuting::Nothing),
        (json!([{"operator": "is", "operand": "dm", "negated": true}]), SkippedMuting::TopicsAndChannels),
    ] {
        assert_eq!(plan(narrow.clone()).unwrap().skipped_muting, expected, "{narrow}");
    }
}

#[test]
fn without_an_account_only_web_public_channels_are_searched() {
    let closed = directory();
    let mut open = directory();
    fixture::set_realm(&mut open, "enable_spectator_access", SettingValue::Bool(true));
    let asked = json!([["channels", "web-public"], ["channel", "web"], ["topic", "x"]]);
    assert_eq!(plan_as(&closed, None, asked.clone()), Err(RuleError::LoginRequired));
    let plan = plan_as(&open, None, asked).unwrap();
    assert_eq!(plan.scope, Scope::Channels(vec![WEB]));
    let hidden = plan_as(&open, None, json!([["streams", "web-public"], ["channel", "secret"]]));
    assert_eq!(hidden, Err(bad("unknown channel secret")));
    for narrow in [
        json!([]),
        json!([["channel", "web"]]),
        json!([["channels", "public"]]),
        json!([{"operator": "channels", "operand": "web-public", "negated": true}]),
        json!([["channels", "web-public"], ["is", "unread"]]),
        json!([["channels", "web-public"], ["dm", "owner@example.org"]]),
        json!([["channels", "web-public"], ["in", "home"]]),
    ] {
        assert_eq!(plan_as(&open, None, narrow.clone()), Err(RuleError::LoginRequired), "{narrow}");
    }
}

const WORDS: &[&str] = &[
    "channel",
    "channels",
    "topic",
    "dm",
    "dm-including",
    "group-pm-with",
    "sender",
    "is",
    "has",
    "in",
    "id",
    "near",
    "with",
    "search",
    "bogus",
];
const TEXTS: &[&str] = &[
    "Verona",
    "secret",
    "protected",
    "web",
    "public",
    "web-public",
    "x",
    "",
    "owner@example.org",
    "dm",
    "resolved",
    "unread",
    "followed",
    "link",
    "home",
    "50",
    "51",
    "99",
];

fn any_term() -> impl Strategy<Value = Term> {
    let operand = prop_oneof![
        prop::sample::select(TEXTS).prop_map(|text| Operand::Text(text.to_owned())),
        any::<String>().prop_map(Operand::Text),
        (-2i64..60).prop_map(Operand::Id),
        prop::collection::vec(-2i64..12, 0..4).prop_map(Operand::Ids),
    ];
    let operator = prop::sample::select(WORDS).prop_map(Operator::from_name);
    (operator, operand, any::<bool>()).prop_map(|(operator, operand, negated)| Term {
        operator,
        operand,
        negated,
    })
}

proptest! {
    /// Whatever the narrow, a plan that searches whole channels contains only channels that the requester may read whole.
    #[test]
    fn scopes_contain_only_readable_channels(
        terms in prop::collection::vec(any_term(), 0..5),
        requester in prop::option::of(1u32..9),
    ) {
        let mut dir = directory();
        fixture::set_realm(&mut dir, "enable_spectator_access", SettingValue::Bool(true));
        let requester = requester.map(|id| dir.user(UserId(id)).unwrap()).map(|user| &**user);
        let Ok(plan) = plan_narrow(&dir, requester, &terms, |_| None) else { return Ok(()) };
        let Scope::Channels(channels) = plan.scope else {
            prop_assert!(requester.is_some(), "without an account there is no own history");
            return Ok(());
        };
        for id in channels {
            let channel = dir.channel(id).unwrap();
            match requester {
                Some(user) => prop_assert_eq!(history_of(&dir, user, channel), Some(History::Whole)),
                None => prop_assert!(channel.is_web_public),
            }
        }
    }
}
