//! Why a bot cannot be created or changed (docs/api/bots.md#create-a-bot).

/// A refusal. The display text is exactly what a client reads.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BotError {
    /// The user does not exist, is a person, or is one of the server's own bots.
    #[error("No such bot")]
    Missing,
    /// The short name does not make an e-mail address.
    #[error("Bad name or username")]
    BadShortName,
    #[error("Username already in use")]
    AddressTaken,
    /// An active account has the name.
    #[error("Name is already in use!")]
    NameTaken,
    #[error("Invalid bot type")]
    InvalidKind,
    #[error("Embedded bots are not enabled.")]
    EmbeddedOff,
    #[error("Invalid integration '{name}'.")]
    InvalidIntegration { name: String },
    #[error("Invalid interface type")]
    InvalidInterface,
    #[error("Invalid {field}: Value error, Not a URL")]
    InvalidUrl { field: &'static str },
    #[error("Only outgoing webhook bots have a payload URL")]
    NoService,
    #[error("Only incoming webhook bots have an integration")]
    NoIntegration,
    #[error("Only incoming webhook bots have configuration data")]
    NoConfig,
    #[error(
        "Cannot store configuration. Request would require {chars} characters. \
         The bot's configuration size limit is {limit} characters."
    )]
    ConfigTooLong { chars: usize, limit: usize },
    #[error("The configuration of the bots of this organization is full (limit: {limit} bytes).")]
    RealmConfigFull { limit: usize },
    #[error("Only the owner of a bot can see or renew its API key. Become its owner first.")]
    KeyOfOwner,
    /// The payload URL receives the messages that the bot reads.
    #[error("Only the owner of a bot can change its payload URL. Become its owner first.")]
    ServiceOfOwner,
    #[error("The role of a bot cannot be above that of its owner.")]
    RoleAboveOwner,
    #[error("Invalid role")]
    InvalidRole,
    #[error("Too many bots (maximum {limit}).")]
    TooMany { limit: usize },
    #[error("Failed to change owner, no such user")]
    OwnerMissing,
    #[error("Failed to change owner, user is deactivated")]
    OwnerDeactivated,
    #[error("Failed to change owner, bots can't own other bots")]
    OwnerIsBot,
}
