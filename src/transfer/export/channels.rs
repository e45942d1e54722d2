//! Channels with their folders and subscriptions, recipients, and direct conversations.

use super::groups::AnonymousGroups;
use super::snapshot::{Snapshot, seconds};
use super::tables::TableWriter;
use crate::transfer::problem::TransferError;
use model::{Channel, ChannelId, RecipientId, Subscription, TopicsPolicy, UserId};
use rules::settings::ChannelPermission;
use serde_json::{Value, json};
use sha1::{Digest, Sha1};
use std::sync::Arc;

/// The kinds of recipients.
const PERSON: u8 = 1;
const CHANNEL: u8 = 2;
const GROUP: u8 = 3;
/// Subscribed for the first time, and again; unsubscribed.
const SUBSCRIBED: [u16; 2] = [301, 302];
const UNSUBSCRIBED: u16 = 303;
/// The organization was created; it was exported.
const CREATED: u16 = 215;
const EXPORTED: u16 = 206;

impl Snapshot<'_> {
    /// The channels of this export.
    pub fn channels(&self) -> impl Iterator<Item = &Arc<Channel>> {
        self.directory.channels().filter(|channel| self.has_channel(channel.id))
    }

    /// Direct conversations of more than two people; those of two are the recipients of both.
    fn group_conversations(&self) -> impl Iterator<Item = (RecipientId, &[UserId])> {
        let all =
            self.directory.directs().map(|direct| (self.kept(direct.recipient), direct.users.as_slice()));
        let known = all.filter(|(_, users)| users.len() > 2 && self.scope.has_people(users));
        known.chain(self.new_groups.iter().map(|(users, recipient)| (*recipient, users.as_slice())))
    }

    /// The id of a recipient in the export.
    pub fn kept(&self, recipient: RecipientId) -> RecipientId {
        self.personal.kept(recipient)
    }

    /// Channels and their folders; default channels.
    pub fn channel_tables(
        &self,
        tables: &mut TableWriter,
        anonymous: &mut AnonymousGroups,
    ) -> Result<(), TransferError> {
        let realm = self.realm_id();
        tables.table(
            "zerver_channelfolder",
            self.directory.folders().map(|folder| {
                json!({
                    "id": folder.id, "realm": realm, "name": folder.name, "description": folder.description,
                    "rendered_description": folder.rendered_description, "order": folder.order,
                    "date_created": seconds(folder.created), "creator": folder.creator,
                    "is_archived": folder.is_archived,
                })
            }),
        )?;
        tables.begin("zerver_stream")?;
        for channel in self.channels() {
            tables.row(&self.channel_row(channel, anonymous))?;
        }
        let defaults = self.directory.realm().default_channels.iter().filter(|id| self.has_channel(**id));
        let rows =
            (1..).zip(defaults).map(|(id, channel)| json!({"id": id, "realm": realm, "stream": channel}));
        tables.table("zerver_defaultstream", rows)?;
        let groups = self.directory.default_groups().items.iter();
        let rows = groups.map(|group| {
            let channels: Vec<&ChannelId> =
                group.channels.iter().filter(|id| self.has_channel(**id)).collect();
            json!({"id": group.id, "realm": realm, "name": group.name, "description": group.description,
                "streams": channels})
        });
        tables.table("zerver_defaultstreamgroup", rows)
    }

    fn channel_row(&self, channel: &Channel, anonymous: &mut AnonymousGroups) -> Value {
        let policy = match channel.topics_policy {
            TopicsPolicy::Inherit => 1,
            TopicsPolicy::AllowEmptyTopic => 2,
            TopicsPolicy::DisableEmptyTopic => 3,
            TopicsPolicy::EmptyTopicOnly => 4,
        };
        let subscribers = self.directory.subscriber_count(channel.id);
        let mut row = json!({
            "id": channel.id, "realm": self.realm_id(), "name": channel.name,
            "recipient": self.kept(channel.recipient), "date_created": seconds(channel.created),
            "creator": channel.creator, "deactivated": channel.is_archived,
            "description": channel.description, "rendered_description": channel.rendered_description,
            "invite_only": channel.invite_only, "is_web_public": channel.is_web_public,
            "history_public_to_subscribers": channel.history_public_to_subscribers,
            "is_in_zephyr_realm": false, "message_retention_days": channel.message_retention_days,
            "first_message_id": null, "topics_policy": policy, "folder": channel.folder,
            "is_recently_active": channel.is_recently_active, "subscriber_count": subscribers,
        });
        for permission in ChannelPermission::ALL {
            row[permission.rule().name] = Value::from(anonymous.id_of(permission.of(channel)));
        }
        row
    }

    /// Recipients of messages: people, channels and groups of people.
    pub fn recipients(&self, tables: &mut TableWriter) -> Result<(), TransferError> {
        tables.begin("zerver_recipient")?;
        for user in self.users() {
            tables.row(&json!({"id": self.personal(user.id), "type": PERSON, "type_id": user.id}))?;
        }
        for channel in self.channels() {
            let recipient = self.kept(channel.recipient);
            tables.row(&json!({"id": recipient, "type": CHANNEL, "type_id": channel.id}))?;
        }
        for (recipient, _) in self.group_conversations() {
            tables.row(&json!({"id": recipient, "type": GROUP, "type_id": recipient}))?;
        }
        tables.begin("zerver_huddle")?;
        for (recipient, users) in self.group_conversations() {
            tables.row(&json!({
                "id": recipient, "recipient": recipient, "group_size": users.len(),
                "huddle_hash": huddle_hash(users),
            }))?;
        }
        Ok(())
    }

    /// Subscriptions to channels, and who is in which conversation.
    pub fn subscriptions(&self, tables: &mut TableWriter) -> Result<(), TransferError> {
        tables.begin("zerver_subscription")?;
        let plain = Subscription::start("#c2c2c2".to_owned(), model::MessageId::ZERO);
        for user in self.users() {
            self.subscription(tables, user.id, self.personal(user.id), &plain)?;
        }
        for channel in self.channels() {
            for (user, subscription) in &self.directory.subscriptions_of(channel.id) {
                self.subscription(tables, *user, self.kept(channel.recipient), subscription)?;
            }
        }
        for (recipient, users) in self.group_conversations() {
            for user in users {
                self.subscription(tables, *user, recipient, &plain)?;
            }
        }
        Ok(())
    }

    fn subscription(
        &self,
        tables: &mut TableWriter,
        user: UserId,
        recipient: RecipientId,
        own: &Subscription,
    ) -> Result<(), TransferError> {
        let shares = self.scope.shares(user);
        let kept = |choice: Option<bool>| choice.filter(|_| shares);
        let id = tables.row_count() + 1;
        tables.row(&json!({
            "id": id, "user_profile": user, "recipient": recipient, "active": own.is_active,
            "is_user_active": self.directory.is_active_user(user), "is_muted": own.is_muted && shares,
            "color": if shares { own.color.as_str() } else { "#c2c2c2" },
            "pin_to_top": own.pin_to_top && shares,
            "desktop_notifications": kept(own.desktop_notifications),
            "audible_notifications": kept(own.audible_notifications),
            "push_notifications": kept(own.push_notifications),
            "email_notifications": kept(own.email_notifications),
            "wildcard_mentions_notify": kept(own.wildcard_mentions_notify),
        }))
    }

    /// The history of subscriptions, from which it follows who has received what.
    pub fn audit_log(&self, tables: &mut TableWriter) -> Result<(), TransferError> {
        tables.begin("zerver_realmauditlog")?;
        let created = seconds(self.directory.realm().created);
        self.audit(tables, created, CREATED, None)?;
        for channel in self.channels() {
            for (user, subscription) in &self.directory.subscriptions_of(channel.id) {
                for (number, span) in subscription.spans.iter().enumerate() {
                    let kind = SUBSCRIBED[usize::from(number > 0)];
                    self.audit(tables, created, kind, Some((*user, channel.id, span.after)))?;
                    if let Some(until) = span.until {
                        self.audit(tables, created, UNSUBSCRIBED, Some((*user, channel.id, until)))?;
                    }
                }
            }
        }
        self.audit(tables, seconds(self.at), EXPORTED, None)
    }

    fn audit(
        &self,
        tables: &mut TableWriter,
        at: f64,
        kind: u16,
        of: Option<(UserId, ChannelId, model::MessageId)>,
    ) -> Result<(), TransferError> {
        let id = tables.row_count() + 1;
        tables.row(&json!({
            "id": id, "realm": self.realm_id(), "event_time": at, "event_type": kind, "backfilled": false,
            "extra_data": {}, "acting_user": null, "modified_user": of.map(|(user, ..)| user),
            "modified_stream": of.map(|(_, channel, _)| channel), "modified_user_group": null,
            "modified_channel_folder": null, "event_last_message_id": of.map(|(.., last)| last),
        }))
    }
}

/// The hash that identifies a group of people: SHA-1 of their sorted ids.
fn huddle_hash(users: &[UserId]) -> String {
    let ids: Vec<String> = users.iter().map(ToString::to_string).collect();
    Sha1::digest(ids.join(",")).iter().map(|byte| format!("{byte:02x}")).collect()
}
