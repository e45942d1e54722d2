//! `millstream user`: accounts.

use super::data::{DataArgs, subdomain};
use super::error::CliError;
use super::offline::{Password, execute, execute_and_print};
use super::realm::check_person_name;
use crate::admin::{AccountName, AdminRequest, NewAccount, Permission, RoleName, UserName};

/// Commands for accounts.
#[derive(Debug, clap::Subcommand)]
pub enum UserCommand {
    /// List the accounts of an organization
    List(UserListArgs),
    /// Create an account
    Create(UserCreateArgs),
    /// Change the role of an account
    Role(UserRoleArgs),
    /// Replace the password of an account; it is logged out of all browsers
    SetPassword(UserPasswordArgs),
    /// Deactivate an account and its bots
    Deactivate(AccountArgs),
    /// Reactivate an account
    Reactivate(AccountArgs),
    /// Delete an account and its messages permanently
    Delete(UserDeleteArgs),
    /// Print an account's API key
    ApiKey(AccountArgs),
    /// Log out one account, or all accounts of an organization, everywhere, and replace their API keys
    EndSessions(UserEndArgs),
    /// Grant an account a permission that the API cannot grant
    Grant(UserPermissionArgs),
    /// Revoke a permission that was granted with `user grant`
    Revoke(UserPermissionArgs),
}

/// An account in a data folder; the arguments of `user api-key`.
#[derive(Debug, clap::Args)]
pub struct AccountArgs {
    #[command(flatten)]
    data: DataArgs,
    /// Subdomain of the organization (default: the organization without a subdomain)
    #[arg(long, value_name = "SUBDOMAIN", default_value = "-", hide_default_value = true, value_parser = subdomain)]
    realm: String,
    /// E-mail address of the account
    #[arg(long, value_name = "ADDRESS")]
    email: String,
}

/// The arguments of `user create`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  millstream user create --email pat@acme.example --name 'Pat Lee' --role moderator")]
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

/// The arguments of `user grant` and `user revoke`.
#[derive(Debug, clap::Args)]
pub struct UserPermissionArgs {
    #[command(flatten)]
    account: AccountArgs,
    /// The permission to grant or revoke
    #[arg(value_enum)]
    permission: Permission,
}

/// The arguments of `user list`.
#[derive(Debug, clap::Args)]
pub struct UserListArgs {
    #[command(flatten)]
    data: DataArgs,
    /// Subdomain of the organization (default: the organization without a subdomain)
    #[arg(long, value_name = "SUBDOMAIN", default_value = "-", hide_default_value = true, value_parser = subdomain)]
    realm: String,
}

/// The arguments of `user role`.
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("new role").required(true).args(["role", "role_option"])))]
pub struct UserRoleArgs {
    #[command(flatten)]
    account: AccountArgs,
    /// The new role
    #[arg(value_enum)]
    role: Option<RoleName>,
    /// The new role, as an option instead of an argument
    #[arg(long = "role", value_name = "ROLE", value_enum)]
    role_option: Option<RoleName>,
}

impl UserRoleArgs {
    /// The new role. One of both is given.
    fn role(&self) -> RoleName {
        self.role.or(self.role_option).unwrap_or(RoleName::Member)
    }
}

/// The arguments of `user set-password`.
#[derive(Debug, clap::Args)]
pub struct UserPasswordArgs {
    #[command(flatten)]
    account: AccountArgs,
    /// Read the password from standard input (default: a random one is generated and printed)
    #[arg(long)]
    password_stdin: bool,
}

/// The arguments of `user delete`.
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("which").required(true).args(["email", "id"])))]
pub struct UserDeleteArgs {
    #[command(flatten)]
    data: DataArgs,
    /// Subdomain of the organization (default: the organization without a subdomain)
    #[arg(long, value_name = "SUBDOMAIN", default_value = "-", hide_default_value = true, value_parser = subdomain)]
    realm: String,
    /// E-mail address of the account
    #[arg(long, value_name = "ADDRESS")]
    email: Option<String>,
    /// Id of the account
    #[arg(long, value_name = "ID")]
    id: Option<u32>,
    /// Keep the messages that the account has sent; they are shown as those of a deleted user
    #[arg(long)]
    keep_messages: bool,
    /// Confirm the deletion; required, because it cannot be undone
    #[arg(long)]
    yes: bool,
}

/// The arguments of `user end-sessions`.
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("whose").required(true).args(["email", "all"])))]
pub struct UserEndArgs {
    #[command(flatten)]
    data: DataArgs,
    /// Subdomain of the organization (default: the organization without a subdomain)
    #[arg(long, value_name = "SUBDOMAIN", default_value = "-", hide_default_value = true, value_parser = subdomain)]
    realm: String,
    /// E-mail address of the account
    #[arg(long, value_name = "ADDRESS")]
    email: Option<String>,
    /// All accounts of the organization, bots included
    #[arg(long)]
    all: bool,
}

