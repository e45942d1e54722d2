//! `millstream realm`: organizations.

use super::error::CliError;
use super::offline::{Password, find_realm, with_data};
use crate::api::users::create::check_new_account;
use actors::{NewRealm, NewUser, first_user};
use model::Role;
use std::path::PathBuf;

/// What can be done with organizations.
#[derive(Debug, clap::Subcommand)]
pub enum RealmCommand {
    /// Create an organization and its first owner
    Create(RealmCreateArgs),
    /// List the organizations, one a line: subdomain (or -), name, number of active people, open or deactivated
    List(RealmListArgs),
    /// Close an organization: nobody gets in any more, and everything in it is kept
    Deactivate(RealmActiveArgs),
    /// Open a closed organization again, with everything that was in it
    Reactivate(RealmActiveArgs),
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

/// The arguments of `realm deactivate` and `realm reactivate`.
#[derive(Debug, clap::Args)]
pub struct RealmActiveArgs {
    /// The organization's subdomain; - is the one without
    #[arg(value_name = "WORD")]
    subdomain: String,
    /// Data folder; the server must not be running on it
    #[arg(long, value_name = "DIR", env = "MILLSTREAM_DATA", default_value = "millstream-data")]
    data: PathBuf,
}

/// Does it.
pub fn run(command: RealmCommand) -> Result<(), CliError> {
    match command {
        RealmCommand::Create(args) => create(args),
        RealmCommand::List(args) => list(&args),
        RealmCommand::Deactivate(args) => set_active(&args, false),
        RealmCommand::Reactivate(args) => set_active(&args, true),
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
            let state = if realm.is_active { "open" } else { "deactivated" };
            println!("{subdomain}\t{}\t{people}\t{state}", realm.name);
        }
        Ok(())
    })
}

fn set_active(args: &RealmActiveArgs, is_active: bool) -> Result<(), CliError> {
    let subdomain = if args.subdomain == "-" { "" } else { &args.subdomain };
    with_data(&args.data, false, async |server| {
        let realm = find_realm(&server, subdomain)?;
        let (name, was_active) = {
            let directory = realm.directory();
            (directory.realm().name.clone(), directory.realm().is_active)
        };
        match (was_active, is_active) {
            (true, false) => {
                realm.deactivate(None).await?;
                println!("{name} is deactivated: nobody gets in, and everything in it is kept.");
            }
            (false, true) => {
                realm.reactivate().await?;
                println!("{name} is open again, with everything that was in it.");
            }
            (true, true) => println!("{name} is open already."),
            (false, false) => println!("{name} is deactivated already."),
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
