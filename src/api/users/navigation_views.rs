//! `/navigation_views`: the views that one has configured in the sidebar (endpoints.md 17).
//!
//! The fragment in a path is the rest of it, slashes included.

use crate::api::wire::list::push_list;
use crate::api::wire::navigation::view;
use crate::http::{Answer, ApiError, Caller, Envelope, Fields, FromFields, Params, Path, reply_ok};

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
pub async fn list(caller: Caller, _: Params<()>) -> Answer {
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
pub async fn create(caller: Caller, Params(new): Params<NewView>) -> Answer {
    let NewView { fragment, is_pinned, name } = new;
    caller.realm.create_navigation_view(caller.user.id, fragment, is_pinned, name).await?;
    reply_ok()
}

/// Changes a view; what is left out stays.
pub async fn update(
    caller: Caller,
    Path(fragment): Path<String>,
    Params(update): Params<ViewUpdate>,
) -> Answer {
    let ViewUpdate { is_pinned, name } = update;
    caller.realm.update_navigation_view(caller.user.id, fragment, is_pinned, name).await?;
    reply_ok()
}

/// Takes a view away.
pub async fn delete(caller: Caller, Path(fragment): Path<String>, _: Params<()>) -> Answer {
    caller.realm.delete_navigation_view(caller.user.id, fragment).await?;
    reply_ok()
}
