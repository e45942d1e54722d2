//! Subscribing and unsubscribing against the sample organization: what races, and what must change nothing.

use super::adding::{Adding, add_subscriptions, parse_wanted};
use super::principals::Principals;
use super::remove::{Removing, check_removal, remove_subscriptions};
use crate::api::channels::options::channel_options;
use crate::api::sample::Sample;
use crate::http::params::BodyKind;
use crate::http::{ApiError, Code, Fields, FromFields};
use actors::Added;
use actors::queries::{Anchor, Range};
use futures_util::future::join_all;
use model::UserId;
use rules::narrow::parse_narrow;
use std::collections::BTreeSet;

const IAGO: &str = "iago@zulip.com";
const HAMLET: &str = "hamlet@zulip.com";

fn fields(pairs: &[(&str, &str)]) -> Fields {
    let mut text = form_urlencoded::Serializer::new(String::new());
    Fields::parse(b"", &BodyKind::Form, text.extend_pairs(pairs).finish().as_bytes()).unwrap()
}

fn adding(pairs: &[(&str, &str)]) -> Adding {
    Adding::from_fields(&fields(pairs)).unwrap()
}

async fn add(sample: &Sample, who: &str, pairs: &[(&str, &str)]) -> Result<Added, ApiError> {
    add_subscriptions(&sample.caller(who), adding(pairs)).await
}

