//! A search finds only what its requester may read: in every kind of channel, for every kind of user, from memory and from
//! the index, and after moves and deletions.

use crate::support::{Channel, TestServer, TestUser, poll_for};
use actors::queries::{Anchor, Covered, Narrowed, Range};
use serde_json::{Value, json};

/// In the content of every message of the stage.
const WORD: &str = "xyzzy";

struct Stage {
    t: TestServer,
    /// Where each message is, with its id.
    messages: Vec<(&'static str, u64)>,
    public: Channel,
    private: Channel,
}

/// Hamlet is in all channels, Cordelia came later to the private ones, Othello is in none, Polonius is a guest in one.
async fn stage() -> Stage {
    let t = TestServer::builder().set("search.write_secs", 0).start().await;
    let [hamlet, cordelia, polonius] = t.users(["hamlet", "cordelia", "polonius"]);
    let public = hamlet.create_channel("public").with(&polonius).await;
    let private = hamlet.create_channel("private").private().protected_history().await;
    let shared = hamlet.create_channel("shared").private().shared_history().await;
    let web = hamlet.create_channel("left").await;
    let mut messages = Vec::new();
    for (name, channel) in [("public", &public), ("private", &private), ("shared", &shared), ("left", &web)] {
        messages.push((name, hamlet.send(channel, &format!("{WORD} topic"), "before").await));
        messages
            .push((name, hamlet.send(channel, "plain", &format!("{WORD} \"{WORD} phrase\" first")).await));
    }
    hamlet.subscribe_others(&private, &[&cordelia]).await;
    hamlet.subscribe_others(&shared, &[&cordelia]).await;
    messages.push(("private, later", hamlet.send(&private, "plain", &format!("{WORD} later")).await));
    messages.push(("direct", hamlet.send_direct(&[&cordelia], &format!("{WORD} direct")).await));
    messages.push(("self", hamlet.send_direct(&[&hamlet], &format!("{WORD} note")).await));
    Stage { t, messages, public, private }
}

impl Stage {
    /// Everything that a user learns from a search: ids and ends, by different ways.
    async fn finds(&self, who: &TestUser, narrow: Value) -> Vec<u64> {
        let mut all: Vec<u64> = who.message_ids(narrow.clone()).await;
        all.sort_unstable();
        let ids = json!(self.messages.iter().map(|(_, id)| id).collect::<Vec<_>>());
        let given = who.get("/messages", &[("message_ids", &ids), ("narrow", &narrow)]).ok().await;
        let given: Vec<u64> = given["messages"]
            .as_array()
            .unwrap()
            .iter()
            .map(|message| message["id"].as_u64().unwrap())
            .collect();
        assert!(all.iter().all(|id| given.contains(id)), "{narrow}");
        for id in &given {
            who.get(&format!("/messages/{id}"), &[]).ok().await;
        }
        let matched =
            who.get("/messages/matches_narrow", &[("msg_ids", &ids), ("narrow", &narrow)]).ok().await;
        for id in matched["messages"].as_object().unwrap().keys() {
            who.get(&format!("/messages/{id}"), &[]).ok().await;
        }
        all
    }

    fn ids(&self, names: &[&str]) -> Vec<u64> {
        self.messages.iter().filter(|(name, _)| names.contains(name)).map(|(_, id)| *id).collect()
    }

