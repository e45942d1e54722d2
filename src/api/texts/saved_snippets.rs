//! `/saved_snippets`: texts that the requester inserts into messages (docs/api/saved-texts.md#saved-snippets).

use crate::api::wire::list::push_list;
use crate::api::wire::snippet::snippet;
use crate::http::{
    ApiError, Caller, Envelope, Fields, FromFields, HandlerResult, Params, Path, reply, reply_ok,
};
use actors::commands;
use model::SavedSnippetId;
use rules::saved_texts::{parse_snippet_content, parse_snippet_title};
use serde::Serialize;

/// A snippet to be saved.
pub struct NewSnippet {
    title: String,
    content: String,
}

impl FromFields for NewSnippet {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let title = parse_snippet_title(fields.required_str("title")?)?.to_owned();
        let content = parse_snippet_content(fields.required_str("content")?)?.to_owned();
        Ok(Self { title, content })
    }
}

/// The requested changes of a snippet.
pub struct SnippetUpdate {
    title: Option<String>,
    content: Option<String>,
}

impl FromFields for SnippetUpdate {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let title = fields.optional_str("title").map(parse_snippet_title).transpose()?;
        let content = fields.optional_str("content").map(parse_snippet_content).transpose()?;
        Ok(Self { title: title.map(str::to_owned), content: content.map(str::to_owned) })
    }
}

#[derive(Serialize)]
struct Created {
    saved_snippet_id: SavedSnippetId,
}

/// `saved_snippets`, by id.
pub async fn list(caller: Caller, _: Params<()>) -> HandlerResult {
    let directory = caller.realm.directory();
    let mut envelope = Envelope::with_capacity(256);
    let snippets = directory.saved_snippets(caller.user.id);
    push_list(envelope.open_field("saved_snippets"), snippets.map(|(id, record)| snippet(id, record)));
    envelope.reply()
}

/// Saves a snippet.
pub async fn create(caller: Caller, Params(new): Params<NewSnippet>) -> HandlerResult {
    let NewSnippet { title, content } = new;
    let command = commands::CreateSnippet { user: caller.user.id, title, content };
    reply(&Created { saved_snippet_id: caller.realm.execute(command).await? })
}

/// Changes a snippet; missing parameters change nothing.
pub async fn update(
    caller: Caller,
    Path(id): Path<SavedSnippetId>,
    Params(update): Params<SnippetUpdate>,
) -> HandlerResult {
    let SnippetUpdate { title, content } = update;
    caller.realm.execute(commands::UpdateSnippet { user: caller.user.id, id, title, content }).await?;
    reply_ok()
}

/// Deletes a snippet.
pub async fn delete(caller: Caller, Path(id): Path<SavedSnippetId>, _: Params<()>) -> HandlerResult {
    caller.realm.execute(commands::DeleteSnippet { user: caller.user.id, id }).await?;
    reply_ok()
}