impl AccountArgs {
    fn name(&self) -> AccountName {
        AccountName { realm: self.realm.clone(), email: self.email.clone() }
    }
}

/// Runs the command.
pub fn run(command: UserCommand) -> Result<(), CliError> {
    match command {
        UserCommand::List(UserListArgs { data, realm }) => {
            execute_and_print(&data, AdminRequest::UserList { realm })
        }
        UserCommand::Create(args) => create(args),
        UserCommand::Role(args) => {
            let (account, role) = (args.account.name(), args.role());
            execute_and_print(&args.account.data, AdminRequest::UserRole { account, role })
        }
        UserCommand::SetPassword(args) => set_password(&args),
        UserCommand::Deactivate(account) => set_active(&account, false),
        UserCommand::Reactivate(account) => set_active(&account, true),
        UserCommand::Delete(args) => delete(args),
        UserCommand::ApiKey(account) => {
            execute_and_print(&account.data, AdminRequest::UserApiKey { account: account.name() })
        }
        UserCommand::EndSessions(UserEndArgs { data, realm, email, all: _ }) => {
            execute_and_print(&data, AdminRequest::UserEndSessions { realm, email })
        }
        UserCommand::Grant(args) => grant(&args, true),
        UserCommand::Revoke(args) => grant(&args, false),
    }
}

fn create(args: UserCreateArgs) -> Result<(), CliError> {
    let AccountArgs { data, realm, email } = args.account;
    check_person_name("--name", &args.name)?;
    let password = Password::get(args.password_stdin, &[&email, &args.name])?;
    let user = NewAccount { email, full_name: args.name, password_hash: password.hash()? };
    let mut answer = execute(&data, false, AdminRequest::UserCreate { realm, role: args.role, user })?;
    password.add_to(&mut answer);
    data.print(&answer)
}

fn set_password(args: &UserPasswordArgs) -> Result<(), CliError> {
    let password = Password::get(args.password_stdin, &[&args.account.email])?;
    let (account, password_hash) = (args.account.name(), password.hash()?);
    let data = &args.account.data;
    let mut answer = execute(data, false, AdminRequest::UserSetPassword { account, password_hash })?;
    password.add_to(&mut answer);
    data.print(&answer)
}

fn set_active(account: &AccountArgs, is_active: bool) -> Result<(), CliError> {
    execute_and_print(&account.data, AdminRequest::UserSetActive { account: account.name(), is_active })
}

fn delete(args: UserDeleteArgs) -> Result<(), CliError> {
    let UserDeleteArgs { data, realm, email, id, keep_messages, yes } = args;
    if !yes {
        return Err(CliError::Refused("deleting an account cannot be undone; add --yes to do it".to_owned()));
    }
    // One of them is given.
    let user = email.map_or_else(|| UserName::Id(id.unwrap_or_default()), UserName::Email);
    execute_and_print(&data, AdminRequest::UserDelete { realm, user, keeps_messages: keep_messages })
}

fn grant(args: &UserPermissionArgs, is_granted: bool) -> Result<(), CliError> {
    let (account, permission) = (args.account.name(), args.permission);
    execute_and_print(&args.account.data, AdminRequest::UserGrant { account, permission, is_granted })
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;
    use model::Role;

    #[test]
    fn role_names_are_parsed() {
        let words = ["--email", "a@b.example", "--name", "A", "--role", "guest"];
        let args: UserCreateArgs = parse(&words).unwrap();
        assert_eq!(Role::from(args.role), Role::Guest);
        assert_eq!(parse::<UserCreateArgs>(&words[..4]).unwrap().role, RoleName::Member);
        assert!(parse::<UserCreateArgs>(&["--email", "a", "--name", "A", "--role", "600"]).is_err());
        for words in [&["guest"][..], &["--role", "guest"]] {
            let words = [&["--email", "a@b.example"], words].concat();
            assert_eq!(parse::<UserRoleArgs>(&words).unwrap().role(), RoleName::Guest);
        }
        for words in [&[][..], &["guest", "--role", "guest"]] {
            assert!(parse::<UserRoleArgs>(&[&["--email", "a@b.example"], words].concat()).is_err());
        }
        let args: AccountArgs = parse(&["--email", "a@b.example"]).unwrap();
        assert!(args.realm.is_empty());
        let args: UserPermissionArgs = parse(&["--email", "a@b.example", "create-users"]).unwrap();
        assert_eq!(args.permission.setting_name(), "can_create_users");
        assert!(parse::<UserPermissionArgs>(&["--email", "a@b.example", "everything"]).is_err());
    }
}
