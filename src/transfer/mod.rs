//! Moving organizations in and out: exports of Zulip servers and of this one are read and written in the same format
//! (docs/import-export.md).

pub mod export;
pub mod problem;
pub mod report;
pub mod rows;
pub mod slack;
pub mod unpack;
pub mod zulip;
