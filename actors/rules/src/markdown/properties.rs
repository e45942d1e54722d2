//! Properties of every text: it renders without a panic, to balanced and escaped HTML, in work proportional to its length.

use std::cell::Cell;

use proptest::prelude::*;

use super::tests::Realm;
use super::*;

thread_local! {
    /// Bytes given to the inline rules on this thread.
    static INLINE_BYTES: Cell<usize> = const { Cell::new(0) };
}

pub(super) fn count_inline_bytes(bytes: usize) {
    INLINE_BYTES.with(|total| total.set(total.get() + bytes));
}

fn realm() -> Realm {
    let linkifiers = vec![Linkifier::new(r"#(?P<id>\d+)", "https://t.example/{id}").unwrap()];
    Realm { previews: true, emoticons: true, linkifiers, ..Realm::new() }
}

/// Checks that every tag is closed in order, and that there is no bare `<` or `>`.
fn check_balanced(html: &str) {
    let mut open = Vec::new();
    let mut rest = html;
    while let Some((text, after)) = rest.split_once('<') {
        assert!(!text.contains('>'), "a bare > in {html:?}");
        let (tag, after) = after.split_once('>').expect("every tag ends");
        rest = after;
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "in {html:?}");
            continue;
        }
        let (name, attributes) = tag.trim_end_matches('/').split_once(' ').unwrap_or((tag, ""));
        assert!(ALLOWED.contains(&name) || open.contains(&"span"), "<{name}> in {html:?}");
        assert!(attributes.matches('"').count() % 2 == 0, "attributes in {html:?}");
        if !["br", "hr", "img"].contains(&name) && !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(!rest.contains('>') && open.is_empty(), "unclosed {open:?} in {html:?}");
}

const ALLOWED: [&str; 30] = [
    "a",
    "blockquote",
    "br",
    "code",
    "del",
    "div",
    "em",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "img",
    "li",
    "ol",
    "p",
    "pre",
    "span",
    "strong",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "time",
    "tr",
    "ul",
    "video",
];

fn check_any(text: &str) {
    INLINE_BYTES.with(|total| total.set(0));
    let rendered = render(text, &realm()).unwrap();
    check_balanced(&rendered.html);
    assert!(!rendered.html.contains(['\u{2}', '\u{3}']), "a placeholder is left in {:?}", rendered.html);
    // Rules nest at most once each; the pass without previews and the prefixes of lines double the work.
    let work = INLINE_BYTES.with(Cell::get);
    assert!(work <= 40 * (text.len() + 1), "{work} bytes of work for {} of text", text.len());
    assert_eq!(render(text, &realm()).unwrap(), rendered, "rendering again gives something else");
    topic_links(text, &realm());
}

/// A realm without rules of its own, where most texts take the fast path.
fn plain_realm() -> Realm {
    Realm { previews: true, ..Realm::new() }
}

/// Pieces of markup, so that random texts are full of half-finished constructs.
const PIECES: [&str; 76] = [
    "*",
    "**",
    "***",
    "~~",
    "`",
    "``",
    "```",
    "~~~",
    "\n",
    "\n\n",
    "> ",
    "- ",
    "1. ",
    "  ",
    "    ",
    "# ",
    "---",
    "|",
    "|---|---|\n",
    "[",
    "]",
    "(",
    ")",
    "](",
    "@**",
    "@_**",
    "@*",
    "Ada Byron",
    "|17",
    "all",
    "topic",
    "#**",
    "design",
    ">",
    "red pens",
    "@214",
    ":tada:",
    ":blob:",
    ":",
    "🎉",
    "\u{200d}",
    "\u{fe0f}",
    "é",
    "$$",
    "<time:",
    "1935396000",
    "https://a.example/x.png",
    "/user_uploads/1/ab/x.png",
    "example.com",
    "a@b.example",
    "&copy;",
    "&",
    "<",
    "\"",
    "'",
    "\\",
    "```quote\n",
    "```spoiler x\n",
    "```math\n",
    "````python\n",
    ":)",
    "#12",
    " ",
    "a",
    "\t",
    "![",
    "(\"",
    "]( \"t\")",
    "](<",
    "https://a.example/x.mp4",
    "https://youtu.be/abcdefghijk",
    "5pm EST>",
    "$$x^2$$",
    "$$\\sqrt{",
    "}$$",
    "\\text{`",
];

