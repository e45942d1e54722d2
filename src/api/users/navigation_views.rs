//! `/navigation_views`: the requester's navigation views (docs/api/users.md#navigation-views).
//!
//! The fragment is the rest of a path, slashes included.

use crate::api::wire::list::reply_list;
use crate::api::wire::navigation::view;
use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, Path};
use actors::commands;

/// A view to create.
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

/// The properties of a view to change.
pub struct ViewUpdate {
    is_pinned: Option<bool>,
    name: Option<String>,
}

impl FromFields for ViewUpdate {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self { is_pinned: fields.optional_bool("is_pinned")?, name: name(fields) })
    }
}

/// The name of a view; clients send `null` for no name.
fn name(fields: &Fields) -> Option<String> {
    fields.optional("name").filter(|name| name != "null")
}

/// Lists `navigation_views` by fragment.
pub async fn list(caller: Caller, _: Params<()>) -> HandlerResult {
    let directory = caller.realm.directory();
    let views = directory.navigation_views(caller.user.id);
    reply_list("navigation_views", views.map(|(fragment, record)| view(fragment, record)))
}

/// Creates a view.
pub async fn create(caller: Caller, Params(new): Params<NewView>) -> HandlerResult {
    let NewView { fragment, is_pinned, name } = new;
    caller.execute(commands::CreateView { user: caller.user.id, fragment, is_pinned, name }).await
}

/// Changes the given properties of a view.
pub async fn update(
    caller: Caller,
    Path(fragment): Path<String>,
    Params(update): Params<ViewUpdate>,
) -> HandlerResult {
    let ViewUpdate { is_pinned, name } = update;
    caller.execute(commands::UpdateView { user: caller.user.id, fragment, is_pinned, name }).await
}

/// Deletes a view.
pub async fn delete(caller: Caller, Path(fragment): Path<String>, _: Params<()>) -> HandlerResult {
    caller.execute(commands::DeleteView { user: caller.user.id, fragment }).await
}
