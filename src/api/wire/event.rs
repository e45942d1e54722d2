//! Events as clients read them (docs/api/events.md), one file for each type.
//!
//! [`EventWriter::push_body`] is the only place that chooses the encoding of an event; its match is exhaustive. Most
//! events are encoded once, and the bytes are shared by all queues that get the same form. Flags, local ids and numbers
//! differ from queue to queue and are written after the shared bytes.

mod alert_words;
mod attachment;
mod channel_folder;
mod custom_profile_fields;
mod default_stream_groups;
mod default_streams;
mod delete_message;
mod drafts;
mod message;
mod muted_topics;
mod muted_users;
mod navigation_view;
mod onboarding_steps;
mod presence;
mod push_device;
mod reaction;
mod realm;
mod realm_bot;
mod realm_domains;
mod realm_emoji;
mod realm_export;
mod realm_export_consent;
mod realm_linkifiers;
mod realm_playgrounds;
mod realm_user;
mod realm_user_settings_defaults;
mod reminders;
mod saved_snippets;
mod scheduled_messages;
mod stream;
mod submessage;
mod subscription;
mod typing;
mod typing_edit_message;
mod update_display_settings;
mod update_global_notifications;
mod update_message;
mod update_message_flags;
mod user_group;
mod user_settings;
mod user_status;
mod user_topic;
mod writer;

pub use writer::EventWriter;

use super::folder::folder as folder_json;
use super::json::push_text_field;
use super::message::push_flags;
use super::navigation::view as view_json;
use super::settings::setting;
use actors::Delivered;
use alert_words::AlertWords;
use channel_folder::ChannelFolder;
use default_streams::DefaultStreams;
use model::EventBody;
use model::event::SettingForm;
use navigation_view::NavigationView;
use realm_bot::RealmBot;
use realm_export_consent::RealmExportConsent;
use realm_user_settings_defaults::RealmUserSettingsDefaults;
use subscription::Subscription;
use user_group::UserGroupEvent;
use writer::{ANY, OWN, Target, finish};

/// Bytes of events in one answer, from which on no further ones are written: the client asks for the rest with the id of the
/// last one. An answer above the share of an account would be refused, again and again.
pub const ANSWER_BYTES_MAX: usize = 2 << 20;

