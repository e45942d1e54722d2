//! `millstream realm`: organizations.

use super::data::{DataArgs, subdomain};
use super::error::CliError;
use super::offline::{Password, execute, execute_and_print};
#[cfg(feature = "cluster")]
use super::relocate::{self, MoveFromArgs, MoveToArgs};
use crate::admin::{AdminRequest, NewAccount, check_address};
use crate::api::users::create::check_new_account;
use crate::config::Config;
use crate::hosts::Hosts;
use rules::RuleError;
use rules::addresses::parse_domain;
use rules::names::{FULL_NAME_LENGTH_MAX, FULL_NAME_LENGTH_MIN, parse_full_name};
use rules::settings::parse_realm_name;
use url::{Host, Url};

/// Commands for organizations.
#[derive(Debug, clap::Subcommand)]
pub enum RealmCommand {
    /// Create an organization and its first owner
    Create(RealmCreateArgs),
    /// List the organizations with the number of their active people and their state: `open`, `deactivated`, `importing`, or
    /// `unfinished` (making or resetting it was interrupted, and it is not served)
    List(DataArgs),
    /// Deactivate an organization: its users can no longer log in; its data is kept
    Deactivate(RealmActiveArgs),
    /// Reactivate a deactivated organization with all of its data
    Reactivate(RealmActiveArgs),
    /// Move an organization with its whole history from a data folder, whose server is stopped, to a cluster
    #[cfg(feature = "cluster")]
    MoveToCluster(MoveToArgs),
    /// Move an organization with its whole history from a cluster to a data folder, whose server is stopped
    #[cfg(feature = "cluster")]
    MoveFromCluster(MoveFromArgs),
}

/// The arguments of `realm create`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  millstream realm create Acme --owner-email olga@acme.example --owner-name 'Olga Ortiz'")]
pub struct RealmCreateArgs {
    /// Name of the organization
    name: String,
    #[command(flatten)]
    data: DataArgs,
    /// Subdomain of the organization (default: none)
    #[arg(long, value_name = "SUBDOMAIN", default_value = "-", hide_default_value = true, value_parser = subdomain)]
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
    #[arg(value_name = "SUBDOMAIN", value_parser = subdomain)]
    subdomain: String,
    #[command(flatten)]
    data: DataArgs,
}

/// Runs the command.
pub fn run(command: RealmCommand) -> Result<(), CliError> {
    match command {
        RealmCommand::Create(args) => create(args),
        RealmCommand::List(data) => execute_and_print(&data, AdminRequest::RealmList),
        RealmCommand::Deactivate(args) => set_active(args, false),
        RealmCommand::Reactivate(args) => set_active(args, true),
        #[cfg(feature = "cluster")]
        RealmCommand::MoveToCluster(args) => relocate::to_cluster(&args),
        #[cfg(feature = "cluster")]
        RealmCommand::MoveFromCluster(args) => relocate::from_cluster(&args),
    }
}

/// Refuses what cannot be part of a host name, with what is allowed.
pub(super) fn check_subdomain(subdomain: &str) -> Result<(), CliError> {
    if actors::check_subdomain(subdomain).is_ok() {
        return Ok(());
    }
    let rule = actors::subdomain_rule();
    Err(CliError::Refused(format!("`{subdomain}` cannot be a subdomain: {rule}")))
}

/// Refuses what cannot be the name of a person, with what is allowed. `option` gave it.
pub(super) fn check_person_name(option: &str, name: &str) -> Result<(), CliError> {
    let why = match parse_full_name(name) {
        Ok(_) => return Ok(()),
        Err(RuleError::NameTooShort | RuleError::NameTooLong) => {
            format!("the name of a person has {FULL_NAME_LENGTH_MIN} to {FULL_NAME_LENGTH_MAX} characters")
        }
        Err(other) => other.to_string(),
    };
    Err(CliError::Refused(format!("{option}: {why}")))
}

/// The name of an organization, within the limit of the API.
fn organization_name(given: &str) -> Result<String, CliError> {
    let why = match parse_realm_name(given) {
        Ok(name) => return Ok(name.to_owned()),
        Err(RuleError::Blank { .. }) => "the name of the organization must not be empty".to_owned(),
        Err(error) => format!("the name of the organization: {error}"),
    };
    Err(CliError::Refused(why))
}

/// Where clients find an organization with a subdomain: no other address of the server leads to it.
fn where_reached(config: &Config, subdomain: &str) -> Option<String> {
    if subdomain.is_empty() {
        return None;
    }
    if Url::parse(&config.external_url).is_ok_and(|url| !matches!(url.host(), Some(Host::Domain(_)))) {
        let url = &config.external_url;
        return Some(format!(
            "Clients cannot reach it: external_url is {url}, and an address has no subdomains. Give the server a name."
        ));
    }
    Some(match config.external_url.is_empty() {
        false => format!("Clients reach it at {}.", Hosts::new(config, false).url_of(subdomain)),
        true => format!(
            "Clients reach it as {subdomain}.localhost, on this machine only, because external_url is not set; set it in the \
             configuration of the server, and they reach it as `{subdomain}.` before the name there, from everywhere."
        ),
    })
}

