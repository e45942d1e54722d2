//! Deactivating and reactivating accounts.

use super::{Rows, View, records};
use crate::error::StoreError;
use model::{ChannelId, MessageId, Subscription, User, UserId};

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
                subscription.go_on(last);
            } else {
                subscription.pause(last);
            }
            self.put::<records::Subscriptions>(rows, (channel, user), subscription)?;
        }
        Ok(())
    }
}
