//! Markdown of descriptions and profiles: without image previews.

use crate::http::{ApiError, Caller};
use model::Directory;
use rules::RuleError;
use rules::markdown::render;

/// The HTML of a description; mentions and links resolve as for the caller.
///
/// # Errors
/// A description whose HTML is too long.
pub fn description_html(
    caller: &Caller,
    directory: &Directory,
    description: &str,
) -> Result<String, ApiError> {
    let context = caller.realm.description_markdown(directory, &caller.user);
    let rendered = render(description, &context).map_err(|_| RuleError::Unrenderable)?;
    Ok(rendered.html)
}
