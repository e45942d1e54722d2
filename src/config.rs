//! Process settings: listening address, data folder, limits.
//!
//! Settings of an organization are not here. The defaults, and the text that explains each option, are one file,
//! `config/default.toml`; a test checks that it and the structs of `settings` agree.

mod backups;
mod cluster;
mod combinations;
mod durations;
mod incoming_mail;
mod invitations;
mod journal;
mod listeners;
mod load;
mod log_filter;
mod networks;
mod options;
mod problem;
mod settings;
mod texts;

pub use backups::BackupSettings;
pub use cluster::ClusterSettings;
pub use durations::parse_duration;
pub use incoming_mail::IncomingMail;
pub use invitations::InvitationSettings;
pub use journal::JournalSettings;
pub use listeners::{CERT_OPTION, KEY_OPTION, Metrics, TlsSettings};
pub use load::{Overrides, Sources, unknown_variables};
pub use log_filter::{LogFilterError, check_log_filter};
pub use networks::ProxyNetwork;
pub use problem::ConfigError;
pub use settings::*;
pub use texts::{USER_PLACEHOLDER, parse_listen};
