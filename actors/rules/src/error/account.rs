//! Why an account cannot be changed, deactivated or reactivated (docs/api/users.md#deactivate-a-user).

/// A refusal. The display text is exactly what a client reads.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AccountError {
    /// The account does not exist, or the requester may not see it or can never change it.
    #[error("No such user")]
    NoSuchUser,
    #[error("User is deactivated")]
    Deactivated,
    #[error("The owner permission cannot be removed from the only organization owner.")]
    OnlyOwnerRole,
    /// By another user; see `LastUser` for the owner's own account.
    #[error("Cannot deactivate the only organization owner")]
    OnlyOwner,
    /// `entity` is `organization owner` or `user`. The edge repeats `is_last_owner` and `entity`.
    #[error("Cannot deactivate the only {entity}.")]
    LastUser { entity: &'static str },
    #[error("User not authorized to change user emails")]
    EmailChangeNotPermitted,
    #[error("User not authorized to create users")]
    CreationNotPermitted,
    #[error("Invalid new email address.")]
    NewEmailInvalid,
    /// An address that the organization does not accept; the reason is the one that inviters get.
    #[error("New email value error: {reason}")]
    NewEmailRefused { reason: String },
}
