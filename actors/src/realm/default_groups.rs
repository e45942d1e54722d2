//! Groups of default channels (docs/api/channels.md#groups-of-default-channels).

use super::groups::requester;
use super::serialized::{DecisionContext, SerializedCommand};
use crate::error::DomainError;
use model::{ChannelFact, ChannelId, Directory, Fact, UserId};
use rules::default_groups::{DefaultGroupChange, change_default_groups, without_channel};

/// Change the groups of default channels.
pub struct ChangeDefaultGroups {
    /// The acting user.
    pub by: UserId,
    /// The requested change.
    pub change: DefaultGroupChange,
}

impl SerializedCommand for ChangeDefaultGroups {
    type Outcome = ();

    fn decide(self, context: &mut DecisionContext<'_>) -> Result<((), Vec<Fact>), DomainError> {
        let directory = &context.directory;
        let groups = change_default_groups(directory, requester(directory, self.by)?, &self.change)?;
        if groups == **directory.default_groups() {
            return Ok(((), Vec::new()));
        }
        Ok(((), vec![Fact::Channel(ChannelFact::DefaultGroupsChanged(Box::new(groups)))]))
    }
}

/// Takes a channel that is archived or becomes private out of the groups; none if it is in no group.
pub(super) fn leave_default_groups(directory: &Directory, channel: ChannelId) -> Option<Fact> {
    let groups = without_channel(directory, channel)?;
    Some(Fact::Channel(ChannelFact::DefaultGroupsChanged(Box::new(groups))))
}
