//! How many invitations an account and an organization may have, and how many e-mails with invitations they may send.

use crate::error::{InvitationError, InvitingRefusal};
use model::{Directory, Invitation, InvitationId, Timestamp, User, UserId};
use std::collections::HashMap;
use std::sync::Arc;

/// The period of the daily limits, in seconds.
pub(super) const DAY_SECS: u64 = 24 * 3600;

/// The period of the limit of one invitation, in seconds.
const HOUR_SECS: u64 = 3600;

/// Invitations that one account may have sent, of those that count: see `counted`.
pub const INVITATIONS_OF_INVITER_MAX: usize = 10_000;

/// Invitations that all accounts of an organization may have sent, of those that count.
pub const INVITATIONS_MAX: usize = 50_000;

/// Bytes of the texts, channels and groups of the invitations of one account, of those that count.
pub const INVITATION_BYTES_MAX: usize = 4 << 20;

/// How often invitations of an organization are sent again in 24 hours, whatever the configuration says: the time of each is kept.
const RESENDS_DAILY_MAX: usize = 100_000;

/// Invitations count for so long after they were sent, in seconds, even if they are used or revoked: their records are kept.
const COUNTED_SECS: u64 = 30 * DAY_SECS;

/// The configured bounds of e-mails with invitations; 0 is no bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InvitationLimits {
    /// E-mails of an organization in 24 hours.
    pub daily_max: usize,
    /// E-mails in 24 hours of an account that is no administrator.
    pub member_daily_max: usize,
    /// How often one invitation is sent again in an hour.
    pub resends_hourly_max: usize,
}

/// The bounds of e-mails with invitations, and what is known of those that were sent.
#[derive(Clone, Copy, Debug)]
pub struct SentInvitations<'s> {
    pub limits: InvitationLimits,
    pub resent: &'s ResentInvitations,
}

/// When invitations of an organization were sent again in the last 24 hours. Their records have the time of the last e-mail only.
#[derive(Clone, Debug, Default)]
pub struct ResentInvitations(HashMap<InvitationId, Resent>);

#[derive(Clone, Debug)]
struct Resent {
    /// When it was sent before it was sent again.
    before: Timestamp,
    again: Vec<Timestamp>,
}

impl ResentInvitations {
    /// Notes that an invitation, with the record as it was before, is sent again now.
    pub fn note(&mut self, invitation: &Invitation, now: Timestamp) {
        let first = || Resent { before: invitation.sent, again: Vec::new() };
        self.0.entry(invitation.id).or_insert_with(first).again.push(now);
    }

    /// Forgets what was sent longer than a day ago.
    pub fn forget_old(&mut self, now: Timestamp) {
        self.0.retain(|_, resent| {
            resent.again.retain(|at| is_recent(*at, now, DAY_SECS));
            !resent.again.is_empty()
        });
    }

    /// How often an invitation was sent again in the last hour.
    fn in_last_hour(&self, invitation: InvitationId, now: Timestamp) -> usize {
        let again = self.0.get(&invitation).into_iter().flat_map(|resent| &resent.again);
        again.filter(|at| is_recent(**at, now, HOUR_SECS)).count()
    }

    fn count(&self) -> usize {
        self.0.values().map(|resent| resent.again.len()).sum()
    }

    /// The e-mails of the last 24 hours with invitations that were sent again, the first ones included: who invited, and how many.
    fn in_last_day(&self, dir: &Directory, now: Timestamp) -> impl Iterator<Item = (UserId, usize)> {
        self.0.iter().filter_map(move |(id, resent)| {
            let times = std::iter::once(&resent.before).chain(&resent.again);
            let count = times.filter(|at| is_recent(**at, now, DAY_SECS)).count();
            Some((dir.invitation(*id)?.inviter, count))
        })
    }
}

fn is_recent(at: Timestamp, now: Timestamp, secs: u64) -> bool {
    now.millis_since(at) < secs * 1000
}

