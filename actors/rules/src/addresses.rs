//! Which e-mail addresses an organization accepts (docs/api/organization.md#domains). The form of an address is checked
//! in `address_list`.

use crate::disposable_domains;
pub use crate::error::AddressRefusal;
use crate::error::{OrganizationError, RuleError};
use crate::new_ids::id_after;
use crate::permissions::roles::check_owner;
use crate::settings::realm_bool;
use model::{Directory, DomainOp, RealmDomain, User};

/// Longest name of a domain, in bytes (RFC 1035).
const DOMAIN_BYTES_MAX: usize = 255;
/// Domains of one organization.
const DOMAINS_MAX: usize = 500;

/// Refuses an address that the organization does not accept. `email` is a well-formed address. An organization that is
/// restricted to its domains and has none accepts every address.
pub fn check_email_allowed(directory: &Directory, email: &str) -> Result<(), AddressRefusal> {
    let (local, host) = email.rsplit_once('@').unwrap_or((email, ""));
    let host = host.to_lowercase();
    let domains = &directory.lists().domains.items;
    if !realm_bool(directory.realm(), "emails_restricted_to_domains") {
        let refuses_disposable = realm_bool(directory.realm(), "disallow_disposable_email_addresses");
        let is_refused = refuses_disposable && is_disposable(&host);
        return if is_refused { Err(AddressRefusal::Disposable) } else { Ok(()) };
    }
    if domains.is_empty() {
        return Ok(());
    }
    if local.contains('+') {
        return Err(AddressRefusal::ContainsPlus);
    }
    let is_inside = domains.iter().any(|domain| contains(domain, &host));
    if is_inside { Ok(()) } else { Err(AddressRefusal::OutsideDomains) }
}

/// The address by which mails to a mailbox are counted: in lower case, without what follows a `+` in its name, because mail servers
/// deliver `name+anything@host` to `name@host`.
pub fn counted_address(address: &str) -> String {
    let address = address.to_lowercase();
    let Some((local, host)) = address.rsplit_once('@') else { return address };
    let name = local.split_once('+').map_or(local, |(name, _)| name);
    format!("{name}@{host}")
}

/// Whether a host, in lower case, belongs to a domain.
fn contains(domain: &RealmDomain, host: &str) -> bool {
    let below = host.strip_suffix(domain.name.as_str());
    below == Some("") || (domain.allows_subdomains && below.is_some_and(|below| below.ends_with('.')))
}

/// Whether a host is, or is below, a provider of disposable addresses.
fn is_disposable(host: &str) -> bool {
    let Ok(url::Host::Domain(host)) = url::Host::parse(host) else { return false };
    let mut suffixes = std::iter::successors(Some(host.as_str()), |host| Some(host.split_once('.')?.1));
    suffixes.any(disposable_domains::is_listed)
}

/// Parses the name of a domain, to lower case and without surrounding white space: `DomainInvalid`.
pub fn parse_domain(raw: &str) -> Result<String, OrganizationError> {
    let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let name = raw.trim().to_lowercase();
    let refused = |why| Err(OrganizationError::DomainInvalid { why });
    if name.is_empty() {
        return refused("Domain can't be empty.");
    }
    if !name.contains('.') {
        return refused("Domain must have at least one dot (.)");
    }
    if name.len() > DOMAIN_BYTES_MAX {
        return refused("Domain is too long");
    }
    if name.starts_with('.') || name.ends_with('.') {
        return refused("Domain cannot start or end with a dot (.)");
    }
    for label in name.split('.') {
        if label.is_empty() {
            return refused("Consecutive '.' are not allowed.");
        }
        if label.starts_with('-') || label.ends_with('-') {
            return refused("Subdomains cannot start or end with a '-'.");
        }
        if !label.bytes().all(is_allowed) {
            return refused("Domain can only have letters, numbers, '.' and '-'s.");
        }
    }
    Ok(name)
}

/// A requested change of the organization's domains; names as sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DomainRequest {
    Add { name: String, allows_subdomains: bool },
    Change { name: String, allows_subdomains: bool },
    Remove { name: String },
}

