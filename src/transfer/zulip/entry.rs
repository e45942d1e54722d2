//! The messages of one file, with what belongs to each of them.

use super::survey::UserRow;
use crate::transfer::problem::TransferError;
use crate::transfer::rows::{Rows, TableSink, read_tables};
use serde::Deserialize;
use serde::de::SeqAccess;
use serde_json::Value;
use std::path::Path;

/// A message as it is exported.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct MessageRow {
    pub id: u64,
    pub sender: u32,
    pub recipient: u32,
    pub subject: String,
    pub content: String,
    pub rendered_content: Option<String>,
    pub date_sent: f64,
    pub sending_client: u32,
    pub last_edit_time: Option<f64>,
    /// JSON text, newest entry first.
    pub edit_history: Option<String>,
}

/// A part of a widget. Exports of this server have them.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct SubmessageRow {
    pub id: u64,
    pub message: u64,
    pub sender: u32,
    pub msg_type: String,
    pub content: String,
}

/// A message with the rows of its users.
#[derive(Clone, Debug, Default)]
pub struct Entry {
    pub row: MessageRow,
    /// User and flags, sorted by user.
    pub users: Vec<(u32, u32)>,
    pub submessages: Vec<SubmessageRow>,
}

/// The messages of one file.
#[derive(Debug, Default)]
pub struct Entries {
    pub all: Vec<Entry>,
    /// Rows that came before the messages.
    early: Vec<UserRow>,
    /// Rows of messages that are not in the file.
    pub stray_rows: u64,
    pub stray_parts: u64,
}

impl Entries {
    /// Reads a file.
    ///
    /// # Errors
    /// `System` and `Invalid`.
    pub fn read(path: &Path) -> Result<Self, TransferError> {
        let mut own = Self::default();
        read_tables(path, &mut own)?;
        let early = std::mem::take(&mut own.early);
        early.into_iter().for_each(|row| own.add_user(row));
        own.all.iter_mut().for_each(|entry| entry.users.sort_unstable());
        Ok(own)
    }

    fn position(&self, message: u64) -> Option<usize> {
        self.all.binary_search_by_key(&message, |entry| entry.row.id).ok()
    }

    fn add_user(&mut self, row: UserRow) {
        match self.position(row.message).and_then(|position| self.all.get_mut(position)) {
            Some(entry) => entry.users.push((row.user_profile, row.flags_mask)),
            None => self.stray_rows += 1,
        }
    }

    fn add_part(&mut self, row: SubmessageRow) {
        match self.position(row.message).and_then(|position| self.all.get_mut(position)) {
            Some(entry) => entry.submessages.push(row),
            None => self.stray_parts += 1,
        }
    }
}

impl TableSink for Entries {
    fn table<'de, A: SeqAccess<'de>>(&mut self, name: &str, rows: Rows<A>) -> Result<(), A::Error> {
        match name {
            "zerver_message" => {
                let all = &mut self.all;
                rows.each(|row| all.push(Entry { row, ..Entry::default() }))?;
            }
            "zerver_usermessage" if self.all.is_empty() => {
                rows.each(|row| self.early.push(row))?;
            }
            "zerver_usermessage" => {
                rows.each(|row| self.add_user(row))?;
            }
            "zerver_submessage" => {
                rows.each(|row| self.add_part(row))?;
            }
            _ => {
                rows.skip()?;
            }
        }
        Ok(())
    }

    fn value(&mut self, _: &str, _: Value) {}
}
