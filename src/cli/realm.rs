//! `millstream realm create`: its arguments.

use std::path::PathBuf;

/// Create an organization and its first owner.
#[derive(Debug, clap::Args)]
pub struct RealmCreateArgs {
    /// Data folder; the server must not be running on it
    #[arg(long, value_name = "DIR", default_value = "millstream-data")]
    pub data: PathBuf,
    /// The organization's name, as people see it
    #[arg(long)]
    pub name: String,
    /// First part of its host name; without it, the organization answers to the bare host name
    #[arg(long, default_value = "")]
    pub subdomain: String,
    /// E-mail address of the owner
    #[arg(long, value_name = "ADDRESS")]
    pub owner_email: String,
    /// Full name of the owner
    #[arg(long, value_name = "NAME")]
    pub owner_name: String,
    /// Read the owner's password from standard input; without it the account has no password yet
    #[arg(long)]
    pub password_stdin: bool,
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    #[test]
    fn an_owner_is_needed() {
        let words = ["--name", "Acme", "--owner-email", "o@acme.example", "--owner-name", "Olga"];
        let args: RealmCreateArgs = parse(&words).unwrap();
        assert_eq!((args.name.as_str(), args.subdomain.as_str(), args.password_stdin), ("Acme", "", false));
        assert!(parse::<RealmCreateArgs>(&words[..2]).is_err());
    }
}
