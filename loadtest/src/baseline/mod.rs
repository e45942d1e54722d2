//! What the machine achieves without our server, measured in the same run by the same client code: a bare actix-web
//! server in a child process, and the disk of the data folder. Results are also reported as ratios to these.

pub mod bare;
pub mod disk;
pub mod held;
mod needs;
pub mod web;

use std::path::Path;

pub use needs::{Method, Needs, Point, compare};

use crate::error::LoadError;
use crate::outcome::{Baselines, DiskBaseline, WebBaseline, median};

/// Shortest round of the bare server, in seconds.
const ROUND_SECS_MIN: f64 = 0.3;

/// Collects rounds before and after the phases; the medians count.
#[derive(Debug, Default)]
pub struct Rounds {
    /// Those of a point, in the order of the points.
    web: Vec<(Point, Vec<web::WebRound>)>,
    disk: Vec<disk::DiskRound>,
}

impl Rounds {
    /// Measures one more round of each baseline: `secs` seconds for the disk, and for all points of a method together.
    pub async fn add(&mut self, needs: &Needs, secs: f64, folder: &Path) -> Result<(), LoadError> {
        if needs.disk {
            self.disk.push(disk::measure(folder, secs).await?);
        }
        for point in &needs.points {
            let part = (secs / f64::from(needs.count(point.method).max(1))).max(ROUND_SECS_MIN);
            let round = match point.method {
                Method::Get => web::measure_get(point.clients, part).await?,
                Method::Post => web::measure_post(point.clients, part).await?,
            };
            match self.web.iter_mut().find(|(known, _)| known == point) {
                Some((_, rounds)) => rounds.push(round),
                None => self.web.push((*point, vec![round])),
            }
        }
        Ok(())
    }

    /// The medians of all rounds.
    pub fn summarize(&self, folder: &Path) -> Baselines {
        Baselines {
            bare: self.web.iter().map(|(point, rounds)| summarize_web(*point, rounds)).collect(),
            overwrite: (!self.disk.is_empty()).then(|| DiskBaseline {
                folder: folder.display().to_string(),
                rounds_per_sec: self.disk.iter().map(|round| round.syncs_per_sec).collect(),
                syncs_per_sec: median_of(&self.disk, |round| round.syncs_per_sec),
                p50_ms: median_of(&self.disk, |round| round.p50_ms),
                p50_ms_min: self.disk.iter().map(|round| round.p50_ms).fold(f64::MAX, f64::min),
                least_ms: self.disk.iter().map(|round| round.least_ms).fold(f64::MAX, f64::min),
                p99_ms: median_of(&self.disk, |round| round.p99_ms),
            }),
        }
    }
}

fn summarize_web(point: Point, rounds: &[web::WebRound]) -> WebBaseline {
    WebBaseline {
        method: point.method.name().to_owned(),
        clients: point.clients,
        rounds_per_sec: rounds.iter().map(|round| round.requests_per_sec).collect(),
        requests_per_sec: median_of(rounds, |round| round.requests_per_sec),
        p50_ms: median_of(rounds, |round| round.p50_ms),
        server_cpu_us_per_request: median_of(rounds, |round| round.server_cpu_us),
        client_cpu_us_per_request: median_of(rounds, |round| round.client_cpu_us),
    }
}

fn median_of<Round>(rounds: &[Round], value: fn(&Round) -> f64) -> f64 {
    median(&rounds.iter().map(value).collect::<Vec<_>>())
}
