//! Formulas of texts that requests bring: rendered before the text, off the threads that serve requests and decide, one text at a
//! time.

use crate::http::{ApiError, App, Caller};
use rules::markdown::{has_formulas, prepare_formulas};

/// Texts with formulas of one request: each may take a tenth of a second of the one engine.
const TEXTS_MAX: usize = 64;

/// Renders the formulas of texts that a caller has sent, so that what renders the texts next finds them rendered. Texts without
/// formulas cost nothing.
///
/// # Errors
/// BAD_REQUEST for more than 64 texts with formulas; RATE_LIMIT_HIT when sixteen requests of the account with its bots wait;
/// SERVER_OVERLOADED when too many texts of all clients wait.
pub async fn prepare<'t>(
    app: &App,
    caller: &Caller,
    texts: impl IntoIterator<Item = &'t str>,
) -> Result<(), ApiError> {
    let texts = texts.into_iter().filter(|text| has_formulas(text)).take(TEXTS_MAX + 1);
    let texts: Vec<String> = texts.map(str::to_owned).collect();
    if texts.is_empty() {
        return Ok(());
    }
    if texts.len() > TEXTS_MAX {
        return Err(ApiError::bad_request(format!("Too many texts with formulas (limit: {TEXTS_MAX})")));
    }
    let _permit = app.formula_queue.acquire(caller.holder()).await?;
    for text in texts {
        let place = app.formulas.enter()?;
        // In a box, so that requests without formulas are not larger by it.
        Box::pin(place.work(move || prepare_formulas(&text))).await?;
    }
    Ok(())
}
