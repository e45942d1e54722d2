//! Writes the tree of blocks as HTML, running the inline rules over its texts.

use super::block::Block;
use super::fence::render_code;
use super::inline::Inline;
use super::list::{List, ListKind};
use super::table::{Align, Table};

/// Appends blocks. Each ends with a line break, apart from bare text and from previews.
pub(super) fn push_blocks(inline: &mut Inline<'_>, out: &mut String, blocks: &[Block<'_>]) {
    for block in blocks {
        push_block(inline, out, block);
    }
}

fn push_block(inline: &mut Inline<'_>, out: &mut String, block: &Block<'_>) {
    match block {
        Block::Paragraph(text) => push_paragraph(inline, out, text),
        Block::Text(text) => {
            let html = inline.render(text);
            inline.previews.leave_for_end(&html);
            out.push_str(&html);
        }
        Block::Header(level, text) => {
            let html = inline.render(text);
            out.push_str(&format!("<h{level}>{html}</h{level}>\n"));
            inline.previews.leave_for_end(&html);
        }
        Block::Rule => out.push_str("<hr>\n"),
        Block::IndentedCode(lines) => {
            out.push_str(&render_code(lines, None).unwrap_or_default());
            out.push('\n');
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

/// Appends a paragraph, and its previews directly after it, without line breaks.
fn push_paragraph(inline: &mut Inline<'_>, out: &mut String, text: &str) {
    if let Some(html) = inline.stash.lone_block(text) {
        out.push_str(html);
        out.push('\n');
        return;
    }
    let html = inline.render(text);
    let shown = inline.previews.take(&html);
    if !shown.replaces_block {
        out.push_str("<p>");
        out.push_str(&html);
        out.push_str("</p>\n");
    }
    out.push_str(&shown.html);
}

/// Appends an item: its first text directly after the tag, the previews of that text at the end of the item.
fn push_item(inline: &mut Inline<'_>, out: &mut String, blocks: &[Block<'_>]) {
    let Some((Block::Text(text), rest)) = blocks.split_first() else {
        if !blocks.is_empty() {
            out.push('\n');
        }
        return push_blocks(inline, out, blocks);
    };
    if let Some(html) = inline.stash.lone_block(text) {
        out.push_str(html);
        return push_blocks(inline, out, rest);
    }
    let html = inline.render(text);
    let shown = inline.previews.take_in_item(&html);
    out.push_str(shown.item_html.as_deref().unwrap_or(&html));
    push_blocks(inline, out, rest);
    out.push_str(&shown.html);
}

fn push_list(inline: &mut Inline<'_>, out: &mut String, list: &List<'_>) {
    let (tag, start) = match list.kind {
        ListKind::Unordered => ("ul", String::new()),
        ListKind::Ordered(1) => ("ol", String::new()),
        ListKind::Ordered(start) => ("ol", format!(r#" start="{start}""#)),
    };
    out.push_str(&format!("<{tag}{start}>\n"));
    for item in &list.items {
        out.push_str("<li>");
        push_item(inline, out, item);
        out.push_str("</li>\n");
    }
    out.push_str(&format!("</{tag}>\n"));
}

fn push_table(inline: &mut Inline<'_>, out: &mut String, table: &Table<'_>) {
    out.push_str("<table>\n<thead>\n");
    push_row(inline, out, "th", &table.header, &table.aligns);
    out.push_str("</thead>\n<tbody>\n");
    for row in &table.rows {
        push_row(inline, out, "td", row, &table.aligns);
    }
    out.push_str("</tbody>\n</table>\n");
}

fn push_row(inline: &mut Inline<'_>, out: &mut String, tag: &str, cells: &[&str], aligns: &[Option<Align>]) {
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
        inline.previews.leave_for_end(&html);
    }
    out.push_str("</tr>\n");
}
