//! Options that depend on each other: missing and contradicting ones.

use super::incoming_mail::{IncomingMail, MAIL_CERT_OPTION, MAIL_KEY_OPTION};
use super::listeners::{CERT_OPTION, KEY_OPTION};
use super::settings::{BlobKind, Config, MailSecurity};
use crate::certificates::TlsProblem;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use std::net::SocketAddr;
use std::path::Path;

/// An option that is invalid because of another one.
pub struct Conflict {
    pub option: &'static str,
    /// The option that makes it invalid: its place is reported if the first was not set at all.
    pub because: &'static str,
    /// The problem, to be read after the option's name.
    pub text: String,
}

/// All conflicts between options. Each value is valid on its own. No file is read.
pub fn conflicts(config: &Config) -> Vec<Conflict> {
    let Config { login, ldap, queues, storage, outbox, webhooks, mail, blobs, .. } = config;
    let (is_ldap, is_s3) = (!ldap.url.is_empty(), blobs.kind == BlobKind::S3);
    let has_both_limits = storage.free_bytes_min > 0 && storage.free_bytes_warn > 0;
    let idle = format!("must not be less than queues.idle_secs ({})", queues.idle_secs);
    let delivery = format!("must be less than outbox.delivery_secs_max ({})", outbox.delivery_secs_max);
    // The condition, the option, the option that makes it invalid, and the text.
    let rows: [(bool, &'static str, &'static str, &str); 7] = [
        (
            !login.password && !is_ldap,
            "login.password",
            "login.password",
            "is false, but ldap.url is not set: no login would be possible",
        ),
        (
            is_ldap && ldap.search_base.is_empty(),
            "ldap.search_base",
            "ldap.url",
            "must name the entry below which people are, because ldap.url is set",
        ),
        (queues.lifespan_secs_max < queues.idle_secs, "queues.lifespan_secs_max", "queues.idle_secs", &idle),
        (
            has_both_limits && storage.free_bytes_warn < storage.free_bytes_min,
            "storage.free_bytes_warn",
            "storage.free_bytes_min",
            "must not be less than storage.free_bytes_min",
        ),
        (
            webhooks.request_secs_max >= outbox.delivery_secs_max,
            "webhooks.request_secs_max",
            "outbox.delivery_secs_max",
            &delivery,
        ),
        (
            !mail.host.is_empty() && mail.from.is_empty(),
            "mail.from",
            "mail.host",
            "must be an address such as \"Acme <chat@acme.example>\", because mail.host is set",
        ),
        (
            is_s3 && blobs.bucket.is_empty(),
            "blobs.bucket",
            "blobs.kind",
            "must name a bucket, because blobs.kind is \"s3\"",
        ),
    ];
    let found = rows.into_iter().filter(|(is_wrong, ..)| *is_wrong);
    let found = found.map(|(_, option, because, text)| Conflict { option, because, text: text.to_owned() });
    let found = found.chain(unused_bucket(config));
    let found = found.chain(listener_conflicts(config));
    let found = found.chain(incoming_conflict(&mail.incoming)).chain(tls_conflict(&mail.incoming));
    found.chain(https_conflict(config)).chain(cluster_conflicts(config)).collect()
}

/// A bucket without the kind of storage that uses it: files would be in the data folder.
fn unused_bucket(Config { blobs, .. }: &Config) -> Option<Conflict> {
    let text = "must be empty, or blobs.kind be \"s3\": without it files are in the data folder".to_owned();
    let is_unused = blobs.kind != BlobKind::S3 && !blobs.bucket.is_empty();
    is_unused.then_some(Conflict { option: "blobs.bucket", because: "blobs.kind", text })
}

