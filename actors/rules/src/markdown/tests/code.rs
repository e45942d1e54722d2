//! Fences, spoilers, formulas, and inline code.

use super::*;
use crate::formulas::{Display, FormulaBudget};

const PLAIN: &str = "<div class=\"codehilite\"><pre><span></span><code>";
const END: &str = "</code></pre></div>";

fn plain_with_language(name: &str) -> String {
    PLAIN.replacen("\">", &format!("\" data-code-language=\"{name}\">"), 1)
}

#[test]
fn code_blocks() {
    let python = "<div class=\"codehilite\" data-code-language=\"Python\"><pre><span></span><code>";
    let rows = [
        ("```\nx = 1\n```", format!("{PLAIN}x = 1\n{END}")),
        ("~~~\nx = 1\n~~~", format!("{PLAIN}x = 1\n{END}")),
        ("```python\nprint(1)\n```", format!("{python}print(1)\n{END}")),
        ("``` {.py}\n<b> & *c*\n```", format!("{python}&lt;b&gt; &amp; *c*\n{END}")),
        ("```text\na\n```", format!("{}a\n{END}", plain_with_language("Text only"))),
        ("```\n\n a  \n\nb\n \n```", format!("{PLAIN} a\n\nb\n{END}")),
        ("```\nopen", format!("{PLAIN}open\n{END}")),
        ("````\n```\na\n```\n````", format!("{PLAIN}```\na\n```\n{END}")),
        ("x\n```\na\n```\ny", format!("<p>x</p>\n{PLAIN}a\n{END}\n<p>y</p>")),
        ("```\n- a\ntext\n- b\n```", format!("{PLAIN}- a\ntext\n- b\n{END}")),
        ("    a\n    b", format!("{PLAIN}a\nb\n{END}")),
        ("\ta\n\n\tb", format!("{PLAIN}a\n\nb\n{END}")),
        ("    a\n\n\n    b\n\n\nc", format!("{PLAIN}a\n\n\nb\n{END}\n<p>c</p>")),
        ("# a\n    b", format!("<h1>a</h1>\n{PLAIN}b\n{END}")),
        ("```\n```", String::new()),
        ("```python\n\n \n```", String::new()),
        ("a\n```\n```\nb", "<p>a</p>\n<p>b</p>".to_owned()),
        ("```tex\n\\frac\n```", format!("{}\\frac\n{END}", plain_with_language("TeX"))),
        ("```latex\nx\n```", format!("{}x\n{END}", plain_with_language("TeX"))),
        ("```css+php\nx\n```", format!("{}x\n{END}", plain_with_language("CSS+PHP"))),
        ("``` (a)\nb", "<p>``` (a)<br>\nb</p>".to_owned()),
        ("- a\n\n```\nb\n```", format!("<ul>\n<li>a</li>\n</ul>\n{PLAIN}b\n{END}")),
    ];
    for (text, expected) in rows {
        assert_eq!(html(text), expected, "for {text:?}");
    }
}

#[test]
fn an_unknown_language_is_shown_as_typed() {
    assert_eq!(html("```x-9\na\n```"), format!("{}a\n{END}", plain_with_language("x-9")));
}

#[test]
fn the_organization_has_a_default_language() {
    let realm = Realm { language: Some("rust"), ..Realm::new() };
    let html = render_in(&realm, "```\na\n```").html;
    assert!(html.starts_with("<div class=\"codehilite\" data-code-language=\"Rust\">"), "{html}");
}

