//! Scenarios are data: what to prepare, what to do, for how long, and what is expected of the server.
//! This file is their shape and its bounds; `loadtest/README.md` explains every field. Carrying one out is `runner`'s.

use serde::{Deserialize, Serialize};

use crate::driver::meanwhile::Meanwhile;
use crate::error::LoadError;
use crate::expect::Expect;

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

/// The scenarios that come with the program: name and JSON text.
pub const SHIPPED: &[(&str, &str)] = &[
    ("send", include_str!("../scenarios/send.json")),
    ("send_one", include_str!("../scenarios/send_one.json")),
    ("send_wide", include_str!("../scenarios/send_wide.json")),
    ("fetch_newest", include_str!("../scenarios/fetch_newest.json")),
    ("fetch_anywhere", include_str!("../scenarios/fetch_anywhere.json")),
    ("users_me", include_str!("../scenarios/users_me.json")),
    ("fanout", include_str!("../scenarios/fanout.json")),
    ("idle", include_str!("../scenarios/idle.json")),
    ("mixed", include_str!("../scenarios/mixed.json")),
    ("move", include_str!("../scenarios/move.json")),
    ("delete_topic", include_str!("../scenarios/delete_topic.json")),
    ("login_storm", include_str!("../scenarios/login_storm.json")),
    ("start", include_str!("../scenarios/start.json")),
];

/// One file.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Short name, also used in file names.
    pub name: String,
    /// One sentence for the report.
    pub about: String,
    /// Accounts to have; missing ones are created.
    #[serde(default)]
    pub users: u32,
    /// Channels to have, with their subscribers.
    #[serde(default)]
    pub channels: Vec<ChannelPlan>,
    /// Messages to have before the first phase.
    #[serde(default)]
    pub fill: Option<FillPlan>,
    /// What is done and measured, in order.
    pub phases: Vec<Phase>,
    /// Counters of the server's `GET /metrics`, read before and after every phase.
    #[serde(default)]
    pub count_metrics: Vec<String>,
    /// What every phase has to reach.
    pub expect: Expect,
}

/// A channel, or `count` channels named `name 0`, `name 1`, ….
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChannelPlan {
    /// Name, or its start.
    pub name: String,
    /// How many; absent means one, named exactly `name`.
    #[serde(default)]
    pub count: Option<u32>,
    /// Subscribers of each, taken from the users in turn.
    pub subscribers: u32,
}

/// Messages sent before measuring, by many senders at once.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FillPlan {
    /// Name of the channel.
    pub channel: String,
    /// How many messages it has to hold.
    pub messages: u64,
    /// Shortest and longest content, in characters.
    pub chars: [u32; 2],
    /// Topics the messages are spread over.
    pub topics: u32,
    /// Concurrent senders.
    pub senders: u32,
}

/// One thing done and measured.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// Name in the report.
    pub name: String,
    /// Measured time. `idle` and `start` take the time they need.
    #[serde(default)]
    pub secs: f64,
    /// Time before measuring, under the same load.
    #[serde(default)]
    pub warmup_secs: f64,
    /// What is done.
    pub step: Step,
}

/// What a phase does.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum Step {
    /// `POST /messages` from many clients.
    Send(SendStep),
    /// The same with receivers that poll; measures from send to receipt.
    Fanout(FanoutStep),
    /// `GET /messages`.
    Fetch(FetchStep),
    /// `GET` of one path.
    Get(GetStep),
    /// Held polls: what they cost, and how fast one message reaches all.
    Idle(IdleStep),
    /// Users with habits.
    Mixed(MixedStep),
    /// From exec to the first answer; needs `--spawn`.
    Start(StartStep),
}

/// See [`Step::Send`].
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SendStep {
    /// Concurrent clients, each one account and connection.
    pub clients: u32,
    /// Name of the channel.
    pub channel: String,
    /// Shortest and longest content, in characters.
    pub chars: [u32; 2],
    /// Topics the messages are spread over.
    pub topics: u32,
    /// All clients together; absent means each sends again as soon as it was answered.
    #[serde(default)]
    pub rate_per_sec: Option<f64>,
    /// Ends the phase early, after this many messages.
    #[serde(default)]
    pub messages: Option<u64>,
    /// Heavy work in another channel at the same time.
    #[serde(default)]
    pub meanwhile: Option<Meanwhile>,
}

/// See [`Step::Fanout`].
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FanoutStep {
    /// Concurrent senders.
    pub senders: u32,
    /// Polling event queues, spread over the subscribers.
    pub receivers: u32,
    /// Name of the channel.
    pub channel: String,
    /// Shortest and longest content, in characters.
    pub chars: [u32; 2],
    /// Topics the messages are spread over.
    pub topics: u32,
    /// Messages a second, all senders together.
    pub rate_per_sec: f64,
}

/// See [`Step::Fetch`].
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FetchStep {
    /// Concurrent clients.
    pub clients: u32,
    /// Name of the channel the narrow names.
    pub channel: String,
    /// Where the pages are.
    pub anchor: Anchor,
    /// Messages in a page.
    pub num_before: u32,
}

/// Where a page of messages is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Anchor {
    /// At the end.
    Newest,
    /// At a random message of the channel.
    Anywhere,
}

/// See [`Step::Get`].
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GetStep {
    /// Concurrent clients.
    pub clients: u32,
    /// Path and query below `/api/v1`, for example `/users/me`.
    pub path: String,
}

/// See [`Step::Idle`].
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IdleStep {
    /// Event queues with a held poll each, spread over the subscribers.
    pub polls: u32,
    /// Name of the channel that gets the one message.
    pub channel: String,
    /// How long the polls are held before memory is read.
    pub hold_secs: f64,
}

