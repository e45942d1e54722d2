//! Words, stems, phrases and highlights.

use crate::{Analyzer, Highlighter, Language, Matcher, Query, Searched, TopicWords, Word};
use model::{ChannelId, TopicKey};
use proptest::prelude::*;

fn english() -> Language {
    Language::of("en")
}

fn terms(html: &str, language: &str) -> Vec<String> {
    let mut terms = Vec::new();
    Analyzer::new(Language::of(language)).each_term_of_html(html, |term| terms.push(term.to_owned()));
    terms.sort_unstable();
    terms
}

#[test]
fn html_is_divided_into_terms() {
    for (html, language, expected) in [
        ("<p>The quokka was <strong>jumping</strong> over</p>", "en", "jump quokka"),
        ("<p>a&amp;b &lt;b&gt;Quokkas&lt;/b&gt; AT&T</p>", "en", "b quokka"),
        ("<p>quokka's don't</p>", "en", "quokka"),
        ("<a href=\"https://hidden.example\">https://example.com/x_y</a>", "en", "com exampl https x y"),
        ("<p>東京都の猫</p>", "ja", "の猫 京都 東京 猫 都の"),
        ("<p>猫 cat猫cat</p>", "ja", "cat 猫"),
        ("<p>한국어를</p>", "ko", "국어 를 어를 한국"),
        ("<p>Die Häuser über Katzen</p>", "de", "haus katz"),
        ("<p>les chevaux</p>", "fr", "cheval"),
        ("<p>Übung ΣΊΣΥΦΟΣ</p>", "xx", "übung σίσυφοσ"),
        ("<p>cafe\u{301}</p>", "xx", "cafe\u{301}"),
        ("1 < 2 & 3", "en", "1"),
        ("unfinished <tag", "en", "unfinish"),
        ("", "en", ""),
    ] {
        assert_eq!(terms(html, language).join(" "), expected, "{html}");
    }
}

fn parsed(text: &str) -> (Vec<String>, Vec<String>) {
    let query = Query::parse(text, &mut Analyzer::new(english()));
    let words = query.words.iter().map(|word| match word {
        Word::Stem(stem) => stem.to_string(),
        Word::Name(name, _) => format!("={name}"),
        Word::Run(run) => format!("~{run}"),
    });
    (words.collect(), query.phrases)
}

#[test]
fn queries_are_parsed() {
    for (text, words, phrases) in [
        ("Jumping quokkas", "jump quokka", vec![]),
        ("the of", "", vec![]),
        ("\"Over the Moon\" quokka", "moon quokka", vec!["over the moon"]),
        ("\"unclosed phrase", "unclos phrase", vec![]),
        ("\"\" x", "x", vec![]),
        ("\"The Moon\" \"the moon\"", "moon", vec!["the moon"]),
        ("example.com v1.2.3 snake_case", "=example.com =v1.2.3 =snake_case", vec![]),
        ("https://example.com/a?b=c-d", "=https://example.com/a?b=c-d", vec![]),
        ("state-of-the-art, quokka's C++", "state art quokka c", vec![]),
        ("<b>bold</b> a<c", "bold c", vec![]),
        ("東京都tower 猫", "~東京都 tower ~猫", vec![]),
        ("jump jumping jumps", "jump", vec![]),
        ("http://x.example/?a=1&b=2", "http x exampl 1 b 2", vec![]),
        ("!? \" .", "", vec![]),
    ] {
        let expected: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        let phrases: Vec<String> = phrases.into_iter().map(str::to_owned).collect();
        assert_eq!(parsed(text), (expected, phrases), "{text}");
    }
}

#[test]
fn only_some_queries_read_the_messages() {
    for (text, needs) in [
        ("quokka moon", false),
        ("東京", false),
        ("猫", false),
        ("東京都", true),
        ("\"moon\"", true),
        ("a.example", true),
    ] {
        assert_eq!(Query::parse(text, &mut Analyzer::new(english())).needs_check(), needs, "{text}");
    }
}

#[test]
fn messages_are_matched() {
    let message = Searched {
        topic: "Alpha release",
        content: "See **example.com**/x and 東京都の猫, it was *jumping*",
        rendered: "<p>See <strong>example.com</strong>/x and 東京都の猫, it was <em>jumping</em></p>",
    };
    for (text, is_match) in [
        ("alpha jump", true),
        ("alpha missing", false),
        ("release", true),
        ("example.com", true),
        ("EXAMPLE.com", true),
        ("xample.com", false),
        ("example.co", false),
        ("東京都", true),
        ("都の猫", true),
        ("京の", false),
        ("\"alpha REL\"", false),
        ("\"alpha release\"", true),
        ("\"was *jumping\"", true),
        ("\"was jumping\"", false),
        ("the", false),
        ("", false),
    ] {
        assert_eq!(Matcher::new(text, english()).matches(message), is_match, "{text}");
    }
}

