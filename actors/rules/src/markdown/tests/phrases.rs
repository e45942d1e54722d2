//! Emphasis, entities, emoji and times.

use super::*;

#[test]
fn emphasis() {
    check_inline(&[
        ("**bold**", "<strong>bold</strong>"),
        ("**a *b* c**", "<strong>a <em>b</em> c</strong>"),
        ("**a** **b**", "<strong>a</strong> <strong>b</strong>"),
        ("**a\nb**", "**a<br>\nb**"),
        ("a **** b", "a **** b"),
        ("*it*", "<em>it</em>"),
        ("a * it*", "a * it*"),
        ("*it *", "*it *"),
        ("*a\nb*", "*a<br>\nb*"),
        ("2 * 3 * 4", "2 * 3 * 4"),
        ("*a **b** c*", "<em>a <strong>b</strong> c</em>"),
        ("***both***", "<strong><em>both</em></strong>"),
        ("~~gone~~", "<del>gone</del>"),
        ("~~~gone~~~ x", "~~~gone~~~ x"),
        ("**~~*all*~~**", "<strong><del><em>all</em></del></strong>"),
        ("_a_ __b__ snake_case_name", "_a_ __b__ snake_case_name"),
        ("in*word*s", "in<em>word</em>s"),
        ("**é**", "<strong>é</strong>"),
    ]);
}

#[test]
fn entities_are_preserved() {
    check_inline(&[
        ("&copy; &#42; &#x2A; &; &a b; &amp;", "&copy; &#42; &#x2A; &amp;; &amp;a b; &amp;"),
        ("`&copy;`", "<code>&amp;copy;</code>"),
        ("AT&T", "AT&amp;T"),
    ]);
}

#[test]
fn emoji_by_name() {
    check_inline(&[
        (
            ":tada:",
            "<span aria-label=\"tada\" class=\"emoji emoji-1f389\" role=\"img\" title=\"tada\">:tada:</span>",
        ),
        (
            "a:test_tube:b",
            "a<span aria-label=\"test tube\" class=\"emoji emoji-1f9ea\" role=\"img\" title=\"test tube\">:test_tube:</span>b",
        ),
        (
            ":blob:",
            "<img alt=\":blob:\" class=\"emoji\" src=\"/user_avatars/1/emoji/images/5.png\" title=\"blob\">",
        ),
        (
            ":blob_cat:",
            "<img alt=\":blob_cat:\" class=\"emoji\" src=\"/user_avatars/1/emoji/images/5.png\" title=\"blob cat\">",
        ),
        (
            ":zulip:",
            "<img alt=\":zulip:\" class=\"emoji\" src=\"/static/generated/emoji/images/emoji/unicode/zulip.png\" title=\"zulip\">",
        ),
        (":nopenope: 10:30:45 ::", ":nopenope: 10:30:45 ::"),
    ]);
    assert!(html("x:y:tada:").contains("emoji-1f389"));
}

#[test]
fn emoji_as_characters() {
    check_inline(&[
        (
            "a🎉",
            "a<span aria-label=\"tada\" class=\"emoji emoji-1f389\" role=\"img\" title=\"tada\">:tada:</span>",
        ),
        (
            "❤️",
            "<span aria-label=\"heart\" class=\"emoji emoji-2764\" role=\"img\" title=\"heart\">:heart:</span>",
        ),
        (
            "1️⃣",
            "<span aria-label=\"one\" class=\"emoji emoji-0031-20e3\" role=\"img\" title=\"one\">:one:</span>",
        ),
        ("↔ © ✔ é 漢", "↔ © ✔ é 漢"),
        ("🐱\u{200d}👤", "🐱\u{200d}👤"),
    ]);
}

#[test]
fn emoticons_are_translated_on_request() {
    let realm = Realm { emoticons: true, ..Realm::new() };
    let emoji = |code: &str, title: &str, name: &str| {
        format!(
            "<span aria-label=\"{title}\" class=\"emoji emoji-{code}\" role=\"img\" title=\"{title}\">:{name}:</span>"
        )
    };
    let slight = emoji("1f642", "slight smile", "slight_smile");
    let rows = [
        ("hi :) x:)", format!("hi {slight} x:)")),
        ("(:D) :D,", format!("({0}) {0},", emoji("1f604", "smile", "smile"))),
        ("\":)\" [:)] :)! ':)'", format!("\"{slight}\" [{slight}] {slight}! '{slight}'")),
        (":):) :)x -:)", format!(":){slight} :)x -:)")),
        ("`:)` (:", format!("<code>:)</code> {slight}")),
    ];
    for (text, expected) in rows {
        assert_eq!(render_in(&realm, text).html, format!("<p>{expected}</p>"), "for {text:?}");
    }
    assert!(render_in(&realm, "<3").html.contains("title=\"heart\""));
    check_inline(&[("hi :)", "hi :)")]);
}

