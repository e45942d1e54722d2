//! Links with and without a label, linkifiers, and links in topics.

use super::*;

#[test]
fn named_links() {
    check_inline(&[
        ("[text](https://a.example/x)", "<a href=\"https://a.example/x\">text</a>"),
        ("[](https://a.example/x)", "<a href=\"https://a.example/x\">https://a.example/x</a>"),
        ("[a](b.example)", "<a href=\"http://b.example\">a</a>"),
        ("[a](/help/x) [b](#narrow/x)", "<a href=\"/help/x\">a</a> <a href=\"#narrow/x\">b</a>"),
        ("[a](ada@b.example)", "<a href=\"mailto:ada@b.example\">a</a>"),
        ("[a](mailto:ada@b.example)", "<a href=\"mailto:ada@b.example\">a</a>"),
        (
            "[a](https://b.example \"the <title>\")",
            "<a href=\"https://b.example\" title=\"the &lt;title&gt;\">a</a>",
        ),
        ("[a](https://b.example 'it (is)')", "<a href=\"https://b.example\" title=\"it (is)\">a</a>"),
        ("[a](<https://b.example> \"t\")", "<a href=\"https://b.example\" title=\"t\">a</a>"),
        ("[a](https://b.example/x y)", "<a href=\"https://b.example/x%20y\">a</a>"),
        ("[a](https://b.example/x y \"t\")", "<a href=\"https://b.example/x%20y\" title=\"t\">a</a>"),
        ("[a](//b.example/x)", "<a href=\"https://b.example/x\">a</a>"),
        ("[a](web+x:1) [b](sftp://x)", "[a](web+x:1) [b](sftp://x)"),
        ("[a](https://b.example/it's)", "<a href=\"https://b.example/it's\">a</a>"),
        ("[a](<https://b.example>)", "<a href=\"https://b.example\">a</a>"),
        ("[a](https://b.example/(x)(y))", "<a href=\"https://b.example/(x)(y)\">a</a>"),
        ("[a [b] c](https://b.example)", "<a href=\"https://b.example\">a [b] c</a>"),
        ("[**a** :tada:](https://b.example)", "<a href=\"https://b.example\">**a** :tada:</a>"),
        ("[a &gt; &#42;b &c](https://b.example)", "<a href=\"https://b.example\">a &gt; &#42;b &amp;c</a>"),
        ("[`a`](https://b.example)", "<a href=\"https://b.example\"><code>a</code></a>"),
        ("**[a](https://b.example)**", "<strong><a href=\"https://b.example\">a</a></strong>"),
        ("![a](https://b.example)", "![a](<a href=\"https://b.example\">https://b.example</a>)"),
        ("![a](/user_uploads/1/ab/x.png)", "![a](/user_uploads/1/ab/x.png)"),
        (
            "[a](https://b.example/?x=1&y=\"<>)",
            "<a href=\"https://b.example/?x=1&amp;y=&quot;&lt;&gt;\">a</a>",
        ),
        ("[a](javascript:alert(1))", "[a](javascript:alert(1))"),
        ("[a]()", "[a]()"),
        ("[a] (https)", "[a] (https)"),
        ("[a](b c)", "<a href=\"http://b%20c\">a</a>"),
        ("[a](", "[a]("),
        (
            "[see #**design**](/help)",
            "[see <a class=\"stream\" data-stream-id=\"9\" href=\"/#narrow/channel/9-design\">#design</a>](/help)",
        ),
    ]);
}

#[test]
fn links_into_the_organization_are_relative() {
    check_inline(&[
        (
            "https://chat.example.com/#narrow/channel/9-design",
            "<a href=\"#narrow/channel/9-design\">https://chat.example.com/#narrow/channel/9-design</a>",
        ),
        (
            "[f](https://chat.example.com/user_uploads/1/ab/f.txt)",
            "<a href=\"user_uploads/1/ab/f.txt\">f</a>",
        ),
        ("[f](https://chat.example.com/help)", "<a href=\"https://chat.example.com/help\">f</a>"),
        (
            "[f](https://chat.example.com.evil.example/#x)",
            "<a href=\"https://chat.example.com.evil.example/#x\">f</a>",
        ),
    ]);
}

