//! Scenarios are data: what to prepare, what to do, for how long, and what to expect of the server. This folder has their
//! schema and bounds; `loadtest/README.md` explains every field. `runner` runs them.

pub mod background;
mod check;
pub mod included;
pub mod stages;
pub mod steps;

use std::sync::Arc;

use serde::Deserialize;

use crate::error::LoadError;
use crate::expect::Expect;
use crate::text::without_mark;
pub use check::{CLIENTS_MAX, SECS_MAX};
use included::INCLUDED;
use stages::{Ramp, StagePlan};
pub use steps::{
    Activity, Anchor, Asked, CrowdStep, EditStep, FanoutStep, FetchStep, GetStep, IdleStep, MixedStep,
    RegisterStep, SendStep, StartStep, Step,
};

/// A scenario file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Short name, also used in file names.
    pub name: String,
    /// Description for the report.
    pub about: String,
    /// Required accounts; missing ones are created.
    #[serde(default)]
    pub users: u32,
    /// This many organizations of a development server, each with these users and channels.
    #[serde(default)]
    pub organizations: Option<u32>,
    /// Required channels, with their subscribers.
    #[serde(default)]
    pub channels: Vec<ChannelPlan>,
    /// Required messages before the first phase.
    #[serde(default)]
    pub fill: Option<FillPlan>,
    /// The measured phases, in order.
    pub phases: Vec<Phase>,
    /// Counters in `GET /metrics`, read before and after every phase.
    #[serde(default)]
    pub count_metrics: Vec<String>,
    /// Expectations of every phase.
    #[serde(default)]
    pub expect: Expect,
}

/// A channel, or `count` channels named `name 0`, `name 1`, ….
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChannelPlan {
    /// Name, or its prefix.
    pub name: String,
    /// Number of channels; if absent one, named exactly `name`.
    #[serde(default)]
    pub count: Option<u32>,
    /// Number of subscribers of each, taken from the users in turn.
    pub subscribers: u32,
}

/// Messages sent before measuring, by many concurrent senders.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FillPlan {
    /// Name of the channel.
    pub channel: String,
    /// Minimum number of messages in the channel.
    pub messages: u64,
    /// Shortest and longest content, in characters.
    pub chars: [u32; 2],
    /// Number of topics the messages are spread over.
    pub topics: u32,
    /// Number of concurrent senders.
    pub senders: u32,
}

/// A measured phase.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// Name in the report.
    pub name: String,
    /// Required messages before this phase.
    #[serde(default)]
    pub fill: Option<FillPlan>,
    /// Measured time in seconds. `idle` and `start` take the time they need, and stages have their own.
    #[serde(default)]
    pub secs: f64,
    /// Time before measuring, under the same load, in seconds.
    #[serde(default)]
    pub warmup_secs: f64,
    /// Clients or rate over time, instead of `secs`.
    #[serde(default)]
    pub stages: Vec<StagePlan>,
    /// How often the phase is measured; the figures are those of the run with the median CPU time of the server for each
    /// request, and the faults those of all.
    #[serde(default)]
    pub repeat: Option<u32>,
    /// The operation of the phase.
    pub step: Step,
    /// Expectations of this phase, instead of the scenario's.
    #[serde(default)]
    pub expect: Option<Expect>,
}

impl ChannelPlan {
    /// The names of its channels.
    pub fn names(&self) -> Vec<String> {
        match self.count {
            None => vec![self.name.clone()],
            Some(count) => (0..count).map(|number| format!("{} {number}", self.name)).collect(),
        }
    }
}

impl Phase {
    /// The measured seconds.
    pub fn measured_secs(&self) -> f64 {
        if self.stages.is_empty() { self.secs } else { self.stages.iter().map(|stage| stage.secs).sum() }
    }

    /// The load of its stages; none without stages.
    pub fn ramp(&self) -> Option<Arc<Ramp>> {
        // The stages were checked when the scenario was read.
        Ramp::new(&self.stages).ok().flatten().map(Arc::new)
    }
}

impl Scenario {
    /// Reads a scenario by included name or file, and checks its bounds.
    pub fn load(name: &str) -> Result<Self, LoadError> {
        let text = match INCLUDED.iter().find(|(included, _)| *included == name) {
            Some((_, text)) => (*text).to_owned(),
            None => std::fs::read_to_string(name).map_err(|error| {
                LoadError::Usage(format!(
                    "{name} is neither a file ({error}) nor an included scenario: {}",
                    included::names()
                ))
            })?,
        };
        Self::parse(&text).map_err(|reason| LoadError::Usage(format!("{name}: {reason}")))
    }

    /// Parses and checks the text of a scenario. An error has the path of the field.
    pub fn parse(text: &str) -> Result<Self, String> {
        let value: serde_json::Value =
            serde_json::from_str(without_mark(text)).map_err(|error| error.to_string())?;
        if !value.is_object() {
            return Err("a scenario is a JSON object".to_owned());
        }
        let parsed: Result<Self, _> = serde_path_to_error::deserialize(value);
        let scenario = parsed.map_err(|error| steps::located(&error))?;
        scenario.check()?;
        Ok(scenario)
    }

    /// Gives every phase with a duration another one, and checks the bounds again. Returns the phases that have stages, which
    /// keep their own seconds.
    pub fn set_secs(&mut self, secs: f64) -> Result<Vec<&str>, String> {
        let timed = self.phases.iter_mut().filter(|phase| phase.stages.is_empty());
        timed.for_each(|phase| phase.secs = secs);
        self.check()?;
        let staged = self.phases.iter().filter(|phase| !phase.stages.is_empty());
        Ok(staged.map(|phase| phase.name.as_str()).collect())
    }

    /// Whether every phase starts its own server.
    pub fn starts_servers(&self) -> bool {
        self.phases.iter().any(|phase| matches!(phase.step, Step::Start(_)))
    }

    /// Connections that the clients of any phase have at the same time, at most.
    pub fn connections(&self) -> u64 {
        let of_phase = |phase: &Phase| phase.step.connections(self.users).max(of_fill(phase.fill.as_ref()));
        self.phases.iter().map(of_phase).max().unwrap_or(0).max(of_fill(self.fill.as_ref()))
    }

    /// Whether the description calls its sends durable, so that the server must sync them.
    pub fn says_durable(&self) -> bool {
        self.about.to_lowercase().contains("durable")
    }

    /// Removes the expectations that compare with the bare server or with the disk, and the bare server's held requests, for a run
    /// without these.
    pub fn drop_baselines(&mut self) {
        for phase in &mut self.phases {
            if let Step::Idle(step) = &mut phase.step {
                step.without_bare = true;
            }
        }
        self.expect.drop_baselines();
        self.phases.iter_mut().filter_map(|phase| phase.expect.as_mut()).for_each(Expect::drop_baselines);
    }

    /// Lowers the number of users, for a server with fewer accounts, and says so in the description.
    pub fn limit_users(&mut self, most: u32) {
        if self.users <= most {
            return;
        }
        let users = if most == 1 { "user" } else { "users" };
        self.about = format!("{} With {most} {users} instead of {}.", self.about, self.users);
        self.users = most;
        for plan in &mut self.channels {
            plan.subscribers = plan.subscribers.min(most);
        }
        for phase in &mut self.phases {
            if let Step::Crowd(step) = &mut phase.step {
                step.accounts = step.accounts.min(most.saturating_sub(1)).max(1);
            }
        }
    }
}

fn of_fill(fill: Option<&FillPlan>) -> u64 {
    fill.map_or(0, |fill| u64::from(fill.senders))
}

#[cfg(test)]
mod tests;
