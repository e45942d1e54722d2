//! Scenarios are data: what to prepare, what to do, for how long, and what to expect of the server. This file has their
//! schema and bounds; `loadtest/README.md` explains every field. `runner` runs them.

use serde::{Deserialize, Serialize};

use crate::error::LoadError;
use crate::expect::Expect;
pub mod background;

use background::BackgroundPlan;

const USERS_MAX: u32 = 20_000;
const CLIENTS_MAX: u32 = 2_000;
/// Each is one open file on both sides, and 20,000 is a common hard limit.
const RECEIVERS_MAX: u32 = 16_000;
const CHANNELS_MAX: u32 = 1_000;
const FILL_MESSAGES_MAX: u64 = 10_000_000;
const SECS_MAX: f64 = 3_600.0;
const CHARS_MAX: u32 = 10_000;
const PAGE_MESSAGES_MAX: u32 = 5_000;
const ROUNDS_MAX: u32 = 100;

/// The included scenarios: name and JSON text.
pub const INCLUDED: &[(&str, &str)] = &[
    ("send", include_str!("../scenarios/send.json")),
    ("send_one", include_str!("../scenarios/send_one.json")),
    ("send_wide", include_str!("../scenarios/send_wide.json")),
    ("fetch_newest", include_str!("../scenarios/fetch_newest.json")),
    ("fetch_anywhere", include_str!("../scenarios/fetch_anywhere.json")),
    ("users_me", include_str!("../scenarios/users_me.json")),
    ("search", include_str!("../scenarios/search.json")),
    ("fanout", include_str!("../scenarios/fanout.json")),
    ("idle", include_str!("../scenarios/idle.json")),
    ("mixed", include_str!("../scenarios/mixed.json")),
    ("move", include_str!("../scenarios/move.json")),
    ("delete_topic", include_str!("../scenarios/delete_topic.json")),
    ("missed_mail", include_str!("../scenarios/missed_mail.json")),
    ("login_storm", include_str!("../scenarios/login_storm.json")),
    ("unread", include_str!("../scenarios/unread.json")),
    ("registers", include_str!("../scenarios/registers.json")),
    ("start", include_str!("../scenarios/start.json")),
];

/// A scenario file.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Short name, also used in file names.
    pub name: String,
    /// Description for the report.
    pub about: String,
    /// Required accounts; missing ones are created.
    #[serde(default)]
    pub users: u32,
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
    pub expect: Expect,
}

/// A channel, or `count` channels named `name 0`, `name 1`, ….
#[derive(Debug, Clone, Serialize, Deserialize)]
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
#[derive(Debug, Clone, Serialize, Deserialize)]
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
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// Name in the report.
    pub name: String,
    /// Measured time in seconds. `idle` and `start` take the time they need.
    #[serde(default)]
    pub secs: f64,
    /// Time before measuring, under the same load, in seconds.
    #[serde(default)]
    pub warmup_secs: f64,
    /// The operation of the phase.
    pub step: Step,
}

/// The operation of a phase.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum Step {
    /// `POST /messages` from many clients.
    Send(SendStep),
    /// `POST /messages` with polling receivers; measures from send to receipt.
    Fanout(FanoutStep),
    /// `GET /messages` from many clients.
    Fetch(FetchStep),
    /// `GET` of one path from many clients.
    Get(GetStep),
    /// Held polls: their memory, and the time until one message reaches all.
    Idle(IdleStep),
    /// Users with several activities.
    Mixed(MixedStep),
    /// Many concurrent large responses, with another client.
    Crowd(CrowdStep),
    /// From exec to the first response; needs `--spawn`.
    Start(StartStep),
}

/// The parameters of [`Step::Send`].
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SendStep {
    /// Number of concurrent clients, each with its own account and connection.
    pub clients: u32,
    /// Name of the channel.
    pub channel: String,
    /// Shortest and longest content, in characters.
    pub chars: [u32; 2],
    /// Number of topics the messages are spread over.
    pub topics: u32,
    /// Of all clients together; if absent, each sends again as soon as it got a reply.
    #[serde(default)]
    pub rate_per_sec: Option<f64>,
    /// Ends the phase early, after this many messages.
    #[serde(default)]
    pub messages: Option<u64>,
    /// Concurrent background work in another channel.
    #[serde(default)]
    pub background: Option<BackgroundPlan>,
}

/// The parameters of [`Step::Fanout`].
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FanoutStep {
    /// Number of concurrent senders.
    pub senders: u32,
    /// Number of polling event queues, spread over the subscribers.
    pub receivers: u32,
    /// Name of the channel.
    pub channel: String,
    /// Shortest and longest content, in characters.
    pub chars: [u32; 2],
    /// Number of topics the messages are spread over.
    pub topics: u32,
    /// Messages per second of all senders together.
    pub rate_per_sec: f64,
}

/// The parameters of [`Step::Fetch`].
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FetchStep {
    /// Number of concurrent clients.
    pub clients: u32,
    /// Name of the channel of the narrow.
    pub channel: String,
    /// Which pages to fetch.
    pub anchor: Anchor,
    /// Number of messages in a page.
    pub num_before: u32,
}

