//! Writes the tree of blocks as HTML, running the inline rules over its texts.

use super::block::Block;
use super::emphasis::indented_code_text;
use super::inline::Inline;
use super::list::{List, ListKind};
use super::table::{Align, Table};

/// Appends blocks; each ends with a line break.
pub(super) fn push_blocks(inline: &mut Inline<'_>, out: &mut String, blocks: &[Block<'_>]) {
    for block in blocks {
        push_block(inline, out, block);
    }
}

fn push_block(inline: &mut Inline<'_>, out: &mut String, block: &Block<'_>) {
    match block {
        Block::Paragraph(text) => push_paragraph(inline, out, text),
        Block::Text(text) => push_tight_text(inline, out, text),
        Block::Header(level, text) => {
            let html = inline.render(text);
            out.push_str(&format!("<h{level}>{html}</h{level}>\n"));
            push_previews(inline, out, &html);
        }
        Block::Rule => out.push_str("<hr>\n"),
        Block::IndentedCode(lines) => {
            out.push_str(r#"<div class="codehilite"><pre><span></span><code>"#);
            out.push_str(&indented_code_text(lines));
            out.push_str("</code></pre></div>\n");
        }
        Block::Quote(children) => {
            let was_in_quote = std::mem::replace(&mut inline.in_quote, true);
            out.push_str("<blockquote>\n");
            push_blocks(inline, out, children);
            out.push_str("</blockquote>\n");
            inline.in_quote = was_in_quote;
        }
        Block::List(list) => push_list(inline, out, list),
        Block::Table(table) => push_table(inline, out, table),
    }
}

fn push_paragraph(inline: &mut Inline<'_>, out: &mut String, text: &str) {
    if let Some(html) = inline.stash.lone_block(text) {
        out.push_str(html);
        out.push('\n');
        return;
    }
    let html = inline.render(text);
    let (previews, is_replaced) = inline.previews.take(&html);
    if !is_replaced {
        out.push_str("<p>");
        out.push_str(&html);
        out.push_str("</p>\n");
    }
    if !previews.is_empty() {
        out.push_str(&previews);
        out.push('\n');
    }
}

/// The text of an item stands right after the tag, so it ends without a line break.
fn push_tight_text(inline: &mut Inline<'_>, out: &mut String, text: &str) {
    match inline.stash.lone_block(text) {
        Some(html) => out.push_str(html),
        None => {
            let html = inline.render(text);
            out.push_str(&html);
            push_previews(inline, out, &html);
        }
    }
}

fn push_previews(inline: &mut Inline<'_>, out: &mut String, block_html: &str) {
    let (previews, _) = inline.previews.take(block_html);
    if !previews.is_empty() {
        out.push_str(&previews);
        out.push('\n');
    }
}

fn push_list(inline: &mut Inline<'_>, out: &mut String, list: &List<'_>) {
    let tag = match list.kind {
        ListKind::Unordered => "ul",
        ListKind::Ordered(_) => "ol",
    };
    match list.kind {
        ListKind::Ordered(start) if start != 1 => out.push_str(&format!("<ol start=\"{start}\">\n")),
        _ => out.push_str(&format!("<{tag}>\n")),
    }
    for item in &list.items {
        out.push_str("<li>");
        if !matches!(item.first(), None | Some(Block::Text(_))) {
            out.push('\n');
        }
        push_blocks(inline, out, item);
        out.push_str("</li>\n");
    }
    out.push_str(&format!("</{tag}>\n"));
}

fn push_table(inline: &mut Inline<'_>, out: &mut String, table: &Table<'_>) {
    out.push_str("<table>\n<thead>\n");
    let mut previews = String::new();
    push_row(inline, out, &mut previews, "th", &table.header, &table.aligns);
    out.push_str("</thead>\n<tbody>\n");
    for row in &table.rows {
        push_row(inline, out, &mut previews, "td", row, &table.aligns);
    }
    out.push_str("</tbody>\n</table>\n");
    out.push_str(&previews);
}

fn push_row(
    inline: &mut Inline<'_>,
    out: &mut String,
    previews: &mut String,
    tag: &str,
    cells: &[&str],
    aligns: &[Option<Align>],
) {
    out.push_str("<tr>\n");
    for (cell, align) in cells.iter().zip(aligns) {
        let style = match align {
            None => "",
            Some(Align::Left) => r#" style="text-align: left;""#,
            Some(Align::Center) => r#" style="text-align: center;""#,
            Some(Align::Right) => r#" style="text-align: right;""#,
        };
        let html = inline.render(cell);
        out.push_str(&format!("<{tag}{style}>{html}</{tag}>\n"));
        push_previews(inline, previews, &html);
    }
    out.push_str("</tr>\n");
}
