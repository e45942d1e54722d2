//! The channels of the sample organization.

use super::lists::FOLDER;
use super::people::HAMLET_CHARACTERS;
use actors::SeedChannel;
use model::User;

/// All of them, in the order of their ids.
#[rustfmt::skip]
pub fn channels() -> Vec<SeedChannel> {
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
            subscribes: User::is_moderator,
            ..plain("core team", "A private channel for core team members")
        },
        SeedChannel {
            is_web_public: true,
            folder: Some(FOLDER),
            subscribes: |user| !user.is_guest(),
            ..plain("town square", "Readable without an account")
        },
        SeedChannel {
            is_private: true,
            folder: Some(FOLDER),
            subscribes: |user| HAMLET_CHARACTERS.contains(&user.delivery_email.as_str()),
            ..plain("stage crew", "A private channel whose new subscribers can read what was written before")
        },
    ]
}

/// A public channel without subscribers.
fn plain(name: &'static str, description: &'static str) -> SeedChannel {
    SeedChannel {
        name,
        description,
        is_private: false,
        is_web_public: false,
        shows_history: true,
        folder: None,
        is_default: false,
        subscribes: |_| false,
    }
}

/// A channel to which all people but guests are subscribed, and new ones too.
fn members(name: &'static str, description: &'static str) -> SeedChannel {
    SeedChannel { is_default: true, subscribes: |user| !user.is_guest(), ..plain(name, description) }
}

/// A channel to which all people are subscribed, guests included.
fn all_users(name: &'static str, description: &'static str) -> SeedChannel {
    SeedChannel { subscribes: |_| true, ..plain(name, description) }
}