#[test]
fn times() {
    check_inline(&[
        (
            "<time:2031-05-01T12:00:00+02:00>",
            "<time datetime=\"2031-05-01T10:00:00Z\">2031-05-01T12:00:00+02:00</time>",
        ),
        ("<time:1935396000>", "<time datetime=\"2031-05-01T10:00:00Z\">1935396000</time>"),
        ("<time:May 1 2031 5pm>", "<time datetime=\"2031-05-01T17:00:00Z\">May 1 2031 5pm</time>"),
        (
            "<time:2031-05-01 5:30 PM PDT>",
            "<time datetime=\"2031-05-02T00:30:00Z\">2031-05-01 5:30 PM PDT</time>",
        ),
        ("<time:0.25>", "<time datetime=\"1970-01-01T00:00:00.250000Z\">0.25</time>"),
        ("<time:5pm>", "<time datetime=\"2031-05-01T17:00:00Z\">5pm</time>"),
        ("<time:foo>", "<span class=\"timestamp-error\">Invalid time format: foo</span>"),
        ("<time:<b>", "<span class=\"timestamp-error\">Invalid time format: &lt;b</span>"),
        ("<time:x", "&lt;time:x"),
    ]);
}

#[test]
fn me_messages_are_flagged_only() {
    let rendered = render_in(&Realm::new(), "/me waves");
    assert_eq!(rendered.html, "<p>/me waves</p>");
    assert!(rendered.is_me_message);
    assert!(!render_in(&Realm::new(), "/me").is_me_message);
    assert!(!render_in(&Realm::new(), " /me waves").is_me_message);
}

/// Texts and their HTML on Zulip servers; URLs of channels have the newer form.
#[test]
fn known_messages() {
    check(&[
        (
            "Hello **world** @**King Hamlet|10** :smile: #**design** `code`",
            "<p>Hello <strong>world</strong> <span class=\"user-mention\" data-user-id=\"10\">@King Hamlet</span> \
             <span aria-label=\"smile\" class=\"emoji emoji-1f604\" role=\"img\" title=\"smile\">:smile:</span> \
             <a class=\"stream\" data-stream-id=\"9\" href=\"/#narrow/channel/9-design\">#design</a> \
             <code>code</code></p>",
        ),
        (
            "by id\n\n* list\n* items\n\n```python\nprint(1)\n```",
            "<p>by id</p>\n<ul>\n<li>list</li>\n<li>items</li>\n</ul>\n\
             <div class=\"codehilite\" data-code-language=\"Python\"><pre><span></span><code>print(1)\n</code></pre></div>",
        ),
        (
            "third https://example.com/a?b=c",
            "<p>third <a href=\"https://example.com/a?b=c\">https://example.com/a?b=c</a></p>",
        ),
        (
            "@**all** @**topic** @_**Iago|11** @*core team*",
            "<p><span class=\"user-mention channel-wildcard-mention\" data-user-id=\"*\">@all</span> \
             <span class=\"topic-mention\">@topic</span> \
             <span class=\"user-mention silent\" data-user-id=\"11\">Iago</span> @<em>core team</em></p>",
        ),
        (
            "@_**Iago|11** changed the description for this channel.\n\n* **Old description:**\n```quote\nA *new* \
             channel\n```\n* **New description:**\n```quote\ndesc **bold** https://example.com\n```",
            "<p><span class=\"user-mention silent\" data-user-id=\"11\">Iago</span> changed the description for this \
             channel.</p>\n<ul>\n<li><strong>Old description:</strong></li>\n</ul>\n<blockquote>\n<p>A <em>new</em> \
             channel</p>\n</blockquote>\n<ul>\n<li><strong>New description:</strong></li>\n</ul>\n<blockquote>\n\
             <p>desc <strong>bold</strong> <a href=\"https://example.com\">https://example.com</a></p>\n</blockquote>",
        ),
        (
            "I am:\n* The prince of Denmark\n* Nephew to the usurping Claudius",
            "<p>I am:</p>\n<ul>\n<li>The prince of Denmark</li>\n<li>Nephew to the usurping Claudius</li>\n</ul>",
        ),
        (
            "It is said\n\n> that people forget.\n>  -- Maya",
            "<p>It is said</p>\n<blockquote>\n<p>that people forget.<br>\n -- Maya</p>\n</blockquote>",
        ),
        ("/poll Lunch?\npizza\nsalad", "<p>/poll Lunch?<br>\npizza<br>\nsalad</p>"),
        ("+1-234-567-8901", "<p>+1-234-567-8901</p>"),
        ("Video games!  🐱\u{200d}👤", "<p>Video games!  🐱\u{200d}👤</p>"),
    ]);
}