/// Whether an account may send this many further e-mails with invitations today: `NotSent` with `DailyLimit`.
pub(super) fn check_daily(
    dir: &Directory,
    sender: &User,
    count: usize,
    now: Timestamp,
    sent: SentInvitations<'_>,
) -> Result<(), InvitationError> {
    let InvitationLimits { daily_max, member_daily_max, resends_hourly_max: _ } = sent.limits;
    let own_max = if sender.is_administrator() { 0 } else { member_daily_max };
    if daily_max == 0 && own_max == 0 {
        return Ok(());
    }
    let is_once = |one: &&Arc<Invitation>| {
        let is_mailed = !one.is_reusable() && is_recent(one.sent, now, DAY_SECS);
        is_mailed && !sent.resent.0.contains_key(&one.id)
    };
    let once = counted(dir, now).filter(is_once).map(|one| (one.inviter, 1));
    let (mut all, mut own) = (count, count);
    for (inviter, mails) in once.chain(sent.resent.in_last_day(dir, now)) {
        all += mails;
        own += if inviter == sender.id { mails } else { 0 };
    }
    let exceeds = |count: usize, max: usize| max > 0 && count > max;
    if exceeds(all, daily_max) || exceeds(own, own_max) {
        return Err(InvitationError::NotSent { why: InvitingRefusal::DailyLimit, problems: Vec::new() });
    }
    Ok(())
}

/// Whether an account may send an invitation again now.
///
/// # Errors
/// `ResentTooOften`; `NotSent` with `DailyLimit`.
pub fn check_resend(
    dir: &Directory,
    sender: &User,
    invitation: &Invitation,
    now: Timestamp,
    sent: SentInvitations<'_>,
) -> Result<(), InvitationError> {
    let hourly_max = sent.limits.resends_hourly_max;
    let is_often = hourly_max > 0 && sent.resent.in_last_hour(invitation.id, now) >= hourly_max;
    if is_often || sent.resent.count() >= RESENDS_DAILY_MAX {
        return Err(InvitationError::ResentTooOften);
    }
    check_daily(dir, sender, 1, now, sent)
}

/// The invitations that can still be used, and those of the last 30 days.
fn counted(dir: &Directory, now: Timestamp) -> impl Iterator<Item = &Arc<Invitation>> {
    let is_counted = move |one: &&Arc<Invitation>| is_recent(one.sent, now, COUNTED_SECS);
    let open = dir.unexpired_invitations().filter(move |one| one.is_open(now));
    // The newest have the highest ids.
    let over = dir.invitations().rev().take_while(is_counted).filter(move |one| !one.is_open(now));
    open.chain(over)
}

/// Whether an inviter may send this many invitations like this one: `TooMany`, `TooManyOfRealm`, `TooLarge`.
pub(super) fn check_room(
    dir: &Directory,
    invitation: &Invitation,
    count: usize,
    now: Timestamp,
) -> Result<(), InvitationError> {
    let (mut all, mut own, mut bytes) = (count, count, count.saturating_mul(bytes_of(invitation)));
    for known in counted(dir, now) {
        all += 1;
        if known.inviter == invitation.inviter {
            own += 1;
            bytes = bytes.saturating_add(bytes_of(known));
        }
    }
    if own > INVITATIONS_OF_INVITER_MAX {
        return Err(InvitationError::TooMany { limit: INVITATIONS_OF_INVITER_MAX });
    }
    if all > INVITATIONS_MAX {
        return Err(InvitationError::TooManyOfRealm { limit: INVITATIONS_MAX });
    }
    if bytes > INVITATION_BYTES_MAX {
        return Err(InvitationError::TooLarge { limit: INVITATION_BYTES_MAX });
    }
    Ok(())
}

