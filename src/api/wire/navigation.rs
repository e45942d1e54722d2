//! Views of the sidebar as clients read them (endpoints.md 17).

use model::NavigationView;
use serde::Serialize;

/// A navigation view.
#[derive(Clone, Debug, Serialize)]
pub struct NavigationViewJson<'a> {
    fragment: &'a str,
    is_pinned: bool,
    name: Option<&'a str>,
}

/// A view.
pub fn view<'a>(fragment: &'a str, view: &'a NavigationView) -> NavigationViewJson<'a> {
    NavigationViewJson { fragment, is_pinned: view.is_pinned, name: view.name.as_deref() }
}
