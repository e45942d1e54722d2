//! Formulas of texts that requests bring: rendered before the text, off the threads that serve requests and decide, one text at a
//! time. Each text waits for a permit of its own, so that a request with many texts lets those of others between.

use crate::fair_queue::QueuedRequest;
use crate::http::{ApiError, App, Caller};
use rules::markdown::{has_formulas, prepare_formulas};
use std::time::Duration;
use tokio::time::timeout;

/// Texts with formulas of one request: each may take a tenth of a second of the one engine.
const TEXTS_MAX: usize = 64;

/// Longest time for all texts of a request.
const TIME_MAX: Duration = Duration::from_secs(30);

/// Renders the formulas of texts that a caller has sent, so that what renders the texts next finds them rendered. Texts without
/// formulas cost nothing.
///
/// # Errors
/// BAD_REQUEST for more than 64 texts with formulas; RATE_LIMIT_HIT when sixteen requests of the account with its bots wait;
/// SERVER_OVERLOADED when too many texts of all clients wait, or after half a minute: a later request finds rendered what was
/// rendered until then.
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
    let request = app.formula_queue.enter(caller.holder())?;
    // In a box, so that requests without formulas are not larger by it.
    Box::pin(within(TIME_MAX, render(app, request, texts))).await
}

/// Renders each text with a permit of its own.
async fn render(app: &App, request: QueuedRequest, texts: Vec<String>) -> Result<(), ApiError> {
    for text in texts {
        let _permit = request.permit().await;
        app.formulas.enter()?.work(move || prepare_formulas(&text)).await?;
    }
    Ok(())
}

async fn within(
    time_max: Duration,
    rendered: impl Future<Output = Result<(), ApiError>>,
) -> Result<(), ApiError> {
    let late = "Too many formulas are waiting to be rendered; try again in a moment";
    timeout(time_max, rendered).await.unwrap_or_else(|_| Err(ApiError::unavailable(late)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::Code;

    #[actix_web::test]
    async fn a_wait_without_an_end_is_an_error_with_a_name() {
        assert!(within(TIME_MAX, async { Ok(()) }).await.is_ok());
        let late = within(Duration::ZERO, std::future::pending()).await;
        assert_eq!(late.err().and_then(|error| error.code()), Some(Code::SERVER_OVERLOADED));
    }
}
