//! An estimate of the memory that an event takes, which bounds the memory of queues.

use super::{BotChange, Event, EventBody, MessageChange, SubscribedChannel, TextChange};
use crate::bot::BotIntegration;
use crate::ids::ScheduledMessageId;
use crate::texts::ScheduledMessage;

/// Bytes for the record, the names and ids of a small event, and the encoded form without its content.
const FIXED_BYTES: usize = 1024;

impl Event {
    /// Bytes that the event takes with one encoded form. Depends only on the body, so it never changes.
    pub fn bytes(&self) -> usize {
        FIXED_BYTES + self.body.variable_bytes()
    }
}

impl EventBody {
    /// Bytes of the parts without a small bound. Text counts twice: as stored and as encoded.
    #[expect(
        clippy::too_many_lines,
        reason = "one line for each event, so that the compiler names a missing one"
    )]
    fn variable_bytes(&self) -> usize {
        match self {
            Self::Message { message, context } => {
                2 * (message.content.len() + message.rendered.len()) + 512 * context.participants.len()
            }
            Self::MessageChanged(change) => change_bytes(change),
            Self::Flags { messages, details, .. } => 16 * messages.len() + 512 * details.len(),
            Self::MessagesDeleted { messages, .. } => 16 * messages.len(),
            Self::Submessage { submessage, .. } => 2 * submessage.content.len(),
            Self::ChannelsCreated(channels) => 1024 * channels.len(),
            Self::SubscriptionsAdded(channels) => channels.iter().map(subscribed_bytes).sum(),
            Self::PeersAdded { users, .. } | Self::PeersRemoved { users, .. } => 16 * users.len(),
            Self::GroupMembersAdded { users, .. } | Self::GroupMembersRemoved { users, .. } => {
                16 * users.len()
            }
            Self::MutedUsers(users) => 32 * users.len(),
            Self::MutedTopics(topics) => 128 * topics.len(),
            Self::AlertWords(words) => words.iter().map(|word| 2 * word.len() + 32).sum(),
            Self::RealmEmoji(emoji) => 512 * emoji.len(),
            Self::Exports(all) => all.items.iter().map(|export| 512 + export.url.len()).sum(),
            Self::DefaultChannelGroups(groups) => {
                groups.items.iter().map(|group| 4096 + 16 * group.channels.len()).sum()
            }
            Self::Attachment { change, .. } => 2048 + 64 * change.uses(),
            Self::SavedSnippets(change) => change.texts().map(|snippet| 2 * snippet.content.len()).sum(),
            Self::Drafts { change, .. } => change.texts().map(|draft| 2 * draft.content.len() + 128).sum(),
            Self::ScheduledMessages { change, .. } | Self::Reminders { change, .. } => {
                scheduled_bytes(change)
            }
            Self::BotAdded { integration, .. } => integration_bytes(integration),
            Self::BotChanged { change: BotChange::Integration(integration), .. } => {
                integration_bytes(integration)
            }
            // Small, or bounded by what one request may set.
            Self::ChannelsLost(_)
            | Self::ChannelChanged { .. }
            | Self::Reaction { .. }
            | Self::SubscriptionChanged { .. }
            | Self::FolderAdded(_)
            | Self::FolderChanged { .. }
            | Self::FoldersReordered(_)
            | Self::UserStatus { .. }
            | Self::NavigationViewAdded { .. }
            | Self::NavigationViewChanged { .. }
            | Self::NavigationViewRemoved(_)
            | Self::ProfileFields(_)
            | Self::RealmChanged(_)
            | Self::UserChanged { .. }
            | Self::SettingChanged(_)
            | Self::SubscriptionsRemoved(_)
            | Self::DefaultChannels(_)
            | Self::UserTopic { .. }
            | Self::Typing { .. }
            | Self::EditTyping { .. }
            | Self::OnboardingSteps(_)
            | Self::ExportConsent { .. }
            | Self::Presence { .. }
            | Self::UserAdded(_)
            | Self::UnknownUserAdded(_)
            | Self::UserRemoved(_)
            | Self::DefaultSettingChanged { .. }
            | Self::GroupAdded(_)
            | Self::GroupChanged { .. }
            | Self::SubgroupsAdded { .. }
            | Self::SubgroupsRemoved { .. }
            | Self::GroupRemoved(_)
            | Self::Domain { .. }
            | Self::Linkifiers(_)
            | Self::Playgrounds(_)
            | Self::InvitationsChanged
            | Self::RealmDeactivated(_)
            | Self::PushDeviceChanged { .. }
            | Self::BotChanged { .. }
            | Self::BotRemoved(_)
            | Self::RealmPictureChanged { .. }
            | Self::Heartbeat => 0,
        }
    }
}

fn scheduled_bytes(change: &TextChange<ScheduledMessageId, ScheduledMessage>) -> usize {
    change.texts().map(|text| 2 * (text.content.len() + text.rendered.len())).sum()
}

fn integration_bytes(integration: &BotIntegration) -> usize {
    2 * integration.bytes() + 32 * integration.data.len()
}

fn subscribed_bytes(channel: &SubscribedChannel) -> usize {
    1024 + 16 * channel.subscribers.len()
}

fn change_bytes(change: &MessageChange) -> usize {
    let content = change.content.as_ref().map_or(0, |content| {
        let before = content.orig_content.len() + content.orig_rendered.len();
        before + content.content.len() + content.rendered.len()
    });
    2 * content + 16 * change.messages.len()
}
