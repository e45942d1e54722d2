//! The rows of realm.json and attachment.json. Tables that grow with messages are kept in a compact form.

use super::columns;
use super::source::Source;
use crate::transfer::problem::TransferError;
use crate::transfer::report::Report;
use crate::transfer::rows::{Row, Rows, TableSink, read_tables, timestamp};
use model::{MessageId, Timestamp};
use serde::Deserialize;
use serde::de::SeqAccess;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};

/// A subscription as it is exported; for direct conversations, too.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct SubscriptionRow {
    pub user_profile: u32,
    pub recipient: u32,
    pub active: bool,
    pub color: String,
    pub is_muted: bool,
    pub pin_to_top: bool,
    pub desktop_notifications: Option<bool>,
    pub audible_notifications: Option<bool>,
    pub push_notifications: Option<bool>,
    pub email_notifications: Option<bool>,
    pub wildcard_mentions_notify: Option<bool>,
}

/// A user's policy for a topic.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct UserTopicRow {
    pub user_profile: u32,
    pub stream: u32,
    pub topic_name: String,
    pub last_updated: f64,
    pub visibility_policy: u8,
}

/// A reaction, by message.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct ReactionRow {
    id: u64,
    user_profile: u32,
    message: u32,
    emoji_name: String,
    emoji_code: String,
    reaction_type: String,
}

/// A row of the history of subscriptions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SubscriptionChange {
    pub at: Timestamp,
    /// Orders changes of one moment.
    pub id: u64,
    pub user: u32,
    pub channel: u32,
    /// The newest message at that time.
    pub last: MessageId,
    pub is_start: bool,
}

/// A row of the audit log, as far as it is used.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct AuditRow {
    id: u64,
    event_time: f64,
    /// A number; a name in very old versions.
    event_type: Value,
    modified_user: Option<u32>,
    modified_stream: Option<u32>,
    event_last_message_id: Option<u64>,
}

/// An emoji that messages have as reactions: many reactions have the same one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Emoji {
    pub name: String,
    pub code: String,
    pub kind: String,
}

/// A reaction in the order in which it was added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StoredReaction {
    pub message: u32,
    pub id: u64,
    pub user: u32,
    /// Position in [`Tables::emoji`].
    pub emoji: u32,
}

/// The tables of an export, but for the messages.
#[derive(Debug, Default)]
pub struct Tables {
    rows: BTreeMap<String, Vec<Row>>,
    /// Values beside the tables.
    pub values: BTreeMap<String, Value>,
    pub subscriptions: Vec<SubscriptionRow>,
    pub user_topics: Vec<UserTopicRow>,
    /// Sorted by message.
    pub reactions: Vec<StoredReaction>,
    pub emoji: Vec<Emoji>,
    emoji_positions: HashMap<Emoji, u32>,
    pub subscription_changes: Vec<SubscriptionChange>,
    /// Recipient → its kind and what it stands for.
    pub recipients: HashMap<u32, (u8, u32)>,
    pub clients: HashMap<u32, String>,
    pub report: Report,
}

/// Events of the audit log: subscribed, subscribed again, unsubscribed.
const SUBSCRIBED: [u64; 2] = [301, 302];
const UNSUBSCRIBED: u64 = 303;

/// Largest id of an account, a channel or another record: those of a Zulip server have 31 bits, and new records need some.
const ID_MAX: u32 = i32::MAX as u32 - (1 << 24);

/// Tables that are not carried over, and why.
const LEFT_OUT: [(&str, &str); 10] = [
    ("zerver_realmauditlog", "history of changes; the history of subscriptions is used"),
    ("zerver_realmauthenticationmethod", "how people log in is configured for the server"),
    ("zerver_realmexport", "exports of the other server"),
    ("zerver_presencesequence", "counted anew"),
    ("zerver_userpresence", "presence is not stored; it is known again once people are online"),
    ("zerver_useractivity", "statistics"),
    ("zerver_useractivityinterval", "statistics"),
    ("zerver_onboardingusermessage", "onboarding messages are not repeated"),
    ("zerver_externalauthid", "accounts at login services"),
    ("analytics", "statistics"),
];

impl Tables {
    /// Reads realm.json and attachment.json.
    ///
    /// # Errors
    /// `System`, `Invalid`, `TooLarge` for ids beyond the bound, and `NotAnExport` when there is no organization or no user in it.
    pub fn read(source: &Source) -> Result<Self, TransferError> {
        let mut tables = Self::default();
        read_tables(&source.file("realm.json"), &mut tables)?;
        read_tables(&source.file("attachment.json"), &mut tables)?;
        tables.check_ids()?;
        tables.reactions.sort_unstable();
        tables.subscription_changes.sort_by_key(|change| (change.at, change.id));
        if tables.rows("zerver_realm").len() != 1 || tables.rows("zerver_userprofile").is_empty() {
            return Err(TransferError::NotAnExport("realm.json has no organization with users".into()));
        }
        Ok(tables)
    }

