//! `GET /messages` with `search`: what is found, and how it is highlighted (docs/api/narrow.md#search).

use crate::support::{Params, TestServer, TestUser, keys};
use serde_json::{Value, json};

struct Stage {
    t: TestServer,
    iago: TestUser,
    hamlet: TestUser,
    /// The first of the messages below.
    first: u64,
}

/// Topic and content; the ids follow each other.
const MESSAGES: [(&str, &str); 6] = [
    ("alpha quokkas", "The quokka was **jumping** over the moon"),
    ("alpha quokkas", "She jumps & shouts <b>quokka</b>"),
    ("beta", "`code quokka` in a block and https://example.com/quokka"),
    ("beta", "> quoted wombat\n\nplain text"),
    ("Wombat topic", "nothing here"),
    ("beta", "naïve café über quokka's tail"),
];

async fn stage() -> Stage {
    stage_on(TestServer::start().await).await
}

async fn stage_on(t: TestServer) -> Stage {
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let channel = iago.create_channel("rec search").with(&hamlet).await;
    let mut first = 0;
    for (topic, content) in MESSAGES {
        let id = iago.send(&channel, topic, content).await;
        first = if first == 0 { id } else { first };
    }
    Stage { t, iago, hamlet, first }
}

impl Stage {
    /// The numbers of the messages that a search in the channel finds.
    async fn numbers(&self, search: &str) -> Vec<u64> {
        let narrow = json!([["channel", "rec search"], ["search", search]]);
        let found = self.hamlet.message_ids(narrow).await;
        found.into_iter().filter(|id| *id >= self.first).map(|id| id - self.first).collect()
    }

    /// `match_content` of one of the messages.
    async fn content(&self, search: &str, number: u64) -> String {
        self.found(search, number).await["match_content"].as_str().expect("match_content").to_owned()
    }

    async fn found(&self, search: &str, number: u64) -> Value {
        let narrow = json!([["channel", "rec search"], ["search", search]]);
        let found = self.hamlet.messages(narrow).await;
        let id = self.first + number;
        found.into_iter().find(|message| message["id"] == id).unwrap_or_else(|| panic!("{search}: {number}"))
    }
}

fn marked(text: &str) -> String {
    text.replace('[', "<span class=\"highlight\">").replace(']', "</span>")
}

#[tokio::test]
async fn search_finds_words_in_content_and_topic() {
    let s = stage().await;
    for (search, numbers) in [
        ("quokka", &[0, 1, 2, 5][..]),
        ("QUOKKA", &[0, 1, 2, 5]),
        ("quokkas", &[0, 1, 2, 5]),
        ("jump", &[0, 1]),
        ("quokka moon", &[0]),
        ("quokka jumping", &[0, 1]),
        ("wombat", &[3, 4]),
        // One word in the topic, the other one in the content.
        ("wombat nothing", &[4]),
        ("\"over the moon\"", &[0]),
        ("\"OVER the Moon\"", &[0]),
        ("\"ver the moon\"", &[]),
        // A phrase is compared with the text as it was typed.
        ("\"jumping over\"", &[]),
        ("\"moon the over\"", &[]),
        ("\"alpha quokkas\"", &[0, 1]),
        ("\"quoted wombat\" plain", &[3]),
        // Only stop words, and nothing that looks like a tag.
        ("the", &[]),
        ("\"over the\"", &[]),
        ("<b>", &[]),
        ("the moon", &[0]),
        ("café", &[5]),
        ("quokka's", &[0, 1, 2, 5]),
        ("example.com", &[2]),
        ("https://example.com/quokka", &[2]),
        ("com.example", &[]),
        ("!?", &[]),
        ("unheardof", &[]),
    ] {
        assert_eq!(s.numbers(search).await, numbers, "{search}");
    }
}

#[tokio::test]
async fn search_highlights_words_outside_of_tags() {
    let s = stage().await;
    for (search, number, expected) in [
        ("quokka", 0, "<p>The [quokka] was <strong>jumping</strong> over the moon</p>"),
        ("jump", 0, "<p>The quokka was <strong>[jumping]</strong> over the moon</p>"),
        ("quokka moon", 0, "<p>The [quokka] was <strong>jumping</strong> over the [moon]</p>"),
        ("\"over the moon\"", 0, "<p>The quokka was <strong>jumping</strong> over the [moon]</p>"),
        ("quokka", 1, "<p>She jumps &amp; shouts &lt;b&gt;[quokka]&lt;/b&gt;</p>"),
        (
            "quokka",
            2,
            "<p><code>code [quokka]</code> in a block and <a href=\"https://example.com/quokka\">https://example.com/quokka</a></p>",
        ),
        (
            "example.com",
            2,
            "<p><code>code quokka</code> in a block and <a href=\"https://example.com/quokka\">https://[example.com]/quokka</a></p>",
        ),
        ("wombat", 3, "<blockquote>\n<p>quoted [wombat]</p>\n</blockquote>\n<p>plain text</p>"),
        ("café", 5, "<p>naïve [café] über quokka's tail</p>"),
        ("quokka's", 5, "<p>naïve café über [quokka]'s tail</p>"),
    ] {
        assert_eq!(s.content(search, number).await, marked(expected), "{search} in {number}");
    }
    for (search, number, expected) in
        [("quokka", 0, "alpha [quokkas]"), ("wombat", 4, "[Wombat] topic"), ("quokka", 2, "beta")]
    {
        assert_eq!(s.found(search, number).await["match_subject"], marked(expected), "{search} in {number}");
    }
}

