//! What the pages have in common: style for light, dark and narrow screens, tables and escaping.

use std::fmt::Write;

const STYLE: &str = ":root{color-scheme:light dark;--text:#1f2328;--faint:#59636e;--line:#d1d9e0;--back:#fff;--head:#f6f8fa;\
--met:#1a7f37;--missed:#c5221f;--warn:#9a6700}\
@media(prefers-color-scheme:dark){:root{--text:#e6edf3;--faint:#9198a1;--line:#3d444d;--back:#0d1117;--head:#161b22;\
--met:#4ac26b;--missed:#ff7b72;--warn:#d29922}}\
body{font:16px/1.5 system-ui,sans-serif;max-width:62rem;margin:1.5rem auto;padding:0 1rem;color:var(--text);\
background:var(--back)}\
h1{font-size:1.6rem;margin-bottom:.25rem}h2{margin-top:2.5rem;border-top:1px solid var(--line);padding-top:1rem}\
h3{margin:1.75rem 0 .25rem}p{margin:.5rem 0;overflow-wrap:anywhere}.faint{color:var(--faint)}\
.wide{overflow-x:auto;margin:.75rem 0}\
table{border-collapse:collapse;font-size:.9rem}td,th{padding:.25rem .7rem;border:1px solid var(--line);text-align:left}\
th{background:var(--head);font-weight:600}td:first-child{min-width:10rem}\
td.n,th.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}\
.met{color:var(--met)}.missed{color:var(--missed);font-weight:600}.warn{color:var(--warn)}\
li{overflow-wrap:anywhere}ul{padding-left:1.2rem}\
svg{display:block;width:100%;min-width:34rem;height:auto}";

/// The beginning of a page, up to its heading.
pub fn begin(title: &str) -> String {
    let mut page = String::from("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n");
    page.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    let title = escape(title);
    let _ = write!(page, "<title>{title}</title><style>{STYLE}</style></head><body>\n<h1>{title}</h1>\n");
    page
}

/// A paragraph with a warning.
pub fn warning(page: &mut String, text: &str) {
    let _ = writeln!(page, "<p class=\"warn\">Warning: {}</p>", escape(text));
}

/// Ends a page.
pub fn end(page: &mut String) {
    page.push_str("</body></html>\n");
}

/// A cell of a table.
#[derive(Debug, Clone)]
pub enum Cell {
    Text(String),
    Number(String),
    /// Whether an expectation was met.
    Verdict(bool),
}

/// A table, which scrolls by itself where it is wider than the screen.
pub fn table(page: &mut String, heads: &[Cell], rows: &[Vec<Cell>]) {
    page.push_str("<div class=\"wide\"><table>\n");
    row(page, "th", heads);
    rows.iter().for_each(|cells| row(page, "td", cells));
    page.push_str("</table></div>\n");
}

fn row(page: &mut String, tag: &str, cells: &[Cell]) {
    page.push_str("<tr>");
    for cell in cells {
        let (class, text) = match cell {
            Cell::Text(text) => ("", text.as_str()),
            Cell::Number(text) => (" class=\"n\"", text.as_str()),
            Cell::Verdict(true) => (" class=\"met\"", "met"),
            Cell::Verdict(false) => (" class=\"missed\"", "missed"),
        };
        let _ = write!(page, "<{tag}{class}>{}</{tag}>", escape(text));
    }
    page.push_str("</tr>\n");
}

/// A plot, which scrolls by itself.
pub fn plot(page: &mut String, svg: &str) {
    let _ = writeln!(page, "<div class=\"wide\">{svg}</div>");
}

/// Text for an element or an attribute.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
