//! The channels of the sample organization.

use super::lists::FOLDER;
use super::people::HAMLET_CHARACTERS;
use actors::{SeedChannel, Subscribers};

/// All of them, in the order of their ids.
#[rustfmt::skip]
pub fn channels() -> Vec<SeedChannel<'static>> {
    vec![
        members("general", "For team-wide conversations"),
        members("sandbox", "Experiment with Zulip here. :test_tube:"),
        all_users("Verona", "A city in Italy"),
        all_users("Denmark", "A Scandinavian country"),
        all_users("Rome", "Yet another Italian city"),
        all_users("Scotland", "Located in the United Kingdom"),
        all_users("Venice", "A northeastern Italian city"),
        SeedChannel {
            is_private: true,
            shows_history: false,
            subscribers: Subscribers::Moderators,
            ..plain("core team", "A private channel for core team members")
        },
        SeedChannel {
            is_web_public: true,
            folder: Some(FOLDER),
            subscribers: Subscribers::Members,
            ..plain("town square", "Readable without an account")
        },
        SeedChannel {
            is_private: true,
            folder: Some(FOLDER),
            subscribers: Subscribers::Named(HAMLET_CHARACTERS.to_vec()),
            ..plain("stage crew", "A private channel whose new subscribers can read what was written before")
        },
    ]
}

/// A public channel without subscribers.
fn plain(name: &'static str, description: &'static str) -> SeedChannel<'static> {
    SeedChannel {
        name,
        description,
        is_private: false,
        is_web_public: false,
        shows_history: true,
        folder: None,
        is_default: false,
        subscribers: Subscribers::Named(Vec::new()),
    }
}

/// A channel to which all people but guests are subscribed, and new ones too.
fn members(name: &'static str, description: &'static str) -> SeedChannel<'static> {
    SeedChannel { is_default: true, subscribers: Subscribers::Members, ..plain(name, description) }
}

/// A channel to which all people are subscribed, guests included.
fn all_users(name: &'static str, description: &'static str) -> SeedChannel<'static> {
    SeedChannel { subscribers: Subscribers::Everyone, ..plain(name, description) }
}