#[tokio::test]
async fn search_has_both_fields_in_every_form_and_window() {
    let s = stage().await;
    let narrow = json!([["channel", "rec search"], ["search", "quokka"], ["search", "jumping"]]);
    for (anchor, before, after) in [("newest", 5, 0), ("oldest", 0, 5), (&*s.first.to_string(), 1, 2)] {
        let params: Params<'_> = &[
            ("anchor", &anchor),
            ("num_before", &before),
            ("num_after", &after),
            ("narrow", &narrow),
            ("apply_markdown", &false),
        ];
        let body = s.hamlet.get("/messages", params).ok().await;
        let messages = body["messages"].as_array().unwrap();
        assert_eq!(messages.len(), 2, "{anchor}");
        assert_eq!(messages[0]["content"], MESSAGES[0].1);
        assert!(messages[0]["match_content"].as_str().unwrap().starts_with("<p>The <span class"));
        assert_eq!(body["found_newest"], true, "{anchor}");
    }
    let without = s.hamlet.messages(json!([["channel", "rec search"]])).await;
    assert!(!keys(&without[0]).contains(&"match_content"));
    // A negated search is not negated.
    let negated =
        json!([["channel", "rec search"], {"operator": "search", "operand": "moon", "negated": true}]);
    assert_eq!(s.hamlet.message_ids(negated).await, [s.first]);
}

/// Candidates for the first unread message are read together: one in each round were as many rounds as there are candidates.
#[tokio::test]
async fn search_for_a_phrase_finds_the_first_unread_message_among_many() {
    let s = stage().await;
    let channel = s.iago.create_channel("mill").with(&s.hamlet).await;
    for number in 0..40 {
        s.iago.send(&channel, "grain", &format!("the mill number {number} and its water")).await;
    }
    let first = s.iago.send(&channel, "grain", "MILL WATER").await;
    s.iago.send(&channel, "grain", "mill water again").await;
    let narrow = json!([["channel", "mill"], ["search", "\"mill water\""]]);
    for (before, after, count) in [(0, 0, 1), (5, 5, 2)] {
        let params: Params<'_> = &[
            ("anchor", &"first_unread"),
            ("num_before", &before),
            ("num_after", &after),
            ("narrow", &narrow),
        ];
        let body = s.hamlet.get("/messages", params).ok().await;
        assert_eq!((&body["anchor"], &body["found_anchor"]), (&json!(first), &json!(true)));
        assert_eq!(body["messages"].as_array().unwrap().len(), count);
    }
}

#[tokio::test]
async fn search_with_other_terms() {
    let s = stage().await;
    let direct = s.iago.send_direct(&[&s.hamlet], "a private quokka note").await;
    let found = s.hamlet.messages(json!([["is", "dm"], ["search", "quokka"]])).await;
    assert_eq!(found.len(), 1);
    assert_eq!((&found[0]["id"], &found[0]["match_subject"]), (&json!(direct), &json!("\u{7}")));
    s.hamlet.flag("add", "starred", &[s.first]).await;
    for (term, count) in [
        (json!(["is", "starred"]), 1),
        (json!(["topic", "beta"]), 2),
        (json!({"operator": "topic", "operand": "beta", "negated": true}), 3),
        (json!(["sender", s.iago.api_email]), 5),
        (json!(["sender", s.hamlet.api_email]), 0),
        (json!(["has", "link"]), 1),
        (json!(["is", "unread"]), 5),
        (json!(["id", s.first.to_string()]), 1),
    ] {
        let narrow = json!([term, ["search", "quokka"]]);
        assert_eq!(s.hamlet.message_ids(narrow.clone()).await.len(), count, "{narrow}");
    }
}

#[tokio::test]
async fn search_by_ids_in_matches_narrow_and_in_flags() {
    let s = stage().await;
    let narrow = json!([["search", "quokka"]]);
    let ids = json!([s.first + 3, s.first + 4, s.first + 5]);
    let found =
        s.hamlet.get("/messages/matches_narrow", &[("msg_ids", &ids), ("narrow", &narrow)]).ok().await;
    let id = (s.first + 5).to_string();
    assert_eq!(keys(&found["messages"]), std::slice::from_ref(&id));
    let content = marked("<p>naïve café über [quokka]'s tail</p>");
    assert_eq!(found["messages"][id], json!({"match_content": content, "match_subject": "beta"}));
    let found = s.hamlet.get("/messages", &[("message_ids", &ids), ("narrow", &narrow)]).ok().await;
    assert_eq!(found["messages"].as_array().unwrap().len(), 1);
    let phrase = json!([["channel", "rec search"], ["search", "\"the moon\""]]);
    let params: Params<'_> = &[
        ("anchor", &"oldest"),
        ("num_before", &0),
        ("num_after", &100),
        ("narrow", &phrase),
        ("op", &"add"),
        ("flag", &"starred"),
    ];
    let body = s.hamlet.post("/messages/flags/narrow", params).ok().await;
    assert_eq!((&body["processed_count"], &body["updated_count"]), (&json!(1), &json!(1)));
    assert_eq!(s.hamlet.message_ids(json!([["is", "starred"]])).await, [s.first]);
}

