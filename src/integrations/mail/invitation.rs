//! The e-mail with an invitation.

use super::Email;
use super::emails::MailContext;
use crate::hosts::invitation_link;
use model::{InvitationId, Timestamp};
use rules::invitations::open_invitation;

impl MailContext<'_> {
    /// The invitation with its link, while it can be accepted.
    pub(super) fn invitation(&self, id: InvitationId, now: Timestamp) -> Result<(String, Email), String> {
        let invitation = self.directory.invitation(id).ok_or("there is no such invitation")?;
        let address = invitation.address.clone().ok_or("a reusable invitation has no recipient")?;
        open_invitation(&self.directory, invitation, now)
            .map_err(|_| "the invitation can no longer be used")?;
        let inviter = self.user(invitation.inviter)?;
        let (organization, inviter_name) = (self.name(), &inviter.full_name);
        let email = Email::new(format!("{inviter_name} has invited you to join {organization}"))
            .paragraph("Hi there,")
            .paragraph(format!(
                "{inviter_name} ({}) has invited you to join {organization}, a team chat. \
                 To get started, please open this link:",
                inviter.delivery_email
            ))
            .link("Complete registration", invitation_link(self.realm, &self.url, id));
        let email = match days_left(invitation.expires, now) {
            Some(left) => email.paragraph(format!("The link expires in {left}.")),
            None => email,
        };
        let email = email.paragraph(format!(
            "Do not share this link: it lets anyone join {organization} in your place. If you do not know \
             {inviter_name}, you can ignore this email."
        ));
        Ok((address, email))
    }
}

/// The time until then as text; none if it never expires.
fn days_left(expires: Option<Timestamp>, now: Timestamp) -> Option<String> {
    let minutes = expires?.millis_since(now).div_ceil(60_000);
    let words = |count: u64, unit: &str| format!("{count} {unit}{}", if count == 1 { "" } else { "s" });
    Some(match minutes {
        0..120 => words(minutes, "minute"),
        120..2880 => words(minutes / 60, "hour"),
        _ => words(minutes / 1440, "day"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remaining_time_in_largest_unit() {
        let now = Timestamp(1_000_000);
        let left = |secs| days_left(Some(now.plus_secs(secs)), now);
        for (secs, expected) in [
            (60, "1 minute"),
            (3600, "60 minutes"),
            (2 * 3600, "2 hours"),
            (47 * 3600, "47 hours"),
            (10 * 86_400, "10 days"),
        ] {
            assert_eq!(left(secs).as_deref(), Some(expected));
        }
        assert_eq!(days_left(None, now), None);
    }
}
