//! Why an invitation cannot be sent or used (docs/api/invitations.md#invite-by-e-mail).

/// Why the organization does not accept an address. The display text is the reason in the response to the inviter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressRefusal {
    /// At none of the organization's domains.
    #[error("Outside your domain.")]
    OutsideDomains,
    /// At a provider of disposable addresses.
    #[error("Please use your real email address.")]
    Disposable,
    /// `a+b@…`: one person could create many accounts.
    #[error("Email addresses containing + are not allowed.")]
    ContainsPlus,
}

impl AddressRefusal {
    /// The text for administrators who create accounts (docs/api/users.md#create-a-user).
    pub fn for_new_account(self, email: &str) -> String {
        match self {
            Self::OutsideDomains => format!("Email '{email}' not allowed in this organization"),
            Self::Disposable => "Disposable email addresses are not allowed in this organization".into(),
            Self::ContainsPlus => self.to_string(),
        }
    }
}

/// Why an address cannot be invited or join. The display text is the reason in the response to the inviter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressProblem {
    #[error("Invalid address.")]
    Invalid,
    /// The organization does not accept it.
    #[error(transparent)]
    Refused(#[from] AddressRefusal),
    #[error("Reserved for system bots.")]
    Reserved,
    #[error("Already has an account.")]
    Taken,
    #[error("Account has been deactivated.")]
    Deactivated,
}

impl AddressProblem {
    /// Whether other addresses of the same list can still be invited.
    pub fn is_known(self) -> bool {
        matches!(self, Self::Reserved | Self::Taken | Self::Deactivated)
    }
}

/// An address that was not invited, and why.
pub type NotInvited = (String, AddressProblem);

/// Why no invitation was sent although the request is valid (INVITATION_FAILED).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvitingRefusal {
    #[error(
        "To protect users, Zulip limits the number of invitations you can send in one day. Because you have reached \
         the limit, no invitations were sent."
    )]
    DailyLimit,
    /// A new account in an organization that everyone may join.
    #[error(
        "Your account is too new to send invites for this organization. Ask an organization admin, or a more \
         experienced user."
    )]
    AccountTooNew,
    /// At least one address is invalid or not accepted.
    #[error("Some emails did not validate, so we didn't send any invitations.")]
    SomeInvalid,
    /// All addresses have accounts.
    #[error("We weren't able to invite anyone.")]
    AllKnown,
    /// Some addresses have accounts; the others were invited.
    #[error(
        "Some of those addresses are already using Zulip, so we didn't send them an invitation. We did send \
         invitations to everyone else!"
    )]
    SomeKnown,
}

/// Why an invitation can no longer be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvitationEnd {
    Used,
    Revoked,
    Expired,
}

/// A refusal. The display text is exactly what a client reads.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvitationError {
    #[error("Invalid invite_as")]
    RoleInvalid,
    /// Only administrators may invite administrators and moderators, set a welcome message, and revoke or resend
    /// invitations of other users. A plain BAD_REQUEST, unlike `RuleError::AdministratorRequired`.
    #[error("Must be an organization administrator")]
    AdministratorRequired,
    #[error("You must specify at least one email address.")]
    NoAddress,
    /// The channel does not exist, or the inviter cannot read it.
    #[error("Invalid channel ID {id}. No invites were sent.")]
    ChannelInvalid { id: i64 },
    #[error("You do not have permission to subscribe other users to channels.")]
    SubscribingNotPermitted,
    /// The edge adds the addresses that were not invited, whether others were, and the limits.
    #[error("{why}")]
    NotSent { why: InvitingRefusal, problems: Vec<NotInvited> },
    /// The server has no mail configuration.
    #[error("This server cannot send email; use a reusable invitation link")]
    NoMail,
    /// More than ever find room among the mails that wait.
    #[error("Too many invitations at once (maximum {limit}).")]
    TooManyAtOnce { limit: usize },
    /// The mails of all would have no room. None is stored then; retrying later helps.
    #[error(
        "Too many emails of this organization are waiting to be sent, so no invitations were sent; try again later."
    )]
    NoRoom,
    #[error("This invitation was sent again too often; try again later.")]
    ResentTooOften,
    /// Of one inviter: those that can still be used, and all of the last 30 days.
    #[error("Too many open or recent invitations (maximum {limit}).")]
    TooMany { limit: usize },
    /// All inviters of the organization together have too many open or recent invitations.
    #[error("Too many open or recent invitations in this organization (maximum {limit}).")]
    TooManyOfRealm { limit: usize },
    /// Texts, channels and groups of the invitations of one inviter.
    #[error("Open and recent invitations are too large (maximum {limit} bytes).")]
    TooLarge { limit: usize },
    #[error("No such invitation")]
    Missing,
    #[error("Invitation already used or deactivated.")]
    Ended,
    /// A reusable invitation that was revoked.
    #[error("Invitation has already been revoked")]
    AlreadyRevoked,
    #[error("This invitation can no longer be used.")]
    Over(InvitationEnd),
    /// The address cannot join.
    #[error(transparent)]
    Address(#[from] AddressProblem),
}
