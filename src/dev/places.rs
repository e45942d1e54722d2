//! The channels of the sample organization.

/// A channel.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Its name.
    pub name: &'static str,
    /// Markdown.
    pub description: &'static str,
    /// Who is subscribed.
    pub readers: Readers,
}

/// Who is subscribed to a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readers {
    /// Every person, guests included.
    Everybody,
    /// Every person who is not a guest; new ones too.
    Members,
    /// Owner, administrator and moderator; nobody else knows of it.
    Team,
}

/// All of them, in the order of their ids.
#[rustfmt::skip]
pub const PLACES: [Place; 8] = [
    Place { name: "general", description: "For team-wide conversations", readers: Readers::Members },
    Place { name: "sandbox", description: "Experiment with Zulip here. :test_tube:", readers: Readers::Members },
    Place { name: "Verona", description: "A city in Italy", readers: Readers::Everybody },
    Place { name: "Denmark", description: "A Scandinavian country", readers: Readers::Everybody },
    Place { name: "Rome", description: "Yet another Italian city", readers: Readers::Everybody },
    Place { name: "Scotland", description: "Located in the United Kingdom", readers: Readers::Everybody },
    Place { name: "Venice", description: "A northeastern Italian city", readers: Readers::Everybody },
    Place { name: "core team", description: "A private channel for core team members", readers: Readers::Team },
];
