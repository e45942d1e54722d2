//! An estimate of the memory that an event takes, which bounds the memory of queues.

use super::{
    BotChange, ChangedSetting, ChannelChange, ChannelSummary, Event, EventBody, FolderChange, GroupChange,
    MessageChange, SubscribedChannel, TextChange, TypingConversation, UnreadDetail, UserChange,
};
use crate::bot::{BotIntegration, WebhookService};
use crate::channel::{ChannelFolder, ChannelPermissions};
use crate::group::{GroupPermissions, GroupSetting, UserGroup};
use crate::ids::ScheduledMessageId;
use crate::lists::{LinkifierRecord, Playground};
use crate::profile_field::{ProfileField, ProfileValue};
use crate::setting::SettingValue;
use crate::texts::{DraftTo, SavedDraft, ScheduledMessage, ScheduledTo};
use crate::user::User;

/// Bytes for the record, the names and ids of a small event, and the encoded form without its content.
const FIXED_BYTES: usize = 1024;
/// Bytes of one id in a list, as stored and as encoded.
const ID_BYTES: usize = 16;
/// Bytes of one participant of a conversation, as encoded: id, address and name.
const PARTICIPANT_BYTES: usize = 512;
/// Bytes of one channel without its description and permissions.
const CHANNEL_BYTES: usize = 1024;
/// Bytes of one record of a list without its texts.
const RECORD_BYTES: usize = 128;

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
                text_bytes([&message.content, &message.rendered])
                    + PARTICIPANT_BYTES * context.participants.len()
            }
            Self::MessageChanged(change) => message_change_bytes(change),
            Self::Flags { messages, details, .. } => {
                ID_BYTES * messages.len() + details.iter().map(unread_bytes).sum::<usize>()
            }
            Self::MessagesDeleted { messages, .. } => ID_BYTES * messages.len(),
            Self::Submessage { submessage, .. } => text_bytes([&submessage.content]),
            Self::ChannelsCreated(channels) => channels.iter().map(channel_bytes).sum(),
            Self::ChannelsLost(channels) => 2 * ID_BYTES * channels.len(),
            Self::ChannelChanged { change, .. } => channel_change_bytes(change),
            Self::FolderAdded(folder) => folder_bytes(folder),
            Self::FolderChanged { change, .. } => folder_change_bytes(change),
            Self::FoldersReordered(folders) => ID_BYTES * folders.len(),
            Self::SubscriptionsAdded(channels) => channels.iter().map(subscribed_bytes).sum(),
            Self::SubscriptionsRemoved(channels) => {
                channels.iter().map(|(_, name)| RECORD_BYTES + text_bytes([name])).sum()
            }
            Self::DefaultChannels(channels) => ID_BYTES * channels.len(),
            Self::PeersAdded { users, .. } | Self::PeersRemoved { users, .. } => ID_BYTES * users.len(),
            Self::GroupAdded(group) => group_bytes(group),
            Self::GroupChanged { change, .. } => group_change_bytes(change),
            Self::GroupMembersAdded { users, .. } | Self::GroupMembersRemoved { users, .. } => {
                ID_BYTES * users.len()
            }
            Self::SubgroupsAdded { subgroups, .. } | Self::SubgroupsRemoved { subgroups, .. } => {
                ID_BYTES * subgroups.len()
            }
            Self::MutedUsers(users) => 32 * users.len(),
            Self::MutedTopics(topics) => {
                topics.iter().map(|(channel, topic, _)| RECORD_BYTES + text_bytes([channel, topic])).sum()
            }
            Self::AlertWords(words) => words.iter().map(|word| text_bytes([word]) + 32).sum(),
            Self::RealmEmoji(emoji) => 512 * emoji.len(),
            Self::Exports(all) => all.items.iter().map(|export| 512 + export.url.len()).sum(),
            Self::DefaultChannelGroups(groups) => {
                groups.items.iter().map(|group| 4096 + ID_BYTES * group.channels.len()).sum()
            }
            Self::Linkifiers(all) => all.items.iter().map(linkifier_bytes).sum(),
            Self::Playgrounds(all) => all.items.iter().map(playground_bytes).sum(),
            Self::ProfileFields(fields) => fields.list.iter().map(profile_field_bytes).sum(),
            Self::RealmChanged(settings) => {
                settings.iter().map(|(_, value)| RECORD_BYTES + setting_bytes(value)).sum()
            }
            Self::SettingChanged(ChangedSetting { value, .. })
            | Self::DefaultSettingChanged { value, .. } => setting_bytes(value),
            Self::UserAdded(user) | Self::UnknownUserAdded(user) => user_bytes(user),
            Self::UserChanged { change, .. } => user_change_bytes(change),
            Self::NavigationViewAdded { fragment, view } => view_bytes(fragment, view.name.as_deref()),
            Self::NavigationViewChanged { fragment, name, .. } => view_bytes(fragment, name.as_deref()),
            Self::NavigationViewRemoved(fragment) => view_bytes(fragment, None),
            Self::Attachment { change, .. } => 2048 + 64 * change.uses(),
            Self::SavedSnippets(change) => {
                change.texts().map(|snippet| text_bytes([&snippet.title, &snippet.content])).sum()
            }
            Self::Drafts { change, .. } => change.texts().map(draft_bytes).sum(),
            Self::ScheduledMessages { change, .. } | Self::Reminders { change, .. } => {
                scheduled_bytes(change)
            }
            Self::Typing { conversation, .. } | Self::EditTyping { conversation, .. } => {
                conversation_bytes(conversation)
            }
            Self::BotAdded { config, integration, .. } => {
                service_bytes(config.service.as_ref()) + integration_bytes(integration)
            }
            Self::BotChanged { change, .. } => bot_change_bytes(change),
            // Of a fixed size, or with short names and addresses only.
            Self::Reaction { .. }
            | Self::SubscriptionChanged { .. }
            | Self::UserStatus { .. }
            | Self::UserTopic { .. }
            | Self::OnboardingSteps(_)
            | Self::ExportConsent { .. }
            | Self::Presence { .. }
            | Self::UserRemoved(_)
            | Self::GroupRemoved(_)
            | Self::Domain { .. }
            | Self::InvitationsChanged
            | Self::RealmDeactivated(_)
            | Self::PushDeviceChanged { .. }
            | Self::BotRemoved(_)
            | Self::RealmPictureChanged { .. }
            | Self::Heartbeat => 0,
        }
    }
}

