//! `millstream user`: accounts.

use super::data::DataArgs;
use super::error::CliError;
use super::offline::{Password, find_realm, with_data};
use crate::api::users::create::check_new_account;
use actors::{NewUser, commands};
use clap::ValueEnum;
use model::Role;
use rules::accounts::{CAN_CHANGE_USER_EMAILS, CAN_CREATE_USERS};

/// Commands for accounts.
#[derive(Debug, clap::Subcommand)]
pub enum UserCommand {
    /// Create an account
    Create(UserCreateArgs),
    /// Print an account's API key
    ApiKey(AccountArgs),
    /// Set an account's password, for example that of the first owner of an imported organization
    Password(UserPasswordArgs),
    /// Grant an account a permission that the API cannot grant
    Grant(UserMarkArgs),
    /// Revoke such a permission
    Revoke(UserMarkArgs),
}

/// An account in a data folder; the arguments of `user api-key`.
#[derive(Debug, clap::Args)]
pub struct AccountArgs {
    #[command(flatten)]
    data: DataArgs,
    /// Subdomain of the organization (default: none)
    #[arg(long, value_name = "SUBDOMAIN", default_value = "", hide_default_value = true)]
    realm: String,
    /// E-mail address of the account
    #[arg(long, value_name = "ADDRESS")]
    email: String,
}

/// The arguments of `user create`.
#[derive(Debug, clap::Args)]
pub struct UserCreateArgs {
    #[command(flatten)]
    account: AccountArgs,
    /// Full name of the user
    #[arg(long, value_name = "NAME")]
    name: String,
    /// Role in the organization
    #[arg(long, value_enum, default_value = "member")]
    role: RoleName,
    /// Read the password from standard input (default: a random one is generated and printed)
    #[arg(long)]
    password_stdin: bool,
}

/// The arguments of `user password`.
#[derive(Debug, clap::Args)]
pub struct UserPasswordArgs {
    #[command(flatten)]
    account: AccountArgs,
    /// Read the password from standard input (default: a random one is generated and printed)
    #[arg(long)]
    password_stdin: bool,
}

/// The arguments of `user grant` and `user revoke`.
#[derive(Debug, clap::Args)]
pub struct UserMarkArgs {
    #[command(flatten)]
    account: AccountArgs,
    /// The permission to grant or revoke
    #[arg(value_enum)]
    permission: MarkName,
}

/// A permission of a single account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MarkName {
    /// Create accounts with `POST /users`; the account must be an administrator
    CreateUsers,
    /// Change the e-mail addresses of other accounts; the account must be an administrator
    ChangeUserEmails,
}

impl MarkName {
    fn mark(self) -> &'static str {
        match self {
            Self::CreateUsers => CAN_CREATE_USERS,
            Self::ChangeUserEmails => CAN_CHANGE_USER_EMAILS,
        }
    }
}

/// The value of `--role`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RoleName {
    /// Full control, including managing owners
    Owner,
    /// Manages users and settings
    Administrator,
    /// Moderates messages and channels
    Moderator,
    /// An ordinary member
    Member,
    /// Sees only the channels that they were added to
    Guest,
}

impl From<RoleName> for Role {
    fn from(word: RoleName) -> Self {
        match word {
            RoleName::Owner => Self::Owner,
            RoleName::Administrator => Self::Administrator,
            RoleName::Moderator => Self::Moderator,
            RoleName::Member => Self::Member,
            RoleName::Guest => Self::Guest,
        }
    }
}

/// Runs the command.
pub fn run(command: UserCommand) -> Result<(), CliError> {
    match command {
        UserCommand::Create(args) => create(args),
        UserCommand::ApiKey(args) => api_key(&args),
        UserCommand::Password(args) => set_password(&args),
        UserCommand::Grant(args) => set_mark(&args, true),
        UserCommand::Revoke(args) => set_mark(&args, false),
    }
}

fn create(args: UserCreateArgs) -> Result<(), CliError> {
    let AccountArgs { data, realm, email } = args.account;
    let password = Password::get(args.password_stdin, &[&email, &args.name])?;
    let password_hash = Some(password.hash()?);
    with_data(&data, false, async |server| {
        let realm = find_realm(&server, &realm)?;
        let full_name = check_new_account(Some(&realm.directory()), &email, &args.name)?.to_owned();
        let user = NewUser {
            email,
            full_name,
            role: args.role.into(),
            bot: None,
            password_hash,
            timezone: String::new(),
            channels: Vec::new(),
        };
        let user = realm.execute(commands::CreateUser { user, sends_messages: false }).await?;
        println!("Account created: user {}, {}.", user.id, user.delivery_email);
        password.print();
        Ok(())
    })
}

fn api_key(args: &AccountArgs) -> Result<(), CliError> {
    with_data(&args.data, false, async |server| {
        let realm = find_realm(&server, &args.realm)?;
        let directory = realm.directory();
        let user = directory.user_by_email(&args.email);
        let user = user.ok_or_else(|| CliError::Refused(format!("there is no account {}", args.email)))?;
        println!("{}", realm.api_key(user));
        Ok(())
    })
}

fn set_password(args: &UserPasswordArgs) -> Result<(), CliError> {
    let AccountArgs { data, realm, email } = &args.account;
    let password = Password::get(args.password_stdin, &[email])?;
    let new_hash = password.hash()?;
    with_data(data, false, async |server| {
        let realm = find_realm(&server, realm)?;
        let user = realm.directory().user_by_email(email).cloned();
        let user = user.filter(|user| user.is_active && !user.is_bot());
        let user = user.ok_or_else(|| CliError::Refused(format!("there is no active person {email}")))?;
        let old_hash = user.password_hash.clone();
        realm.execute(commands::ResetPassword { user: user.id, old_hash, new_hash }).await?;
        println!("The password was set: user {}, {}.", user.id, user.delivery_email);
        password.print();
        Ok(())
    })
}

fn set_mark(args: &UserMarkArgs, is_granted: bool) -> Result<(), CliError> {
    with_data(&args.account.data, false, async |server| {
        let realm = find_realm(&server, &args.account.realm)?;
        let directory = realm.directory();
        let user = directory.user_by_email(&args.account.email);
        let user =
            user.ok_or_else(|| CliError::Refused(format!("there is no account {}", args.account.email)))?;
        if is_granted && !user.is_administrator() {
            return Err(CliError::Refused(format!("{} is not an administrator", args.account.email)));
        }
        let mark = args.permission.mark();
        let is_changed = realm.execute(commands::SetAccountMark { user: user.id, mark, is_granted }).await?;
        let state = if is_granted { "granted" } else { "revoked" };
        let when = if is_changed { "" } else { " before" };
        println!("{mark} was {state}{when}: user {}, {}.", user.id, user.delivery_email);
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    #[test]
    fn role_names_are_parsed() {
        let words = ["--email", "a@b.example", "--name", "A", "--role", "guest"];
        let args: UserCreateArgs = parse(&words).unwrap();
        assert_eq!(Role::from(args.role), Role::Guest);
        assert_eq!(parse::<UserCreateArgs>(&words[..4]).unwrap().role, RoleName::Member);
        assert!(parse::<UserCreateArgs>(&["--email", "a", "--name", "A", "--role", "600"]).is_err());
        let args: AccountArgs = parse(&["--email", "a@b.example"]).unwrap();
        assert!(args.realm.is_empty());
        let args: UserMarkArgs = parse(&["--email", "a@b.example", "create-users"]).unwrap();
        assert_eq!(args.permission.mark(), "can_create_users");
        assert!(parse::<UserMarkArgs>(&["--email", "a@b.example", "everything"]).is_err());
    }
}
