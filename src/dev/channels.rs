//! The channels of the sample organization.

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
            name: "core team",
            description: "A private channel for core team members",
            is_private: true,
            is_default: false,
            subscribes: User::is_moderator,
        },
    ]
}

/// A channel to which all people but guests are subscribed, and new ones too.
fn members(name: &'static str, description: &'static str) -> SeedChannel {
    SeedChannel {
        name,
        description,
        is_private: false,
        is_default: true,
        subscribes: |user| !user.is_guest(),
    }
}

/// A channel to which all people are subscribed, guests included.
fn all_users(name: &'static str, description: &'static str) -> SeedChannel {
    SeedChannel { name, description, is_private: false, is_default: false, subscribes: |_| true }
}
