//! `/navigation_views`: the requester's navigation views (docs/api/users.md#navigation-views).
//!
//! The fragment in a path is the rest of it, slashes included.

use crate::api::wire::list::push_list;
use crate::api::wire::navigation::view;
use crate::http::{ApiError, Caller, Envelope, Fields, FromFields, HandlerResult, Params, Path, reply_ok};
use actors::commands;

/// A view to be configured.
pub struct NewView {
    fragment: String,
    is_pinned: bool,
    name: Option<String>,
}

impl FromFields for NewView {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self {
            fragment: fields.required("fragment")?,
            is_pinned: fields.required_bool("is_pinned")?,
            name: name(fields),
        })
    }
}

/// What is to change of a view.
pub struct ViewUpdate {
    is_pinned: Option<bool>,
    name: Option<String>,
}

impl FromFields for ViewUpdate {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self { is_pinned: fields.optional_bool("is_pinned")?, name: name(fields) })
    }
}

/// Clients that have no name for a view say so with null.
fn name(fields: &Fields) -> Option<String> {
    fields.optional("name").filter(|name| name != "null")
}

/// `navigation_views`, by fragment.
pub async fn list(caller: Caller, _: Params<()>) -> HandlerResult {
    let directory = caller.realm.directory();
    let mut envelope = Envelope::with_capacity(256);
    let views = directory.navigation_views(caller.user.id);
    push_list(
        envelope.open_field("navigation_views"),
        views.map(|(fragment, record)| view(fragment, record)),
    );
    envelope.reply()
}

/// Configures a view.
pub async fn create(caller: Caller, Params(new): Params<NewView>) -> HandlerResult {
    let NewView { fragment, is_pinned, name } = new;
    caller.realm.execute(commands::CreateView { user: caller.user.id, fragment, is_pinned, name }).await?;
    reply_ok()
}

/// Changes a view; what is left out stays.
pub async fn update(
    caller: Caller,
    Path(fragment): Path<String>,
    Params(update): Params<ViewUpdate>,
) -> HandlerResult {
    let ViewUpdate { is_pinned, name } = update;
    caller.realm.execute(commands::UpdateView { user: caller.user.id, fragment, is_pinned, name }).await?;
    reply_ok()
}

/// Takes a view away.
pub async fn delete(caller: Caller, Path(fragment): Path<String>, _: Params<()>) -> HandlerResult {
    caller.realm.execute(commands::DeleteView { user: caller.user.id, fragment }).await?;
    reply_ok()
}
