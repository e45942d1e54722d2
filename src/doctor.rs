//! What a server needs from its machine and from other services: each check says what is there, and what to do.

mod certificate;
mod finding;
mod folder;
mod machine;
mod ports;
mod public_url;
mod services;
mod time_server;

pub use finding::{Finding, State};

use crate::config::Config;

/// What is only done on request, because it reaches further or leaves something behind.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// The address that a test e-mail is sent to.
    pub test_mail_to: Option<String>,
    /// The time server that the clock is compared with.
    pub time_server: Option<String>,
}

/// Makes all checks, one after the other. Nothing stays changed.
pub async fn examine(config: &Config, wanted: &Wanted) -> Vec<Finding> {
    let mut findings = vec![folder::access(config), folder::format(config)];
    findings.push(folder::space(config));
    findings.push(folder::filesystem(config));
    findings.push(folder::sync_time(config));
    findings.push(machine::descriptors(config));
    findings.push(machine::memory(config));
    findings.push(machine::clock(config).await);
    if let Some(server) = &wanted.time_server {
        findings.push(time_server::compare(server).await);
    }
    findings.extend(ports::listeners(config));
    findings.push(certificate::check(config));
    findings.push(services::mail(config, wanted.test_mail_to.as_deref()).await);
    findings.push(services::push(config).await);
    findings.push(services::ldap(config).await);
    findings.push(services::files(config).await);
    findings.push(public_url::check(config).await);
    findings
}