/// Bytes of texts, as stored and as encoded.
fn text_bytes<'t>(texts: impl IntoIterator<Item = &'t String>) -> usize {
    texts.into_iter().map(|text| 2 * text.len()).sum()
}

fn scheduled_bytes(change: &TextChange<ScheduledMessageId, ScheduledMessage>) -> usize {
    let people = |to: &ScheduledTo| match to {
        ScheduledTo::People(users) => ID_BYTES * users.len(),
        ScheduledTo::Channel { .. } => 0,
    };
    change.texts().map(|text| people(&text.to) + text_bytes([&text.content, &text.rendered])).sum()
}

fn draft_bytes(draft: &SavedDraft) -> usize {
    let people = match &draft.to {
        DraftTo::People(users) => ID_BYTES * users.len(),
        DraftTo::Nowhere | DraftTo::Channel { .. } => 0,
    };
    RECORD_BYTES + people + text_bytes([&draft.content])
}

fn integration_bytes(integration: &BotIntegration) -> usize {
    2 * integration.bytes() + 32 * integration.data.len()
}

fn service_bytes(service: Option<&WebhookService>) -> usize {
    service.map_or(0, |service| text_bytes([&service.name, &service.base_url]))
}

fn bot_change_bytes(change: &BotChange) -> usize {
    match change {
        BotChange::Integration(integration) => integration_bytes(integration),
        BotChange::Service { service, .. } => service_bytes(service.as_ref()),
        BotChange::FullName(_)
        | BotChange::Email(_)
        | BotChange::IsActive(_)
        | BotChange::ApiKey(_)
        | BotChange::ApiKeyHidden
        | BotChange::Avatar
        | BotChange::Owner(_)
        | BotChange::SendingChannel(_)
        | BotChange::RegisterChannel(_)
        | BotChange::AllPublicChannels(_) => 0,
    }
}

fn channel_bytes(summary: &ChannelSummary) -> usize {
    let channel = &summary.channel;
    CHANNEL_BYTES
        + text_bytes([&channel.description, &channel.rendered_description])
        + channel_permission_bytes(&channel.permissions)
}

fn subscribed_bytes(channel: &SubscribedChannel) -> usize {
    channel_bytes(&channel.summary) + ID_BYTES * channel.subscribers.len()
}

