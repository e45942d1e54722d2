//! Previews: pictures and videos below the paragraph that links to them.

use std::collections::HashSet;

use super::anchor::{opening_tag, upload_path};
use super::html::escaped_attribute;
use super::{MarkdownContext, UploadPreview, UploadedImage};

/// A message with more distinct links than this has no previews.
const LINKS_MAX: usize = 24;

const VIDEO_ENDINGS: [&str; 2] = [".mp4", ".webm"];

const IMAGE_ENDINGS: [&str; 7] = [".bmp", ".gif", ".jpe", ".jpeg", ".jpg", ".png", ".webp"];

/// A link with a preview.
struct Candidate {
    /// The HTML of the link.
    anchor: String,
    /// The HTML of the preview.
    html: String,
    /// Whether the link has no label, so that the preview can replace it.
    is_replaceable: bool,
}

/// The previews that belong to one block.
#[derive(Debug, Default)]
pub(super) struct Shown {
    /// The previews, in the order of the links.
    pub html: String,
    /// Whether the block was one bare link, which the preview replaces.
    pub replaces_block: bool,
    /// The HTML of a list item's text without the replaced links, if any were replaced.
    pub item_html: Option<String>,
}

/// The links of a message that have previews.
#[derive(Default)]
pub(super) struct Previews {
    enabled: bool,
    pub has_image: bool,
    /// Links of the current block.
    pending: Vec<Candidate>,
    /// Previews of links inside emphasis, headers and tables, for the end of the message.
    rest: String,
    distinct: HashSet<String>,
}

impl Previews {
    pub(super) fn new(enabled: bool) -> Self {
        Self { enabled, ..Self::default() }
    }

    /// Whether the message has too many links for previews.
    pub(super) fn is_over_limit(&self) -> bool {
        self.distinct.len() > LINKS_MAX
    }

    /// Records a link outside quotes. `named` is its label if it differs from the URL.
    pub(super) fn note(
        &mut self,
        context: &dyn MarkdownContext,
        href: &str,
        named: Option<&str>,
        anchor: &str,
    ) {
        let is_shown = self.enabled && !self.is_over_limit() && !href.starts_with("mailto:");
        if !is_shown || !self.distinct.insert(href.to_owned()) {
            return;
        }
        let Some(preview) = preview_of(context, href, named) else { return };
        self.has_image = true;
        self.pending.push(Candidate {
            anchor: anchor.to_owned(),
            html: preview.html,
            is_replaceable: preview.is_file && named.is_none(),
        });
    }

    /// The previews of a paragraph with this HTML.
    pub(super) fn take(&mut self, block_html: &str) -> Shown {
        let mut shown = Shown::default();
        for (_, link) in self.outer_links(block_html) {
            shown.html.push_str(&link.html);
            shown.replaces_block |= link.is_replaceable && link.anchor == block_html.trim();
        }
        shown
    }

    /// The previews of the first text of a list item, with this HTML.
    pub(super) fn take_in_item(&mut self, text_html: &str) -> Shown {
        let mut shown = Shown::default();
        let mut kept = String::new();
        let mut copied = 0;
        for (start, link) in self.outer_links(text_html) {
            shown.html.push_str(&link.html);
            let end = start + link.anchor.len();
            let is_followed_by_text = text_html[end..].starts_with(|next| next != '<');
            if link.is_replaceable && text_html.starts_with('<') && !is_followed_by_text {
                kept.push_str(&text_html[copied..start]);
                copied = end;
            }
        }
        if copied > 0 {
            kept.push_str(&text_html[copied..]);
            shown.item_html = Some(kept);
        }
        shown
    }

    /// Moves the previews of the current block to the end of the message.
    pub(super) fn leave_for_end(&mut self, block_html: &str) {
        let links = self.sorted(block_html);
        self.rest.extend(links.into_iter().map(|(_, link)| link.html));
    }

    /// The previews for the end of the message.
    pub(super) fn take_rest(&mut self) -> String {
        std::mem::take(&mut self.rest)
    }

    /// The links of the block itself, with their positions. The previews of links inside emphasis are moved to the end.
    fn outer_links(&mut self, block_html: &str) -> Vec<(usize, Candidate)> {
        let mut outer = Vec::new();
        for (at, link) in self.sorted(block_html) {
            if is_inside_element(&block_html[..at]) {
                self.rest.push_str(&link.html);
            } else {
                outer.push((at, link));
            }
        }
        outer
    }

