//! Renders the Markdown of messages as HTML (docs/api/markdown.md). Pure: data of the organization comes from
//! [`MarkdownContext`], and the same text and data give the same HTML.
//!
//! There are three steps. `preprocess` normalizes the text and extracts fenced code, `block` parses paragraphs, lists and
//! quotes to a tree, and `write` turns the tree into HTML with the rules of `inline`. Each step is linear in the text,
//! except for bounded nesting.

mod alert_words;
mod anchor;
mod block;
mod context;
mod conversations;
mod emoji;
mod emphasis;
mod fence;
mod html;
mod inline;
mod languages;
mod link_target;
mod linkifier;
mod links;
mod list;
mod math;
mod mentions;
mod parse_time;
mod plain;
mod preprocess;
mod previews;
mod table;
mod time;
mod topic_links;
mod url_template;
mod urls;
mod write;
mod zones;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

use thiserror::Error;

use crate::content::CONTENT_LENGTH_MAX;
use crate::formulas::FormulaBudget;

pub use alert_words::AlertText;
pub use context::{
    ChannelRef, EmojiRef, GroupRef, MarkdownContext, NoNames, UploadPreview, UploadedImage, UserRef,
};
pub use conversations::{channel_url, message_url, topic_url};
pub use linkifier::{Linkifier, LinkifierError};
pub use math::{has_formulas, prepare_formulas};
pub use mentions::Mentions;
pub use topic_links::{TopicLink, topic_links};
pub use url_template::{TemplateError, template_variables};

use block::{Parent, State};
use html::FinishedHtml;
use inline::Inline;
use linkifier::LinkifierBudget;
use links::LinkFacts;
use previews::Previews;

/// Largest HTML of one message in characters: a hundred times the longest message.
const HTML_CHARS_MAX: usize = 100 * CONTENT_LENGTH_MAX;

/// A rendered message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rendered {
    /// The HTML, attributes in alphabetical order, without a line break at the end.
    pub html: String,
    pub mentions: Mentions,
    /// Whether the text begins with `/me `.
    pub is_me_message: bool,
    /// Whether the text has a link, except for links to conversations.
    pub has_link: bool,
    /// Whether the message has a preview.
    pub has_image: bool,
    /// Path ids of linked uploads, such as `1/ab/cat.png`; `has_attachment` if the sender may claim one of them.
    pub upload_paths: Vec<String>,
}

/// Why a text has no HTML; clients get `Unable to render message`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum RenderError {
    /// The HTML would be larger than a hundred times the longest message.
    #[error("the rendered message is too large")]
    TooLarge,
}

/// Renders a text as HTML.
pub fn render(text: &str, context: &dyn MarkdownContext) -> Result<Rendered, RenderError> {
    match plain::html(text, context) {
        Some(html) => Ok(Rendered { html, ..Rendered::default() }),
        None => render_marked(text, context),
    }
}

/// Renders a text that may have markup.
fn render_marked(text: &str, context: &dyn MarkdownContext) -> Result<Rendered, RenderError> {
    let clean = preprocess::normalize(text);
    let with_previews = context.shows_previews();
    let mut rendered = render_clean(&clean, context, with_previews);
    if with_previews && rendered.is_none() {
        rendered = render_clean(&clean, context, false);
    }
    let mut rendered = rendered.unwrap_or_default();
    if rendered.html.len() > HTML_CHARS_MAX && rendered.html.chars().count() > HTML_CHARS_MAX {
        return Err(RenderError::TooLarge);
    }
    rendered.is_me_message = text.starts_with("/me ");
    Ok(rendered)
}

/// Renders normalized text; `None` if it has more links than may be previewed.
fn render_clean(text: &str, context: &dyn MarkdownContext, with_previews: bool) -> Option<Rendered> {
    let mut stash = FinishedHtml::default();
    let mut formulas = match context.renders_formulas() {
        true => FormulaBudget::of_message(),
        false => FormulaBudget::of_known_formulas(),
    };
    let lines = preprocess::split_lines(text, context, &mut stash, &mut formulas);
    let lines: Vec<&str> = lines.iter().map(AsRef::as_ref).collect();
    let mut blocks = Vec::new();
    block::parse_lines(&mut Parent { blocks: &mut blocks, is_item: false }, &lines, State::Normal, 0);
    let mut inline = Inline {
        context,
        stash,
        formulas,
        linkifier_budget: LinkifierBudget::of_text(),
        mentions: Mentions::default(),
        links: LinkFacts::default(),
        previews: Previews::new(with_previews),
        in_quote: false,
    };
    let mut html = String::with_capacity(text.len() + text.len() / 4);
    write::push_blocks(&mut inline, &mut html, &blocks);
    if inline.previews.is_over_limit() {
        return None;
    }
    html.push_str(&inline.previews.take_rest());
    html.truncate(html.trim_end_matches('\n').len());
    Some(Rendered {
        html,
        mentions: inline.mentions,
        is_me_message: false,
        has_link: inline.links.has_link,
        has_image: inline.previews.has_image,
        upload_paths: inline.links.upload_paths,
    })
}