/// The position of a page of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Anchor {
    /// The newest messages.
    Newest,
    /// Around a random message of the channel.
    Anywhere,
}

/// The parameters of [`Step::Get`].
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GetStep {
    /// Number of concurrent clients.
    pub clients: u32,
    /// Path and query below `/api/v1`, for example `/users/me`.
    pub path: String,
}

/// The parameters of [`Step::Idle`].
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IdleStep {
    /// Number of event queues with a held poll each, spread over the subscribers.
    pub polls: u32,
    /// Name of the channel that gets the message.
    pub channel: String,
    /// How long the polls are held before memory is read, in seconds.
    pub hold_secs: f64,
}

/// The parameters of [`Step::Mixed`].
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MixedStep {
    /// The activities of each user, all at the same time.
    pub each: Vec<Activity>,
}

/// An activity that a user repeats.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum Activity {
    /// Registers an event queue and polls it.
    LongPoll,
    /// Sends to one of the user's channels.
    Send {
        /// Sends per minute and user.
        per_min: f64,
        /// Shortest and longest content, in characters.
        chars: [u32; 2],
        /// Number of topics in each channel.
        topics: u32,
    },
    /// Fetches the newest messages of one of the user's channels.
    Fetch {
        /// Fetches per minute and user.
        per_min: f64,
        /// Number of messages in a page.
        num_before: u32,
    },
}

/// The parameters of [`Step::Crowd`].
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CrowdStep {
    /// Number of connections, each with one request.
    pub connections: u32,
    /// Number of accounts they use, in turn.
    pub accounts: u32,
    /// The requested response.
    pub ask: Asked,
    /// Whether they read the responses.
    pub reads: bool,
}

/// A large response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Asked {
    /// The newest 5,000 messages.
    Messages,
    /// A registration with the whole state.
    Register,
}

/// The parameters of [`Step::Start`].
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StartStep {
    /// Number of starts; the median counts.
    pub rounds: u32,
}

impl Step {
    /// The name of the step in a scenario.
    pub fn kind(&self) -> &'static str {
        match self {
            Step::Send(_) => "send",
            Step::Fanout(_) => "fanout",
            Step::Fetch(_) => "fetch",
            Step::Get(_) => "get",
            Step::Idle(_) => "idle",
            Step::Mixed(_) => "mixed",
            Step::Crowd(_) => "crowd",
            Step::Start(_) => "start",
        }
    }
}

impl Scenario {
    /// Reads a scenario by included name or file, and checks its bounds.
    pub fn load(name: &str) -> Result<Self, LoadError> {
        let text = match INCLUDED.iter().find(|(shipped, _)| *shipped == name) {
            Some((_, text)) => (*text).to_owned(),
            None => std::fs::read_to_string(name)
                .map_err(|source| LoadError::file(std::path::Path::new(name), source))?,
        };
        Self::parse(&text).map_err(|reason| LoadError::Usage(format!("{name}: {reason}")))
    }

    /// Parses and checks the text of a scenario.
    pub fn parse(text: &str) -> Result<Self, String> {
        let scenario: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        scenario.check()?;
        Ok(scenario)
    }

    /// Whether every phase starts its own server.
    pub fn starts_servers(&self) -> bool {
        self.phases.iter().any(|phase| matches!(phase.step, Step::Start(_)))
    }

    fn check(&self) -> Result<(), String> {
        check_at_most("users", self.users, USERS_MAX)?;
        if self.phases.is_empty() {
            return Err("a scenario needs a phase".to_owned());
        }
        for plan in &self.channels {
            check_at_most("subscribers", plan.subscribers, self.users)?;
            check_at_most("count", plan.count.unwrap_or(1), CHANNELS_MAX)?;
        }
        if let Some(fill) = &self.fill {
            self.check_channel(&fill.channel)?;
            check_chars(fill.chars)?;
            check_range("senders", fill.senders, CLIENTS_MAX)?;
            check_range("topics", fill.topics, u32::MAX)?;
            if fill.messages > FILL_MESSAGES_MAX {
                return Err(format!("fill: at most {FILL_MESSAGES_MAX} messages"));
            }
        }
        let warmed = self.phases.iter().any(|phase| phase.warmup_secs > 0.0);
        if warmed && !self.count_metrics.is_empty() {
            // Messages of a warm-up would change the counters without being counted.
            return Err("count_metrics and warmup_secs exclude each other".to_owned());
        }
        let mixed_kinds = self.starts_servers() && self.phases.len() > 1;
        if mixed_kinds {
            return Err("a start phase must be the only phase of its scenario".to_owned());
        }
        self.phases.iter().try_for_each(|phase| {
            self.check_phase(phase).map_err(|reason| format!("phase {}: {reason}", phase.name))
        })
    }

