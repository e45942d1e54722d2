//! What becomes of a person's or bot's records when the account is deactivated, and when it is in use again.

use super::{Rows, View};
use crate::error::StoreError;
use crate::tables;
use model::{ChannelId, MessageId, Subscription, User, UserId};

impl View {
    /// The account itself, and since when nothing is delivered to it.
    pub(super) fn apply_user_active(
        &mut self,
        user: UserId,
        is_active: bool,
        last: MessageId,
        rows: &mut Rows,
    ) -> Result<(), StoreError> {
        let Some(before) = self.directory.user(user) else { return Ok(()) };
        let record = User { is_active, ..User::clone(before) };
        rows.put(tables::user(self.realm(), user), &record)?;
        self.directory.put_user(record);
        let own = self.directory.subscriptions_of_user(user).filter(|(_, own)| own.is_active);
        let own: Vec<(ChannelId, Subscription)> =
            own.map(|(channel, own)| (channel, Subscription::clone(own))).collect();
        for (channel, mut subscription) in own {
            if is_active {
                subscription.go_on(last);
            } else {
                subscription.pause(last);
            }
            rows.put(tables::subscription(self.realm(), channel, user), &subscription)?;
            self.directory.put_subscription(channel, user, subscription);
        }
        Ok(())
    }
}
