//! `millstream user`: accounts.

use super::error::CliError;
use super::offline::{Password, find_realm, with_data};
use crate::api::users::create::check_new_account;
use actors::NewUser;
use clap::ValueEnum;
use model::Role;
use std::path::PathBuf;

/// What can be done with accounts.
#[derive(Debug, clap::Subcommand)]
pub enum UserCommand {
    /// Create an account
    Create(UserCreateArgs),
    /// Print an account's API key
    ApiKey(UserApiKeyArgs),
}

/// The arguments of `user create`.
#[derive(Debug, clap::Args)]
pub struct UserCreateArgs {
    /// Data folder; the server must not be running on it
    #[arg(long, value_name = "DIR", env = "MILLSTREAM_DATA", default_value = "millstream-data")]
    data: PathBuf,
    /// The organization's subdomain; without it, the one without a subdomain
    #[arg(long, value_name = "WORD", default_value = "", hide_default_value = true)]
    realm: String,
    /// E-mail address
    #[arg(long, value_name = "ADDRESS")]
    email: String,
    /// Full name
    #[arg(long, value_name = "NAME")]
    name: String,
    /// Role in the organization
    #[arg(long, value_enum, default_value = "member")]
    role: RoleWord,
    /// Read the password from standard input; without it one is made up and printed
    #[arg(long)]
    password_stdin: bool,
}

/// The arguments of `user api-key`.
#[derive(Debug, clap::Args)]
pub struct UserApiKeyArgs {
    /// Data folder; the server must not be running on it
    #[arg(long, value_name = "DIR", env = "MILLSTREAM_DATA", default_value = "millstream-data")]
    data: PathBuf,
    /// The organization's subdomain; without it, the one without a subdomain
    #[arg(long, value_name = "WORD", default_value = "", hide_default_value = true)]
    realm: String,
    /// E-mail address of the account
    #[arg(long, value_name = "ADDRESS")]
    email: String,
}

/// A role as typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RoleWord {
    /// Everything, including who else is an owner
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

/// Does it.
pub fn run(command: UserCommand) -> Result<(), CliError> {
    match command {
        UserCommand::Create(args) => create(args),
        UserCommand::ApiKey(args) => api_key(&args),
    }
}

fn create(args: UserCreateArgs) -> Result<(), CliError> {
    let password = Password::get(args.password_stdin)?;
    let password_hash = Some(password.hash()?);
    with_data(&args.data, false, async |server| {
        let realm = find_realm(&server, &args.realm)?;
        let full_name = check_new_account(Some(&realm.directory()), &args.email, &args.name)?.to_owned();
        let user = NewUser {
            email: args.email,
            full_name,
            role: args.role.into(),
            bot: None,
            password_hash,
            timezone: String::new(),
            channels: Vec::new(),
        };
        let user = realm.create_user(user).await?;
        println!("Account created: user {}, {}.", user.id, user.delivery_email);
        password.print();
        Ok(())
    })
}

fn api_key(args: &UserApiKeyArgs) -> Result<(), CliError> {
    with_data(&args.data, false, async |server| {
        let realm = find_realm(&server, &args.realm)?;
        let directory = realm.directory();
        let user = directory.user_by_email(&args.email);
        let user = user.ok_or_else(|| CliError::Refused(format!("there is no account {}", args.email)))?;
        println!("{}", realm.api_key(user));
        Ok(())
    })
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
        let args: UserApiKeyArgs = parse(&["--email", "a@b.example"]).unwrap();
        assert!(args.realm.is_empty());
    }
}
