//! `millstream realm`: organizations.

use super::error::CliError;
use super::offline::{Password, with_data};
use crate::api::users::create::check_new_account;
use actors::{NewRealm, NewUser, first_user};
use model::Role;
use std::path::PathBuf;

/// What can be done with organizations.
#[derive(Debug, clap::Subcommand)]
pub enum RealmCommand {
    /// Create an organization and its first owner
    Create(RealmCreateArgs),
    /// List the organizations, one a line: subdomain (or -), name, number of active people
    List(RealmListArgs),
}

/// The arguments of `realm create`.
#[derive(Debug, clap::Args)]
pub struct RealmCreateArgs {
    /// The organization's name, as people see it
    name: String,
    /// Data folder, created if there is none; the server must not be running on it
    #[arg(long, value_name = "DIR", env = "MILLSTREAM_DATA", default_value = "millstream-data")]
    data: PathBuf,
    /// What stands before the server's name in its host name; without it, the organization has the bare name
    #[arg(long, value_name = "WORD", default_value = "", hide_default_value = true)]
    subdomain: String,
    /// E-mail address of the owner
    #[arg(long, value_name = "ADDRESS")]
    owner_email: String,
    /// Full name of the owner
    #[arg(long, value_name = "NAME")]
    owner_name: String,
    /// Domain of its bots' addresses, and of those shown for hidden ones; without it, that of the owner's address
    #[arg(long, value_name = "DOMAIN")]
    email_domain: Option<String>,
    /// Read the owner's password from standard input; without it one is made up and printed
    #[arg(long)]
    password_stdin: bool,
}

/// The arguments of `realm list`.
#[derive(Debug, clap::Args)]
pub struct RealmListArgs {
    /// Data folder; the server must not be running on it
    #[arg(long, value_name = "DIR", env = "MILLSTREAM_DATA", default_value = "millstream-data")]
    data: PathBuf,
}

/// Does it.
pub fn run(command: RealmCommand) -> Result<(), CliError> {
    match command {
        RealmCommand::Create(args) => create(args),
        RealmCommand::List(args) => list(&args),
    }
}

fn create(args: RealmCreateArgs) -> Result<(), CliError> {
    let RealmCreateArgs { name, data, subdomain, owner_email, owner_name, email_domain, password_stdin } =
        args;
    let name = name.trim().to_owned();
    if name.is_empty() {
        return Err(CliError::Refused("an organization needs a name".into()));
    }
    let domain = email_domain.or_else(|| owner_email.rsplit_once('@').map(|(_, domain)| domain.to_owned()));
    let email_domain = domain.unwrap_or_default();
    let full_name = check_new_account(None, &owner_email, &owner_name)?.to_owned();
    let password = Password::get(password_stdin)?;
    let password_hash = Some(password.hash()?);
    with_data(&data, true, async |server| {
        if server.realm_by_subdomain(&subdomain).is_some() {
            return Err(CliError::Refused("there is an organization with this subdomain already".into()));
        }
        let owner = NewUser {
            email: owner_email,
            full_name,
            role: Role::Owner,
            bot: None,
            password_hash,
            timezone: String::new(),
            channels: Vec::new(),
        };
        let new = NewRealm { subdomain, name, email_domain };
        server.create_realm(new, |view, _| vec![first_user(&view.directory, &owner)]).await?;
        println!("Organization created; {} is its owner.", owner.email);
        password.print();
        Ok(())
    })
}

fn list(args: &RealmListArgs) -> Result<(), CliError> {
    with_data(&args.data, false, async |server| {
        for realm in server.realms() {
            let directory = realm.directory();
            let people = directory.users().filter(|user| user.is_active && !user.is_bot()).count();
            let realm = directory.realm();
            let subdomain = if realm.subdomain.is_empty() { "-" } else { &realm.subdomain };
            println!("{subdomain}\t{}\t{people}", realm.name);
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    #[test]
    fn an_owner_is_needed() {
        let words = ["Acme", "--owner-email", "o@acme.example", "--owner-name", "Olga"];
        let args: RealmCreateArgs = parse(&words).unwrap();
        assert_eq!((args.name.as_str(), args.subdomain.as_str(), args.password_stdin), ("Acme", "", false));
        assert!(parse::<RealmCreateArgs>(&words[..1]).is_err());
    }
}