/// Names need their passwords: many directories accept a login without one as that of an unknown user.
fn missing_passwords(Config { ldap, mail, .. }: &Config) -> impl Iterator<Item = Conflict> {
    let of_ldap = !ldap.url.is_empty() && !ldap.bind_dn.is_empty() && ldap.bind_password.0.is_empty();
    let of_mail = !mail.user.is_empty() && mail.password.0.is_empty();
    let rows = [(of_ldap, "ldap.bind_password", "ldap.bind_dn"), (of_mail, "mail.password", "mail.user")];
    let missing = rows.into_iter().filter(|(is_missing, ..)| *is_missing);
    missing.map(|(_, option, because)| {
        let text = format!("must not be empty, because {because} is set");
        Conflict { option, because, text }
    })
}

impl Config {
    /// Whether a name is set whose password, of this option, is empty.
    pub fn lacks_password(&self, option: &str) -> bool {
        missing_passwords(self).any(|missing| missing.option == option)
    }
}

/// Two listeners cannot have the same address.
fn listener_conflicts(config: &Config) -> Vec<Conflict> {
    let (own, metrics, mail) =
        (Some(config.listen), config.metrics.address(), config.mail.incoming.address());
    let pairs = [
        ("metrics.listen", metrics, "listen", own),
        ("mail.incoming.listen", mail, "listen", own),
        ("mail.incoming.listen", mail, "metrics.listen", metrics),
    ];
    let clashing = pairs.into_iter().filter(|(_, first, _, second)| {
        first.zip(*second).is_some_and(|(first, second)| is_same_place(first, second))
    });
    let conflict = |(option, _, because, _)| {
        let text =
            format!("must be another address or port than {because}, which the server listens on, too");
        Conflict { option, because, text }
    };
    clashing.map(conflict).collect()
}

/// Whether only one listener can have these addresses. With port 0 each has a port of its own.
fn is_same_place(first: SocketAddr, second: SocketAddr) -> bool {
    let is_all = first.ip().is_unspecified() || second.ip().is_unspecified();
    first.port() == second.port() && first.port() != 0 && (is_all || first.ip() == second.ip())
}

/// Problems of passwords, and of the files that options name. Only a server needs them, and passwords may be in its environment
/// alone, so only its configuration is checked so far.
pub fn server_conflicts(config: &Config) -> Vec<Conflict> {
    let https = config.tls.has_files().then(|| config.tls.files());
    let mail = Some(&config.mail.incoming).filter(|mail| mail.has_files()).and_then(IncomingMail::files);
    let certificates = https.into_iter().chain(mail).filter_map(|files| {
        let TlsProblem { option, text } = files.read().err()?;
        let because = if option == files.cert_option { files.key_option } else { files.cert_option };
        Some(Conflict { option, because, text })
    });
    let found = certificates.chain(authority_conflict(config)).chain(missing_passwords(config));
    found.chain(key_conflicts(config)).collect()
}

/// A node of a cluster needs a name and an address, and drops no frames.
fn cluster_conflicts(config: &Config) -> Vec<Conflict> {
    let (cluster, because) = (&config.cluster, "cluster.database");
    let rows = [("cluster.node", &cluster.node), ("cluster.advertise", &cluster.advertise)];
    let missing = rows.into_iter().filter(|(_, value)| cluster.is_on() && value.is_empty());
    let text = || format!("must not be empty, because {because} is set");
    let mut found: Vec<Conflict> =
        missing.map(|(option, _)| Conflict { option, because, text: text() }).collect();
    if cluster.is_on() && config.journal.keep.is_some() {
        let text =
            "must be \"all\" on a node of a cluster, where cluster.log_keep takes its place".to_owned();
        found.push(Conflict { option: "journal.keep", because, text });
    }
    let has_shared = config.blobs.kind == BlobKind::S3 || cluster.shared_folder().is_some();
    if cluster.is_on() && cluster.log_keep.is_some() && !has_shared {
        let text = "must be set, or blobs.kind be \"s3\", because cluster.log_keep is not \"all\"".to_owned();
        found.push(Conflict { option: "cluster.shared_folder", because: "cluster.log_keep", text });
    }
    found
}

