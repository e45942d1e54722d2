//! The other services of the configuration: mail, push notifications, the directory, the store of files.

use super::finding::Finding;
use crate::config::{BlobKind, Config};
use crate::integrations::blobs::{BlobName, Blobs, random_name};
use crate::integrations::certificate_problem::certificate_problem;
use crate::integrations::http_client;
use crate::integrations::ldap::LdapDirectory;
use crate::integrations::mail::smtp::Smtp;
use bytes::Bytes;

/// How long another service may take, in seconds.
const SERVICE_SECS_MAX: u64 = 10;
/// A name that no directory has.
const UNKNOWN_NAME: &str = "millstream-doctor";
/// What is stored and deleted again.
const TEST_CONTENT: &[u8] = b"written by millstream doctor";

/// Whether the mail server accepts a connection, TLS and the login; with an address also a test e-mail.
pub async fn mail(config: &Config, test_to: Option<&str>) -> Finding {
    let (what, host) = ("mail", format!("{}:{}", config.mail.host, config.mail.port));
    let smtp = match Smtp::new(&config.mail, SERVICE_SECS_MAX) {
        Err(error) => return Finding::problem(what, error.to_string()),
        Ok(None) => {
            let text = "no mail server: invitations by mail, confirmations and new passwords do not work; set [mail]";
            return Finding::off(what, text);
        }
        Ok(Some(smtp)) => smtp,
    };
    if let Err(why) = smtp.test().await {
        return Finding::problem(what, format!("{host}: {why}; check [mail] and the network"));
    }
    match test_to {
        None => Finding::good(what, format!("{host} accepts the connection and the login")),
        Some(to) => match smtp.send_test(to).await {
            Ok(()) => {
                Finding::good(what, format!("{host} accepted a test e-mail to {to}; see whether it arrives"))
            }
            Err(why) => Finding::problem(what, format!("{host} refused a test e-mail to {to}: {why}")),
        },
    }
}

/// Whether the push service can be reached.
pub async fn push(config: &Config) -> Finding {
    let (what, url) = ("push", &config.push.service_url);
    if url.is_empty() {
        return Finding::off(what, "no push service: phones get no notifications; set push.service_url");
    }
    if config.push.org_id.is_empty() || config.push.org_key.0.is_empty() {
        return Finding::problem(
            what,
            "push.org_id and push.org_key are not set, so the service refuses notifications",
        );
    }
    let asked = async { http_client::builder(SERVICE_SECS_MAX).build()?.get(url).send().await };
    match asked.await {
        // Any answer shows that it is there.
        Ok(_) => Finding::good(what, format!("{url} answers")),
        Err(error) => {
            let why = reason(&error);
            Finding::problem(
                what,
                format!("{url} does not answer: {why}; check push.service_url and the network"),
            )
        }
    }
}

/// Whether the directory accepts the login of this server, and can be searched.
pub async fn ldap(config: &Config) -> Finding {
    let (what, url) = ("LDAP", &config.ldap.url);
    let Some(directory) = LdapDirectory::of(&config.ldap) else {
        return Finding::off(what, "no directory: users log in with passwords of this server");
    };
    let found = match directory.acquire_permit(UNKNOWN_NAME).await {
        Ok(permit) => permit.find(UNKNOWN_NAME).await.map(drop),
        Err(failure) => Err(failure),
    };
    match found {
        Ok(()) => Finding::good(what, format!("{url} accepts the login, and can be searched")),
        Err(failure) => Finding::problem(what, format!("{url}: {failure}; check [ldap] and the network")),
    }
}

/// Whether a file can be stored, read and deleted.
pub async fn files(config: &Config) -> Finding {
    let what = "files";
    if config.blobs.kind == BlobKind::Local {
        return Finding::good(what, "uploaded files are in the data folder");
    }
    let bucket = &config.blobs.bucket;
    match try_store(config).await {
        Ok(()) => Finding::good(
            what,
            format!("files can be written to, read from and deleted in the bucket {bucket}"),
        ),
        Err(why) => Finding::problem(
            what,
            format!("the bucket {bucket}: {why}; check [blobs] and the rights of the key"),
        ),
    }
}

async fn try_store(config: &Config) -> Result<(), String> {
    let blobs = Blobs::open(&config.blobs, config.files(), true).map_err(|error| error.to_string())?;
    let random = random_name().map_err(|error| error.to_string())?;
    let name = BlobName::parse(&format!("doctor/{random}")).ok_or("the test name is invalid")?;
    let put = blobs.put(&name, Bytes::from_static(TEST_CONTENT)).await;
    put.map_err(|error| format!("a file cannot be written: {error}"))?;
    let read = blobs.get(&name).await.map(drop).map_err(|error| format!("a file cannot be read: {error}"));
    let deleted = blobs.delete(&name).await;
    read?;
    deleted.map_err(|error| format!("a file cannot be deleted: {error}"))
}

/// What is wrong with a certificate, or else the innermost cause: "error sending request" alone does not help.
pub fn reason(error: &reqwest::Error) -> String {
    if let Some(problem) = certificate_problem(error) {
        return problem;
    }
    let mut innermost: &dyn std::error::Error = error;
    while let Some(inner) = innermost.source() {
        innermost = inner;
    }
    innermost.to_string()
}
