//! Paragraphs, headers, lists, quotes and tables.

use super::*;

#[test]
fn paragraphs_and_line_breaks() {
    check(&[
        ("", ""),
        ("  \n ", ""),
        ("one\ntwo", "<p>one<br>\ntwo</p>"),
        ("one\r\ntwo", "<p>one<br>\ntwo</p>"),
        ("one\n\ntwo", "<p>one</p>\n<p>two</p>"),
        ("one\n \n\n\ntwo", "<p>one</p>\n<p>two</p>"),
        ("   one", "<p>one</p>"),
        ("one\n   **two**", "<p>one<br>\n<strong>two</strong></p>"),
        ("one\n   two", "<p>one<br>\n   two</p>"),
        ("a\tb\n\u{e9}bcd\te", "<p>a   b<br>\n\u{e9}bcd    e</p>"),
        ("a < b & c > \"d\" 'e'", "<p>a &lt; b &amp; c &gt; \"d\" 'e'</p>"),
        ("<script>alert(1)</script>", "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>"),
        ("a \\*b\\_ _c_ * d", "<p>a \\*b\\_ _c_ * d</p>"),
        ("[x]: http://a.example", "<p>[x]: <a href=\"http://a.example\">http://a.example</a></p>"),
    ]);
}

#[test]
fn headers_and_rules() {
    check(&[
        ("# A", "<h1>A</h1>"),
        ("###### A", "<h6>A</h6>"),
        ("####### A", "<p>####### A</p>"),
        ("#A", "<p>#A</p>"),
        ("## A b ##", "<h2>A b</h2>"),
        ("x\n# A *b*\ny", "<p>x</p>\n<h1>A <em>b</em></h1>\n<p>y</p>"),
        ("A\n===", "<p>A<br>\n===</p>"),
        ("---", "<hr>"),
        ("***", "<hr>"),
        ("_ _ _", "<hr>"),
        ("a\n---\nb", "<p>a</p>\n<hr>\n<p>b</p>"),
        ("--", "<p>--</p>"),
        ("-*-", "<p>-*-</p>"),
    ]);
}

#[test]
fn tight_lists() {
    check(&[
        ("- a", "<ul>\n<li>a</li>\n</ul>"),
        ("* a", "<ul>\n<li>a</li>\n</ul>"),
        ("+ a", "<ul>\n<li>a</li>\n</ul>"),
        ("-a", "<p>-a</p>"),
        ("1. a\n2. b", "<ol>\n<li>a</li>\n<li>b</li>\n</ol>"),
        ("4. a", "<ol start=\"4\">\n<li>a</li>\n</ol>"),
        ("1.a", "<p>1.a</p>"),
        ("99999999999999999999999. a", "<p>99999999999999999999999. a</p>"),
        ("- a\n  - b", "<ul>\n<li>a<ul>\n<li>b</li>\n</ul>\n</li>\n</ul>"),
        ("- a\n   - b", "<ul>\n<li>a<ul>\n<li>b</li>\n</ul>\n</li>\n</ul>"),
        ("- a\n    - b", "<ul>\n<li>a<br>\n    - b</li>\n</ul>"),
        ("- a\n - b", "<ul>\n<li>a</li>\n<li>b</li>\n</ul>"),
        ("- # a\nb", "<ul>\n<li>\n<h1>a</h1>\n<br>\nb</li>\n</ul>"),
        ("- a\n  ```\n  b\n  ```", "<ul>\n<li>a<br>\n<code>\n  b\n  </code></li>\n</ul>"),
        ("- ```\n  b\n  ```", "<ul>\n<li><code>\n  b\n  </code></li>\n</ul>"),
        (
            "- a\n  - b\n    - c\n- d",
            "<ul>\n<li>a<ul>\n<li>b<ul>\n<li>c</li>\n</ul>\n</li>\n</ul>\n</li>\n<li>d</li>\n</ul>",
        ),
        ("- a\n  - b\n  - c", "<ul>\n<li>a<ul>\n<li>b</li>\n<li>c</li>\n</ul>\n</li>\n</ul>"),
        ("- a\nmore", "<ul>\n<li>a<br>\nmore</li>\n</ul>"),
        ("text\n- a", "<p>text</p>\n<ul>\n<li>a</li>\n</ul>"),
        ("- a\n1. b", "<ul>\n<li>a</li>\n</ul>\n<ol>\n<li>b</li>\n</ol>"),
        ("- a\n# b", "<ul>\n<li>a</li>\n</ul>\n<h1>b</h1>"),
        ("- a\n> b", "<ul>\n<li>a<blockquote>\n<p>b</p>\n</blockquote>\n</li>\n</ul>"),
        ("- # a", "<ul>\n<li>\n<h1>a</h1>\n</li>\n</ul>"),
        ("- - a", "<ul>\n<li>\n<ul>\n<li>a</li>\n</ul>\n</li>\n</ul>"),
        ("- \n- b", "<ul>\n<li></li>\n<li>b</li>\n</ul>"),
    ]);
}