#[test]
fn bare_links() {
    check_inline(&[
        ("https://a.example/x", "<a href=\"https://a.example/x\">https://a.example/x</a>"),
        ("see example.com.", "see <a href=\"http://example.com\">example.com</a>."),
        ("(https://a.example/b_(c))", "(<a href=\"https://a.example/b_(c)\">https://a.example/b_(c)</a>)"),
        ("ada@mail.example, hi", "<a href=\"mailto:ada@mail.example\">ada@mail.example</a>, hi"),
        ("<https://a.example>", "&lt;<a href=\"https://a.example\">https://a.example</a>&gt;"),
        (
            "https://a.example/?a=1&b=2",
            "<a href=\"https://a.example/?a=1&amp;b=2\">https://a.example/?a=1&amp;b=2</a>",
        ),
        ("https://a.example/_b_*c*", "<a href=\"https://a.example/_b_*c*\">https://a.example/_b_*c*</a>"),
        ("README.md main.py v1.2 e.g. x.y", "README.md main.py v1.2 e.g. x.y"),
        ("ahttps://a.example", "ahttps://a.example"),
        ("javascript:alert(1)", "javascript:alert(1)"),
        ("`a`https://a.example", "<code>a</code>https://a.example"),
    ]);
}

#[test]
fn links_and_uploads_are_reported() {
    let found = |text| {
        let rendered = render_in(&Realm::new(), text);
        (rendered.has_link, rendered.upload_paths)
    };
    assert_eq!(found("plain"), (false, vec![]));
    assert_eq!(found("https://a.example"), (true, vec![]));
    let path = vec!["1/ab/f.txt".to_owned()];
    assert_eq!(found("[f](/user_uploads/1/ab/f.txt) [f](/user_uploads/1/ab/f.txt?x)"), (true, path.clone()));
    assert_eq!(found("> https://chat.example.com/user_uploads/1/ab/f.txt"), (true, path));
    assert_eq!(found("`/user_uploads/1/ab/f.txt`"), (false, vec![]));
}

fn with_linkifiers() -> Realm {
    let linkifiers = vec![
        Linkifier::new(r"#(?P<id>[0-9]+)", "https://t.example/{id}").unwrap(),
        Linkifier::new(r"(?P<repo>[a-z]+)#(?P<id>[0-9]+)", "https://r.example/{repo}/{id}").unwrap(),
        Linkifier::new(r"#1[0-9]", "https://never.example").unwrap(),
    ];
    Realm { linkifiers, ..Realm::new() }
}

#[test]
fn linkifiers() {
    let rows = [
        ("fix #12 now", "fix <a href=\"https://t.example/12\">#12</a> now"),
        (
            "core#7, #8",
            "<a href=\"https://r.example/core/7\">core#7</a>, <a href=\"https://t.example/8\">#8</a>",
        ),
        ("#12abc `#12` x#", "#12abc <code>#12</code> x#"),
        ("**#12**", "<strong>#12</strong>"),
        ("https://a.example/#12", "<a href=\"https://a.example/#12\">https://a.example/#12</a>"),
    ];
    for (text, expected) in rows {
        assert_eq!(render_in(&with_linkifiers(), text).html, format!("<p>{expected}</p>"), "for {text:?}");
    }
}

#[test]
fn links_in_topics() {
    let links = |topic| {
        let found = topic_links(topic, &with_linkifiers());
        found.into_iter().map(|link| (link.text, link.url)).collect::<Vec<_>>()
    };
    let pair = |text: &str, url: &str| (text.to_owned(), url.to_owned());
    assert_eq!(links("plain"), []);
    assert_eq!(
        links("bug #12, see example.com"),
        [pair("#12", "https://t.example/12"), pair("example.com", "https://example.com"),]
    );
    assert_eq!(
        links("http://a.example/#12 core#3"),
        [pair("http://a.example/#12", "http://a.example/#12"), pair("core#3", "https://r.example/core/3"),]
    );
    assert_eq!(links("ada@mail.example"), []);
}
