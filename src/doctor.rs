//! What a server needs from its machine and from other services: each check says what is there, and what to do.

mod certificate;
mod finding;
mod folder;
mod machine;
mod named_folders;
mod ports;
mod public_url;
mod running;
mod services;
mod time_server;

pub use finding::{Finding, State};
pub use folder::unwritable;

use crate::config::Config;

/// What is only done on request, because it reaches further or leaves something behind.
#[derive(Clone, Debug, Default)]
pub struct OptionalChecks {
    /// The address that a test e-mail is sent to.
    pub test_mail_to: Option<String>,
    /// The time server that the clock is compared with.
    pub time_server: Option<String>,
}

/// Makes all checks, one after the other, and shows each finding as soon as it is known. Nothing stays changed.
pub async fn examine(config: &Config, wanted: &OptionalChecks, show: impl FnMut(&Finding)) -> Vec<Finding> {
    let mut findings = Findings { show, all: Vec::new() };
    findings.add(folder::access(config));
    findings.add(folder::format(config));
    findings.add_all(folder::secret(config));
    findings.add_all(folder::unfinished_import(config));
    findings.add(folder::space(config));
    findings.add(folder::filesystem(config));
    findings.add(folder::sync_time(config));
    findings.add(machine::descriptors(config));
    findings.add(machine::memory(config));
    findings.add(machine::clock(config).await);
    if let Some(server) = &wanted.time_server {
        findings.add(time_server::compare(server).await);
    }
    let running = running::find(config);
    findings.add(running::check(running));
    findings.add_all(folder::unfinished_realms(config, running != running::RunningServer::None));
    findings.add_all(ports::listeners(config, running));
    findings.add_all(certificate::check(config, running));
    findings.add(services::mail(config, wanted.test_mail_to.as_deref()).await);
    findings.add(services::push(config).await);
    findings.add(services::ldap(config).await);
    findings.add(services::files(config).await);
    findings.add(named_folders::integrations(config));
    findings.add(named_folders::web_app(config));
    findings.add(public_url::check(config, running).await);
    findings.all
}

/// The findings so far.
struct Findings<S> {
    show: S,
    all: Vec<Finding>,
}

impl<S: FnMut(&Finding)> Findings<S> {
    fn add(&mut self, finding: Finding) {
        (self.show)(&finding);
        self.all.push(finding);
    }

    fn add_all(&mut self, findings: impl IntoIterator<Item = Finding>) {
        findings.into_iter().for_each(|finding| self.add(finding));
    }
}
