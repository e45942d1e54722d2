//! Exporting organizations in the format of Zulip's own exports, which Zulip and `import zulip` read (docs/import-export.md).
//!
//! `run` makes the archive: the messages first, piece by piece, then everything else from one snapshot of the directory. What a
//! kind of export contains is decided in `scope`. Each file of tables is written to a nameless temporary file (`tables`) and then added
//! to the archive (`archive`), so memory does not depend on the number of messages. `jobs` runs exports of a server.

mod archive;
mod channels;
mod clients;
mod files;
mod groups;
mod jobs;
mod lists;
mod message_rows;
mod messages;
mod people;
mod personal;
mod pictures;
mod run;
mod scope;
mod settings;
mod snapshot;
mod stored;
mod tables;
mod target;
mod texts;

pub use jobs::{ExportProgress, Exports, PART_BYTES_MAX, on_thread};
pub use run::{ExportRequest, Exported, export};
pub use scope::ExportKind;
pub use snapshot::{EMAIL_DOMAIN, Step};
pub(in crate::transfer) use tables::{Spool, TableWriter};
pub use target::{UnfinishedFile, check_target, export_to_file, target_folder, top_name};
