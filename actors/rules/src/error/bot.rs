//! Why a bot cannot be created or changed (docs/api/bots.md#create-a-bot).

/// A refusal. The display text is exactly what a client reads.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BotError {
    /// Nobody by this id, a person, or one of the server's own bots.
    #[error("No such bot")]
    Missing,
    /// No address can be made of the short name.
    #[error("Bad name or username")]
    BadShortName,
    /// Somebody has the address.
    #[error("Username already in use")]
    AddressTaken,
    /// Somebody active has the name.
    #[error("Name is already in use!")]
    NameTaken,
    /// None of the four kinds.
    #[error("Invalid bot type")]
    InvalidKind,
    /// This server runs no bots of its own for others.
    #[error("Embedded bots are not enabled.")]
    EmbeddedOff,
    /// This server translates for no other service.
    #[error("Invalid integration '{name}'.")]
    InvalidIntegration {
        /// As sent.
        name: String,
    },
    /// Neither of the two.
    #[error("Invalid interface type")]
    InvalidInterface,
    /// Not an address in the web.
    #[error("Invalid {field}: Value error, Not a URL")]
    InvalidUrl {
        /// The parameter.
        field: &'static str,
    },
    /// Not an outgoing webhook: it asks nobody.
    #[error("Only outgoing webhook bots have a payload URL")]
    NoService,
    /// Somebody else wants the key.
    #[error("Only the owner of a bot can see or renew its API key. Become its owner first.")]
    KeyOfOwner,
    /// Somebody else wants to say where the bot sends what it reads.
    #[error("Only the owner of a bot can change its payload URL. Become its owner first.")]
    ServiceOfOwner,
    /// No bot is more than its owner.
    #[error("The role of a bot cannot be above that of its owner.")]
    RoleAboveOwner,
    /// No such role.
    #[error("Invalid role")]
    InvalidRole,
    /// More bots than one person may have.
    #[error("Too many bots (maximum {limit}).")]
    TooMany {
        /// How many there may be.
        limit: usize,
    },
    /// There is no such new owner.
    #[error("Failed to change owner, no such user")]
    OwnerMissing,
    /// The new owner is gone.
    #[error("Failed to change owner, user is deactivated")]
    OwnerDeactivated,
    /// Bots own no bots.
    #[error("Failed to change owner, bots can't own other bots")]
    OwnerIsBot,
}