    async fn written(&self) {
        poll_for("the index is written", || async { (self.t.realm().search_behind() == 0).then_some(()) })
            .await;
    }
}

#[tokio::test]
async fn search_finds_only_what_the_requester_may_read() {
    let s = stage().await;
    let [hamlet, cordelia, othello, polonius] = s.t.users(["hamlet", "cordelia", "othello", "polonius"]);
    let all = ["public", "private", "shared", "left", "private, later", "direct", "self"];
    for round in ["from memory", "from the index"] {
        let search = || json!([["search", WORD]]);
        assert_eq!(s.finds(&hamlet, search()).await, s.ids(&all), "{round}");
        assert_eq!(s.finds(&cordelia, search()).await, s.ids(&["private, later", "direct"]), "{round}");
        assert_eq!(s.finds(&othello, search()).await, [] as [u64; 0], "{round}");
        assert_eq!(s.finds(&polonius, search()).await, s.ids(&["public"]), "{round}");
        let public = || json!([["channels", "public"], ["search", WORD]]);
        assert_eq!(s.finds(&othello, public()).await, s.ids(&["public", "left"]), "{round}");
        assert_eq!(s.finds(&polonius, public()).await, s.ids(&["public"]), "{round}");
        let shared = || json!([["channel", "shared"], ["search", WORD]]);
        assert_eq!(s.finds(&cordelia, shared()).await, s.ids(&["shared"]), "{round}");
        let private = || json!([["channel", "private"], ["search", WORD]]);
        assert_eq!(s.finds(&cordelia, private()).await, s.ids(&["private, later"]), "{round}");
        // A private channel does not exist for others, with a search or without.
        for narrow in [private(), json!([["channel", "private"]])] {
            let params: crate::support::Params<'_> =
                &[("anchor", &"newest"), ("num_before", &5), ("narrow", &narrow)];
            let refused = othello.get("/messages", params).await;
            assert_eq!(refused.body["desc"], "unknown channel private", "{round}");
        }
        let phrase = json!([["search", format!("\"{WORD} phrase\"")]]);
        let firsts =
            [s.ids(&["public"])[1], s.ids(&["private"])[1], s.ids(&["shared"])[1], s.ids(&["left"])[1]];
        assert_eq!(s.finds(&hamlet, phrase.clone()).await, firsts, "{round}");
        assert_eq!(s.finds(&cordelia, phrase.clone()).await, [] as [u64; 0], "{round}");
        assert_eq!(s.finds(&polonius, phrase).await, firsts[..1], "{round}");
        s.written().await;
    }
}

#[tokio::test]
async fn search_answers_do_not_depend_on_hidden_messages() {
    let s = stage().await;
    let othello = s.t.user("othello");
    for round in 0..2 {
        let mut answers = Vec::new();
        // Of the two words only the first one is anywhere.
        for word in [WORD, "nowhere"] {
            for anchor in ["newest", "oldest", "first_unread", "3"] {
                let narrow = json!([["search", word]]);
                let params: crate::support::Params<'_> =
                    &[("anchor", &anchor), ("num_before", &5), ("num_after", &5), ("narrow", &narrow)];
                answers.push(othello.get("/messages", params).ok().await);
            }
        }
        assert_eq!(answers[..4], answers[4..], "{round}");
        s.written().await;
    }
}

#[tokio::test]
async fn search_follows_moves_between_channels() {
    let s = stage().await;
    let [hamlet, othello, polonius] = s.t.users(["hamlet", "othello", "polonius"]);
    let [_, secret] = s.ids(&["private"])[..] else { panic!("two messages") };
    let [_, open] = s.ids(&["public"])[..] else { panic!("two messages") };
    let public = || json!([["channels", "public"], ["search", "first"]]);
    s.written().await;
    assert!(!s.finds(&othello, public()).await.contains(&secret));
    let to = |channel: &Channel| channel.id.to_string();
    let one = "change_one";
    hamlet.edit(secret, &[("stream_id", &to(&s.public)), ("propagate_mode", &one)]).ok().await;
    hamlet.edit(open, &[("stream_id", &to(&s.private)), ("propagate_mode", &one)]).ok().await;
    for _ in 0..2 {
        let found = s.finds(&othello, public()).await;
        assert!(found.contains(&secret) && !found.contains(&open), "{found:?}");
        assert!(!s.finds(&polonius, json!([["search", WORD]])).await.contains(&open));
        s.written().await;
    }
    hamlet.delete(&format!("/messages/{secret}"), &[]).await;
    let iago = s.t.user("desdemona");
    iago.delete(&format!("/messages/{secret}"), &[]).await;
    for _ in 0..2 {
        assert!(!s.finds(&othello, public()).await.contains(&secret));
        s.written().await;
    }
}

#[tokio::test]
async fn search_in_web_public_and_left_private_channels() {
    let t = TestServer::builder().set("search.write_secs", 0).start().await;
    let [desdemona, hamlet, othello, polonius] = t.users(["desdemona", "hamlet", "othello", "polonius"]);
    desdemona.patch("/realm", &[("enable_spectator_access", &"true")]).ok().await;
    let web = desdemona.create_channel("web").set("is_web_public", json!(true)).await;
    let shared = desdemona.create_channel("shared").shared_history().with(&hamlet).await;
    let protected = desdemona.create_channel("protected").protected_history().with(&hamlet).await;
    let open = desdemona.send(&web, "plain", &format!("{WORD} web")).await;
    let mut all = vec![open];
    for channel in [&shared, &protected] {
        all.push(desdemona.send(channel, "plain", &format!("{WORD} before")).await);
        hamlet.unsubscribe(channel).await;
        all.push(desdemona.send(channel, "plain", &format!("{WORD} after")).await);
    }
    for round in ["from memory", "from the index"] {
        let in_web = json!([["channel", "web"], ["search", WORD]]);
        for who in [&othello, &polonius] {
            assert_eq!(who.message_ids(in_web.clone()).await, [open], "{round}");
        }
        // Searching takes an account.
        let refused = t
            .anonymous()
            .get("/messages", &[("narrow", &json!([["streams", "web-public"], ["search", WORD]]))])
            .await;
        assert_eq!(refused.status, 401, "{round}");
        // A search finds exactly what the same narrow without it has.
        for who in [&desdemona, &hamlet, &othello, &polonius] {
            let readable = who.message_ids(json!([])).await;
            let expected: Vec<u64> = all.iter().copied().filter(|id| readable.contains(id)).collect();
            assert_eq!(who.message_ids(json!([["search", WORD]])).await, expected, "{round}");
        }
        let own = hamlet.message_ids(json!([["search", format!("{WORD} after")]])).await;
        assert_eq!(own, [] as [u64; 0], "{round}: sent after Hamlet had left");
        // A former subscriber knows of the channels, and reads nothing in them.
        for name in ["shared", "protected"] {
            for narrow in [json!([["channel", name]]), json!([["channel", name], ["search", WORD]])] {
                assert_eq!(hamlet.message_ids(narrow).await, [] as [u64; 0], "{round}, {name}");
            }
        }
        poll_for("the index is written", || async { (t.realm().search_behind() == 0).then_some(()) }).await;
    }
}

#[tokio::test]
async fn search_does_not_cross_organizations() {
    let s = stage().await;
    let second = crate::support::people::create_second(s.t.server(), "other").await;
    let olga = second.user_by_email("olga@zulip.com").expect("its owner");
    let narrow = rules::narrow::parse_narrow(&json!([["search", WORD]])).expect("a narrow");
    let range = Range { anchor: Anchor::Oldest, num_before: 0, num_after: 100, include_anchor: true };
    for _ in 0..2 {
        let found = second.find_text(WORD).expect("its own index");
        let covered = Covered::Window(range);
        let scope = second.search_scope(Some(&olga), &narrow, covered).expect("its own channels");
        let select = |narrowed: &Narrowed<'_>| Ok::<_, rules::RuleError>(narrowed.window(&range).ids);
        let ids = second.narrow(Some(&olga), (&narrow, Some((&found, &scope))), || Ok(()), select);
        assert_eq!(ids.expect("a window"), []);
        s.written().await;
    }
}

#[tokio::test]
async fn search_finds_muted_messages_unless_narrowed_to_home() {
    let s = stage().await;
    // The topics are followed by Hamlet, who has started them, and so not muted for him.
    let polonius = s.t.user("polonius");
    let data = json!([{"stream_id": s.public.id, "property": "is_muted", "value": true}]);
    polonius.post("/users/me/subscriptions/properties", &[("subscription_data", &data)]).ok().await;
    let in_public = s.ids(&["public"]);
    let all = s.finds(&polonius, json!([["search", WORD]])).await;
    assert!(in_public.iter().all(|id| all.contains(id)));
    let home = polonius.message_ids(json!([["in", "home"], ["search", WORD]])).await;
    assert!(in_public.iter().all(|id| !home.contains(id)));
}
