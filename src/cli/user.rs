//! `millstream user create` and `millstream user api-key`: their arguments.

use clap::ValueEnum;
use model::Role;
use std::path::PathBuf;

/// Create an account.
#[derive(Debug, clap::Args)]
pub struct UserCreateArgs {
    /// Data folder; the server must not be running on it
    #[arg(long, value_name = "DIR", default_value = "millstream-data")]
    pub data: PathBuf,
    /// Subdomain of the organization; empty for the one at the bare host name
    #[arg(long, value_name = "SUBDOMAIN", default_value = "")]
    pub realm: String,
    /// E-mail address
    #[arg(long, value_name = "ADDRESS")]
    pub email: String,
    /// Full name
    #[arg(long)]
    pub name: String,
    /// Role in the organization
    #[arg(long, value_enum, default_value = "member")]
    pub role: RoleWord,
    /// Read the password from standard input; without it the account has no password yet
    #[arg(long)]
    pub password_stdin: bool,
}

/// Print an account's API key.
#[derive(Debug, clap::Args)]
pub struct UserApiKeyArgs {
    /// Data folder; the server must not be running on it
    #[arg(long, value_name = "DIR", default_value = "millstream-data")]
    pub data: PathBuf,
    /// Subdomain of the organization; empty for the one at the bare host name
    #[arg(long, value_name = "SUBDOMAIN", default_value = "")]
    pub realm: String,
    /// E-mail address of the account
    #[arg(long, value_name = "ADDRESS")]
    pub email: String,
    /// Make a new key; the old one stops working
    #[arg(long)]
    pub rotate: bool,
}

/// A role as typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RoleWord {
    /// Everything, including deleting the organization
    Owner,
    /// Manages people and settings
    Administrator,
    /// Manages conversations
    Moderator,
    /// The usual
    Member,
    /// Sees only the channels they were added to
    Guest,
}

impl From<RoleWord> for Role {
    fn from(word: RoleWord) -> Self {
        match word {
            RoleWord::Owner => Self::Owner,
            RoleWord::Administrator => Self::Administrator,
            RoleWord::Moderator => Self::Moderator,
            RoleWord::Member => Self::Member,
            RoleWord::Guest => Self::Guest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    #[test]
    fn roles_are_words() {
        let words = ["--email", "a@b.example", "--name", "A", "--role", "guest"];
        let args: UserCreateArgs = parse(&words).unwrap();
        assert_eq!(Role::from(args.role), Role::Guest);
        assert_eq!(parse::<UserCreateArgs>(&words[..4]).unwrap().role, RoleWord::Member);
        assert!(parse::<UserCreateArgs>(&["--email", "a", "--name", "A", "--role", "600"]).is_err());
        let args: UserApiKeyArgs = parse(&["--email", "a@b.example", "--rotate"]).unwrap();
        assert!(args.rotate && args.realm.is_empty());
    }
}