/// Cases of `match_content`: the search, the HTML, and the HTML with `[…]` for marked words.
const HIGHLIGHTS: [(&str, &str, &str); 14] = [
    ("quokka", "<p>Quokkas, a quokka</p>", "<p>[Quokkas], a [quokka]</p>"),
    ("strong", "<p><strong>strong</strong></p>", "<p><strong>[strong]</strong></p>"),
    ("href quokka", "<a href=\"quokka\">x</a>", "<a href=\"quokka\">x</a>"),
    ("amp lt b", "&lt;b&gt; &amp; amp", "&lt;[b]&gt; &amp; [amp]"),
    ("jump", "<b>jump</b>ing", "<b>[jump]</b>ing"),
    ("a.b a", "see a.b and x", "see [a.b] and x"),
    ("example", "https://example.com/example", "https://example.com/example"),
    ("example.com", "https://example.com/x", "https://[example.com]/x"),
    ("https://example.com/x", "go https://example.com/x!", "go [https://example.com/x]!"),
    ("猫", "東京の猫と猫", "東京の[猫]と[猫]"),
    ("東京都", "<p>東京都</p>東京 都", "<p>[東京都]</p>東京 都"),
    ("x", "<math><mi>x</mi></math> x", "<math><mi>x</mi></math> [x]"),
    ("été", "l’été ÉTÉ", "l’[été] [ÉTÉ]"),
    ("&", "a & b", "a & b"),
];

#[test]
fn words_are_highlighted() {
    for (search, html, expected) in HIGHLIGHTS {
        let shown = Highlighter::new(search, english()).content(html);
        let expected = expected.replace('[', "<span class=\"highlight\">").replace(']', "</span>");
        assert_eq!(shown, expected, "{search} in {html}");
    }
    let mut highlighter = Highlighter::new("rock", english());
    assert_eq!(highlighter.subject(None), "\u{7}");
    assert_eq!(highlighter.subject(Some("")), "");
    assert_eq!(
        highlighter.subject(Some("rock & 'roll' <b>")),
        "<span class=\"highlight\">rock</span> &amp; &#39;roll&#39; &lt;b&gt;"
    );
}

#[test]
fn topics_are_found_by_all_terms_of_a_word() {
    let mut topics = TopicWords::new(english());
    let topic = |name: &str| (ChannelId(1), TopicKey::new(name));
    for name in ["Jumping quokkas", "quokka 東京都", "京の都", "release v1.2", "7 of 7"] {
        topics.add(topic(name));
        topics.add(topic(name));
    }
    assert_eq!(topics.len(), 5);
    for (text, names) in [
        ("7", &["7 of 7"][..]),
        ("quokka", &["jumping quokkas", "quokka 東京都"]),
        ("jumps", &["jumping quokkas"]),
        ("東京都", &["quokka 東京都"]),
        ("都", &["quokka 東京都", "京の都"]),
        ("v1.2", &["release v1.2"]),
        ("missing", &[]),
    ] {
        let query = Query::parse(text, &mut Analyzer::new(english()));
        let mut found = topics.of(&query).remove(0);
        found.sort_unstable();
        let mut expected: Vec<_> = names.iter().map(|name| topic(name)).collect();
        expected.sort_unstable();
        assert_eq!(found, expected, "{text}");
    }
}

proptest! {
    /// Marks are the only change of the HTML, for any text.
    #[test]
    fn highlighting_only_adds_marks(html in "\\PC{0,60}|[a-z<>&;/ \"=]{0,60}", search in "\\PC{0,20}|[a-z ]{0,9}") {
        let shown = Highlighter::new(&search, english()).content(&html);
        let without = shown.replace("<span class=\"highlight\">", "").replace("</span>", "");
        prop_assert_eq!(without, html.replace("<span class=\"highlight\">", "").replace("</span>", ""));
    }

    /// A message has every word that it consists of.
    #[test]
    fn words_of_a_message_find_it(words in prop::collection::vec("[a-zA-Zäöüéß]{2,12}|[猫犬東京都]{1,5}|[0-9]{1,6}", 1..6)) {
        let content = words.join(" ");
        let message = Searched { topic: "", content: &content, rendered: &content };
        let mut matcher = Matcher::new(&content, english());
        prop_assert!(matcher.query().is_empty() || matcher.matches(message));
    }
}
