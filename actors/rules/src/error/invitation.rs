//! Why an invitation cannot be sent or used (docs/api/invitations.md#invite-by-e-mail).

/// Why an address will not do. The display text is the reason in the response to the inviter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressRefusal {
    /// At none of the organization's domains.
    #[error("Outside your domain.")]
    OutsideDomains,
    /// At a service that gives everybody an address for ten minutes.
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
    /// No address at all.
    #[error("Invalid address.")]
    Invalid,
    /// The organization does not take it.
    #[error(transparent)]
    Refused(#[from] AddressRefusal),
    /// One of the server's own bots has it.
    #[error("Reserved for system bots.")]
    Reserved,
    /// Somebody here has it.
    #[error("Already has an account.")]
    Taken,
    /// Somebody who is here no more has it.
    #[error("Account has been deactivated.")]
    Deactivated,
}

impl AddressProblem {
    /// Whether others of the same list can be invited all the same.
    pub fn is_known(self) -> bool {
        matches!(self, Self::Reserved | Self::Taken | Self::Deactivated)
    }
}

/// An address that was not invited, and why.
pub type NotInvited = (String, AddressProblem);

/// Why no invitation was sent, although the request is a good one (INVITATION_FAILED).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvitingRefusal {
    /// So many a day and no more.
    #[error(
        "To protect users, Zulip limits the number of invitations you can send in one day. Because you have reached \
         the limit, no invitations were sent."
    )]
    DailyLimit,
    /// Whoever just came into an organization that is open to all.
    #[error(
        "Your account is too new to send invites for this organization. Ask an organization admin, or a more \
         experienced user."
    )]
    AccountTooNew,
    /// At least one address is none, or not one for here.
    #[error("Some emails did not validate, so we didn't send any invitations.")]
    SomeInvalid,
    /// All of them are known here.
    #[error("We weren't able to invite anyone.")]
    AllKnown,
    /// Some are known here; the others were invited.
    #[error(
        "Some of those addresses are already using Zulip, so we didn't send them an invitation. We did send \
         invitations to everyone else!"
    )]
    SomeKnown,
}

/// Why an invitation is good no longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvitationEnd {
    /// Somebody joined with it.
    Used,
    /// It was taken back.
    Revoked,
    /// Its time is over.
    Expired,
}

/// A refusal. The display text is exactly what a client reads.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvitationError {
    /// No role.
    #[error("Invalid invite_as")]
    RoleInvalid,
    /// Administrators and moderators are invited, welcomed in own words, and invitations of others taken back or sent
    /// again, by administrators only. Unlike the gate of roles a plain BAD_REQUEST.
    #[error("Must be an organization administrator")]
    AdministratorRequired,
    /// An empty list.
    #[error("You must specify at least one email address.")]
    NoAddress,
    /// A channel that the inviter cannot read.
    #[error("Invalid channel ID {id}. No invites were sent.")]
    ChannelInvalid {
        /// As sent.
        id: i64,
    },
    /// A channel that the inviter may not add people to.
    #[error("You do not have permission to subscribe other users to channels.")]
    SubscribingNotPermitted,
    /// The edge adds who was not invited, whether others were, and the limits.
    #[error("{why}")]
    NotSent {
        /// What all of them were told.
        why: InvitingRefusal,
        /// Who, and why.
        problems: Vec<NotInvited>,
    },
    /// Nobody configured how mail leaves this server.
    #[error("This server sends no e-mail, so it cannot invite by it. A reusable link invites without.")]
    NoMail,
    /// No invitation of this kind has the id.
    #[error("No such invitation")]
    Missing,
    /// Nobody can join with it any more.
    #[error("Invitation already used or deactivated.")]
    Ended,
    /// The same of a reusable one.
    #[error("Invitation has already been revoked")]
    AlreadyRevoked,
    /// Somebody wants to join with an invitation that is good no longer.
    #[error("This invitation can no longer be used.")]
    Over(InvitationEnd),
    /// Somebody wants to join with this address.
    #[error(transparent)]
    Address(#[from] AddressProblem),
}
