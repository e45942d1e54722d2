//! `POST /messages/render`: a text as HTML, as it would be sent (docs/api/messages.md#render-a-text).

use super::send::rendered;
use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, RealmUrl, reply};
use serde::Serialize;

/// A text to be rendered.
pub struct RenderText {
    content: String,
}

impl FromFields for RenderText {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self { content: fields.required("content")? })
    }
}

#[derive(Serialize)]
struct RenderedText {
    rendered: String,
}

/// Renders a text for its writer. Nothing is stored, nobody is told.
pub async fn render(caller: Caller, url: RealmUrl, Params(request): Params<RenderText>) -> HandlerResult {
    let directory = caller.realm.directory();
    let context = caller.realm.message_markdown(&directory, &caller.user).with_url(&url.0);
    reply(&RenderedText { rendered: rendered(&request.content, &context)?.html })
}
