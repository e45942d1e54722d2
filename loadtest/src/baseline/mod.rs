//! What the machine achieves without our server, measured in the same run by the same client code: a bare actix-web
//! server in a child process, and the disk of the data folder. Results are also reported as ratios to these.

pub mod bare;
pub mod disk;
pub mod held;
pub mod web;

use std::path::Path;

use crate::error::LoadError;
use crate::outcome::{Baselines, DiskBaseline, WebBaseline, median};
use crate::scenario::{Scenario, Step};

/// Clients of the bare GET that deliveries to any number of receivers are compared with.
const DELIVERY_CLIENTS: u32 = 64;

/// The baselines that a scenario is compared with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Needs {
    /// Clients of the bare GET; 0 for none.
    pub get_clients: u32,
    /// Clients of the bare POST; 0 for none.
    pub post_clients: u32,
    /// Overwriting and fdatasync.
    pub disk: bool,
}

impl Needs {
    /// The baselines of a scenario's steps. The largest number of clients of any step is used.
    pub fn of(scenario: &Scenario) -> Self {
        let mut needs = Self::default();
        for phase in &scenario.phases {
            match &phase.step {
                Step::Send(step) => {
                    needs.post_clients = needs.post_clients.max(step.clients);
                    needs.disk = true;
                }
                Step::Fetch(step) => needs.get_clients = needs.get_clients.max(step.clients),
                Step::Get(step) => needs.get_clients = needs.get_clients.max(step.clients),
                Step::Fanout(_) | Step::Mixed(_) => {
                    needs.get_clients = needs.get_clients.max(DELIVERY_CLIENTS);
                    needs.disk = true;
                }
                Step::Register(step) => needs.post_clients = needs.post_clients.max(step.clients),
                Step::Edit(step) => {
                    needs.post_clients = needs.post_clients.max(step.clients);
                    needs.disk = true;
                }
                // Idle polls have a bare server of their own; crowds and starts have no baseline.
                Step::Idle(_) | Step::Crowd(_) | Step::Start(_) => {}
            }
        }
        needs
    }
}

/// Collects rounds before and after the phases; the medians count.
#[derive(Debug, Default)]
pub struct Rounds {
    get: Vec<web::WebRound>,
    post: Vec<web::WebRound>,
    disk: Vec<disk::DiskRound>,
}

impl Rounds {
    /// Measures one more round of each baseline, `secs` seconds each.
    pub async fn add(&mut self, needs: Needs, secs: f64, folder: &Path) -> Result<(), LoadError> {
        if needs.disk {
            self.disk.push(disk::measure(folder, secs).await?);
        }
        if needs.get_clients > 0 {
            self.get.push(web::measure_get(needs.get_clients, secs).await?);
        }
        if needs.post_clients > 0 {
            self.post.push(web::measure_post(needs.post_clients, secs).await?);
        }
        Ok(())
    }

    /// The medians of all rounds.
    pub fn summarize(&self, needs: Needs, folder: &Path) -> Baselines {
        Baselines {
            web_get: summarize_web(&self.get, needs.get_clients),
            web_post: summarize_web(&self.post, needs.post_clients),
            overwrite: (!self.disk.is_empty()).then(|| DiskBaseline {
                folder: folder.display().to_string(),
                rounds_per_sec: self.disk.iter().map(|round| round.syncs_per_sec).collect(),
                syncs_per_sec: median_of(&self.disk, |round| round.syncs_per_sec),
                p50_ms: median_of(&self.disk, |round| round.p50_ms),
                p50_ms_min: self.disk.iter().map(|round| round.p50_ms).fold(f64::MAX, f64::min),
                p99_ms: median_of(&self.disk, |round| round.p99_ms),
            }),
        }
    }
}

fn summarize_web(rounds: &[web::WebRound], clients: u32) -> Option<WebBaseline> {
    (!rounds.is_empty()).then(|| WebBaseline {
        clients,
        rounds_per_sec: rounds.iter().map(|round| round.requests_per_sec).collect(),
        requests_per_sec: median_of(rounds, |round| round.requests_per_sec),
        p50_ms: median_of(rounds, |round| round.p50_ms),
        server_cpu_us_per_request: median_of(rounds, |round| round.server_cpu_us),
        client_cpu_us_per_request: median_of(rounds, |round| round.client_cpu_us),
    })
}

fn median_of<Round>(rounds: &[Round], value: fn(&Round) -> f64) -> f64 {
    median(&rounds.iter().map(value).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn baselines_match_the_scenario() {
        let needs = |name: &str| Needs::of(&Scenario::load(name).unwrap());
        assert_eq!(needs("send"), Needs { get_clients: 0, post_clients: 64, disk: true });
        assert_eq!(needs("users_me"), Needs { get_clients: 64, post_clients: 0, disk: false });
        assert_eq!(needs("start"), Needs::default());
    }
}
