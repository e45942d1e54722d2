//! Formulas of texts that requests bring: rendered before the text, off the threads that serve requests and decide, one text at a
//! time.

use crate::http::{ApiError, App};
use rules::markdown::{has_formulas, prepare_formulas};

/// Renders the formulas of texts, so that what renders the texts next finds them rendered. Texts without formulas cost nothing.
///
/// # Errors
/// SERVER_OVERLOADED when too many texts wait.
pub async fn prepare<'t>(app: &App, texts: impl IntoIterator<Item = &'t str>) -> Result<(), ApiError> {
    let texts: Vec<String> = texts.into_iter().filter(|text| has_formulas(text)).map(str::to_owned).collect();
    for text in texts {
        let place = app.formulas.enter()?;
        // In a box, so that requests without formulas are not larger by it.
        Box::pin(place.work(move || prepare_formulas(&text))).await?;
    }
    Ok(())
}