    /// Refuses ids after which none would be left for new records.
    fn check_ids(&self) -> Result<(), TransferError> {
        let rows =
            self.rows.iter().flat_map(|(table, rows)| rows.iter().map(move |row| (table.as_str(), row)));
        let ids = rows.flat_map(|(table, row)| {
            ["id", "usergroup_ptr"].into_iter().filter_map(move |column| Some((table, row.int(column)?)))
        });
        let recipients = self.recipients.keys().map(|id| ("zerver_recipient", i64::from(*id)));
        match ids.chain(recipients).find(|(_, id)| *id > i64::from(ID_MAX)) {
            Some((table, id)) => {
                Err(TransferError::TooLarge(format!("realm.json has the id {id} in {table}, above {ID_MAX}")))
            }
            None => Ok(()),
        }
    }

    /// The rows of a table; none if the export does not have it.
    pub fn rows(&self, table: &str) -> &[Row] {
        self.rows.get(table).map(Vec::as_slice).unwrap_or_default()
    }

    /// The organization's own row.
    pub fn realm(&self) -> Row {
        self.rows("zerver_realm").first().cloned().unwrap_or_default()
    }

    /// The reactions of a message, in the order in which they were added.
    pub fn reactions_of(&self, message: u32) -> &[StoredReaction] {
        let start = self.reactions.partition_point(|reaction| reaction.message < message);
        let rest = self.reactions.get(start..).unwrap_or_default();
        let end = rest.partition_point(|reaction| reaction.message == message);
        rest.get(..end).unwrap_or_default()
    }

    fn add_reaction(&mut self, row: ReactionRow) {
        let emoji = Emoji { name: row.emoji_name, code: row.emoji_code, kind: row.reaction_type };
        let position = match self.emoji_positions.get(&emoji) {
            Some(position) => *position,
            None => {
                let position = self.emoji.len() as u32;
                self.emoji.push(emoji.clone());
                self.emoji_positions.insert(emoji, position);
                position
            }
        };
        let (id, message, user) = (row.id, row.message, row.user_profile);
        self.reactions.push(StoredReaction { message, id, user, emoji: position });
    }

    fn add_audit(&mut self, row: &AuditRow) {
        let Some(kind) = row.event_type.as_u64() else { return };
        let is_start = SUBSCRIBED.contains(&kind);
        if !is_start && kind != UNSUBSCRIBED {
            return;
        }
        let (Some(user), Some(channel)) = (row.modified_user, row.modified_stream) else { return };
        let last = row.event_last_message_id.unwrap_or_default();
        let last = MessageId(u32::try_from(last).unwrap_or(u32::MAX));
        let at = timestamp(row.event_time);
        self.subscription_changes.push(SubscriptionChange { at, id: row.id, user, channel, last, is_start });
    }

    fn left_out(name: &str) -> Option<&'static str> {
        let found = LEFT_OUT.iter().find(|(table, _)| *table == name || name.starts_with("analytics_"));
        found.map(|(_, why)| *why)
    }
}

impl TableSink for Tables {
    fn table<'de, A: SeqAccess<'de>>(&mut self, name: &str, rows: Rows<A>) -> Result<(), A::Error> {
        let mut unknown = BTreeMap::new();
        let count = match name {
            "zerver_subscription" => rows.each(|row| self.subscriptions.push(row))?,
            "zerver_usertopic" => rows.each(|row| self.user_topics.push(row))?,
            "zerver_reaction" => rows.each(|row| self.add_reaction(row))?,
            "zerver_realmauditlog" => rows.each(|row: AuditRow| self.add_audit(&row))?,
            "zerver_recipient" => rows.each(|row: Row| {
                if let (Some(id), Some(kind), Some(of)) = (row.id("id"), row.id("type"), row.id("type_id")) {
                    self.recipients.insert(id, (kind as u8, of));
                }
            })?,
            "zerver_client" => rows.each(|row: Row| {
                if let Some(id) = row.id("id") {
                    // Names have at most 30 characters.
                    self.clients.insert(id, row.text("name").chars().take(30).collect());
                }
            })?,
            name if Self::left_out(name).is_some() => rows.skip()?,
            name if !columns::is_known_table(name) => rows.skip()?,
            name => {
                let own = self.rows.entry(name.to_owned()).or_default();
                rows.each(|mut row: Row| {
                    columns::prune(name, &mut row, &mut unknown);
                    own.push(row);
                })?
            }
        };
        self.report.read(name, count);
        for (column, times) in unknown {
            self.report.change(&format!("{name}.{column} is not known here and was ignored"), times);
        }
        if ["zerver_client", "zerver_recipient", "zerver_huddle", "zerver_directmessagegroup"].contains(&name)
        {
            // Parts of messages and conversations.
            self.report.carry(name, count);
        } else if let Some(why) = Self::left_out(name) {
            self.report.leave_out(name, why, count);
        } else if !columns::is_known_table(name) {
            self.report.leave_out(name, "a table that is not known here", count);
        }
        Ok(())
    }

    fn value(&mut self, name: &str, value: Value) {
        self.values.insert(name.to_owned(), value);
    }
}
