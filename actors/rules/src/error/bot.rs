//! Why a bot cannot be made or changed like this (companions.md 5).

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
