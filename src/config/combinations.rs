//! Options that depend on each other: missing and contradicting ones.

use super::settings::{BlobKind, Config, MailSecurity};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

/// An option that is invalid because of another one.
pub struct Conflict {
    pub option: &'static str,
    /// The option that makes it invalid: its place is reported if the first was not set at all.
    pub because: &'static str,
    /// The problem, to be read after the option's name.
    pub text: String,
}

/// All conflicts between options. Each value is valid on its own.
pub fn conflicts(config: &Config) -> Vec<Conflict> {
    let mut found = Conflicts::default();
    found.of_logins(config);
    found.of_queues(config);
    found.of_storage(config);
    found.of_deliveries(config);
    found.of_mail(config);
    found.of_files(config);
    found.0.extend(certificate_conflict(config));
    found.0
}

#[derive(Default)]
struct Conflicts(Vec<Conflict>);

impl Conflicts {
    fn add(&mut self, is_wrong: bool, option: &'static str, because: &'static str, text: &str) {
        if is_wrong {
            self.0.push(Conflict { option, because, text: text.to_owned() });
        }
    }

    /// Two options that must be set together or not at all.
    fn pair(&mut self, one: (&'static str, &str), other: (&'static str, &str), text: &str) {
        let (empty, full) = if one.1.is_empty() { (one.0, other.0) } else { (other.0, one.0) };
        self.add(one.1.is_empty() != other.1.is_empty(), empty, full, text);
    }

    fn of_logins(&mut self, Config { login, ldap, .. }: &Config) {
        let is_ldap = !ldap.url.is_empty();
        self.add(
            !login.password && !is_ldap,
            "login.password",
            "login.password",
            "is false, but ldap.url is not set: no login would be possible",
        );
        self.add(
            is_ldap && ldap.search_base.is_empty(),
            "ldap.search_base",
            "ldap.url",
            "must name the entry below which people are, because ldap.url is set",
        );
    }

    fn of_queues(&mut self, Config { queues, .. }: &Config) {
        let text = format!("must not be less than queues.idle_secs ({})", queues.idle_secs);
        self.add(
            queues.lifespan_secs_max < queues.idle_secs,
            "queues.lifespan_secs_max",
            "queues.idle_secs",
            &text,
        );
    }

    fn of_storage(&mut self, Config { storage, .. }: &Config) {
        let is_set = storage.free_bytes_min > 0 && storage.free_bytes_warn > 0;
        self.add(
            is_set && storage.free_bytes_warn < storage.free_bytes_min,
            "storage.free_bytes_warn",
            "storage.free_bytes_min",
            "must not be less than storage.free_bytes_min",
        );
    }

    fn of_deliveries(&mut self, Config { outbox, webhooks, .. }: &Config) {
        let text = format!("must be less than outbox.delivery_secs_max ({})", outbox.delivery_secs_max);
        self.add(
            webhooks.request_secs_max >= outbox.delivery_secs_max,
            "webhooks.request_secs_max",
            "outbox.delivery_secs_max",
            &text,
        );
    }

    fn of_mail(&mut self, Config { mail, .. }: &Config) {
        self.add(
            !mail.host.is_empty() && mail.from.is_empty(),
            "mail.from",
            "mail.host",
            "must be an address such as \"Acme <chat@acme.example>\", because mail.host is set",
        );
        self.add(
            !mail.user.is_empty() && mail.password.0.is_empty(),
            "mail.password",
            "mail.user",
            "must not be empty, because mail.user is set",
        );
    }

    fn of_files(&mut self, Config { blobs, .. }: &Config) {
        if blobs.kind != BlobKind::S3 {
            return;
        }
        self.add(
            blobs.bucket.is_empty(),
            "blobs.bucket",
            "blobs.kind",
            "must name a bucket, because blobs.kind is \"s3\"",
        );
        self.pair(
            ("blobs.access_key_id", &blobs.access_key_id),
            ("blobs.secret_access_key", &blobs.secret_access_key.0),
            "must not be empty, because a key has a name and a secret",
        );
    }
}

/// A configured file of certificates must contain one.
fn certificate_conflict(config: &Config) -> Option<Conflict> {
    let mail = &config.mail;
    let is_used = !mail.host.is_empty() && mail.security != MailSecurity::None;
    if !is_used || mail.ca_file.as_os_str().is_empty() {
        return None;
    }
    let text = match std::fs::read(&mail.ca_file) {
        Err(reason) => format!("cannot be read: {reason}"),
        Ok(pem) if matches!(CertificateDer::pem_slice_iter(&pem).next(), Some(Ok(_))) => return None,
        Ok(_) => "must be a file with certificates in PEM form".to_owned(),
    };
    Some(Conflict { option: "mail.ca_file", because: "mail.host", text })
}