fn create(args: RealmCreateArgs) -> Result<(), CliError> {
    let RealmCreateArgs { name, data, subdomain, owner_email, owner_name, email_domain, password_stdin } =
        args;
    let name = organization_name(&name)?;
    check_subdomain(&subdomain)?;
    check_address(&owner_email)?;
    check_person_name("--owner-name", &owner_name)?;
    let full_name = check_new_account(None, &owner_email, &owner_name)?.to_owned();
    let email_domain = match email_domain {
        Some(domain) => {
            parse_domain(&domain).map_err(|error| CliError::Refused(format!("--email-domain: {error}")))?
        }
        None => owner_email.rsplit_once('@').map(|(_, domain)| domain.to_owned()).unwrap_or_default(),
    };
    let password = Password::get(password_stdin, &[&owner_email, &full_name])?;
    let owner = NewAccount { email: owner_email, full_name, password_hash: password.hash()? };
    let reached = where_reached(&data.load()?, &subdomain);
    let request = AdminRequest::RealmCreate { name, subdomain, email_domain, owner };
    let mut answer = execute(&data, true, request)?;
    answer.lines.extend(reached);
    password.add_to(&mut answer);
    data.print(&answer)
}

fn set_active(args: RealmActiveArgs, is_active: bool) -> Result<(), CliError> {
    execute_and_print(&args.data, AdminRequest::RealmSetActive { realm: args.subdomain, is_active })
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;
    use crate::config::Overrides;

    #[test]
    fn subdomain_is_part_of_a_host_name() {
        for subdomain in ["", "acme", "acme-2", &"a".repeat(40)] {
            assert!(check_subdomain(subdomain).is_ok(), "{subdomain}");
        }
        for subdomain in ["Acme", "a.b", "a b", "-", "-a", "a-", "é", &"a".repeat(41)] {
            let said = check_subdomain(subdomain).unwrap_err().to_string();
            assert!(said.contains("lower-case letters (a to z), digits and hyphens"), "{said}");
        }
    }

    #[test]
    fn name_of_an_organization_has_the_limit_of_the_api() {
        assert_eq!(organization_name(&format!(" {} ", "a".repeat(40))).unwrap(), "a".repeat(40));
        for (name, why) in [
            (" ".to_owned(), "the name of the organization must not be empty"),
            ("a".repeat(41), "the name of the organization: name is too long (limit: 40 characters)"),
            ("A\tB".to_owned(), "the name of the organization: Invalid characters in name!"),
        ] {
            assert_eq!(organization_name(&name).unwrap_err().to_string(), why);
        }
    }

    #[test]
    fn organization_with_a_subdomain_says_where_it_is_reached() {
        let reached = |external_url: &str, subdomain: &str| {
            let url = Overrides::default().set("external_url", "test", Some(external_url));
            where_reached(&Config::load(None, [], url).unwrap(), subdomain)
        };
        assert_eq!((reached("", ""), reached("https://chat.example.com", "")), (None, None));
        assert_eq!(
            reached("https://chat.example.com", "beta").as_deref(),
            Some("Clients reach it at https://beta.chat.example.com.")
        );
        let by_address = reached("https://10.0.0.5", "beta").unwrap();
        assert!(
            by_address.starts_with("Clients cannot reach it: external_url is https://10.0.0.5"),
            "{by_address}"
        );
        let unset = reached("", "beta").unwrap();
        assert!(unset.starts_with("Clients reach it as beta.localhost, on this machine only"), "{unset}");
        assert!(unset.contains("set it in the configuration of the server"), "{unset}");
    }

    #[test]
    fn name_of_a_person_is_refused_with_its_option() {
        let check = |name: &str| check_person_name("--owner-name", name);
        assert!(check("Olga Ortiz").is_ok());
        for name in ["", "O", &"o".repeat(101)] {
            let said = check(name).unwrap_err().to_string();
            assert_eq!(said, "--owner-name: the name of a person has 2 to 100 characters", "{name}");
        }
        let said = check("Olga*").unwrap_err().to_string();
        assert_eq!(said, "--owner-name: Invalid characters in name!");
    }

    #[test]
    fn owner_is_required() {
        let words = ["Acme", "--owner-email", "o@acme.example", "--owner-name", "Olga"];
        let args: RealmCreateArgs = parse(&words).unwrap();
        assert_eq!((args.name.as_str(), args.subdomain.as_str(), args.password_stdin), ("Acme", "", false));
        assert!(parse::<RealmCreateArgs>(&words[..1]).is_err());
    }
}
