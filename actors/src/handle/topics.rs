//! Commands about what users want to see of topics.

use super::{RealmHandle, ask};
use crate::channel::SetTopicPolicy;
use crate::error::DomainError;
use model::{ChannelId, UserId, VisibilityPolicy};

impl RealmHandle {
    /// Sets a user's policy for a topic (normalized). No event and no wait where it is that already.
    ///
    /// # Errors
    /// Those of every command. Permissions are the caller's.
    pub async fn set_topic_policy(
        &self,
        user: UserId,
        channel: ChannelId,
        topic: String,
        policy: VisibilityPolicy,
    ) -> Result<(), DomainError> {
        let channel = self.channel(channel).await?;
        ask(&channel, |answer| SetTopicPolicy { user, topic, policy, answer }).await
    }
}
