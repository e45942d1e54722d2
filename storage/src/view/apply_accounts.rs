//! Deactivating, reactivating and deleting accounts.

use super::{Rows, View, records};
use crate::error::StoreError;
use model::{
    ChannelId, Invitation, InvitationState, MessageId, RecordedAuditEntry, Sequence, Subscription, User,
    UserId,
};

impl View {
    /// Changes the account and pauses or resumes its subscriptions.
    pub(super) fn apply_user_active(
        &mut self,
        user: UserId,
        is_active: bool,
        last: MessageId,
        rows: &mut Rows,
    ) -> Result<(), StoreError> {
        let Some(before) = self.directory.user(user) else { return Ok(()) };
        let record = User { is_active, ..User::clone(before) };
        self.put::<records::Users>(rows, user, record)?;
        let own = self.directory.subscriptions_of_user(user).filter(|(_, own)| own.is_active);
        let own: Vec<(ChannelId, Subscription)> =
            own.map(|(channel, own)| (channel, Subscription::clone(own))).collect();
        for (channel, mut subscription) in own {
            if is_active {
                subscription.resume(last);
            } else {
                subscription.pause(last);
            }
            self.put::<records::Subscriptions>(rows, (channel, user), subscription)?;
        }
        Ok(())
    }

    /// Removes the addresses and names of a user from invitations and from the audit log.
    pub(super) fn apply_data_erased(&mut self, user: UserId, rows: &mut Rows) -> Result<(), StoreError> {
        let Some(own) = self.directory.user(user).cloned() else { return Ok(()) };
        let placeholder = self.directory.deleted_email(user);
        let is_about = |invitation: &&std::sync::Arc<Invitation>| {
            invitation.address.is_some()
                && (invitation.state == InvitationState::Used(user) || invitation.is_for(&own.delivery_email))
        };
        let invitations: Vec<Invitation> =
            self.directory.invitations().filter(is_about).map(|found| Invitation::clone(found)).collect();
        for invitation in invitations {
            let erased = Invitation { address: Some(placeholder.clone()), ..invitation };
            self.put::<records::Invitations>(rows, erased.id, erased)?;
        }
        let entries: Vec<(Sequence, RecordedAuditEntry)> = self
            .audit_log
            .before(None)
            .map(|(sequence, entry)| (sequence, RecordedAuditEntry::clone(entry)))
            .collect();
        for (sequence, mut recorded) in entries {
            if recorded.entry.erase_user(user) {
                self.put::<records::AuditEntries>(rows, sequence, recorded)?;
            }
        }
        Ok(())
    }
}
