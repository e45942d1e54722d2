//! `millstream realm`: organizations.

use super::data::DataArgs;
use super::error::CliError;
use super::offline::{Password, find_realm, with_data};
use crate::api::users::create::check_new_account;
use actors::{NewRealm, NewUser, commands};
use model::Role;
use rules::addresses::parse_domain;

/// Commands for organizations.
#[derive(Debug, clap::Subcommand)]
pub enum RealmCommand {
    /// Create an organization and its first owner
    Create(RealmCreateArgs),
    /// List the organizations, one per line: subdomain (or -), name, number of active people, `open` or `deactivated`
    List(DataArgs),
    /// Deactivate an organization: its users can no longer log in; its data is kept
    Deactivate(RealmActiveArgs),
    /// Reactivate a deactivated organization with all of its data
    Reactivate(RealmActiveArgs),
}

/// The arguments of `realm create`.
#[derive(Debug, clap::Args)]
pub struct RealmCreateArgs {
    /// Name of the organization
    name: String,
    #[command(flatten)]
    data: DataArgs,
    /// Subdomain of the organization (default: none)
    #[arg(long, value_name = "SUBDOMAIN", default_value = "", hide_default_value = true)]
    subdomain: String,
    /// E-mail address of the owner
    #[arg(long, value_name = "ADDRESS")]
    owner_email: String,
    /// Full name of the owner
    #[arg(long, value_name = "NAME")]
    owner_name: String,
    /// Domain of the addresses of its bots, and of the addresses shown for hidden ones (default: the owner's domain)
    #[arg(long, value_name = "DOMAIN")]
    email_domain: Option<String>,
    /// Read the owner's password from standard input (default: a random one is generated and printed)
    #[arg(long)]
    password_stdin: bool,
}

/// The arguments of `realm deactivate` and `realm reactivate`.
#[derive(Debug, clap::Args)]
pub struct RealmActiveArgs {
    /// Subdomain of the organization; - for the one without
    #[arg(value_name = "SUBDOMAIN")]
    subdomain: String,
    #[command(flatten)]
    data: DataArgs,
}

/// Runs the command.
pub fn run(command: RealmCommand) -> Result<(), CliError> {
    match command {
        RealmCommand::Create(args) => create(args),
        RealmCommand::List(data) => list(&data),
        RealmCommand::Deactivate(args) => set_active(&args, false),
        RealmCommand::Reactivate(args) => set_active(&args, true),
    }
}

fn create(args: RealmCreateArgs) -> Result<(), CliError> {
    let RealmCreateArgs { name, data, subdomain, owner_email, owner_name, email_domain, password_stdin } =
        args;
    let name = name.trim().to_owned();
    if name.is_empty() {
        return Err(CliError::Refused("the name of the organization must not be empty".into()));
    }
    let full_name = check_new_account(None, &owner_email, &owner_name)?.to_owned();
    let email_domain = match email_domain {
        Some(domain) => {
            parse_domain(&domain).map_err(|error| CliError::Refused(format!("--email-domain: {error}")))?
        }
        None => owner_email.rsplit_once('@').map(|(_, domain)| domain.to_owned()).unwrap_or_default(),
    };
    let password = Password::get(password_stdin, &[&owner_email, &full_name])?;
    let password_hash = Some(password.hash()?);
    with_data(&data, true, async |server| {
        if server.realm_by_subdomain(&subdomain).is_some() {
            return Err(CliError::Refused("an organization with this subdomain exists already".into()));
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
        server.create_owned_realm(new, &owner).await?;
        println!("Organization created; {} is its owner.", owner.email);
        password.print();
        Ok(())
    })
}

fn list(data: &DataArgs) -> Result<(), CliError> {
    with_data(data, false, async |server| {
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
                println!("{name} is deactivated. Its users can no longer log in; its data is kept.");
            }
            (false, true) => {
                realm.execute(commands::SetRealmActive { by: None, is_active: true }).await?;
                println!("{name} is reactivated, with all of its data.");
            }
            (true, true) => println!("{name} is active already."),
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
    fn owner_is_required() {
        let words = ["Acme", "--owner-email", "o@acme.example", "--owner-name", "Olga"];
        let args: RealmCreateArgs = parse(&words).unwrap();
        assert_eq!((args.name.as_str(), args.subdomain.as_str(), args.password_stdin), ("Acme", "", false));
        assert!(parse::<RealmCreateArgs>(&words[..1]).is_err());
    }
}
