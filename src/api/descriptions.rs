//! Descriptions of channels and folders, and texts in profiles: Markdown without previews of images.

use crate::http::{ApiError, Caller};
use model::Directory;
use rules::RuleError;
use rules::markdown::render;

/// The HTML of a description, in which names mean what they mean to the caller.
///
/// # Errors
/// A description that has no reasonable HTML.
pub fn description_html(
    caller: &Caller,
    directory: &Directory,
    description: &str,
) -> Result<String, ApiError> {
    let context = caller.realm.description_markdown(directory, &caller.user);
    let rendered = render(description, &context).map_err(|_| RuleError::Unrenderable)?;
    Ok(rendered.html)
}
