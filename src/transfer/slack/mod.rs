//! Importing the export of a Slack workspace: `millstream import slack`.
//!
//! The export is converted to the format of Zulip's exports in a folder, which `transfer::zulip` then imports: with its checks, its report,
//! and going on after an interruption. `archive` reads the files of the zip, `convert` walks through them day by day, so that messages get
//! ids in the order of their times and memory depends on one day; `mrkdwn` translates texts.

mod archive;
mod conversations;
mod convert;
mod downloads;
mod emoji;
mod messages;
mod mrkdwn;
mod people;

pub use convert::{SlackRequest, prepare};
