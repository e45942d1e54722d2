//! The HTML of links.

use super::html::escaped_attribute;
use super::inline::Inline;

/// The HTML of a link, which is recorded for the message's flags and its previews. `named` is the label if it differs
/// from the URL.
pub(super) fn anchor(
    inline: &mut Inline<'_>,
    url: &str,
    label_html: &str,
    named: Option<&str>,
    title: Option<&str>,
) -> String {
    let href = relative_to_realm(url, inline.context.realm_url());
    inline.links.has_link = true;
    if let Some(path) = upload_path(href) {
        inline.links.note_upload(path);
    }
    let html = format!("{}{label_html}</a>", opening_tag(href, title));
    if !inline.in_quote {
        inline.previews.note(inline.context, href, named, &html);
    }
    html
}

/// The opening tag of a link.
pub(super) fn opening_tag(href: &str, title: Option<&str>) -> String {
    let title = title.map(|title| format!(r#" title="{}""#, escaped_attribute(title))).unwrap_or_default();
    format!(r#"<a href="{}"{title}>"#, escaped_attribute(href))
}

/// The path of a linked upload, such as `1/ab/cat.png`.
pub(super) fn upload_path(href: &str) -> Option<&str> {
    let path = href.strip_prefix('/').unwrap_or(href).strip_prefix("user_uploads/")?;
    let path = path.split(['?', '#']).next()?;
    (!path.is_empty()).then_some(path)
}

/// Makes URLs of the organization's conversations and uploads relative, so that clients open them in place.
pub(super) fn relative_to_realm<'u>(url: &'u str, realm_url: &str) -> &'u str {
    let inside = url.strip_prefix(realm_url).filter(|_| !realm_url.is_empty());
    match inside.and_then(|rest| rest.strip_prefix('/')) {
        Some(path) if path.starts_with('#') || path.starts_with("user_uploads/") => path,
        _ => url,
    }
}
