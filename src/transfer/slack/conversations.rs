//! Channels and conversations of a workspace, by the folder of their messages.

use super::archive::SlackArchive;
use super::people::People;
use crate::transfer::problem::TransferError;
use crate::transfer::report::Report;
use rules::new_channels::CHANNELS_MAX;
use serde::Deserialize;
use std::collections::HashMap;

/// The table of the report.
pub const TABLE: &str = "slack channels and conversations";
const NAME_CHARS_MAX: usize = 60;
const DESCRIPTION_CHARS_MAX: usize = 1024;
/// The files of an export, and whether they have channels, private ones, or conversations.
const FILES: [(&str, Kind); 4] = [
    ("channels.json", Kind::Public),
    ("groups.json", Kind::Private),
    ("mpims.json", Kind::Conversation),
    ("dms.json", Kind::Conversation),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Public,
    Private,
    Conversation,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Text {
    value: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct SlackConversation {
    id: String,
    name: String,
    created: f64,
    creator: String,
    is_archived: bool,
    members: Vec<String>,
    purpose: Text,
}

/// A channel to create.
#[derive(Clone, Debug)]
pub struct SlackChannel {
    pub id: u32,
    pub name: String,
    pub description: String,
    pub created: f64,
    pub creator: Option<u32>,
    pub is_archived: bool,
    pub is_private: bool,
    pub members: Vec<u32>,
    pub recipient: u32,
}

/// Where the messages of a folder go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlackDestination {
    /// The position of a channel.
    Channel(usize),
    /// The position of a conversation.
    People(usize),
}

/// A conversation: its people (sorted), and its recipient if they are more than two.
#[derive(Clone, Debug)]
pub struct SlackPeople {
    pub people: Vec<u32>,
    pub recipient: u32,
}

/// All channels and conversations.
#[derive(Debug, Default)]
pub struct SlackConversations {
    pub channels: Vec<SlackChannel>,
    pub conversations: Vec<SlackPeople>,
    by_folder: HashMap<String, SlackDestination>,
    names: HashMap<String, String>,
}

/// The first id of recipients of channels and groups; those of people come before.
const RECIPIENT_FIRST: u32 = 1 << 24;

impl SlackConversations {
    /// Reads the lists of an export.
    ///
    /// # Errors
    /// Those of [`SlackArchive::json`], and `TooLarge` with more channels than an organization can have.
    pub fn read(
        archive: &mut SlackArchive,
        people: &mut People,
        report: &mut Report,
    ) -> Result<Self, TransferError> {
        let mut own = Self::default();
        let mut recipient = RECIPIENT_FIRST;
        for (file, kind) in FILES {
            let conversations: Vec<SlackConversation> = archive.json(file)?.unwrap_or_default();
            if kind != Kind::Conversation && own.channels.len() + conversations.len() > CHANNELS_MAX {
                let what = "channels, archived ones included, and an organization has no more";
                return Err(TransferError::TooLarge(format!(
                    "the export has more than {CHANNELS_MAX} {what}"
                )));
            }
            report.read(TABLE, conversations.len() as u64);
            for conversation in conversations {
                recipient += 1;
                own.add(conversation, kind, recipient, people);
                report.carry(TABLE, 1);
            }
        }
        Ok(own)
    }

    fn add(&mut self, conversation: SlackConversation, kind: Kind, recipient: u32, people: &mut People) {
        // Strangers of shared conversations have accounts, too.
        let mut members: Vec<u32> =
            conversation.members.iter().map(|member| people.stranger(member, None, false)).collect();
        members.sort_unstable();
        members.dedup();
        let folder =
            if conversation.name.is_empty() { conversation.id.clone() } else { conversation.name.clone() };
        if kind == Kind::Conversation {
            let position = self.conversations.len();
            self.conversations.push(SlackPeople { people: members, recipient });
            self.by_folder.insert(folder, SlackDestination::People(position));
            self.by_folder.insert(conversation.id, SlackDestination::People(position));
            return;
        }
        let name: String = conversation.name.chars().take(NAME_CHARS_MAX).collect();
        let position = self.channels.len();
        self.names.insert(conversation.id, name.clone());
        self.by_folder.insert(folder, SlackDestination::Channel(position));
        self.channels.push(SlackChannel {
            id: position as u32 + 1,
            name,
            description: conversation.purpose.value.chars().take(DESCRIPTION_CHARS_MAX).collect(),
            created: conversation.created,
            creator: people.known(&conversation.creator),
            is_archived: conversation.is_archived,
            is_private: kind == Kind::Private,
            members,
            recipient,
        });
    }

    /// Where the messages of a folder go.
    pub fn of_folder(&self, folder: &str) -> Option<SlackDestination> {
        self.by_folder.get(folder).copied()
    }

    /// The name of a channel.
    pub fn channel_name(&self, slack_id: &str) -> Option<&str> {
        self.names.get(slack_id).map(String::as_str)
    }
}
