//! Navigation views of users (docs/api/users.md#navigation-views).

use super::serialized::{DecisionContext, SerializedChange};
use crate::error::DomainError;
use model::{Directory, Fact, NavigationView, PersonalFact, UserId};
use rules::error::{PersonalError, RuleError};
use rules::navigation::{VIEWS_MAX, check_later_name, check_new_name, parse_fragment};
use rules::saved_texts::check_room;

/// Creates a view.
pub struct CreateView {
    pub user: UserId,
    pub fragment: String,
    pub is_pinned: bool,
    pub name: Option<String>,
}

impl SerializedChange for CreateView {
    fn facts(self, context: &mut DecisionContext<'_>) -> Result<Vec<Fact>, DomainError> {
        let directory = &context.directory;
        let fragment = parse_fragment(&self.fragment)?;
        let name = check_new_name(fragment, self.name.as_deref())?;
        let exists = directory.navigation_view(self.user, fragment).is_some();
        if exists || is_name_taken(directory, self.user, fragment, name) {
            return Err(RuleError::from(PersonalError::ViewExists).into());
        }
        let view = NavigationView { is_pinned: self.is_pinned, name: name.map(str::to_owned) };
        check_views(directory, self.user, fragment, &view)?;
        Ok(vec![set(self.user, fragment, None, Some(view))])
    }
}

/// Changes a view.
pub struct UpdateView {
    pub user: UserId,
    pub fragment: String,
    pub is_pinned: Option<bool>,
    pub name: Option<String>,
}

impl SerializedChange for UpdateView {
    fn facts(self, context: &mut DecisionContext<'_>) -> Result<Vec<Fact>, DomainError> {
        let directory = &context.directory;
        let fragment = parse_fragment(&self.fragment)?;
        let name = check_later_name(fragment, self.name.as_deref())?;
        let before = find(directory, self.user, fragment)?;
        if is_name_taken(directory, self.user, fragment, name) {
            return Err(RuleError::from(PersonalError::ViewExists).into());
        }
        let mut after = before.clone();
        after.is_pinned = self.is_pinned.unwrap_or(after.is_pinned);
        if let Some(name) = name {
            after.name = Some(name.to_owned());
        }
        // A change that takes no more room is never refused.
        if view_bytes(fragment, &after) > view_bytes(fragment, before) {
            check_views(directory, self.user, fragment, &after)?;
        }
        let is_same = after == *before;
        let fact = set(self.user, fragment, Some(before.clone()), Some(after));
        Ok(if is_same { Vec::new() } else { vec![fact] })
    }
}

/// Deletes a view.
pub struct DeleteView {
    pub user: UserId,
    pub fragment: String,
}

impl SerializedChange for DeleteView {
    fn facts(self, context: &mut DecisionContext<'_>) -> Result<Vec<Fact>, DomainError> {
        let fragment = parse_fragment(&self.fragment)?;
        let before = find(&context.directory, self.user, fragment)?.clone();
        Ok(vec![set(self.user, fragment, Some(before), None)])
    }
}

fn find<'d>(
    directory: &'d Directory,
    user: UserId,
    fragment: &str,
) -> Result<&'d NavigationView, DomainError> {
    let found = directory.navigation_view(user, fragment).map(|view| &**view);
    found.ok_or_else(|| RuleError::from(PersonalError::ViewMissing).into())
}

/// Whether another view of the user has the name.
fn is_name_taken(directory: &Directory, user: UserId, fragment: &str, name: Option<&str>) -> bool {
    let mut others = directory.navigation_views(user).filter(|(other, _)| *other != fragment);
    name.is_some() && others.any(|(_, view)| view.name.as_deref() == name)
}

/// Whether the account has room for a view that is new or has a longer name.
fn check_views(
    directory: &Directory,
    user: UserId,
    fragment: &str,
    view: &NavigationView,
) -> Result<(), RuleError> {
    let others = || directory.navigation_views(user).filter(|(other, _)| *other != fragment);
    let bytes: usize = others().map(|(other, view)| view_bytes(other, view)).sum();
    check_room("navigation views", (others().count() + 1, VIEWS_MAX), bytes + view_bytes(fragment, view))
}

fn view_bytes(fragment: &str, view: &NavigationView) -> usize {
    fragment.len() + view.name.as_ref().map_or(0, String::len)
}

fn set(user: UserId, fragment: &str, before: Option<NavigationView>, view: Option<NavigationView>) -> Fact {
    Fact::Personal(PersonalFact::NavigationViewSet { user, fragment: fragment.to_owned(), before, view })
}
