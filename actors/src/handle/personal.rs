//! Commands about what people say of themselves, whom they mute, and the views of their sidebar.

use super::RealmHandle;
use crate::error::DomainError;
use crate::queries::{ReadScope, select_unread};
use crate::realm::{CreateView, DeleteView, MuteUser, SetStatus, UnmuteUser, UpdateView, WantedStatus};
use model::{Flag, FlagOp, UserId};
use rules::error::{PersonalError, RuleError};

impl RealmHandle {
    /// Says something about somebody.
    ///
    /// # Errors
    /// As `rules::statuses::check_status`.
    pub async fn set_status(&self, user: UserId, wanted: WantedStatus) -> Result<(), DomainError> {
        self.settle_own(user, SetStatus { user, wanted }).await
    }

    /// Mutes somebody whom the user may know of. What they wrote so far counts as read when this returns.
    ///
    /// # Errors
    /// `MuteSelf`, `AlreadyMuted`.
    pub async fn mute_user(&self, user: UserId, muted: UserId) -> Result<(), DomainError> {
        if user == muted {
            return Err(RuleError::from(PersonalError::MuteSelf).into());
        }
        self.settle(MuteUser { user, muted }).await?;
        // What was on its way meanwhile, and what one frame could not hold.
        let rest = self.read(|view| {
            let record = view.directory.user(user)?;
            select_unread(view, record, ReadScope::Sender(muted))
        });
        match rest.unwrap_or_default().messages {
            rest if rest.is_empty() => Ok(()),
            rest => self.change_flags(user, Flag::Read, FlagOp::Add, rest).await,
        }
    }

    /// No longer mutes somebody.
    ///
    /// # Errors
    /// `NotMuted`.
    pub async fn unmute_user(&self, user: UserId, muted: UserId) -> Result<(), DomainError> {
        self.settle(UnmuteUser { user, muted }).await
    }

    /// Configures a view of a user's sidebar.
    ///
    /// # Errors
    /// As `rules::navigation`; `ViewExists`, `TooManyViews`.
    pub async fn create_navigation_view(
        &self,
        user: UserId,
        fragment: String,
        is_pinned: bool,
        name: Option<String>,
    ) -> Result<(), DomainError> {
        self.settle(CreateView { user, fragment, is_pinned, name }).await
    }

    /// Changes a view of a user's sidebar; what is left out stays.
    ///
    /// # Errors
    /// As `rules::navigation`; `ViewMissing`, `ViewExists`.
    pub async fn update_navigation_view(
        &self,
        user: UserId,
        fragment: String,
        is_pinned: Option<bool>,
        name: Option<String>,
    ) -> Result<(), DomainError> {
        self.settle(UpdateView { user, fragment, is_pinned, name }).await
    }

    /// Takes a view of a user's sidebar away.
    ///
    /// # Errors
    /// `ViewMissing`.
    pub async fn delete_navigation_view(&self, user: UserId, fragment: String) -> Result<(), DomainError> {
        self.settle(DeleteView { user, fragment }).await
    }
}