/// Decides a change of domains: the new record and the kind of change; none if nothing changes. `OwnerRequired`,
/// `DomainInvalid`, `DomainExists`, `DomainMissing`, `TooMany`.
pub fn check_domain_request(
    directory: &Directory,
    user: &User,
    request: DomainRequest,
) -> Result<Option<(RealmDomain, DomainOp)>, RuleError> {
    check_owner(user)?;
    let lists = directory.lists();
    let find = |name: String| lists.domain(&name).cloned().ok_or(OrganizationError::DomainMissing { name });
    Ok(match request {
        DomainRequest::Add { name, allows_subdomains } => {
            let name = parse_domain(&name)?;
            if lists.domain(&name).is_some() {
                return Err(OrganizationError::DomainExists { name }.into());
            }
            if lists.domains.items.len() >= DOMAINS_MAX {
                return Err(OrganizationError::TooMany { what: "domains", limit: DOMAINS_MAX }.into());
            }
            let id = id_after(lists.domains.last_id, "domains")?;
            let domain = RealmDomain { id, name, allows_subdomains };
            Some((domain, DomainOp::Added))
        }
        DomainRequest::Change { name, allows_subdomains } => {
            let before = find(name)?;
            (before.allows_subdomains != allows_subdomains)
                .then_some((RealmDomain { allows_subdomains, ..before }, DomainOp::Changed))
        }
        DomainRequest::Remove { name } => Some((find(name)?, DomainOp::Removed)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use model::{Realm, SettingValue};

    fn organization(restricted: bool, domains: &[(&str, bool)]) -> Directory {
        let mut directory = fixture::directory();
        let mut realm = Realm::clone(directory.realm());
        realm.settings.insert("emails_restricted_to_domains".into(), SettingValue::Bool(restricted));
        directory.put_realm(realm);
        let mut lists = model::RealmLists::default();
        for (id, (name, allows_subdomains)) in (1..).zip(domains) {
            let domain = RealmDomain { id, name: (*name).to_owned(), allows_subdomains: *allows_subdomains };
            lists.apply_domain(&domain, DomainOp::Added);
        }
        directory.put_lists(lists);
        directory
    }

    #[test]
    fn a_restricted_organization_accepts_its_domains() {
        let directory = organization(true, &[("zulip.com", false), ("acme.example", true)]);
        let check = |email| check_email_allowed(&directory, email);
        for email in
            ["a@zulip.com", "A@ZULIP.com", "a@acme.example", "a@b.acme.example", "a@b.c.acme.example"]
        {
            assert_eq!(check(email), Ok(()), "{email}");
        }
        for email in
            ["a@sub.zulip.com", "a@notzulip.com", "a@badacme.example", "a@example", "a@mailinator.com"]
        {
            assert_eq!(check(email), Err(AddressRefusal::OutsideDomains), "{email}");
        }
        assert_eq!(check("a+b@zulip.com"), Err(AddressRefusal::ContainsPlus));
        assert_eq!(check_email_allowed(&organization(true, &[]), "a@mailinator.com"), Ok(()));
    }

    #[test]
    fn other_organizations_refuse_only_disposable_addresses() {
        let directory = organization(false, &[("zulip.com", false)]);
        let check = |email| check_email_allowed(&directory, email);
        for email in ["a+b@gmail.com", "a@zulip.com", "a@bücher.example", "a@localhost", "a@b.example"] {
            assert_eq!(check(email), Ok(()), "{email}");
        }
        assert_eq!(check("a@mailinator.com"), Err(AddressRefusal::Disposable));
        assert_eq!(check("a@MAILINATOR.com"), Err(AddressRefusal::Disposable));
        let mut directory = directory;
        let mut realm = Realm::clone(directory.realm());
        realm.settings.insert("disallow_disposable_email_addresses".into(), SettingValue::Bool(false));
        directory.put_realm(realm);
        assert_eq!(check_email_allowed(&directory, "a@mailinator.com"), Ok(()));
    }

    #[test]
    fn mails_to_a_mailbox_are_counted_together() {
        for (address, expected) in [
            ("a@b.example", "a@b.example"),
            ("A+Tag@B.example", "a@b.example"),
            ("a+b+c@b.example", "a@b.example"),
            ("a@b+c.example", "a@b+c.example"),
            ("+@b.example", "@b.example"),
            ("A+b", "a+b"),
        ] {
            assert_eq!(counted_address(address), expected, "{address}");
        }
    }

    #[test]
    fn domain_names() {
        assert_eq!(parse_domain(" Acme.Example "), Ok("acme.example".to_owned()));
        let long = format!("{}.com", "a".repeat(255));
        for (raw, why) in [
            ("", "Domain can't be empty."),
            ("acme", "Domain must have at least one dot (.)"),
            (long.as_str(), "Domain is too long"),
            (".acme.com", "Domain cannot start or end with a dot (.)"),
            ("acme.com.", "Domain cannot start or end with a dot (.)"),
            ("acme..com", "Consecutive '.' are not allowed."),
            ("-acme.com", "Subdomains cannot start or end with a '-'."),
            ("acme-.com", "Subdomains cannot start or end with a '-'."),
            ("ac_me.com", "Domain can only have letters, numbers, '.' and '-'s."),
        ] {
            assert_eq!(parse_domain(raw), Err(OrganizationError::DomainInvalid { why }), "{raw}");
        }
    }
}
