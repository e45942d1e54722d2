//! The other services of the configuration: mail, push notifications, the directory, the store of files.

use super::finding::Finding;
use crate::config::{BlobKind, Config};
use crate::integrations::blobs::{BlobError, BlobName, Blobs, Owner, known_name_of_folder, random_name};
use crate::integrations::ldap::LdapDirectory;
use crate::integrations::mail::smtp::Smtp;
use crate::integrations::push_service::{PushFailure, PushService};
use bytes::Bytes;
use std::fmt::Display;
use std::num::NonZeroU64;
use std::time::Duration;

/// How long another service may take for one answer, in seconds.
const SERVICE_SECS_MAX: u64 = 10;
/// The same as a duration.
const SERVICE_TIME_MAX: Duration = Duration::from_secs(SERVICE_SECS_MAX);
/// A name that no directory has.
const UNKNOWN_NAME: &str = "millstream-doctor";
/// What is stored and deleted again.
const TEST_CONTENT: &[u8] = b"written by millstream doctor";

/// Waits for an answer of a service for a bounded time; the error says that there was none, or why.
async fn within<T, E: Display>(
    time_max: Duration,
    answer: impl Future<Output = Result<T, E>>,
) -> Result<T, String> {
    match tokio::time::timeout(time_max, answer).await {
        Ok(answered) => answered.map_err(|error| error.to_string()),
        Err(_) => Err(format!("no answer within {} s", time_max.as_secs_f32())),
    }
}

