//! Importing the export of a Zulip server, whatever version wrote it: `millstream import zulip`.
//!
//! `source` opens the folder and `survey` reads everything once, so that a damaged export is refused before anything is
//! written. `tables` has the rows of realm.json, of which `organization` and the files beside it make the facts of everything
//! but messages; `messages` makes those of the messages, file by file, on a thread of its own. `run` writes the facts.

mod additions;
mod channels;
mod columns;
mod drafting;
mod entry;
mod files;
mod fitting;
mod flags;
mod groups;
mod history;
mod lists;
mod markdown;
mod messages;
mod moves;
mod organization;
mod people;
mod personal;
mod pictures;
mod received;
mod recipients;
mod run;
mod sending;
mod settings;
mod source;
mod spans;
mod survey;
mod tables;
mod texts;

pub(in crate::transfer) use settings::{CHANNEL_COLUMNS, FIRST_NUMBERS};

pub use run::{ImportRequest, Imported, Progress, import};
pub use source::Source;
