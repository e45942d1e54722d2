//! Mentions, and links to channels, topics and messages.

use super::*;

const ADA: &str = "<span class=\"user-mention\" data-user-id=\"17\">@Ada Byron</span>";
const ADA_SILENT: &str = "<span class=\"user-mention silent\" data-user-id=\"17\">Ada Byron</span>";

#[test]
fn users() {
    check_inline(&[
        ("@**Ada Byron**", ADA),
        ("@**ada byron|17**", ADA),
        ("@**|17**", ADA),
        ("@_**Ada Byron**", ADA_SILENT),
        ("(@**Ada Byron**)", &format!("({ADA})")),
        ("hi @**Ada Byron**!", &format!("hi {ADA}!")),
        ("@**élodie**", "<span class=\"user-mention\" data-user-id=\"19\">@Élodie</span>"),
        ("@**Gone <b>**", "<span class=\"user-mention silent\" data-user-id=\"18\">Gone &lt;b&gt;</span>"),
        ("@**Iago|17**", "@<strong>Iago|17</strong>"),
        ("@**|99**", "@<strong>|99</strong>"),
        ("@**nobody**", "@<strong>nobody</strong>"),
        ("x@**Ada Byron**", "x@<strong>Ada Byron</strong>"),
        ("@****", "@****"),
        ("@**Ada Byron", "@**Ada Byron"),
        ("@Ada", "@Ada"),
        ("**@**Ada Byron** x", "<strong>@</strong>Ada Byron** x"),
    ]);
}

#[test]
fn wildcards() {
    for word in ["all", "everyone", "channel", "stream"] {
        let rendered = render_in(&Realm::new(), &format!("@**{word}**"));
        let class = "user-mention channel-wildcard-mention";
        assert_eq!(
            rendered.html,
            format!("<p><span class=\"{class}\" data-user-id=\"*\">@{word}</span></p>")
        );
        assert!(rendered.mentions.channel_wildcard);
        let silent = render_in(&Realm::new(), &format!("@_**{word}**"));
        assert_eq!(
            silent.html,
            format!("<p><span class=\"{class} silent\" data-user-id=\"*\">{word}</span></p>")
        );
        assert_eq!(silent.mentions, Mentions::default());
    }
    check_inline(&[
        ("@**topic**", "<span class=\"topic-mention\">@topic</span>"),
        ("@_**topic**", "<span class=\"topic-mention silent\">topic</span>"),
    ]);
    assert!(render_in(&Realm::new(), "@**topic**").mentions.topic_wildcard);
}

#[test]
fn groups() {
    check_inline(&[
        ("@*backend*", "<span class=\"user-group-mention\" data-user-group-id=\"23\">@backend</span>"),
        ("@*Backend*", "<span class=\"user-group-mention\" data-user-group-id=\"23\">@backend</span>"),
        ("@_*backend*", "<span class=\"user-group-mention silent\" data-user-group-id=\"23\">backend</span>"),
        (
            "@*old team*",
            "<span class=\"user-group-mention silent\" data-user-group-id=\"24\">old team</span>",
        ),
        ("@*role:members*", "<span class=\"user-group-mention\" data-user-group-id=\"3\">@Members</span>"),
        ("@*nothing*", "@<em>nothing</em>"),
    ]);
}

#[test]
fn mentions_are_reported() {
    let text =
        "@**Ada Byron** @_**Iago** @**King Hamlet** @**ada byron** @*backend* @_*role:members* `@**Iago**`";
    let rendered = render_in(&Realm::new(), text);
    assert_eq!(rendered.mentions.users, [17, 10]);
    assert_eq!(rendered.mentions.groups, [23]);
    assert!(!rendered.mentions.channel_wildcard && !rendered.mentions.topic_wildcard);
    assert_eq!(render_in(&Realm::new(), "@**Gone <b>** @*old team*").mentions, Mentions::default());
}

#[test]
fn mentions_in_quotes_are_silent() {
    for text in ["> @**Ada Byron**", "```quote\n@**Ada Byron**\n```"] {
        let rendered = render_in(&Realm::new(), text);
        assert_eq!(rendered.html, format!("<blockquote>\n<p>{ADA_SILENT}</p>\n</blockquote>"));
    }
    let text = "> @**all** @**topic** @*backend*\nlazy @**Ada Byron**\n\nafter";
    assert_eq!(render_in(&Realm::new(), text).mentions, Mentions::default());
    assert_eq!(render_in(&Realm::new(), "> x\n\n@**Ada Byron**").mentions.users, [17]);
}

#[test]
fn channels_topics_and_messages() {
    let design = "<a class=\"stream\" data-stream-id=\"9\" href=\"/#narrow/channel/9-design\">#design</a>";
    let topic = "<a class=\"stream-topic\" data-stream-id=\"9\" href=\"/#narrow/channel/9-design/topic";
    let message = "<a class=\"message-link\" href=\"/#narrow/channel/9-design/topic";
    check_inline(&[
        ("#**design**", design),
        ("(#**design**)", &format!("({design})")),
        ("#**Design**", "#<strong>Design</strong>"),
        ("#**Design>red pens**", "#<strong>Design&gt;red pens</strong>"),
        (
            "#**R&D / x**",
            "<a class=\"stream\" data-stream-id=\"12\" href=\"/#narrow/channel/12-R.26D-.2F-x\">#R&amp;D / x</a>",
        ),
        ("#**design>red pens**", &format!("{topic}/red.20pens/with/214\">#design &gt; red pens</a>")),
        ("#**design>a.b**", &format!("{topic}/a.2Eb\">#design &gt; a.b</a>")),
        ("#**design>**", &format!("{topic}/\">#design &gt; <em>general chat</em></a>")),
        (
            "#**design>red pens@214**",
            &format!("{message}/red.20pens/near/214\">#design &gt; red pens @ 💬</a>"),
        ),
        ("#**design>@214**", &format!("{message}//near/214\">#design &gt; <em>general chat</em> @ 💬</a>")),
        ("#**design>a@b**", &format!("{topic}/a.40b\">#design &gt; a@b</a>")),
        ("#**secret**", "#<strong>secret</strong>"),
        ("#**secret>a**", "#<strong>secret&gt;a</strong>"),
        ("x#**design**", "x#<strong>design</strong>"),
        ("#**design", "#**design"),
    ]);
    assert!(!render_in(&Realm::new(), "#**design**").has_link);
}