#[test]
fn fast_path_is_taken_by_plain_texts_only() {
    let linkifiers = vec![Linkifier::new(r"(?P<id>[0-9]+)", "https://t.example/{id}").unwrap()];
    for text in [
        "Lunch at 12? It's \"ready\" (almost). Come...",
        "Version 1.2.3 of README.md and/or the e.g. file: see it at 12",
        "Note: no link//here",
    ] {
        assert_eq!(plain::html(text, &plain_realm()), Some(format!("<p>{text}</p>")));
        assert_eq!(render_marked(text, &plain_realm()).unwrap().html, format!("<p>{text}</p>"));
    }
    for (text, realm) in [
        ("Lunch at 12", Realm { linkifiers: linkifiers.clone(), ..plain_realm() }),
        ("Lunch", Realm { emoticons: true, ..plain_realm() }),
        ("example.com", plain_realm()),
        ("see:example.com/a", plain_realm()),
        ("it is at http://localhost", plain_realm()),
        ("well :tada: done", plain_realm()),
        ("1. a list", plain_realm()),
        ("- a list", plain_realm()),
        (" code", plain_realm()),
        ("two\nlines", plain_realm()),
        ("é", plain_realm()),
        ("a *b*", plain_realm()),
        ("", plain_realm()),
    ] {
        assert!(plain::html(text, &realm).is_none(), "{text:?}");
    }
    let realm = Realm { linkifiers, ..plain_realm() };
    assert!(plain::html("Lunch at noon", &realm).is_some(), "no linkifier matches");
}

#[test]
fn code_in_a_link_title_is_text() {
    check_any("[](<(\"```quote\n  `]( \"t\")");
    let rendered = render("[a](https://a.example \"`b`\")", &realm()).unwrap();
    assert!(rendered.html.contains(r#"title="b""#), "{}", rendered.html);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn any_characters(text in any::<String>()) {
        check_any(&text);
    }

    #[test]
    fn any_mix_of_markup(pieces in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..60)) {
        check_any(&pieces.concat());
    }

    /// The fast path gives what all rules give.
    #[test]
    fn fast_path_changes_nothing(
        text in r#"[A-Za-z][A-Za-z0-9 ,!?'"();%./:-]{0,60}"#,
        other in "[ -~]{0,20}",
        links in r#"[a-z]((com|de|zip|example|http|://|www|tada|12|[a-z]|[ .:/,-])){0,12}"#,
    ) {
        for text in [text, other, links] {
            let rendered = render(&text, &plain_realm()).unwrap();
            prop_assert_eq!(&rendered, &render_marked(&text, &plain_realm()).unwrap());
        }
    }

    #[test]
    fn control_characters(text in "[\u{0}-\u{20}`*>\u{7f}]{0,40}") {
        check_any(&text);
    }
}

#[test]
fn hostile_repetitions_stay_proportional() {
    for piece in PIECES {
        for other in ["", "a", " ", "\n", "("] {
            let unit = format!("{piece}{other}");
            if unit.is_empty() {
                continue;
            }
            let text = unit.repeat(600 / unit.len());
            check_any(&text);
        }
    }
}

#[test]
fn a_message_with_too_large_html_is_refused() {
    let template = format!("https://t.example/{}{{id}}", "x".repeat(2_000));
    let linkifiers = vec![Linkifier::new(r"#(?P<id>\d+)", &template).unwrap()];
    let realm = Realm { linkifiers, ..Realm::new() };
    assert_eq!(render(&"#1 ".repeat(3_000), &realm), Err(RenderError::TooLarge));
    assert!(render("#1", &realm).is_ok());
}
