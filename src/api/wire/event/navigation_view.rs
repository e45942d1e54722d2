//! `navigation_view`: views in the user's sidebar.

use crate::api::wire::navigation::NavigationViewJson;
use serde::Serialize;

#[derive(Serialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub(super) enum NavigationView<'e> {
    Add { navigation_view: NavigationViewJson<'e> },
    Update { fragment: &'e str, data: Data<'e> },
    Remove { fragment: &'e str },
}

/// The properties that changed.
#[derive(Serialize)]
pub(super) struct Data<'e> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_pinned: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<&'e str>,
}
