//! Pure decisions: permissions, and the validation and meaning of names, topics, narrows, settings and Markdown.
//!
//! No clock, no randomness, no I/O, no HTTP: time and state are arguments, refusals are `RuleError`. `actors` calls
//! these functions and carries out the decisions.

pub mod accounts;
pub mod address_list;
pub mod addresses;
pub mod alert_words;
pub mod audit;
pub mod avatar;
pub mod bot_notices;
pub mod bot_state;
pub mod bots;
pub mod client;
pub mod colors;
pub mod content;
pub mod custom_emoji;
pub mod default_groups;
mod disposable_domains;
pub mod drafts;
pub mod emoji;
pub mod error;
pub mod exports;
pub mod folders;
pub mod formulas;
pub mod groups;
pub mod history;
pub mod invitations;
pub mod linkifiers;
pub mod markdown;
pub mod names;
pub mod narrow;
pub mod navigation;
pub mod new_channels;
pub mod new_ids;
pub mod notifications;
pub mod onboarding;
pub mod passwords;
pub mod permissions;
pub mod plain_text;
pub mod playgrounds;
pub mod posting;
pub mod profile_fields;
pub mod push;
pub mod reactions;
pub mod reports;
pub mod retention;
pub mod saved_texts;
pub mod scheduling;
pub mod settings;
pub mod shares;
pub mod statuses;
pub mod subscribing;
pub mod subscription_properties;
pub mod text;
pub mod topics;
pub mod traffic;
pub mod uploads;
pub mod visibility;
pub mod web_sessions;
pub mod widgets;

pub use error::RuleError;

#[cfg(test)]
mod fixture;
