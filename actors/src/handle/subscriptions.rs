//! Commands about what one user sets for one channel.

use super::{RealmHandle, ask};
use crate::channel::ChangeSubscription;
use crate::error::DomainError;
use model::{ChannelId, UserId};
use rules::subscription_properties::SubscriptionChange;

impl RealmHandle {
    /// Sets one property of a user's subscription. No event and no wait where it has that value already.
    ///
    /// # Errors
    /// `NotSubscribed`, besides those of every command.
    pub async fn change_subscription(
        &self,
        user: UserId,
        channel: ChannelId,
        change: SubscriptionChange,
    ) -> Result<(), DomainError> {
        let channel = self.channel(channel).await?;
        ask(&channel, |answer| ChangeSubscription { user, change, answer }).await
    }
}