/// Bytes of the parts of an invitation that have no fixed size, except its address.
fn bytes_of(invitation: &Invitation) -> usize {
    let text = invitation.welcome_text.as_ref().map_or(0, String::len);
    text + size_of_val(&invitation.channels[..]) + size_of_val(&invitation.groups[..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use model::{InvitationState, Role};

    const NOW: Timestamp = Timestamp(100 * DAY_SECS * 1000);

    fn sent_at(id: u32, inviter: UserId, sent: Timestamp) -> Invitation {
        Invitation {
            id: InvitationId(id),
            address: Some(format!("person{id}@x.example")),
            inviter,
            role: Role::Member,
            channels: Vec::new(),
            groups: Vec::new(),
            includes_default_channels: false,
            notifies_inviter: true,
            welcome_text: None,
            sent,
            expires: None,
            state: InvitationState::Pending,
            has_expired: false,
        }
    }

    fn daily(
        dir: &Directory,
        sender: UserId,
        count: usize,
        limits: InvitationLimits,
        resent: &ResentInvitations,
    ) -> bool {
        check_daily(dir, dir.user(sender).unwrap(), count, NOW, SentInvitations { limits, resent }).is_ok()
    }

    #[test]
    fn members_and_organizations_have_a_bound_of_mails_a_day() {
        let mut dir = fixture::directory();
        let none = ResentInvitations::default();
        for id in 1..=3 {
            dir.put_invitation(sent_at(id, fixture::MEMBER, NOW));
        }
        let revoked =
            Invitation { state: InvitationState::Revoked, ..sent_at(4, fixture::OTHER_MEMBER, NOW) };
        dir.put_invitation(revoked);
        dir.put_invitation(Invitation { address: None, ..sent_at(5, fixture::MEMBER, NOW) });
        dir.put_invitation(sent_at(6, fixture::MEMBER, Timestamp(NOW.0 - DAY_SECS * 1000)));
        let limits = InvitationLimits { daily_max: 8, member_daily_max: 4, resends_hourly_max: 0 };
        for (sender, count, is_allowed) in [
            (fixture::MEMBER, 1, true),
            (fixture::MEMBER, 2, false),
            (fixture::OTHER_MEMBER, 3, true),
            (fixture::OTHER_MEMBER, 4, false),
            (fixture::ADMINISTRATOR, 4, true),
            (fixture::ADMINISTRATOR, 5, false),
        ] {
            assert_eq!(daily(&dir, sender, count, limits, &none), is_allowed, "{sender} {count}");
        }
        assert!(daily(&dir, fixture::MEMBER, 10_000, InvitationLimits::default(), &none));
        let own_only = InvitationLimits { daily_max: 0, ..limits };
        assert!(daily(&dir, fixture::ADMINISTRATOR, 10_000, own_only, &none));
    }

    #[test]
    fn each_mail_that_is_sent_again_counts() {
        let mut dir = fixture::directory();
        let limits = InvitationLimits { daily_max: 0, member_daily_max: 10, resends_hourly_max: 2 };
        let mut resent = ResentInvitations::default();
        let hours_ago = |hours: u64| Timestamp(NOW.0 - hours * HOUR_SECS * 1000);
        let mut invitation = sent_at(1, fixture::MEMBER, hours_ago(50));
        // One e-mail more than a day ago, and seven since.
        for hours in [30, 20, 15, 10, 5, 4, 3, 2] {
            resent.note(&invitation, hours_ago(hours));
            invitation.sent = hours_ago(hours);
        }
        // It counts even if the invitation is over.
        dir.put_invitation(Invitation { state: InvitationState::Revoked, ..invitation.clone() });
        for _ in 0..2 {
            assert!(daily(&dir, fixture::MEMBER, 3, limits, &resent));
            assert!(!daily(&dir, fixture::MEMBER, 4, limits, &resent));
            resent.forget_old(NOW);
        }
        let check = |invitation: &Invitation, now, resent: &ResentInvitations| {
            let sender = dir.user(fixture::MEMBER).unwrap();
            check_resend(&dir, sender, invitation, now, SentInvitations { limits, resent })
        };
        for _ in 0..2 {
            assert_eq!(check(&invitation, NOW, &resent), Ok(()));
            resent.note(&invitation, NOW);
        }
        assert_eq!(check(&invitation, NOW, &resent), Err(InvitationError::ResentTooOften));
        assert_eq!(check(&sent_at(2, fixture::MEMBER, NOW), NOW, &resent), Ok(()));
        assert_eq!(check(&invitation, NOW.plus_secs(HOUR_SECS), &resent), Ok(()));
        resent.note(&invitation, NOW.plus_secs(HOUR_SECS));
        let full = InvitationError::NotSent { why: InvitingRefusal::DailyLimit, problems: Vec::new() };
        assert_eq!(check(&invitation, NOW.plus_secs(HOUR_SECS), &resent), Err(full));
        resent.forget_old(NOW.plus_secs(2 * DAY_SECS));
        assert_eq!(resent.count(), 0);
    }
}
