//! The section `[invitations]`.

use rules::invitations::InvitationLimits;
use serde::Deserialize;
use std::num::NonZeroU64;

/// The section `[invitations]`: how long invitations are valid, and how many e-mails with them are sent.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InvitationSettings {
    pub valid_minutes: NonZeroU64,
    /// E-mails of an organization in 24 hours; 0 for no limit.
    pub daily_max: usize,
    /// E-mails in 24 hours of an account that is no administrator; 0 for no limit.
    pub member_daily_max: usize,
    /// How often one invitation is sent again in an hour; 0 for no limit.
    pub resends_hourly_max: usize,
}

impl InvitationSettings {
    /// The bounds of e-mails with invitations.
    pub fn limits(&self) -> InvitationLimits {
        let Self { valid_minutes: _, daily_max, member_daily_max, resends_hourly_max } = *self;
        InvitationLimits { daily_max, member_daily_max, resends_hourly_max }
    }
}
