//! Sidebar views as clients read them (docs/api/users.md#navigation-views).

use model::NavigationView;
use serde::Serialize;

/// The navigation view object of the API.
#[derive(Clone, Debug, Serialize)]
pub struct NavigationViewJson<'a> {
    fragment: &'a str,
    is_pinned: bool,
    name: Option<&'a str>,
}

/// The JSON of a navigation view.
pub fn view<'a>(fragment: &'a str, view: &'a NavigationView) -> NavigationViewJson<'a> {
    NavigationViewJson { fragment, is_pinned: view.is_pinned, name: view.name.as_deref() }
}
