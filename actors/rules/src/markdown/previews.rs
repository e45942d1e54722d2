//! Pictures and films shown below the paragraph that links to them.

use std::collections::HashSet;

use super::html::escaped_attribute;
use super::links::upload_path;
use super::{MarkdownContext, UploadPreview, UploadedImage};

/// A message with more distinct links than this shows no preview at all.
const LINKS_MAX: usize = 24;

const IMAGE_ENDINGS: [&str; 7] = [".bmp", ".gif", ".jpe", ".jpeg", ".jpg", ".png", ".webp"];

/// A link that is shown.
struct Candidate {
    /// The link as it stands in the paragraph.
    anchor: String,
    /// The HTML of what is shown.
    html: String,
    /// Whether the link shows nothing but its URL, so that the picture can take its place.
    is_bare: bool,
}

/// The links of a message, as far as previews care.
#[derive(Default)]
pub(super) struct Previews {
    enabled: bool,
    pub has_image: bool,
    /// Links of the block at hand that are shown.
    pending: Vec<Candidate>,
    distinct: HashSet<String>,
}

impl Previews {
    pub(super) fn new(enabled: bool) -> Self {
        Self { enabled, ..Self::default() }
    }

    /// Whether the message has so many links that none may be shown.
    pub(super) fn is_over_limit(&self) -> bool {
        self.distinct.len() > LINKS_MAX
    }

    /// Takes note of a link outside quotes. `named` is its label where that is not the URL.
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
        let Some(html) = preview_html(context, href, named) else { return };
        self.has_image = true;
        self.pending.push(Candidate { anchor: anchor.to_owned(), html, is_bare: named.is_none() });
    }

    /// What to show below a block with this HTML, in the order of the links, and whether the block is nothing
    /// but one bare link and gives way to its picture.
    pub(super) fn take(&mut self, block_html: &str) -> (String, bool) {
        if self.pending.is_empty() {
            return (String::new(), false);
        }
        let mut pending = std::mem::take(&mut self.pending);
        pending.sort_by_cached_key(|candidate| block_html.find(&candidate.anchor).unwrap_or(usize::MAX));
        let is_replaced = pending.iter().any(|link| link.is_bare && link.anchor == block_html.trim());
        let html: Vec<String> = pending.into_iter().map(|candidate| candidate.html).collect();
        (html.join("\n"), is_replaced)
    }
}

fn preview_html(context: &dyn MarkdownContext, href: &str, named: Option<&str>) -> Option<String> {
    if let Some(path) = upload_path(href) {
        let file_name = path.rsplit('/').next().unwrap_or(path);
        let link = link_html(href, named.unwrap_or(file_name));
        return Some(match context.upload_preview(path)? {
            UploadPreview::Image(image) => upload_image_html(path, &link, &image),
            UploadPreview::Video => video_html(href, &link),
        });
    }
    if !href.starts_with("http://") && !href.starts_with("https://") {
        return None;
    }
    if let Some(id) = youtube_id(href) {
        return Some(youtube_html(href, id));
    }
    let path = href.split(['?', '#']).next().unwrap_or(href).to_ascii_lowercase();
    let has_path = path.splitn(4, '/').nth(3).is_some();
    if !has_path || !IMAGE_ENDINGS.iter().any(|ending| path.ends_with(ending)) {
        return None;
    }
    let link = link_html(href, named.unwrap_or(href));
    Some(format!(
        r#"<div class="message_inline_image">{link}<img src="{}"></a></div>"#,
        escaped_attribute(href)
    ))
}

fn link_html(href: &str, title: &str) -> String {
    format!(r#"<a href="{}" title="{}">"#, escaped_attribute(href), escaped_attribute(title))
}

fn upload_image_html(path: &str, link: &str, image: &UploadedImage) -> String {
    let animated = if image.is_animated { r#" data-animated="true""# } else { "" };
    let transcoded = match &image.transcoded {
        Some(name) => format!(r#" data-transcoded-image="{}""#, escaped_attribute(name)),
        None => String::new(),
    };
    let (class, source) = if image.has_thumbnail {
        let suffix = if image.is_animated { "-anim" } else { "" };
        ("", format!("/user_uploads/thumbnail/{path}/840x560{suffix}.webp"))
    } else {
        (r#" class="image-loading-placeholder""#, "/static/images/loading/loader-black.svg".to_owned())
    };
    format!(
        r#"<div class="message_inline_image">{link}<img{class}{animated} data-original-content-type="{}" data-original-dimensions="{}x{}"{transcoded} src="{}"></a></div>"#,
        escaped_attribute(&image.content_type),
        image.width,
        image.height,
        escaped_attribute(&source),
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

/// The id of the film a YouTube address leads to.
fn youtube_id(href: &str) -> Option<&str> {
    let rest = href.strip_prefix("https://").or_else(|| href.strip_prefix("http://"))?;
    let (host, path) = rest.split_once('/')?;
    let host = host.strip_prefix("www.").or_else(|| host.strip_prefix("m.")).unwrap_or(host);
    let id = match host {
        "youtu.be" => path,
        "youtube.com" | "youtube-nocookie.com" => {
            let named = ["embed/", "shorts/", "v/", "live/"].iter().find_map(|name| path.strip_prefix(name));
            named.or_else(|| query_value(path.strip_prefix("watch?")?, "v"))?
        }
        _ => return None,
    };
    let id = id.split(['?', '&', '#', '/']).next()?;
    let is_id =
        id.len() == 11 && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    is_id.then_some(id)
}

fn query_value<'q>(query: &'q str, name: &str) -> Option<&'q str> {
    query
        .split('&')
        .find_map(|pair| pair.split_once('=').filter(|(key, _)| *key == name))
        .map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn youtube_addresses_are_known_by_their_forms() {
        let id = Some("abcdefghijk");
        assert_eq!(youtube_id("https://www.youtube.com/watch?t=1&v=abcdefghijk"), id);
        assert_eq!(youtube_id("https://youtu.be/abcdefghijk?t=1"), id);
        assert_eq!(youtube_id("https://www.youtube.com/embed/abcdefghijk"), id);
        assert_eq!(youtube_id("https://youtu.be/short"), None);
        assert_eq!(youtube_id("https://evil.example/watch?v=abcdefghijk"), None);
    }
}
