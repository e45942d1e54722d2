//! Reads all files with messages once before anything is written: whether they are valid, how many messages there are, and
//! what must be known of them in advance.

use super::source::Source;
use crate::transfer::problem::TransferError;
use crate::transfer::report::Report;
use crate::transfer::rows::{Rows, TableSink, read_tables};
use model::MessageId;
use serde::Deserialize;
use serde::de::SeqAccess;
use serde_json::Value;
use std::collections::HashMap;

/// Largest message id: ids have 32 bits, and new messages need some.
const ID_MAX: u64 = u32::MAX as u64 - (1 << 24);

/// Largest text of a message, in bytes: one has to fit into one frame of the journal, with its HTML. Zulip's own limit is 10,000
/// characters.
const TEXT_BYTES_MAX: usize = 256 << 10;

/// Longest topic, in bytes. Zulip's own limit is 60 characters.
const TOPIC_BYTES_MAX: usize = 4096;

/// What is known of the messages of an export.
#[derive(Debug, Default)]
pub struct Survey {
    pub messages: u64,
    pub rows: u64,
    /// The newest message.
    pub newest: MessageId,
    /// User → the newest message of which they have a row.
    pub newest_row: HashMap<u32, u32>,
    /// Recipient → when its newest message was sent, in milliseconds.
    pub newest_sent: HashMap<u32, u64>,
    /// Rows of tables in these files.
    pub report: Report,
}

#[derive(Deserialize)]
struct MessageHead {
    id: u64,
    recipient: u32,
    date_sent: f64,
    #[serde(default)]
    content: Value,
    #[serde(default)]
    subject: Value,
}

/// A user's row of a message.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub struct UserRow {
    pub user_profile: u32,
    pub message: u64,
    pub flags_mask: u32,
}

impl Survey {
    /// Reads all files. `progress` gets the files that were read.
    ///
    /// # Errors
    /// `Invalid` for a file that is not valid, `NotAnExport` when the messages are not in the order of their ids.
    pub fn read(source: &Source, progress: &mut dyn FnMut(usize, usize)) -> Result<Self, TransferError> {
        let files = source.message_files();
        let mut sink = SurveySink::default();
        for (number, path) in (1..).zip(files) {
            read_tables(path, &mut sink)?;
            if sink.is_unordered {
                return Err(TransferError::NotAnExport(format!(
                    "the messages in {} are not in the order of their ids; exports that other programs converted are not \
                     supported",
                    path.display()
                )));
            }
            if u64::from(sink.own.newest.0) > ID_MAX {
                return Err(TransferError::TooLarge(format!("it has message ids above {ID_MAX}")));
            }
            if let Some(message) = sink.too_long {
                return Err(TransferError::TooLarge(format!(
                    "the message {message} in {} has a text of more than {TEXT_BYTES_MAX} bytes, or a topic of more than \
                     {TOPIC_BYTES_MAX}",
                    path.display()
                )));
            }
            progress(number, files.len());
        }
        let mut own = sink.own;
        own.report.read("zerver_message", own.messages);
        own.report.read("zerver_usermessage", own.rows);
        Ok(own)
    }
}

#[derive(Default)]
struct SurveySink {
    own: Survey,
    is_unordered: bool,
    /// The first message whose text is too long.
    too_long: Option<u64>,
}

impl TableSink for SurveySink {
    fn table<'de, A: SeqAccess<'de>>(&mut self, name: &str, rows: Rows<A>) -> Result<(), A::Error> {
        let own = &mut self.own;
        match name {
            "zerver_message" => {
                own.messages += rows.each(|head: MessageHead| {
                    let id = MessageId(u32::try_from(head.id).unwrap_or(u32::MAX));
                    self.is_unordered |= id <= own.newest;
                    let is_long =
                        |text: &Value, bytes_max| text.as_str().is_some_and(|text| text.len() > bytes_max);
                    if is_long(&head.content, TEXT_BYTES_MAX) || is_long(&head.subject, TOPIC_BYTES_MAX) {
                        self.too_long.get_or_insert(head.id);
                    }
                    own.newest = own.newest.max(id);
                    let sent = (head.date_sent.max(0.0) * 1000.0) as u64;
                    let newest = own.newest_sent.entry(head.recipient).or_default();
                    *newest = sent.max(*newest);
                })?;
            }
            "zerver_usermessage" => {
                own.rows += rows.each(|row: UserRow| {
                    let message = u32::try_from(row.message).unwrap_or(u32::MAX);
                    let newest = own.newest_row.entry(row.user_profile).or_default();
                    *newest = message.max(*newest);
                })?;
            }
            "zerver_submessage" => {
                let count = rows.skip()?;
                own.report.read(name, count);
            }
            name => {
                let count = rows.skip()?;
                own.report.read(name, count);
                own.report.leave_out(name, "a table that is not known here", count);
            }
        }
        Ok(())
    }

    fn value(&mut self, _: &str, _: Value) {}
}