    fn check_phase(&self, phase: &Phase) -> Result<(), String> {
        if !(0.0..=SECS_MAX).contains(&phase.secs) || !(0.0..=SECS_MAX).contains(&phase.warmup_secs) {
            return Err(format!("secs and warmup_secs go from 0 to {SECS_MAX}"));
        }
        let timed = !matches!(phase.step, Step::Idle(_) | Step::Start(_));
        if timed && phase.secs <= 0.0 {
            return Err("secs must be more than 0".to_owned());
        }
        match &phase.step {
            Step::Send(step) => {
                check_range("clients", step.clients, CLIENTS_MAX)?;
                check_range("topics", step.topics, u32::MAX)?;
                check_rate(step.rate_per_sec.unwrap_or(1.0))?;
                check_chars(step.chars)?;
                self.check_background(step.background.as_ref())?;
                self.check_channel(&step.channel)
            }
            Step::Fanout(step) => {
                check_range("senders", step.senders, CLIENTS_MAX)?;
                check_range("receivers", step.receivers, RECEIVERS_MAX)?;
                check_range("topics", step.topics, u32::MAX)?;
                check_rate(step.rate_per_sec)?;
                check_chars(step.chars)?;
                self.check_channel(&step.channel)
            }
            Step::Fetch(step) => {
                check_range("clients", step.clients, CLIENTS_MAX)?;
                check_range("num_before", step.num_before, PAGE_MESSAGES_MAX)?;
                self.check_channel(&step.channel)
            }
            Step::Get(step) => {
                check_range("users", self.users, USERS_MAX)?;
                check_range("clients", step.clients, CLIENTS_MAX)
            }
            Step::Idle(step) => {
                check_range("polls", step.polls, RECEIVERS_MAX)?;
                if !(0.0..=60.0).contains(&step.hold_secs) {
                    return Err("hold_secs goes from 0 to 60".to_owned());
                }
                self.check_channel(&step.channel)
            }
            Step::Mixed(step) => self.check_mixed(step),
            Step::Crowd(step) => {
                check_range("connections", step.connections, CLIENTS_MAX)?;
                // One more for the other client.
                check_range("accounts", step.accounts, self.users.saturating_sub(1))
            }
            Step::Start(step) => check_range("rounds", step.rounds, ROUNDS_MAX),
        }
    }

    fn check_background(&self, plan: Option<&BackgroundPlan>) -> Result<(), String> {
        match plan {
            Some(BackgroundPlan::Move { channel, to, pause_ms }) => {
                check_at_most("pause_ms", u32::try_from(*pause_ms).unwrap_or(u32::MAX), 60_000)?;
                self.check_channel(channel)?;
                self.check_channel(to)
            }
            Some(BackgroundPlan::MissedMail { channel, every_ms }) => {
                check_range("every_ms", u32::try_from(*every_ms).unwrap_or(u32::MAX), 60_000)?;
                self.check_channel(channel)
            }
            Some(BackgroundPlan::DeleteTopic { channel }) => self.check_channel(channel),
            Some(BackgroundPlan::Login { concurrent }) => check_range("concurrent", *concurrent, CLIENTS_MAX),
            None => Ok(()),
        }
    }

    fn check_mixed(&self, step: &MixedStep) -> Result<(), String> {
        check_range("users", self.users, CLIENTS_MAX)?;
        if self.channels.is_empty() || step.each.is_empty() {
            return Err("a mixed phase needs channels and activities".to_owned());
        }
        for activity in &step.each {
            match activity {
                Activity::LongPoll => {}
                Activity::Send { per_min, chars, topics } => {
                    check_rate(*per_min)?;
                    check_chars(*chars)?;
                    check_range("topics", *topics, u32::MAX)?;
                }
                Activity::Fetch { per_min, num_before } => {
                    check_rate(*per_min)?;
                    check_range("num_before", *num_before, PAGE_MESSAGES_MAX)?;
                }
            }
        }
        Ok(())
    }

    fn check_channel(&self, name: &str) -> Result<(), String> {
        match self.channels.iter().find(|plan| plan.name == name) {
            Some(plan) if plan.count.is_some() => Err(format!("{name} names several channels")),
            Some(plan) if plan.subscribers == 0 => Err(format!("{name} has no subscribers")),
            Some(_) => Ok(()),
            None => Err(format!("no channel {name} in this scenario")),
        }
    }
}

fn check_at_most(what: &str, value: u32, most: u32) -> Result<(), String> {
    if value > most {
        return Err(format!("{what} is {value}, at most {most}"));
    }
    Ok(())
}

fn check_range(what: &str, value: u32, most: u32) -> Result<(), String> {
    if value == 0 {
        return Err(format!("{what} must be more than 0"));
    }
    check_at_most(what, value, most)
}

fn check_rate(value: f64) -> Result<(), String> {
    if !(value > 0.0 && value <= 1_000_000.0) {
        return Err("a rate must be more than 0 and at most 1,000,000".to_owned());
    }
    Ok(())
}

fn check_chars(chars: [u32; 2]) -> Result<(), String> {
    // The first characters of every message are the time of its sending.
    if chars[0] < 24 || chars[0] > chars[1] || chars[1] > CHARS_MAX {
        return Err(format!("chars goes from 24 to {CHARS_MAX}, shortest first"));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