    /// The links of the current block with their positions in its HTML, in order.
    fn sorted(&mut self, block_html: &str) -> Vec<(usize, Candidate)> {
        let pending = std::mem::take(&mut self.pending);
        let place = |link: &Candidate| block_html.find(&link.anchor).unwrap_or_default();
        let mut links: Vec<_> = pending.into_iter().map(|link| (place(&link), link)).collect();
        links.sort_by_key(|(at, _)| *at);
        links
    }
}

/// Whether an element is still open at the end of this HTML.
fn is_inside_element(html: &str) -> bool {
    let depth: i32 = html
        .split('<')
        .skip(1)
        .map(|tag| match tag {
            _ if tag.starts_with('/') => -1,
            _ if tag.starts_with("br>") || tag.starts_with("img ") => 0,
            _ => 1,
        })
        .sum();
    depth > 0
}

/// The preview of a link.
struct Preview {
    html: String,
    /// A picture or video itself, not the page that shows it.
    is_file: bool,
}

fn preview_of(context: &dyn MarkdownContext, href: &str, named: Option<&str>) -> Option<Preview> {
    let file = |html| Some(Preview { html, is_file: true });
    let link = opening_tag(href, named);
    if let Some(path) = upload_path(href) {
        return file(match context.upload_preview(path)? {
            UploadPreview::Image(image) => upload_image_html(path, &link, &image),
            UploadPreview::Video => video_html(href, &link),
            UploadPreview::Audio => return None,
        });
    }
    if !href.starts_with("http://") && !href.starts_with("https://") {
        return None;
    }
    if let Some(id) = youtube_id(href) {
        return Some(Preview { html: youtube_html(href, id), is_file: false });
    }
    let address = href.split(['?', '#']).next().unwrap_or(href).to_ascii_lowercase();
    let path = address.splitn(4, '/').nth(3)?;
    let ends_in_one_of = |endings: &[&str]| endings.iter().any(|ending| path.ends_with(ending));
    if ends_in_one_of(&VIDEO_ENDINGS) {
        return file(video_html(href, &link));
    }
    if !ends_in_one_of(&IMAGE_ENDINGS) {
        return None;
    }
    let source = escaped_attribute(href);
    file(format!(r#"<div class="message_inline_image">{link}<img src="{source}"></a></div>"#))
}

fn upload_image_html(path: &str, link: &str, image: &UploadedImage) -> String {
    let (animated, suffix) = if image.is_animated { (r#" data-animated="true""#, "-anim") } else { ("", "") };
    format!(
        r#"<div class="message_inline_image">{link}<img{animated} data-original-content-type="{}" data-original-dimensions="{}x{}" src="/user_uploads/thumbnail/{}/840x560{suffix}.webp"></a></div>"#,
        escaped_attribute(&image.content_type),
        image.width,
        image.height,
        escaped_attribute(path),
    )
}

fn video_html(href: &str, link: &str) -> String {
    format!(
        r#"<div class="message_inline_image message_inline_video">{link}<video preload="metadata" src="{}"></video></a></div>"#,
        escaped_attribute(href)
    )
}

fn youtube_html(href: &str, id: &str) -> String {
    format!(
        r#"<div class="youtube-video message_inline_image"><a data-id="{id}" href="{}"><img src="https://i.ytimg.com/vi/{id}/mqdefault.jpg"></a></div>"#,
        escaped_attribute(href)
    )
}

/// The video id of a YouTube URL.
fn youtube_id(href: &str) -> Option<&str> {
    let rest = href.strip_prefix("https://").or_else(|| href.strip_prefix("http://"))?;
    let (host, path) = rest.split_once('/')?;
    let host = host.strip_prefix("www.").or_else(|| host.strip_prefix("m.")).unwrap_or(host);
    let id = match host {
        "youtu.be" => path,
        "youtube.com" | "youtube-nocookie.com" => {
            let named = ["embed/", "shorts/", "v/", "live/"].iter().find_map(|name| path.strip_prefix(name));
            let query = || path.strip_prefix("watch?")?.split('&').find_map(|pair| pair.strip_prefix("v="));
            named.or_else(query)?
        }
        _ => return None,
    };
    let id = id.split(['?', '&', '#', '/']).next()?;
    let is_id =
        id.len() == 11 && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    is_id.then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn youtube_urls() {
        let id = Some("abcdefghijk");
        assert_eq!(youtube_id("https://www.youtube.com/watch?t=1&v=abcdefghijk"), id);
        assert_eq!(youtube_id("https://youtu.be/abcdefghijk?t=1"), id);
        assert_eq!(youtube_id("https://www.youtube.com/embed/abcdefghijk"), id);
        assert_eq!(youtube_id("https://youtu.be/short"), None);
        assert_eq!(youtube_id("https://evil.example/watch?v=abcdefghijk"), None);
    }
}