#[test]
fn quote_fences() {
    check(&[
        ("```quote\na\n```", "<blockquote>\n<p>a</p>\n</blockquote>"),
        ("```quote\na\n\nb\n```", "<blockquote>\n<p>a</p>\n<p>b</p>\n</blockquote>"),
        ("~~~quoted\n- a\n~~~", "<blockquote>\n<ul>\n<li>a</li>\n</ul>\n</blockquote>"),
        ("```quote\ntext\n- a\n```", "<blockquote>\n<p>text</p>\n<ul>\n<li>a</li>\n</ul>\n</blockquote>"),
        (
            "````quote\n```quote\na\n```\n````",
            "<blockquote>\n<blockquote>\n<p>a</p>\n</blockquote>\n</blockquote>",
        ),
        ("```quote\n```", ""),
    ]);
    let nested = html("```quote\n```x-9\na\n```\nb\n```");
    let code = format!("{}a\n{END}", plain_with_language("x-9"));
    assert_eq!(nested, format!("<blockquote>\n{code}\n<p>b</p>\n</blockquote>"));
}

#[test]
fn spoilers() {
    check(&[
        (
            "```spoiler Title text\nbody\n```",
            "<div class=\"spoiler-block\"><div class=\"spoiler-header\">\n<p>Title text</p>\n</div>\
             <div class=\"spoiler-content\" aria-hidden=\"true\">\n<p>body</p>\n</div></div>",
        ),
        (
            "```spoiler\n**body**\n```\nafter",
            "<div class=\"spoiler-block\"><div class=\"spoiler-header\">\n</div>\
             <div class=\"spoiler-content\" aria-hidden=\"true\">\n<p><strong>body</strong></p>\n</div></div>\n\
             <p>after</p>",
        ),
    ]);
    let nested = html("````spoiler a\n```\nb\n```\n````");
    assert!(nested.contains(&format!("aria-hidden=\"true\">\n{PLAIN}b\n{END}\n</div></div>")), "{nested}");
}

#[test]
fn formulas() {
    let formula = |tex: &str| FormulaBudget::of_message().render(tex, Display::Inline).unwrap();
    let block = |tex: &str| FormulaBudget::of_message().render(tex, Display::Block).unwrap();
    check(&[
        ("```math\n\n```", ""),
        ("```math\nx<2\n```", &format!("<p>{}</p>", block("x<2"))),
        (
            "```math\na\n\n\\nope\n```",
            &format!("<p>{}\n\n<span class=\"tex-error\">\\nope</span></p>", block("a")),
        ),
        ("```math\na\n+b\n```", &format!("<p>{}</p>", block("a\n+b"))),
    ]);
    check_inline(&[
        ("$$x^2$$", &formula("x^2")),
        ("a $$x<*2*$$ b", &format!("a {} b", formula("x<*2*"))),
        ("$$a\\$b$$", &formula("a\\$b")),
    ]);
}

#[test]
fn formulas_with_errors_are_shown_as_typed() {
    check(&[("```math\n{x<2\n```", "<p><span class=\"tex-error\">{x&lt;2</span></p>")]);
    check_inline(&[
        ("$$x^$$", "<span class=\"tex-error\">$$x^$$</span>"),
        ("$$\\nope<*2*$$ b", "<span class=\"tex-error\">$$\\nope&lt;*2*$$</span> b"),
        ("$$x `y`$$", "<span class=\"tex-error\">$$x <code>y</code>$$</span>"),
        ("a$$x$$", "a$$x$$"),
        ("$$x$$a", "$$x$$a"),
        ("$$$x$$$", "$$$x$$$"),
        ("$$$$", "$$$$"),
        ("$5 and $6", "$5 and $6"),
    ]);
}

#[test]
fn inline_code() {
    check_inline(&[
        ("`a<b`", "<code>a&lt;b</code>"),
        ("`` a`b ``", "<code> a`b </code>"),
        ("`*a*` **`b`**", "<code>*a*</code> <strong><code>b</code></strong>"),
        ("`a\nb`", "<code>a\nb</code>"),
        ("`a", "`a"),
        ("``a`", "<code>`a</code>"),
        ("```a``` b", "<code>a</code> b"),
        ("`a`b`c`", "<code>a</code>b<code>c</code>"),
        (
            "`@**Ada Byron**` `:tada:` `https://a.example`",
            "<code>@**Ada Byron**</code> <code>:tada:</code> <code>https://a.example</code>",
        ),
    ]);
}
