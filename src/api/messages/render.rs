//! `POST /messages/render`: a text as HTML, as it would be sent (docs/api/messages.md#render-a-text).

use super::send::rendered;
use crate::api::formulas;
use crate::http::{ApiError, App, Caller, Fields, FromFields, HandlerResult, Params, RealmUrl, reply_field};

/// A text to render.
pub struct RenderText(String);

impl FromFields for RenderText {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self(fields.required("content")?))
    }
}

/// Returns the text as HTML, `rendered`. Nothing is stored.
pub async fn render(
    app: App,
    caller: Caller,
    url: RealmUrl,
    Params(RenderText(content)): Params<RenderText>,
) -> HandlerResult {
    formulas::prepare(&app, &caller, [content.as_str()]).await?;
    let directory = caller.realm.directory();
    let context = caller.realm.message_markdown(&directory, &caller.user).with_url(&url.0);
    reply_field("rendered", &rendered(&content, &context)?.html)
}