/// The address to listen on for e-mail and the pattern of addresses must be set together or not at all.
fn incoming_conflict(incoming: &IncomingMail) -> Option<Conflict> {
    let (listen, pattern) = ("mail.incoming.listen", "mail.incoming.address_pattern");
    let (option, because, text) = match (incoming.listen.is_empty(), incoming.address_pattern.is_empty()) {
        (false, true) => (pattern, listen, "must be a pattern such as \"%s@mail.example.com\""),
        (true, false) => (listen, pattern, "must be an address and a port"),
        (true, true) | (false, false) => return None,
    };
    Some(Conflict { option, because, text: format!("{text}, because {because} is set") })
}

/// Certificate and key for STARTTLS must be set together.
fn tls_conflict(incoming: &IncomingMail) -> Option<Conflict> {
    file_conflict([MAIL_CERT_OPTION, MAIL_KEY_OPTION], &incoming.tls_cert_file, &incoming.tls_key_file)
}

/// Certificate and key for HTTPS must be set together, and the public URL must be for HTTPS.
fn https_conflict(config: &Config) -> Option<Conflict> {
    let tls = &config.tls;
    if !tls.has_files() {
        return file_conflict([CERT_OPTION, KEY_OPTION], &tls.cert_file, &tls.key_file);
    }
    let is_http = config.external_url.to_lowercase().starts_with("http:");
    let text = format!("must begin with https://, because {CERT_OPTION} is set");
    is_http.then_some(Conflict { option: "external_url", because: CERT_OPTION, text })
}

/// Two options must name files, or neither.
fn file_conflict([cert, key]: [&'static str; 2], cert_file: &Path, key_file: &Path) -> Option<Conflict> {
    let (option, because) = match (cert_file.as_os_str().is_empty(), key_file.as_os_str().is_empty()) {
        (true, true) | (false, false) => return None,
        (false, true) => (key, cert),
        (true, false) => (cert, key),
    };
    let text = format!("must name a file, because {because} is set");
    Some(Conflict { option, because, text })
}

/// An S3 key and its secret, and the name and key of this server at the push service, must be set together or not at all.
/// Commands beside a server that use one check their own.
fn key_conflicts(Config { blobs, backups, push, .. }: &Config) -> impl Iterator<Item = Conflict> {
    let is_s3 = blobs.kind == BlobKind::S3;
    let names = ["blobs.access_key_id", "blobs.secret_access_key"];
    let of_blobs = key_conflict(names, &blobs.access_key_id, &blobs.secret_access_key.0).filter(|_| is_s3);
    let names = ["backups.access_key_id", "backups.secret_access_key"];
    let of_backups = key_conflict(names, &backups.access_key_id, &backups.secret_access_key.0);
    let is_push = !push.service_url.is_empty();
    let of_push = key_conflict(["push.org_id", "push.org_key"], &push.org_id, &push.org_key.0);
    of_blobs.into_iter().chain(of_backups).chain(of_push.filter(|_| is_push))
}

fn key_conflict([id, secret]: [&'static str; 2], key: &str, key_secret: &str) -> Option<Conflict> {
    let (option, because) = match (key.is_empty(), key_secret.is_empty()) {
        (true, false) => (id, secret),
        (false, true) => (secret, id),
        (true, true) | (false, false) => return None,
    };
    let text = "must not be empty, because a key has a name and a secret".to_owned();
    Some(Conflict { option, because, text })
}

/// A configured file of certificate authorities must contain one.
fn authority_conflict(config: &Config) -> Option<Conflict> {
    let mail = &config.mail;
    let is_used = !mail.host.is_empty() && mail.security != MailSecurity::None;
    if !is_used || mail.ca_file.as_os_str().is_empty() {
        return None;
    }
    let text = match std::fs::read(&mail.ca_file) {
        Err(reason) => format!("({}) cannot be read: {reason}", mail.ca_file.display()),
        Ok(pem) if matches!(CertificateDer::pem_slice_iter(&pem).next(), Some(Ok(_))) => return None,
        Ok(_) => format!("({}) must be a file with certificates in PEM form", mail.ca_file.display()),
    };
    Some(Conflict { option: "mail.ca_file", because: "mail.host", text })
}
