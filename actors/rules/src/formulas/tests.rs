//! Formulas: what is rendered, the bounds, and that every text is an error or safe HTML.

use super::*;
use proptest::prelude::*;

fn inline(tex: &str) -> Option<String> {
    FormulaBudget::of_message().render(tex, Display::Inline)
}

#[test]
fn formulas_are_html_and_mathml() {
    let html = inline("x^2").unwrap();
    let start = "<span class=\"katex\"><span class=\"katex-mathml\"><math xmlns=\"http://www.w3.org/1998/Math/MathML\">\
                 <semantics><mrow><msup><mi>x</mi><mn>2</mn></msup></mrow>\
                 <annotation encoding=\"application/x-tex\">x^2</annotation></semantics></math></span>\
                 <span class=\"katex-html\" aria-hidden=\"true\"><span class=\"base\">\
                 <span class=\"strut\" style=\"height:0.8141em;\"></span>";
    assert!(html.starts_with(start), "{html}");
    let block = FormulaBudget::of_message().render("x^2", Display::Block).unwrap();
    assert!(block.starts_with("<span class=\"katex-display\"><span class=\"katex\">"), "{block}");
    for tex in [
        "\\begin{pmatrix}a&b\\\\c&d\\end{pmatrix}",
        "\\sqrt[3]{x}",
        "\\overbrace{a+b}^n",
        "\\cancel{x}",
        "\\text{中文}",
        "\\begin{CD}A@>a>>B\\end{CD}",
        "\\newcommand{\\n}[1]{\\lVert #1\\rVert}\\n{x}",
        "\\textcolor{#f00}{x}",
        "a < b > c",
    ] {
        assert!(FormulaBudget::of_message().render(tex, Display::Block).is_some(), "{tex}");
    }
}

#[test]
fn errors_are_none() {
    for tex in ["\\unknown", "\\frac{1", "{", "x^y^z", "\\begin{foo}\\end{foo}", "&", "\\left("] {
        assert_eq!(inline(tex), None, "{tex}");
    }
}

#[test]
fn untrusted_commands_do_nothing() {
    for tex in [
        "\\href{javascript:alert(1)}{x}",
        "\\url{javascript:alert(1)}",
        "\\includegraphics{https://evil.example/x.png}",
        "\\htmlClass{evil}{x}",
        "\\htmlId{evil}{x}",
        "\\htmlStyle{position:fixed}{x}",
        "\\htmlData{evil=1}{x}",
    ] {
        let html = inline(tex).unwrap();
        let shown = html.split("class=\"katex-html\"").nth(1).unwrap();
        for word in ["href=", "src=", "javascript", "class=\"evil", "id=", "data-", "position:fixed"] {
            assert!(!shown.contains(word), "{word} in {html}");
        }
    }
}

#[test]
fn sizes_are_bounded() {
    let html = inline("\\rule{1000em}{1000em}").unwrap();
    assert!(html.contains("border-right-width:50em;border-top-width:50em;"), "{html}");
    for tex in ["\\kern-1000em x", "\\raisebox{-1000em}{x}", "\\char\"2"] {
        assert_eq!(inline(tex), None, "{tex}");
    }
}

#[test]
fn hostile_formulas_end() {
    let doubling: String = (b'a'..=b'y')
        .map(|name| format!("\\def\\x{}#1{{\\x{}{{#1#1}}}}", char::from(name), char::from(name + 1)))
        .collect();
    for tex in [
        format!("{doubling}\\xa{{yy}}"),
        "\\def\\a{\\a\\a}\\a".to_owned(),
        "\\def\\a#1{\\a{#1#1}}\\a{xx}".to_owned(),
        format!("{}x{}", "{".repeat(5000), "}".repeat(5000)),
        format!("{}x{}", "\\hat{".repeat(800), "}".repeat(800)),
        format!("{}x{}", "\\pmb{".repeat(6), "}".repeat(6)).replace('x', &"x".repeat(8000)),
        format!("{}x{}", "\\left(".repeat(600), "\\right)".repeat(600)),
        format!("\\begin{{array}}{{{}}}a{}\\end{{array}}", "c".repeat(4000), "&".repeat(4000)),
        "x^2+\\frac{a}{b}".repeat(660),
        "\\mathbf".repeat(1400),
        "\\begin{matrix}".repeat(700),
    ] {
        let mut budget = FormulaBudget::of_message();
        assert_eq!(budget.render(&tex, Display::Block), None, "{}", &tex[..60]);
        // The engine is as before.
        assert!(inline("x^2").is_some());
    }
}

#[test]
fn formulas_of_a_message_share_a_budget() {
    let mut budget = FormulaBudget::of_message();
    let rendered = (0..2000).filter(|_| budget.render("\\frac{a}{b}", Display::Inline).is_some()).count();
    assert!((20..600).contains(&rendered), "{rendered}");
    assert_eq!(budget.render("x", Display::Inline), None);
}

#[test]
fn known_formula_has_the_same_html_and_takes_the_same_of_the_budget() {
    let tex = "\\sum_{known=1}^{7} \\sqrt{known}";
    let render = || {
        let mut budget = FormulaBudget::of_message();
        let html = budget.render(tex, Display::Block);
        (html, budget.steps, budget.html_bytes)
    };
    assert_eq!(lock(&KNOWN).get(tex, true), None);
    let first = render();
    let known = lock(&KNOWN).get(tex, true).unwrap();
    assert_eq!(known.html.as_deref(), first.0.as_deref());
    assert_eq!(render(), first);
    // A formula for which not enough is left is as one whose rendering was ended.
    let mut budget = FormulaBudget { steps: known.steps - 1, ..FormulaBudget::of_message() };
    assert_eq!((budget.render(tex, Display::Block), budget.steps), (None, 0));
}

/// Pieces of TeX, so that random texts are full of half-finished constructs.
const PIECES: [&str; 40] = [
    "{",
    "}",
    "^",
    "_",
    "&",
    "\\\\",
    "#1",
    "$",
    "%",
    "~",
    "'",
    " ",
    "x",
    "2",
    "<",
    ">",
    "\\frac",
    "\\sqrt",
    "[",
    "]",
    "\\left(",
    "\\right)",
    "\\begin{matrix}",
    "\\end{matrix}",
    "\\def\\a",
    "\\a",
    "\\text{",
    "\\hat",
    "\\sum",
    "\\color{red}",
    "\\href{javascript:x}{",
    "\\htmlClass{a}{",
    "\\kern-9em",
    "\\rule{9em}{9em}",
    "\\char`",
    "\\verb|",
    "\\tag{",
    "\\over",
    "é",
    "\u{2}",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_formula_is_safe_or_an_error(pieces in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..30)) {
        let tex = pieces.concat();
        let html = inline(&tex);
        prop_assert!(html.as_ref().is_none_or(|html| check::is_safe(html)), "{tex:?}");
        prop_assert_eq!(inline(&tex), html, "rendering again gives something else");
    }

    #[test]
    fn any_text_is_safe_or_an_error(tex in any::<String>()) {
        prop_assert!(inline(&tex).is_none_or(|html| check::is_safe(&html)));
    }
}

#[test]
fn budget_of_known_formulas_renders_none_anew() {
    let tex = "known_{27} + 1";
    let of_known = || FormulaBudget::of_known_formulas().render(tex, Display::Inline);
    assert_eq!(of_known(), None);
    assert!(!FormulaBudget::is_known(tex, Display::Inline), "the engine was not asked");
    let html = inline(tex);
    assert!(html.is_some());
    assert_eq!(of_known(), html);
}