#[tokio::test]
async fn search_follows_edits_moves_and_deletions() {
    // First from memory, then from the index.
    for write_secs in [3600, 0] {
        let t = TestServer::builder().set("search.write_secs", write_secs).start().await;
        let s = stage_on(t).await;
        let (moon, tail) = (s.first, s.first + 5);
        s.written(write_secs).await;
        // The words that this search reads are kept until the messages change.
        assert_eq!((s.numbers("moon").await, s.numbers("beta café").await), (vec![0], vec![5]));
        s.iago.edit(moon, &[("content", &"The kangaroo was asleep")]).ok().await;
        s.iago.edit(tail, &[("topic", &"marsupials"), ("propagate_mode", &"change_one")]).ok().await;
        for round in 0..2 {
            assert_eq!(s.numbers("moon").await, [] as [u64; 0], "{round}");
            assert_eq!(s.numbers("kangaroo").await, [0]);
            assert_eq!(s.numbers("marsupial café").await, [5]);
            assert_eq!(s.numbers("beta café").await, [] as [u64; 0]);
            assert_eq!(s.numbers("\"was asleep\"").await, [0]);
            s.written(write_secs).await;
        }
        s.iago.delete(&format!("/messages/{moon}"), &[]).ok().await;
        for _ in 0..2 {
            assert_eq!(s.numbers("kangaroo").await, [] as [u64; 0]);
            assert_eq!(s.numbers("quokka").await, [1, 2, 5]);
            s.written(write_secs).await;
        }
    }
}

impl Stage {
    /// Waits until the index has all messages, if it is to be written at once.
    async fn written(&self, write_secs: u64) {
        if write_secs == 0 {
            crate::support::poll_for("the index is written", || async {
                (self.t.realm().search_behind() == 0).then_some(())
            })
            .await;
        }
    }
}

#[tokio::test]
async fn search_stems_for_the_language_of_the_organization() {
    let t = TestServer::builder().set("search.write_secs", 0).start().await;
    let [desdemona, hamlet] = t.users(["desdemona", "hamlet"]);
    let channel = hamlet.create_channel("Sprachen").with(&desdemona).await;
    let id = hamlet.send(&channel, "Tiere", "Die Katzen schlafen in den Häusern. 東京都の猫が好きです").await;
    let found = |search: &str| hamlet.message_ids(json!([["channel", "Sprachen"], ["search", search]]));
    assert_eq!(found("Haus").await, [] as [u64; 0]);
    desdemona.patch("/realm", &[("default_language", &"de")]).ok().await;
    crate::support::poll_for("the index is made for the language", || async {
        (found("Haus").await == [id]).then_some(())
    })
    .await;
    for (search, is_found) in [
        ("Katze", true),
        ("Tier", true),
        ("die", false),
        ("東京", true),
        ("東京都", true),
        ("京都", true),
        ("東都", false),
        ("猫", true),
        ("犬", false),
        ("都の猫 Katze", true),
    ] {
        assert_eq!(!found(search).await.is_empty(), is_found, "{search}");
    }
    let message = hamlet.messages(json!([["channel", "Sprachen"], ["search", "東京都"]])).await.remove(0);
    let content = message["match_content"].as_str().unwrap();
    assert!(content.contains(&marked("[東京都]の猫")), "{content}");
}

#[tokio::test]
async fn search_refusals() {
    let s = stage().await;
    let refuse = async |narrow: Value, text: &str| {
        let params: Params<'_> = &[("anchor", &"newest"), ("num_before", &5), ("narrow", &narrow)];
        s.hamlet.get("/messages", params).bad(text).await;
    };
    refuse(json!([["search", " "]]), "operand cannot be blank.").await;
    refuse(json!([{"operator": "search", "operand": 5}]), "operand is not a string").await;
    let long = "x".repeat(1001);
    refuse(json!([["search", long]]), "The text of the search is too long (limit: 1000 characters).").await;
    let queue = json!([["search", "x"]]);
    s.hamlet.post("/register", &[("narrow", &queue)]).bad("Operator search not supported.").await;
    let t = TestServer::builder().set("search.enabled", false).start().await;
    let narrow = json!([["search", "x"]]);
    let params: Params<'_> = &[("anchor", &"newest"), ("num_before", &5), ("narrow", &narrow)];
    let text = "Full-text search is not available on this server.";
    t.user("hamlet").get("/messages", params).bad(text).await;
}
