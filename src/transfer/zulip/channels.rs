//! Channels with their folders, default channels, and subscriptions.

use super::organization::Builder;
use super::recipients::CHANNEL;
use super::spans::spans_of;
use super::survey::Survey;
use super::tables::{SubscriptionChange, SubscriptionRow};
use crate::transfer::rows::Row;
use model::{
    Channel, ChannelFact, ChannelFolder, ChannelId, DefaultChannelGroup, Fact, FolderId, Listed, MessageId,
    RecipientId, Subscription, SubscriptionFact, Timestamp, TopicsPolicy, UserId,
};
use rules::permissions::group_setting::{default_channel_permissions, system_group};
use rules::retention::is_idle;
use rules::settings::ChannelPermission;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};

/// Subscriptions in one fact.
const SUBSCRIPTIONS_MAX: usize = 1_000;
const SUBSCRIPTION: &str = "zerver_subscription";

impl Builder<'_> {
    /// Folders and channels.
    pub fn channels(&mut self, survey: &Survey) {
        let first = self.directory.users().find(|user| !user.is_bot()).map(|user| user.id);
        let mut order = 0;
        self.each_row("zerver_channelfolder", |own, row| {
            let id = FolderId(row.id("id").ok_or("without an id")?);
            let creator = own.user(row.id("creator").or_else(|| row.id("creator_id")));
            let creator = creator.or(first).unwrap_or_default();
            order += 1;
            let folder = ChannelFolder {
                id,
                name: row.text("name").to_owned(),
                description: row.text("description").to_owned(),
                rendered_description: own.render_description(row.text("description")),
                order: row.id("order").unwrap_or(order),
                created: row.time("date_created").unwrap_or(own.now),
                creator,
                is_archived: row.is("is_archived"),
            };
            own.directory.put_folder(folder.clone());
            own.facts.push(Fact::Channel(ChannelFact::FolderChanged(Box::new(folder))));
            Ok(())
        });
        let mut last = self.tables.recipients.keys().max().copied().unwrap_or_default();
        let recipients: HashMap<u32, u32> = self
            .tables
            .recipients
            .iter()
            .filter(|(_, (kind, _))| *kind == CHANNEL)
            .map(|(recipient, (_, channel))| (*channel, *recipient))
            .collect();
        self.each_row("zerver_stream", |own, row| {
            let id = row.id("id").filter(|id| *id > 0).ok_or("without an id")?;
            let recipient =
                row.id("recipient").or_else(|| recipients.get(&id).copied()).unwrap_or_else(|| {
                    last += 1;
                    last
                });
            let channel = own.channel_of(ChannelId(id), RecipientId(recipient), row, survey);
            own.directory.put_channel(channel.clone());
            own.facts.push(Fact::Channel(ChannelFact::Created(Box::new(channel))));
            Ok(())
        });
        self.default_channels();
    }

    fn channel_of(&mut self, id: ChannelId, recipient: RecipientId, row: &Row, survey: &Survey) -> Channel {
        let creator = self.user(row.id("creator"));
        let mut name = row.text("name").to_owned();
        if self.directory.channel_by_name(&name).is_some_and(|known| known.id != id) {
            self.report.change("channels with the name of another one have their id added", 1);
            name = format!("{name} {id}");
        }
        let created = row.time("date_created").unwrap_or(self.now);
        let mut permissions = default_channel_permissions(&self.directory, creator);
        let posting = match row.int("stream_post_policy") {
            Some(2) => Some("role:administrators"),
            Some(3) => Some("role:fullmembers"),
            Some(4) => Some("role:moderators"),
            _ => None,
        };
        if let Some(group) = posting {
            ChannelPermission::SendMessage.set(&mut permissions, system_group(&self.directory, group));
        }
        for permission in ChannelPermission::ALL {
            if let Some(value) = self.group_setting(row.id(permission.rule().name)) {
                permission.set(&mut permissions, value);
            }
        }
        let is_private = row.is("invite_only");
        let mut channel = Channel {
            description: row.text("description").to_owned(),
            rendered_description: self.render_description(row.text("description")),
            creator,
            invite_only: is_private,
            is_web_public: row.is("is_web_public"),
            history_public_to_subscribers: row.flag("history_public_to_subscribers").unwrap_or(!is_private),
            is_archived: row.is("deactivated"),
            message_retention_days: row.int("message_retention_days").and_then(|days| days.try_into().ok()),
            topics_policy: topics_policy(row.0.get("topics_policy")),
            folder: row.id("folder").map(FolderId).filter(|id| self.directory.folder(*id).is_some()),
            ..Channel::new(id, recipient, name, created, permissions)
        };
        let newest = survey.newest_sent.get(&recipient.0).copied().map(Timestamp);
        channel.is_recently_active = !is_idle(&channel, newest, self.now);
        channel
    }

    fn default_channels(&mut self) {
        let mut defaults = Vec::new();
        self.each_row("zerver_defaultstream", |own, row| {
            defaults.push(own.channel(row.id("stream")).ok_or("of a channel that is not in the export")?);
            Ok(())
        });
        defaults.sort_unstable();
        self.facts.push(Fact::Channel(ChannelFact::DefaultsChanged(defaults.clone())));
        let realm = model::Realm::clone(self.directory.realm());
        self.directory.put_realm(model::Realm { default_channels: defaults, ..realm });
        let mut groups = Listed::default();
        self.each_row("zerver_defaultstreamgroup", |own, row| {
            let id = row.id("id").ok_or("without an id")?;
            let mut channels: Vec<ChannelId> =
                row.ids("streams").filter_map(|id| own.channel(Some(id))).collect();
            channels.sort_unstable();
            let (name, description) = (row.text("name").to_owned(), row.text("description").to_owned());
            groups.items.push(DefaultChannelGroup { id, name, description, channels });
            groups.last_id = groups.last_id.max(id);
            Ok(())
        });
        groups.items.sort_by(|one, other| one.name.cmp(&other.name));
        if !groups.items.is_empty() {
            self.facts.push(Fact::Channel(ChannelFact::DefaultGroupsChanged(Box::new(groups))));
        }
    }

    /// Subscriptions with the messages that each user received.
    pub fn subscriptions(&mut self, survey: &Survey) {
        let tables = self.tables;
        let mut changes: HashMap<(u32, u32), Vec<SubscriptionChange>> = HashMap::new();
        for change in &tables.subscription_changes {
            changes.entry((change.channel, change.user)).or_default().push(*change);
        }
        let mut by_channel: BTreeMap<ChannelId, Vec<(UserId, Subscription)>> = BTreeMap::new();
        for row in &tables.subscriptions {
            let Some((kind, of)) = tables.recipients.get(&row.recipient) else {
                self.report.leave_out(SUBSCRIPTION, "to a conversation that is not in the export", 1);
                continue;
            };
            if *kind != CHANNEL {
                self.report.carry(SUBSCRIPTION, 1);
                continue;
            }
            let (Some(channel), Some(user)) = (self.channel(Some(*of)), self.user(Some(row.user_profile)))
            else {
                self.report.leave_out(SUBSCRIPTION, "of a user or channel that is not in the export", 1);
                continue;
            };
            let own = changes.get(&(channel.0, user.0)).map(Vec::as_slice).unwrap_or_default();
            by_channel.entry(channel).or_default().push((user, self.subscription(row, own, user, survey)));
            self.report.carry(SUBSCRIPTION, 1);
        }
        for (channel, mut subscribers) in by_channel {
            subscribers.sort_by_key(|(user, _)| *user);
            let by = self.directory.channel(channel).and_then(|channel| channel.creator);
            let by = by.or_else(|| subscribers.first().map(|(user, _)| *user)).unwrap_or_default();
            for part in subscribers.chunks(SUBSCRIPTIONS_MAX) {
                for (user, subscription) in part {
                    self.directory.put_subscription(channel, *user, subscription.clone());
                }
                let subscribers = part.to_vec();
                self.facts.push(Fact::Subscription(SubscriptionFact::Added { channel, subscribers, by }));
            }
        }
    }

    fn subscription(
        &self,
        row: &SubscriptionRow,
        changes: &[SubscriptionChange],
        user: UserId,
        survey: &Survey,
    ) -> Subscription {
        let newest = survey.newest_row.get(&user.0).copied().unwrap_or_default();
        let newest = MessageId(newest);
        let mut subscription = Subscription {
            is_active: row.active,
            color: row.color.to_lowercase(),
            is_muted: row.is_muted,
            pin_to_top: row.pin_to_top,
            desktop_notifications: row.desktop_notifications,
            audible_notifications: row.audible_notifications,
            push_notifications: row.push_notifications,
            email_notifications: row.email_notifications,
            wildcard_mentions_notify: row.wildcard_mentions_notify,
            spans: spans_of(changes, row.active, newest),
        };
        if !self.directory.is_active_user(user) {
            let after = subscription.spans.last().map_or(MessageId::ZERO, |span| span.after);
            subscription.pause(newest.max(after));
        }
        subscription
    }
}

/// The policy as its name or as the number that is stored.
fn topics_policy(value: Option<&Value>) -> TopicsPolicy {
    match value {
        Some(Value::String(name)) => TopicsPolicy::from_name(name).unwrap_or_default(),
        Some(Value::Number(number)) => match number.as_i64() {
            Some(2) => TopicsPolicy::AllowEmptyTopic,
            Some(3) => TopicsPolicy::DisableEmptyTopic,
            Some(4) => TopicsPolicy::EmptyTopicOnly,
            _ => TopicsPolicy::Inherit,
        },
        _ => TopicsPolicy::Inherit,
    }
}