fn channel_change_bytes(change: &ChannelChange) -> usize {
    match change {
        ChannelChange::Name(name) => text_bytes([name]),
        ChannelChange::Description { text, rendered } => text_bytes([text, rendered]),
        ChannelChange::Permission(_, holders) => holder_bytes(holders),
        ChannelChange::Privacy { .. }
        | ChannelChange::Retention(_)
        | ChannelChange::TopicsPolicy(_)
        | ChannelChange::Folder(_)
        | ChannelChange::PostPolicy(_)
        | ChannelChange::AnnouncementOnly(_)
        | ChannelChange::Archived(_)
        | ChannelChange::Activity(_)
        | ChannelChange::FirstMessage(_) => 0,
    }
}

fn folder_bytes(folder: &ChannelFolder) -> usize {
    text_bytes([&folder.name, &folder.description, &folder.rendered_description])
}

fn folder_change_bytes(change: &FolderChange) -> usize {
    let description = change.description.as_ref().map_or(0, |(text, html)| text_bytes([text, html]));
    text_bytes(&change.name) + description
}

fn group_bytes(group: &UserGroup) -> usize {
    text_bytes([&group.name, &group.description])
        + ID_BYTES * (group.members.len() + group.subgroups.len())
        + group_permission_bytes(&group.permissions)
}

fn group_change_bytes(change: &GroupChange) -> usize {
    let permissions = change.permissions.iter().map(|(_, holders)| holder_bytes(holders));
    text_bytes(change.name.iter().chain(&change.description)) + permissions.sum::<usize>()
}

/// Bytes of the holders of a permission.
fn holder_bytes(holders: &GroupSetting) -> usize {
    match holders {
        GroupSetting::Group(_) => 0,
        GroupSetting::Anonymous { members, subgroups } => ID_BYTES * (members.len() + subgroups.len()),
    }
}

fn channel_permission_bytes(permissions: &ChannelPermissions) -> usize {
    permissions.values().into_iter().map(holder_bytes).sum()
}

fn group_permission_bytes(permissions: &GroupPermissions) -> usize {
    permissions.values().into_iter().map(holder_bytes).sum()
}

fn linkifier_bytes(linkifier: &LinkifierRecord) -> usize {
    RECORD_BYTES + text_bytes([&linkifier.pattern, &linkifier.url_template])
}

fn playground_bytes(playground: &Playground) -> usize {
    RECORD_BYTES + text_bytes([&playground.name, &playground.language, &playground.url_template])
}

fn profile_field_bytes(field: &ProfileField) -> usize {
    RECORD_BYTES + text_bytes([&field.name, &field.hint, &field.data])
}

fn profile_value_bytes(value: &ProfileValue) -> usize {
    text_bytes(value.html.iter().chain([&value.text]))
}

fn setting_bytes(value: &SettingValue) -> usize {
    match value {
        SettingValue::Text(text) => text_bytes([text]),
        SettingValue::Group(holders) => holder_bytes(holders),
        SettingValue::Bool(_) | SettingValue::Int(_) | SettingValue::Null => 0,
    }
}

fn user_bytes(user: &User) -> usize {
    user.profile_data.values().map(|value| RECORD_BYTES + profile_value_bytes(value)).sum()
}

fn user_change_bytes(change: &UserChange) -> usize {
    match change {
        UserChange::FullName(text) | UserChange::Email(text) | UserChange::Timezone(text) => {
            text_bytes([text])
        }
        UserChange::DeliveryEmail(email) => text_bytes(email),
        UserChange::Avatar { url, medium_url, .. } => text_bytes([url, medium_url]),
        UserChange::ProfileValue(_, value) => value.as_ref().map_or(0, profile_value_bytes),
        UserChange::Role(_) | UserChange::IsActive(_) | UserChange::BotOwner(_) => 0,
    }
}

fn view_bytes(fragment: &str, name: Option<&str>) -> usize {
    2 * (fragment.len() + name.map_or(0, str::len))
}

fn conversation_bytes(conversation: &TypingConversation) -> usize {
    match conversation {
        TypingConversation::Direct(users) => PARTICIPANT_BYTES * users.len(),
        TypingConversation::Channel { topic, .. } => text_bytes([topic]),
    }
}

fn unread_bytes(detail: &UnreadDetail) -> usize {
    512 + ID_BYTES * detail.users.len()
}

fn message_change_bytes(change: &MessageChange) -> usize {
    let content = change.content.as_ref().map_or(0, |content| {
        text_bytes([&content.orig_content, &content.orig_rendered, &content.content, &content.rendered])
    });
    content + ID_BYTES * change.messages.len()
}

#[cfg(test)]
mod tests;