#[actix_web::test]
async fn of_two_who_create_the_same_channel_one_subscribes_to_it() {
    let sample = Sample::start().await;
    let callers: Vec<_> = [IAGO, HAMLET, "othello@zulip.com", "prospero@zulip.com", "cordelia@zulip.com"]
        .map(|who| sample.caller(who))
        .into();
    let wanted = adding(&[("subscriptions", r#"[{"name":"Race"}]"#)]);
    let outcomes = join_all(callers.iter().map(|caller| add_subscriptions(caller, wanted.clone()))).await;
    for (caller, outcome) in callers.iter().zip(outcomes) {
        assert_eq!(outcome.unwrap().subscribed[&caller.user.id], ["Race"]);
    }
    let directory = sample.realm.directory();
    let named = directory.channels().filter(|channel| channel.name.eq_ignore_ascii_case("race"));
    let ids: Vec<_> = named.map(|channel| channel.id).collect();
    assert_eq!(ids.len(), 1);
    assert_eq!(directory.subscriber_count(ids[0]), 5);
    sample.stop().await;
}

#[actix_web::test]
async fn a_refusal_creates_nothing() {
    let sample = Sample::start().await;
    let before = sample.realm.directory();
    let cases: [(&[(&str, &str)], &str); 6] = [
        (&[("subscriptions", r#"[{"name":"new one"}]"#), ("principals", "[99999]")], "No such user"),
        (&[("subscriptions", r#"[{"name":"new one"}]"#), ("principals", r#"["x@y.z"]"#)], "No such user"),
        (&[("subscriptions", r#"[{"name":"new one"},{"name":""}]"#)], "Channel name can't be empty."),
        (
            &[("subscriptions", r#"[{"name":"new one"}]"#), ("is_web_public", "true")],
            "Insufficient permission",
        ),
        (
            &[("subscriptions", r#"[{"name":"new one"},{"name":"core team"}]"#)],
            "Unable to access channel (core team).",
        ),
        (
            &[("subscriptions", r#"[{"name":"new one"}]"#), ("message_retention_days", "7")],
            "Must be an organization owner",
        ),
    ];
    for (pairs, msg) in cases {
        assert_eq!(add(&sample, "prospero@zulip.com", pairs).await.unwrap_err().msg(), msg, "{pairs:?}");
    }
    assert_eq!(sample.realm.directory(), before);
    sample.stop().await;
}

#[actix_web::test]
async fn without_fatal_errors_the_rest_is_done() {
    let sample = Sample::start().await;
    let pairs = [
        ("subscriptions", r#"[{"name":"core team"},{"name":"x"}]"#),
        ("authorization_errors_fatal", "false"),
    ];
    let added = add(&sample, "prospero@zulip.com", &pairs).await.unwrap();
    assert_eq!(added.unauthorized, ["core team"]);
    assert_eq!(added.subscribed[&sample.id("prospero@zulip.com")], ["x"]);
    sample.stop().await;
}

#[actix_web::test]
async fn new_subscriptions_have_colors_of_their_own() {
    let sample = Sample::start().await;
    let pairs = [("subscriptions", r##"[{"name":"a"},{"name":"b"},{"name":"c","color":"#ABC"}]"##)];
    add(&sample, HAMLET, &pairs).await.unwrap();
    let directory = sample.realm.directory();
    let hamlet = sample.id(HAMLET);
    let own: Vec<_> = directory.subscriptions_of_user(hamlet).map(|(_, own)| own.color.clone()).collect();
    assert_eq!(own.iter().collect::<BTreeSet<_>>().len(), own.len());
    let c = directory.channel_by_name("c").unwrap().id;
    assert_eq!(directory.subscription(c, hamlet).unwrap().color, "#aabbcc");
    sample.stop().await;
}

fn direct_messages(sample: &Sample, user: UserId) -> u64 {
    let directory = sample.realm.directory();
    let is_direct = parse_narrow(&serde_json::json!([["is", "dm"]])).unwrap();
    let all = Range { anchor: Anchor::Oldest, num_before: 0, num_after: 1000, include_anchor: true };
    let asker = directory.user(user).map(|user| &**user);
    let check = || Ok::<_, ApiError>(());
    let window = sample.realm.narrow(asker, (&is_direct, None), check, |narrowed| Ok(narrowed.window(&all)));
    window.unwrap().ids.len() as u64
}

#[actix_web::test]
async fn people_are_told_who_subscribed_them_but_not_of_new_channels() {
    let sample = Sample::start().await;
    let (hamlet, bot) = (sample.id(HAMLET), sample.id("default-bot@zulip.com"));
    let both = format!("[{hamlet},{bot}]");
    let before = [direct_messages(&sample, hamlet), direct_messages(&sample, bot)];
    let new = [("subscriptions", r#"[{"name":"fresh"}]"#), ("principals", both.as_str())];
    assert_eq!(add(&sample, IAGO, &new).await.unwrap().messages_sent, Some(true));
    assert_eq!([direct_messages(&sample, hamlet), direct_messages(&sample, bot)], before);
    add(&sample, IAGO, &[("subscriptions", r#"[{"name":"fresh 2"}]"#)]).await.unwrap();
    let old = [("subscriptions", r#"[{"name":"fresh 2"}]"#), ("principals", both.as_str())];
    assert_eq!(add(&sample, IAGO, &old).await.unwrap().messages_sent, Some(true));
    assert_eq!([direct_messages(&sample, hamlet), direct_messages(&sample, bot)], [before[0] + 1, before[1]]);
    let quiet = [old[0], old[1], ("send_new_subscription_messages", "false")];
    assert_eq!(add(&sample, IAGO, &quiet).await.unwrap().messages_sent, None);
    sample.stop().await;
}

#[actix_web::test]
async fn leaving_says_who_left_what() {
    let sample = Sample::start().await;
    let caller = sample.caller(IAGO);
    add(&sample, IAGO, &[("subscriptions", r#"[{"name":"Leave"}]"#)]).await.unwrap();
    let directory = sample.realm.directory();
    let remove = |names: &str| Removing::from_fields(&fields(&[("subscriptions", names)])).unwrap();
    let unknown = check_removal(&caller, &directory, &remove(r#"["nope","leave","nada"]"#)).err().unwrap();
    assert_eq!(unknown.code(), Some(Code::STREAM_DOES_NOT_EXIST));
    assert_eq!(unknown.msg(), "Channel(s) (nope, nada) do not exist");
    for expected in [r#"{"removed":["Leave"],"not_removed":[]}"#, r#"{"removed":[],"not_removed":["Leave"]}"#]
    {
        let checked = check_removal(&caller, &directory, &remove(r#"["LEAVE","leave"]"#)).unwrap();
        let removed = remove_subscriptions(&caller, checked).await.unwrap();
        assert_eq!(serde_json::to_string(&removed).unwrap(), expected);
    }
    sample.stop().await;
}

#[test]
fn what_is_mistyped_is_named() {
    let cases = [
        ("[{", "subscriptions is not valid JSON"),
        ("5", "subscriptions is not a list"),
        ("[5]", "subscriptions[0] is not a dict"),
        ("[{}]", r#"subscriptions[0]["name"] field is missing"#),
        (r#"[{"name":5}]"#, r#"subscriptions[0]["name"] is not a string"#),
        (
            r#"[{"name":"a","color":"red"}]"#,
            r#"Invalid subscriptions[0]["color"]: color is not a valid hex color code"#,
        ),
    ];
    for (text, msg) in cases {
        let given = fields(&[("subscriptions", text)]);
        let parsed = given.required_json("subscriptions").and_then(|field| parse_wanted(&field));
        assert_eq!(parsed.unwrap_err().msg(), msg, "{text}");
    }
    let mixed = fields(&[("principals", r#"[1,"a@b.c"]"#)]);
    assert_eq!(Principals::from_fields(&mixed).unwrap_err().msg(), "principals[1] is not an integer");
    assert!(channel_options(&fields(&[("can_subscribe_group", "[]")])).is_err());
}
