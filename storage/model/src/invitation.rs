//! Invitations to an organization (docs/api/invitations.md).
//!
//! A record holds no secret: its link is derived from the record and the server's secret when it is needed.

use crate::ids::{ChannelId, GroupId, InvitationId, UserId};
use crate::time::Timestamp;
use crate::user::Role;
use serde::{Deserialize, Serialize};

/// The state of an invitation. Expiry is no state: an expired invitation becomes valid again when it is resent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum InvitationState {
    /// Neither used nor revoked; valid unless expired.
    Pending,
    /// Used to create this account; only for invitations to one address.
    Used(UserId),
    /// Revoked, or an account with its address was created in another way.
    Revoked,
}

/// How long the record of an invitation is kept after it was sent and has expired, if it is used, revoked or expired, in
/// milliseconds: until then its link says why it cannot be used.
pub const ENDED_KEPT_MILLIS: u64 = 30 * 24 * 3600 * 1000;

/// An invitation. The newest one is never removed, so ids are never reused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invitation {
    /// Unique in the organization, among both kinds.
    pub id: InvitationId,
    /// The invited e-mail address; none for a reusable link.
    pub address: Option<String>,
    pub inviter: UserId,
    pub role: Role,
    /// Channels that the new account is subscribed to.
    pub channels: Vec<ChannelId>,
    /// Groups that the new account becomes a direct member of.
    pub groups: Vec<GroupId>,
    /// Whether the new account is also subscribed to the default channels.
    pub includes_default_channels: bool,
    /// Whether the inviter is notified when it is accepted.
    pub notifies_inviter: bool,
    /// Text that the welcome bot adds; empty for no text, none for the organization's default.
    pub welcome_text: Option<String>,
    /// The time of creation, or of the last resend.
    pub sent: Timestamp,
    /// The time of expiry; none if it does not expire.
    pub expires: Option<Timestamp>,
    pub state: InvitationState,
    /// Set when it expired, so that it stays expired if the wall clock is set back.
    pub has_expired: bool,
}

impl Invitation {
    /// Whether anyone with the link can use it, any number of times.
    pub fn is_reusable(&self) -> bool {
        self.address.is_none()
    }

    /// Whether it is neither used nor revoked. It may be expired.
    pub fn is_pending(&self) -> bool {
        self.state == InvitationState::Pending
    }

    /// Whether it has expired.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.has_expired || self.expires.is_some_and(|expires| expires <= now)
    }

    /// Whether it can be used to join.
    pub fn is_open(&self, now: Timestamp) -> bool {
        self.is_pending() && !self.is_expired(now)
    }

    /// Whether it ended so long ago that its record need not be kept.
    pub fn is_forgotten(&self, now: Timestamp) -> bool {
        let since = match self.expires {
            Some(expires) if self.has_expired => self.sent.max(expires),
            Some(_) | None => self.sent,
        };
        (!self.is_pending() || self.has_expired) && now.millis_since(since) >= ENDED_KEPT_MILLIS
    }

    /// Whether it is for this e-mail address, ignoring case.
    pub fn is_for(&self, address: &str) -> bool {
        self.address.as_ref().is_some_and(|own| own.to_lowercase() == address.to_lowercase())
    }
}

/// Changes of invitations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum InvitationFact {
    /// Invitations were created: `first`, and a copy of it with the next id for each further address.
    Created { first: Invitation, others: Vec<String> },
    /// An account was created with an invitation, which is used if it was for one address.
    Accepted { invitation: InvitationId, user: UserId },
    /// Invitations were revoked.
    Revoked(Vec<InvitationId>),
    /// Invitations expired, and stay so until they are resent.
    Expired(Vec<InvitationId>),
    /// An invitation was resent now.
    Resent { invitation: InvitationId, expires: Option<Timestamp> },
}

impl InvitationFact {
    /// Number of events: clients fetch the list of invitations again. Resending does not change the list.
    pub fn events_max(&self) -> u64 {
        match self {
            Self::Created { .. } | Self::Accepted { .. } | Self::Revoked(_) | Self::Expired(_) => 1,
            Self::Resent { .. } => 0,
        }
    }
}

/// The records of [`InvitationFact::Created`].
pub fn created_invitations<'f>(
    first: &'f Invitation,
    others: &'f [String],
) -> impl Iterator<Item = Invitation> + 'f {
    let like_first = (first.id.0 + 1..).zip(others).map(|(id, address)| Invitation {
        id: InvitationId(id),
        address: Some(address.clone()),
        ..first.clone()
    });
    std::iter::once(first.clone()).chain(like_first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invitation_expires_and_ignores_case_of_addresses() {
        let first = Invitation {
            id: InvitationId(7),
            address: Some("Ada@Example.org".into()),
            inviter: UserId(1),
            role: Role::Member,
            channels: Vec::new(),
            groups: Vec::new(),
            includes_default_channels: false,
            notifies_inviter: true,
            welcome_text: None,
            sent: Timestamp(1000),
            expires: Some(Timestamp(5000)),
            state: InvitationState::Pending,
            has_expired: false,
        };
        assert!(first.is_open(Timestamp(4999)) && !first.is_open(Timestamp(5000)));
        assert!(!Invitation { has_expired: true, ..first.clone() }.is_open(Timestamp(4999)));
        assert!(first.is_for("ada@example.ORG") && !first.is_for("bob@example.org"));
        let others = ["b@example.org".to_owned(), "c@example.org".to_owned()];
        let all: Vec<_> = created_invitations(&first, &others).collect();
        let ids: Vec<u32> = all.iter().map(|invitation| invitation.id.0).collect();
        assert_eq!(ids, [7, 8, 9]);
        assert!(all[2].is_for("c@example.org") && !all[2].is_for("ada@example.org"));
        let link = Invitation { address: None, expires: None, ..first };
        assert!(link.is_reusable() && link.is_open(Timestamp(u64::MAX)) && !link.is_for(""));
        assert!(!Invitation { state: InvitationState::Revoked, ..link }.is_open(Timestamp(0)));
    }
}