impl EventWriter<'_> {
    /// Writes the first events of a list, at least one and as many as fit into an answer. Consecutive changes of the same flag are
    /// merged into one event.
    pub fn push_all(&self, out: &mut Vec<u8>, events: &[Delivered]) {
        let start = out.len();
        out.push(b'[');
        let mut rest = events;
        while !rest.is_empty() && out.len() - start < ANSWER_BYTES_MAX {
            if rest.len() < events.len() {
                out.push(b',');
            }
            let merged = update_message_flags::mergeable(rest);
            if merged > 1 {
                update_message_flags::push_merged(self, out, &rest[..merged]);
            } else {
                self.push(out, &rest[0]);
            }
            rest = &rest[merged.max(1)..];
        }
        out.push(b']');
    }

    fn push(&self, out: &mut Vec<u8>, delivered: &Delivered) {
        let event = &*delivered.event;
        if let EventBody::MessagesDeleted { place, messages } = &event.body
            && !self.options.capabilities.bulk_message_deletion
        {
            return delete_message::push_single(self, out, event, place.as_ref(), messages);
        }
        self.push_body(Target { out, event });
        if let EventBody::Message { .. } | EventBody::MessageChanged(_) = &event.body {
            push_flags(out, delivered.flags);
            if let Some(local_id) = &delivered.local_id {
                push_text_field(out, "local_message_id", local_id);
            }
        }
        finish(out, event.number.0);
    }

    /// Writes an event up to what differs from queue to queue.
    #[expect(
        clippy::too_many_lines,
        reason = "one arm for each event, so that the compiler names a missing one"
    )]
    fn push_body(&self, to: Target<'_>) {
        // Forms that depend on the queue; at most `EVENT_FORMS_MAX` for each event.
        let topics = Some(usize::from(self.options.capabilities.empty_topic_name));
        let nulls = Some(usize::from(self.options.capabilities.notification_settings_null));
        match &to.event.body {
            EventBody::Message { message, context } => {
                to.bytes(message::form(self, message), || message::encode(self, message, context));
            }
            EventBody::Flags { flag, op, messages, details } => {
                to.fields(OWN, || update_message_flags::changed(self, *flag, *op, messages, details));
            }
            EventBody::ChannelsCreated(channels) => to.fields(ANY, || stream::create(self, channels)),
            EventBody::ChannelsLost(ids) => to.fields(ANY, || stream::delete(ids)),
            EventBody::ChannelChanged { channel, name, change } => {
                to.fields(ANY, || stream::update(self, *channel, name, change));
            }
            EventBody::MessageChanged(change) => to.fields(topics, || update_message::changed(self, change)),
            EventBody::MessagesDeleted { place, messages } => {
                let form = place.as_ref().map_or(0, |(_, topic)| self.topic_form(topic));
                to.fields(Some(form), || delete_message::bulk(self, place.as_ref(), messages));
            }
            EventBody::Reaction { message, reaction, user, is_added } => {
                let form = self.unless_restricted(ANY);
                to.fields(form, || reaction::changed(self, *message, reaction, user, *is_added));
            }
            EventBody::Submessage { message, submessage } => {
                to.fields(ANY, || submessage::added(*message, submessage));
            }
            EventBody::SubscriptionChanged { channel, change } => {
                to.fields(nulls, || subscription::update(self, *channel, change));
            }
            EventBody::FolderAdded(folder) => {
                to.fields(ANY, || ChannelFolder::Add { channel_folder: folder_json(folder) });
            }
            EventBody::FolderChanged { folder, change } => to.fields(ANY, || ChannelFolder::Update {
                channel_folder_id: *folder,
                data: channel_folder::data(change),
            }),
            EventBody::FoldersReordered(order) => to.fields(ANY, || ChannelFolder::Reorder { order }),
            EventBody::AlertWords(alert_words) => to.fields(ANY, || AlertWords { alert_words }),
            EventBody::UserStatus { user, change } => to.fields(ANY, || user_status::changed(*user, change)),
            EventBody::MutedUsers(users) => to.fields(ANY, || muted_users::all(users)),
            EventBody::NavigationViewAdded { fragment, view } => {
                to.fields(ANY, || NavigationView::Add { navigation_view: view_json(fragment, view) });
            }
            EventBody::NavigationViewChanged { fragment, is_pinned, name } => to.fields(ANY, || {
                let data = navigation_view::Data { is_pinned: *is_pinned, name: name.as_deref() };
                NavigationView::Update { fragment, data }
            }),
            EventBody::NavigationViewRemoved(fragment) => {
                to.fields(ANY, || NavigationView::Remove { fragment });
            }
            EventBody::Attachment { change, space_used } => {
                to.fields(ANY, || attachment::changed(change, *space_used));
            }
            EventBody::Drafts { owner, change } => to.fields(ANY, || drafts::changed(*owner, change)),
            EventBody::ScheduledMessages { owner, change } => {
                to.fields(ANY, || scheduled_messages::changed(*owner, change));
            }
            EventBody::Reminders { owner, change } => {
                to.fields(ANY, || reminders::changed(*owner, change));
            }
            EventBody::SavedSnippets(change) => to.fields(ANY, || saved_snippets::changed(change)),
            EventBody::ProfileFields(fields) => to.fields(ANY, || custom_profile_fields::all(fields)),
            EventBody::RealmChanged(changes) => to.fields(ANY, || realm::settings(self, changes)),
            EventBody::UserChanged { user, change } => {
                to.fields(ANY, || realm_user::update(self, *user, change))
            }
            EventBody::SettingChanged(changed) => match changed.form {
                SettingForm::Modern => to.fields(ANY, || user_settings::update(self, changed)),
                SettingForm::Display => to.fields(ANY, || update_display_settings::changed(self, changed)),
                SettingForm::Notifications => {
                    to.fields(ANY, || update_global_notifications::changed(self, changed));
                }
            },
            EventBody::SubscriptionsAdded(added) => to.fields(nulls, || subscription::add(self, added)),
            EventBody::SubscriptionsRemoved(removed) => to.fields(ANY, || subscription::remove(removed)),
            EventBody::PeersAdded { channel, users } => {
                to.fields(ANY, || Subscription::PeerAdd { stream_ids: [*channel], user_ids: users });
            }
            EventBody::PeersRemoved { channel, users } => {
                to.fields(ANY, || Subscription::PeerRemove { stream_ids: [*channel], user_ids: users });
            }
            EventBody::DefaultChannels(default_streams) => {
                to.fields(ANY, || DefaultStreams { default_streams })
            }
            EventBody::UserTopic { channel, topic, updated, policy } => {
                let form = Some(self.topic_form(topic));
                to.fields(form, || user_topic::changed(self, *channel, topic, *updated, *policy));
            }
            EventBody::MutedTopics(muted) => to.fields(topics, || muted_topics::all(self, muted)),
            EventBody::Typing { sender, is_start, conversation } => {
                let form = self.unless_restricted(topics);
                to.fields(form, || typing::changed(self, sender, *is_start, conversation));
            }
            EventBody::EditTyping { sender, is_start, message, conversation } => {
                let changed =
                    || typing_edit_message::changed(self, *sender, *is_start, *message, conversation);
                to.fields(topics, changed);
            }
            EventBody::OnboardingSteps(steps) => to.fields(ANY, || onboarding_steps::all(steps)),
            EventBody::Exports(exports) => to.fields(ANY, || realm_export::all(exports)),
            EventBody::ExportConsent { user, consented } => {
                to.fields(ANY, || RealmExportConsent { user_id: *user, consented: *consented });
            }
            EventBody::DefaultChannelGroups(groups) => to.fields(ANY, || default_stream_groups::all(groups)),
            EventBody::Presence { user, active, idle, server, .. } => {
                let form = Some(presence::form(self));
                to.fields(form, || presence::report(self, user, *active, *idle, *server));
            }
            EventBody::UserAdded(user) => to.fields(OWN, || realm_user::add(self, user)),
            EventBody::UnknownUserAdded(user) => to.fields(ANY, || realm_user::add_unknown(self, user)),
            EventBody::UserRemoved(user) => to.fields(ANY, || realm_user::remove(*user)),
            EventBody::DefaultSettingChanged { name, value } => to.fields(ANY, || {
                RealmUserSettingsDefaults::Update { property: name, value: setting(self.directory, value) }
            }),
            EventBody::GroupAdded(group) => to.fields(ANY, || user_group::add(self, group)),
            EventBody::GroupMembersAdded { group, users } => {
                to.fields(ANY, || UserGroupEvent::AddMembers { group_id: *group, user_ids: users });
            }
            EventBody::GroupMembersRemoved { group, users } => {
                to.fields(ANY, || UserGroupEvent::RemoveMembers { group_id: *group, user_ids: users });
            }
            EventBody::GroupChanged { group, change } => {
                to.fields(ANY, || user_group::update(self, *group, change));
            }
            EventBody::SubgroupsAdded { group, subgroups } => to.fields(ANY, || {
                UserGroupEvent::AddSubgroups { group_id: *group, direct_subgroup_ids: subgroups }
            }),
            EventBody::SubgroupsRemoved { group, subgroups } => {
                to.fields(ANY, || UserGroupEvent::RemoveSubgroups {
                    group_id: *group,
                    direct_subgroup_ids: subgroups,
                });
            }
            EventBody::GroupRemoved(group) => to.fields(ANY, || UserGroupEvent::Remove { group_id: *group }),
            EventBody::Domain { domain, op } => to.fields(ANY, || realm_domains::changed(domain, *op)),
            EventBody::Linkifiers(linkifiers) => to.fields(ANY, || realm_linkifiers::all(linkifiers)),
            EventBody::Playgrounds(playgrounds) => to.fields(ANY, || realm_playgrounds::all(playgrounds)),
            EventBody::RealmDeactivated(realm) => to.fields(ANY, || realm::deactivated(*realm)),
            EventBody::PushDeviceChanged { account, status } => {
                to.fields(ANY, || push_device::status(*account, status));
            }
            EventBody::BotAdded { bot, config, integration, with_secrets } => {
                to.fields(ANY, || realm_bot::add(self, bot, (config, integration), *with_secrets));
            }
            EventBody::BotChanged { bot, change } => to.fields(ANY, || realm_bot::update(self, *bot, change)),
            EventBody::BotRemoved(bot) => {
                to.fields(ANY, || RealmBot::Delete { bot: realm_bot::Deleted { user_id: *bot } });
            }
            EventBody::RealmEmoji(all) => to.fields(ANY, || realm_emoji::update(self, all)),
            EventBody::RealmPictureChanged { which, url, source } => {
                to.fields(ANY, || realm::picture(*which, url, source));
            }
            EventBody::InvitationsChanged => to.fields(ANY, || ()),
            EventBody::Heartbeat => to.fields(OWN, || ()),
        }
    }
}

#[cfg(test)]
mod tests;
