//! Why an account cannot be changed, deactivated or reactivated (docs/api/users.md#deactivate-a-user).

/// A refusal. The display text is exactly what a client reads.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AccountError {
    /// No such account, or one that the asker must not know of or cannot change.
    #[error("No such user")]
    NoSuchUser,
    /// The account is out of use.
    #[error("User is deactivated")]
    Deactivated,
    /// Nobody would be left who may do everything.
    #[error("The owner permission cannot be removed from the only organization owner.")]
    OnlyOwnerRole,
    /// The same, by deactivating somebody else's account.
    #[error("Cannot deactivate the only organization owner")]
    OnlyOwner,
    /// The same, by deactivating one's own. The edge repeats `is_last_owner` and `entity`.
    #[error("Cannot deactivate the only {entity}.")]
    LastUser {
        /// `organization owner` or `user`.
        entity: &'static str,
    },
    /// Only some may give others another address.
    #[error("User not authorized to change user emails")]
    EmailChangeNotPermitted,
    /// Only some may make accounts.
    #[error("User not authorized to create users")]
    CreationNotPermitted,
    /// Not an address.
    #[error("Invalid new email address.")]
    NewEmailInvalid,
    /// An address that will not do; the reason is what somebody who invites is told.
    #[error("New email value error: {reason}")]
    NewEmailRefused {
        /// Why.
        reason: String,
    },
}
