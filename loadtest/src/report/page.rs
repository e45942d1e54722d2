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
svg{display:block;width:100%;min-width:34rem;height:auto}\
@media(max-width:40rem){td,th{padding:.2rem .35rem}table{font-size:.8rem}td:first-child{min-width:5.5rem}\
td:first-child,th{overflow-wrap:anywhere}th.n{white-space:normal}\
.rows,.rows tbody,.rows tr,.rows td{display:block}.rows tr:first-child{display:none}.rows tr{margin:.5rem 0}\
.rows td{display:flex;justify-content:space-between;gap:1rem;margin-top:-1px}\
.rows td::before{content:attr(data-head);flex:none;max-width:50%;text-align:left;white-space:normal;color:var(--faint)}}";

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

/// Columns of a table that fit on a narrow screen.
const COLUMNS_NARROW: usize = 4;

/// A table. On a narrow screen one with many columns has a block for each row, with a line for each cell; any other one that is
/// wider than the screen scrolls by itself.
pub fn table(page: &mut String, heads: &[Cell], rows: &[Vec<Cell>]) {
    let class = if heads.len() > COLUMNS_NARROW { " class=\"rows\"" } else { "" };
    let _ = writeln!(page, "<div class=\"wide\"><table{class}>");
    row(page, "th", heads, &[]);
    rows.iter().for_each(|cells| row(page, "td", cells, heads));
    page.push_str("</table></div>\n");
}

/// A row. The cells below heads have these as an attribute.
fn row(page: &mut String, tag: &str, cells: &[Cell], heads: &[Cell]) {
    page.push_str("<tr>");
    for (column, cell) in cells.iter().enumerate() {
        let (class, text) = cell.class_and_text();
        let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
        let head = heads.get(column).map(|head| head.class_and_text().1).filter(|head| !head.is_empty());
        let head = head.map_or_else(String::new, |head| format!(" data-head=\"{}\"", escape(head)));
        let _ = write!(page, "<{tag}{class}{head}>{}</{tag}>", escape(text));
    }
    page.push_str("</tr>\n");
}

impl Cell {
    fn class_and_text(&self) -> (&'static str, &str) {
        match self {
            Cell::Text(text) => ("", text),
            Cell::Number(text) => ("n", text),
            Cell::Verdict(true) => ("met", "met"),
            Cell::Verdict(false) => ("missed", "missed"),
        }
    }
}

/// A plot, which scrolls by itself.
pub fn plot(page: &mut String, svg: &str) {
    let _ = writeln!(page, "<div class=\"wide\">{svg}</div>");
}

/// Text for an element or an attribute.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_tables_are_blocks_of_lines_on_narrow_screens() {
        let cells =
            |names: &[&str]| names.iter().map(|name| Cell::Number((*name).to_owned())).collect::<Vec<_>>();
        let mut page = begin("x");
        assert!(
            page.contains("@media(max-width:40rem)")
                && page.contains(".rows td::before{content:attr(data-head)")
        );
        table(&mut page, &cells(&["a", "b", "c", "<d>"]), &[cells(&["1", "2", "3", "4"])]);
        assert!(page.contains("<table>\n") && !page.contains("class=\"rows\""), "four columns fit: {page}");
        table(&mut page, &cells(&["a", "b", "c", "<d>", ""]), &[cells(&["1", "2", "3", "4", "5"])]);
        assert!(page.contains("<table class=\"rows\">"), "{page}");
        assert!(
            page.contains("<td class=\"n\" data-head=\"&lt;d&gt;\">4</td><td class=\"n\">5</td>"),
            "{page}"
        );
    }
}