/// See [`Step::Mixed`].
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MixedStep {
    /// What each user does, all at the same time.
    pub each: Vec<Habit>,
}

/// One thing a user keeps doing.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum Habit {
    /// Registers an event queue and polls it.
    LongPoll,
    /// Sends to one of the user's channels.
    Send {
        /// Per user.
        per_min: f64,
        /// Shortest and longest content, in characters.
        chars: [u32; 2],
        /// Topics in each channel.
        topics: u32,
    },
    /// Fetches the newest messages of one of the user's channels.
    Fetch {
        /// Per user.
        per_min: f64,
        /// Messages in a page.
        num_before: u32,
    },
}

/// See [`Step::Start`].
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StartStep {
    /// How often; the median counts.
    pub rounds: u32,
}

impl Step {
    /// The word that names it in a scenario.
    pub fn kind(&self) -> &'static str {
        match self {
            Step::Send(_) => "send",
            Step::Fanout(_) => "fanout",
            Step::Fetch(_) => "fetch",
            Step::Get(_) => "get",
            Step::Idle(_) => "idle",
            Step::Mixed(_) => "mixed",
            Step::Start(_) => "start",
        }
    }
}

impl Scenario {
    /// Reads a scenario by shipped name or file, and checks its bounds.
    pub fn load(name: &str) -> Result<Self, LoadError> {
        let text = match SHIPPED.iter().find(|(shipped, _)| *shipped == name) {
            Some((_, text)) => (*text).to_owned(),
            None => std::fs::read_to_string(name)
                .map_err(|source| LoadError::file(std::path::Path::new(name), source))?,
        };
        Self::parse(&text).map_err(|reason| LoadError::Usage(format!("{name}: {reason}")))
    }

    /// Parses and checks the text of a scenario; the error says what is wrong.
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
            // Messages of the warm-up would be in the counters and not among the counted sends.
            return Err("count_metrics and warmup_secs exclude each other".to_owned());
        }
        let mixed_kinds = self.starts_servers() && self.phases.len() > 1;
        if mixed_kinds {
            return Err("a start phase stands alone in its scenario".to_owned());
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
                match &step.meanwhile {
                    Some(Meanwhile::Move { channel, to, pause_ms }) => {
                        check_at_most("pause_ms", u32::try_from(*pause_ms).unwrap_or(u32::MAX), 60_000)?;
                        self.check_channel(channel)?;
                        self.check_channel(to)?;
                    }
                    Some(Meanwhile::DeleteTopic { channel }) => self.check_channel(channel)?,
                    Some(Meanwhile::Login { at_once }) => check_range("at_once", *at_once, CLIENTS_MAX)?,
                    None => {}
                }
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
            Step::Start(step) => check_range("rounds", step.rounds, ROUNDS_MAX),
        }
    }

    fn check_mixed(&self, step: &MixedStep) -> Result<(), String> {
        check_range("users", self.users, CLIENTS_MAX)?;
        if self.channels.is_empty() || step.each.is_empty() {
            return Err("a mixed phase needs channels and habits".to_owned());
        }
        for habit in &step.each {
            match habit {
                Habit::LongPoll => {}
                Habit::Send { per_min, chars, topics } => {
                    check_rate(*per_min)?;
                    check_chars(*chars)?;
                    check_range("topics", *topics, u32::MAX)?;
                }
                Habit::Fetch { per_min, num_before } => {
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
    // The first characters of every message are its sending time.
    if chars[0] < 24 || chars[0] > chars[1] || chars[1] > CHARS_MAX {
        return Err(format!("chars goes from 24 to {CHARS_MAX}, shortest first"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_scenario_parses_and_has_the_name_of_its_file() {
        for (name, text) in SHIPPED {
            let scenario = Scenario::parse(text).unwrap_or_else(|reason| panic!("{name}: {reason}"));
            assert_eq!(scenario.name, *name);
        }
        let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios")).unwrap().count();
        assert_eq!(files, SHIPPED.len(), "every file in scenarios/ is shipped");
    }

    #[test]
    fn unknown_fields_are_refused_at_every_depth() {
        let (_, good) = SHIPPED[0];
        let mut value: serde_json::Value = serde_json::from_str(good).unwrap();
        assert!(Scenario::parse(&value.to_string()).is_ok());
        for pointer in ["", "/channels/0", "/phases/0", "/phases/0/step", "/expect"] {
            let place = value.pointer_mut(pointer).unwrap().as_object_mut().unwrap();
            place.insert("clientz".to_owned(), 1.into());
            let reason = Scenario::parse(&value.to_string()).unwrap_err();
            assert!(reason.contains("clientz"), "{pointer}: {reason}");
            value.pointer_mut(pointer).unwrap().as_object_mut().unwrap().remove("clientz");
        }
    }

    #[test]
    fn bounds_are_checked() {
        let (_, good) = SHIPPED[0];
        let value: serde_json::Value = serde_json::from_str(good).unwrap();
        for (pointer, bad, word) in [
            ("/users", 20_001, "users"),
            ("/channels/0/subscribers", 1_000, "subscribers"),
            ("/phases/0/step/clients", 0, "clients"),
            ("/phases/0/step/chars/0", 9_999, "chars"),
            ("/phases/0/secs", 0, "secs"),
        ] {
            let mut broken = value.clone();
            *broken.pointer_mut(pointer).unwrap() = bad.into();
            let reason = Scenario::parse(&broken.to_string()).unwrap_err();
            assert!(reason.contains(word), "{pointer}: {reason}");
        }
        let mut broken = value.clone();
        *broken.pointer_mut("/phases/0/step/channel").unwrap() = "elsewhere".into();
        assert!(Scenario::parse(&broken.to_string()).unwrap_err().contains("elsewhere"));
    }
}
