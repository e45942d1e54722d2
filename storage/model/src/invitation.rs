//! Invitations: who may join an organization, as what, and until when (endpoints.md 10, companions.md 10).
//!
//! A record holds no secret: the link is derived from it and the server's own secret when it is needed.

use crate::ids::{ChannelId, GroupId, InvitationId, UserId};
use crate::time::Timestamp;
use crate::user::Role;
use serde::{Deserialize, Serialize};

/// What has become of an invitation. That its time is over is no state: a resent one is good again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum InvitationState {
    /// Open, if its time is not over.
    Pending,
    /// This account came of it; only for invitations of one address.
    Used(UserId),
    /// Taken back, or its address has come in another way.
    Revoked,
}

/// An invitation. Records are never removed, so that their ids are never given twice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invitation {
    /// Unique in the organization, of both kinds.
    pub id: InvitationId,
    /// Whose address it is for; none: a link that anybody may use, many times.
    pub address: Option<String>,
    /// Who invites.
    pub inviter: UserId,
    /// The role of the account that will come of it.
    pub role: Role,
    /// Channels that it will be subscribed to.
    pub channels: Vec<ChannelId>,
    /// Groups that it will be a direct member of.
    pub groups: Vec<GroupId>,
    /// Whether it will be subscribed to the default channels, too.
    pub includes_default_channels: bool,
    /// Whether the inviter is told.
    pub notifies_inviter: bool,
    /// What the welcome bot adds; empty for nothing, none for the organization's own text.
    pub welcome_text: Option<String>,
    /// When it was made, or sent again.
    pub sent: Timestamp,
    /// When its time is over; none: never.
    pub expires: Option<Timestamp>,
    /// What has become of it.
    pub state: InvitationState,
}

impl Invitation {
    /// Whether anybody who has the link may use it, many times.
    pub fn is_reusable(&self) -> bool {
        self.address.is_none()
    }

    /// Whether nobody has used it up or taken it back. Its time may be over all the same.
    pub fn is_pending(&self) -> bool {
        self.state == InvitationState::Pending
    }

    /// Whether its time is over.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
    }

    /// Whether somebody can join with it.
    pub fn is_open(&self, now: Timestamp) -> bool {
        self.is_pending() && !self.is_expired(now)
    }

    /// Whether it is for this address, without regard to case.
    pub fn is_for(&self, address: &str) -> bool {
        self.address.as_ref().is_some_and(|own| own.to_lowercase() == address.to_lowercase())
    }
}

/// What happened to invitations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum InvitationFact {
    /// Invitations came to be: `first`, and one like it for each other address, with the ids behind its own.
    Created {
        /// The record of the first.
        first: Invitation,
        /// Further addresses.
        others: Vec<String>,
    },
    /// Somebody joined with an invitation, which is used up if it was for one address.
    Accepted {
        /// Which.
        invitation: InvitationId,
        /// The new account.
        user: UserId,
    },
    /// They are good no longer.
    Revoked(Vec<InvitationId>),
    /// It was sent again, now.
    Resent {
        /// Which.
        invitation: InvitationId,
        /// When its time is over now.
        expires: Option<Timestamp>,
    },
}

impl InvitationFact {
    /// How many events it leads to: clients that list invitations are told to fetch them anew. Sending one again is
    /// no news.
    pub fn events_max(&self) -> u64 {
        match self {
            Self::Created { .. } | Self::Accepted { .. } | Self::Revoked(_) => 1,
            Self::Resent { .. } => 0,
        }
    }
}

/// The invitations that a creation makes.
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
    fn time_is_over_at_its_end_and_addresses_have_no_case() {
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
        };
        assert!(first.is_open(Timestamp(4999)) && !first.is_open(Timestamp(5000)));
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