#[test]
fn loose_lists() {
    check(&[
        ("- a\n\n- b", "<ul>\n<li>\n<p>a</p>\n</li>\n<li>\n<p>b</p>\n</li>\n</ul>"),
        ("1. a\n\n2. b", "<ol>\n<li>\n<p>a</p>\n</li>\n<li>\n<p>b</p>\n</li>\n</ol>"),
        ("- a\n\n  more", "<ul>\n<li>\n<p>a</p>\n<p>more</p>\n</li>\n</ul>"),
        ("- a\n\n  - b", "<ul>\n<li>\n<p>a</p>\n<ul>\n<li>b</li>\n</ul>\n</li>\n</ul>"),
        (
            "- a\n  - b\n\n    more",
            "<ul>\n<li>a<ul>\n<li>\n<p>b</p>\n<p>more</p>\n</li>\n</ul>\n</li>\n</ul>",
        ),
        ("- a\n\ntext\n\n- b", "<ul>\n<li>a</li>\n</ul>\n<p>text</p>\n<ul>\n<li>b</li>\n</ul>"),
        (
            "- a\n\n      code",
            "<ul>\n<li>a<div class=\"codehilite\"><pre><span></span><code>code\n</code></pre></div>\n</li>\n</ul>",
        ),
        ("- a\n\n    - b", "<ul>\n<li>a<p>- b</p>\n</li>\n</ul>"),
        (
            "1. a\n\n   ```\n   b\n   ```\n\n2. c",
            "<ol>\n<li>\n<p>a</p>\n<p><code>\n b\n </code></p>\n</li>\n<li>\n<p>c</p>\n</li>\n</ol>",
        ),
        ("- a\n\n\n- b\nc", "<ul>\n<li>\n<p>a</p>\n</li>\n<li>\n<p>b<br>\nc</p>\n</li>\n</ul>"),
    ]);
}

#[test]
fn quotes() {
    check(&[
        ("> q", "<blockquote>\n<p>q</p>\n</blockquote>"),
        (">q", "<blockquote>\n<p>q</p>\n</blockquote>"),
        ("> q\nlazy", "<blockquote>\n<p>q<br>\nlazy</p>\n</blockquote>"),
        ("> q\n\nout", "<blockquote>\n<p>q</p>\n</blockquote>\n<p>out</p>"),
        ("> a\n>\n> b", "<blockquote>\n<p>a</p>\n<p>b</p>\n</blockquote>"),
        ("> a\n\n> b", "<blockquote>\n<p>a</p>\n</blockquote>\n<blockquote>\n<p>b</p>\n</blockquote>"),
        ("x\n> q", "<p>x</p>\n<blockquote>\n<p>q</p>\n</blockquote>"),
        ("> > q", "<blockquote>\n<blockquote>\n<p>q</p>\n</blockquote>\n</blockquote>"),
        ("> - a", "<blockquote>\n<ul>\n<li>a</li>\n</ul>\n</blockquote>"),
        (">", "<p>&gt;</p>"),
        ("> \n>", "<p>&gt; <br>\n&gt;</p>"),
    ]);
}

#[test]
fn tables() {
    let right = " style=\"text-align: right;\"";
    let expected = format!(
        "<table>\n<thead>\n<tr>\n<th>a</th>\n<th{right}>b</th>\n</tr>\n</thead>\n<tbody>\n\
         <tr>\n<td>1</td>\n<td{right}>2</td>\n</tr>\n</tbody>\n</table>"
    );
    check(&[
        ("| a | b |\n|---|--:|\n| 1 | 2 |", &expected),
        ("a | b\n---|--:\n1 | 2", &expected),
        (
            "a|b\n:-|:-:\n*1*",
            "<table>\n<thead>\n<tr>\n<th style=\"text-align: left;\">a</th>\n\
             <th style=\"text-align: center;\">b</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n\
             <td style=\"text-align: left;\"><em>1</em></td>\n<td style=\"text-align: center;\"></td>\n\
             </tr>\n</tbody>\n</table>",
        ),
        ("a\n|b|", "<p>a<br>\n|b|</p>"),
        ("- a | b\n|-|-|", "<ul>\n<li>a | b<br>\n|-|-|</li>\n</ul>"),
    ]);
}

#[test]
fn too_deep_nesting_is_text() {
    for text in ["> ".repeat(3000) + "x", "- ".repeat(3000) + "x", "1. ".repeat(3000) + "x"] {
        let html = html(&text);
        assert!(html.len() < 10 * text.len());
        assert!(html.matches("<li>").count() + html.matches("<blockquote>").count() < 60);
        assert!(html.contains('x'));
    }
}
