//! What users keep for themselves: alert words, muted users, statuses, views, policies for topics, presence.

use super::snapshot::{Snapshot, seconds};
use super::tables::TableWriter;
use crate::transfer::problem::TransferError;
use model::{User, UserId};
use serde_json::json;
use std::sync::Arc;

/// The client that sets statuses, as far as exports say.
pub const CLIENT_OF_STATUSES: &str = "website";

impl Snapshot<'_> {
    /// Those whose private data is exported.
    fn sharing(&self) -> impl Iterator<Item = &Arc<User>> {
        self.users().filter(|user| self.scope.shares(user.id))
    }

    fn is_exported_user(&self, user: UserId) -> bool {
        self.directory.user(user).is_some_and(|user| !user.is_system_bot())
    }

    /// All personal tables.
    pub fn personal_tables(&self, tables: &mut TableWriter) -> Result<(), TransferError> {
        let realm = self.realm_id();
        let words = self.sharing().flat_map(|user| {
            self.directory.alert_words(user.id).iter().map(move |word| (user.id, word.as_str()))
        });
        let rows = (1..).zip(words);
        tables.table(
            "zerver_alertword",
            rows.map(|(id, (user, word))| {
                json!({"id": id, "realm": realm, "user_profile": user, "word": word, "deactivated": false})
            }),
        )?;
        let muted = self.sharing().flat_map(|user| {
            self.directory.muted_by(user.id).map(move |(muted, since)| (user.id, muted, since))
        });
        let muted = muted.filter(|(_, muted, _)| self.is_exported_user(*muted));
        let rows = (1..).zip(muted).map(|(id, (user, muted, since))| {
            json!({"id": id, "user_profile": user, "muted_user": muted, "date_muted": seconds(since)})
        });
        tables.table("zerver_muteduser", rows)?;
        self.statuses(tables)?;
        self.views_and_steps(tables)?;
        self.topic_policies(tables)?;
        self.presences(tables)
    }

    fn statuses(&self, tables: &mut TableWriter) -> Result<(), TransferError> {
        tables.begin("zerver_userstatus")?;
        let client = self.clients.id_of(CLIENT_OF_STATUSES);
        for (user, status) in self.directory.statuses().filter(|(user, _)| self.scope.shares(*user)) {
            let id = tables.row_count() + 1;
            let emoji = status.emoji.as_ref();
            tables.row(&json!({
                "id": id, "user_profile": user, "timestamp": seconds(self.at), "client": client,
                "status_text": status.text,
                "emoji_name": emoji.map_or("", |emoji| emoji.name.as_str()),
                "emoji_code": emoji.map_or("", |emoji| emoji.code.as_str()),
                "reaction_type": emoji.map_or("unicode_emoji", |emoji| emoji.kind.as_str()),
            }))?;
        }
        Ok(())
    }

    fn views_and_steps(&self, tables: &mut TableWriter) -> Result<(), TransferError> {
        tables.begin("zerver_navigationview")?;
        for user in self.sharing() {
            for (fragment, view) in self.directory.navigation_views(user.id) {
                let id = tables.row_count() + 1;
                tables.row(&json!({"id": id, "user": user.id, "fragment": fragment,
                    "is_pinned": view.is_pinned, "name": view.name}))?;
            }
        }
        tables.begin("zerver_onboardingstep")?;
        for user in self.sharing() {
            for step in self.directory.onboarding_steps(user.id) {
                let id = tables.row_count() + 1;
                tables.row(&json!({"id": id, "user": user.id, "onboarding_step": step,
                    "timestamp": seconds(user.joined)}))?;
            }
        }
        Ok(())
    }

    fn topic_policies(&self, tables: &mut TableWriter) -> Result<(), TransferError> {
        tables.begin("zerver_usertopic")?;
        for ((user, channel, _), topic) in self.directory.topics() {
            let channel = self.directory.channel(*channel).filter(|channel| self.has_channel(channel.id));
            let Some(channel) = channel.filter(|_| self.scope.shares(*user)) else { continue };
            let id = tables.row_count() + 1;
            tables.row(&json!({
                "id": id, "user_profile": user, "stream": channel.id, "recipient": self.kept(channel.recipient),
                "topic_name": topic.name, "last_updated": seconds(topic.updated),
                "visibility_policy": topic.policy.code(),
            }))?;
        }
        Ok(())
    }

    fn presences(&self, tables: &mut TableWriter) -> Result<(), TransferError> {
        let realm = self.realm_id();
        let (presences, last) = self.realm.presences(None);
        tables.begin("zerver_userpresence")?;
        for (user, presence) in presences.into_iter().filter(|(user, _)| self.is_exported_user(*user)) {
            let id = tables.row_count() + 1;
            tables.row(&json!({
                "id": id, "user_profile": user, "realm": realm, "last_update_id": presence.update,
                "last_connected_time": presence.active.max(presence.idle).map(seconds),
                "last_active_time": presence.active.map(seconds),
            }))?;
        }
        let sequence = json!({"id": 1, "realm": realm, "last_update_id": last});
        tables.table("zerver_presencesequence", [sequence])
    }
}