/// What to do about a name whose password is empty: the service would not say it in these words, or take the login for that of
/// an unknown user.
fn missing_password(config: &Config, [name, password, variable]: [&'static str; 3]) -> Option<String> {
    config.lacks_password(password).then(|| {
        format!(
            "{name} is set, but {password} is empty; set it, or {variable} for this command as for the server"
        )
    })
}

/// Whether the mail server accepts a connection, TLS and the login; with an address also a test e-mail.
pub async fn mail(config: &Config, test_to: Option<&str>) -> Finding {
    mail_within(config, test_to, SERVICE_TIME_MAX).await
}

async fn mail_within(config: &Config, test_to: Option<&str>, time_max: Duration) -> Finding {
    let (what, host) = ("mail", format!("{}:{}", config.mail.host, config.mail.port));
    let smtp = match Smtp::new(&config.mail, SERVICE_SECS_MAX) {
        Err(error) => return Finding::problem(what, error.to_string()),
        Ok(None) => {
            if let Some(to) = test_to {
                let text =
                    format!("no test e-mail was sent to {to}, because there is no mail server; set [mail]");
                return Finding::problem(what, text);
            }
            let text = "no mail server: invitations by mail, confirmations and new passwords do not work; set [mail]";
            return Finding::off(what, text);
        }
        Ok(Some(smtp)) => smtp,
    };
    if let Some(text) = missing_password(config, ["mail.user", "mail.password", "MILLSTREAM_MAIL_PASSWORD"]) {
        return Finding::problem(what, text);
    }
    if let Err(why) = within(time_max, smtp.test()).await {
        let text = format!(
            "{host}: {why}; check [mail] and the network (mail.security is \"starttls\" on port 587, \"tls\" on port 465)"
        );
        return Finding::problem(what, text);
    }
    match test_to {
        None => Finding::good(what, format!("{host} accepts the connection and the login")),
        Some(to) => match within(time_max, smtp.send_test(to)).await {
            Ok(()) => {
                Finding::good(what, format!("{host} accepted a test e-mail to {to}; see whether it arrives"))
            }
            Err(why) => Finding::problem(what, format!("{host} refused a test e-mail to {to}: {why}")),
        },
    }
}

/// Whether the push service can be reached, and accepts the key of this server.
pub async fn push(config: &Config) -> Finding {
    let (what, url) = ("push", &config.push.service_url);
    let mut settings = config.push.clone();
    settings.request_secs_max = settings.request_secs_max.min(SERVICE_SECS_MAX);
    let service = match PushService::new(&settings) {
        Ok(None) => {
            let text = "no push service: phones get no notifications; set push.service_url";
            return Finding::off(what, text);
        }
        Ok(Some(service)) => service,
        Err(error) => return Finding::problem(what, error.to_string()),
    };
    let has_key = !config.push.org_id.is_empty() && !config.push.org_key.0.is_empty();
    let problem = match service.probe().await {
        Ok(()) if has_key => {
            return Finding::good(what, format!("{url} accepts push.org_id and push.org_key"));
        }
        Ok(()) => {
            let text = format!("{url} accepts this server without push.org_id and push.org_key");
            return Finding::good(what, text);
        }
        Err(PushFailure::Busy { .. }) => {
            let text = format!("{url} answers that there are too many requests; try again later");
            return Finding::warning(what, text);
        }
        Err(PushFailure::Unreachable(why)) => {
            format!("{url} does not answer: {why}; check push.service_url and the network")
        }
        Err(PushFailure::Refused { status: 401 | 403, .. }) => {
            let what_to_do = if has_key { "check" } else { "set" };
            format!("{url} refuses this server; {what_to_do} push.org_id and push.org_key")
        }
        Err(failure @ (PushFailure::Refused { .. } | PushFailure::Broken(_))) => {
            format!("{url} does not answer as a push service: {failure}; check push.service_url")
        }
    };
    Finding::problem(what, problem)
}

/// Whether the directory accepts the login of this server, and can be searched.
pub async fn ldap(config: &Config) -> Finding {
    let (what, url) = ("LDAP", &config.ldap.url);
    // Its queries block a thread, whose end the program waits for.
    let mut settings = config.ldap.clone();
    settings.secs_max = settings.secs_max.min(NonZeroU64::new(SERVICE_SECS_MAX).unwrap_or(settings.secs_max));
    let Some(directory) = LdapDirectory::of(&settings) else {
        return Finding::off(what, "no directory: users log in with passwords of this server");
    };
    let names = ["ldap.bind_dn", "ldap.bind_password", "MILLSTREAM_LDAP_BIND_PASSWORD"];
    if let Some(text) = missing_password(config, names) {
        return Finding::problem(what, text);
    }
    let found = within(SERVICE_TIME_MAX, async {
        directory.acquire_permit(UNKNOWN_NAME).await?.find(UNKNOWN_NAME).await.map(drop)
    });
    match found.await {
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
    let put = within(SERVICE_TIME_MAX, blobs.put(&name, Bytes::from_static(TEST_CONTENT))).await;
    put.map_err(|error| format!("a file cannot be written: {error}"))?;
    let read = within(SERVICE_TIME_MAX, blobs.get(&name)).await.map(drop);
    let deleted = within(SERVICE_TIME_MAX, blobs.delete(&name)).await;
    read.map_err(|error| format!("a file cannot be read: {error}"))?;
    deleted.map_err(|error| format!("a file cannot be deleted: {error}"))?;
    // Only the database of a cluster knows its name.
    if config.cluster.is_on() {
        return Ok(());
    }
    let own = known_name_of_folder(&config.data).map_err(|error| error.to_string())?;
    let blobs = blobs.owned_by(Owner::new(own.unwrap_or_default()));
    match within(SERVICE_TIME_MAX, blobs.is_of_another()).await {
        Ok(false) => Ok(()),
        Ok(true) => Err(BlobError::Owned.to_string()),
        Err(error) => Err(format!("its owner cannot be read: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Overrides;
    use crate::doctor::State;
    use std::net::TcpListener;

    #[actix_web::test]
    async fn silent_mail_server_is_a_problem_after_a_bounded_time() {
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = silent.local_addr().unwrap().port().to_string();
        for security in ["none", "starttls", "tls"] {
            let settings = [
                ("HOST", "127.0.0.1"),
                ("PORT", &port),
                ("SECURITY", security),
                ("FROM", "chat@acme.example"),
            ];
            let settings =
                settings.map(|(name, value)| (format!("MILLSTREAM_MAIL_{name}"), value.to_owned()));
            let config = Config::load(None, settings, Overrides::default()).unwrap();
            let found = mail_within(&config, None, Duration::from_millis(50)).await;
            assert_eq!(found.state, State::Problem);
            assert!(found.text.contains("no answer within 0.05 s"), "{found:?}");
        }
    }
}
