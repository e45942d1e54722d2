//! The channels of the sample organization.

use actors::SeedChannel;
use model::User;

/// All of them, in the order of their ids.
#[rustfmt::skip]
pub fn channels() -> Vec<SeedChannel> {
    vec![
        members("general", "For team-wide conversations"),
        members("sandbox", "Experiment with Zulip here. :test_tube:"),
        everybody("Verona", "A city in Italy"),
        everybody("Denmark", "A Scandinavian country"),
        everybody("Rome", "Yet another Italian city"),
        everybody("Scotland", "Located in the United Kingdom"),
        everybody("Venice", "A northeastern Italian city"),
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
fn everybody(name: &'static str, description: &'static str) -> SeedChannel {
    SeedChannel { name, description, is_private: false, is_default: false, subscribes: |_| true }
}
