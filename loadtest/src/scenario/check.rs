//! The bounds of scenarios. An error names the field.

use std::collections::HashSet;

use super::background::{BackgroundPlan, MISSED_MAIL_LAST_SECS, MISSED_MAIL_SECS};
use super::stages::{Quantity, Ramp};
use super::steps::{Activity, Anchor, FanoutStep, MixedStep, Step};
use super::{FillPlan, Phase, Scenario};
use crate::expect::Expect;

const USERS_MAX: u32 = 100_000;
const ORGANIZATIONS_MAX: u32 = 1_000;
/// Clients of a step.
pub const CLIENTS_MAX: u32 = 2_000;
/// Each is one open file on both sides, and 20,000 is a common hard limit.
const RECEIVERS_MAX: u32 = 16_000;
const CHANNELS_MAX: u32 = 1_000;
const FILL_MESSAGES_MAX: u64 = 10_000_000;
/// Longest phase, in seconds.
pub const SECS_MAX: f64 = 3_600.0;
const CHARS_MAX: u32 = 10_000;
const PAGE_MESSAGES_MAX: u32 = 5_000;
const ROUNDS_MAX: u32 = 100;
const REPEAT_MAX: u32 = 9;

/// How a step may name channels.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Naming {
    /// One channel.
    One,
    /// One channel, or all of a plan with `count`.
    OneOrAll,
}

impl Scenario {
    pub(super) fn check(&self) -> Result<(), String> {
        check_at_most("users", self.users, USERS_MAX)?;
        check_range("organizations", self.organizations.unwrap_or(1), ORGANIZATIONS_MAX)?;
        if self.phases.is_empty() {
            return Err("phases: a scenario needs one".to_owned());
        }
        self.check_channels()?;
        self.check_phase_names()?;
        self.expect.check().map_err(|reason| format!("expect.{reason}"))?;
        self.check_fill(self.fill.as_ref())?;
        let warmed = self.phases.iter().any(|phase| phase.warmup_secs > 0.0 || phase.repeat.is_some());
        if warmed && !self.count_metrics.is_empty() {
            // Messages of a warm-up would change the counters without being counted.
            return Err("count_metrics excludes warmup_secs and repeat".to_owned());
        }
        let mixed_kinds = self.starts_servers() && self.phases.len() > 1;
        if mixed_kinds {
            return Err("a start phase must be the only phase of its scenario".to_owned());
        }
        self.phases.iter().try_for_each(|phase| {
            self.check_phase(phase).map_err(|reason| format!("phase {}: {reason}", phase.name))
        })
    }

    fn check_channels(&self) -> Result<(), String> {
        let mut taken = HashSet::new();
        for (number, plan) in self.channels.iter().enumerate() {
            let (field, name) = (format!("channels[{number}]"), &plan.name);
            let most = |reason| format!("{field}: {name}: {reason}");
            if plan.subscribers > self.users {
                let reason = format!("subscribers is {}, and `users` is {}", plan.subscribers, self.users);
                return Err(most(reason));
            }
            check_range("count", plan.count.unwrap_or(1), CHANNELS_MAX).map_err(most)?;
            // A plan's name stands for all of its channels, so it must not be that of another one either.
            let own: Vec<String> = std::iter::once(name.clone()).chain(plan.names()).collect();
            if let Some(again) = own.iter().find(|name| taken.contains(*name)) {
                return Err(format!("{field}.name: two channels are named {again}"));
            }
            taken.extend(own);
        }
        Ok(())
    }

    fn check_phase_names(&self) -> Result<(), String> {
        let mut names = HashSet::new();
        match self.phases.iter().position(|phase| !names.insert(&phase.name)) {
            Some(number) => {
                Err(format!("phases[{number}].name: two phases are named {}", self.phases[number].name))
            }
            None => Ok(()),
        }
    }

    fn check_fill(&self, fill: Option<&FillPlan>) -> Result<(), String> {
        let Some(fill) = fill else { return Ok(()) };
        self.check_channel("fill.channel", &fill.channel, Naming::One)?;
        check_chars(fill.chars)?;
        check_range("senders", fill.senders, CLIENTS_MAX)?;
        check_range("topics", fill.topics, u32::MAX)?;
        if fill.messages > FILL_MESSAGES_MAX {
            return Err(format!("fill.messages: at most {FILL_MESSAGES_MAX}"));
        }
        Ok(())
    }

    fn check_phase(&self, phase: &Phase) -> Result<(), String> {
        if !(0.0..=SECS_MAX).contains(&phase.secs) || !(0.0..=SECS_MAX).contains(&phase.warmup_secs) {
            return Err(format!("secs and warmup_secs go from 0 to {SECS_MAX}"));
        }
        check_stages(phase)?;
        let timed = !matches!(phase.step, Step::Idle(_) | Step::Start(_));
        if timed && phase.measured_secs() <= 0.0 {
            return Err("secs must be more than 0".to_owned());
        }
        check_range("repeat", phase.repeat.unwrap_or(1), REPEAT_MAX)?;
        self.check_fill(phase.fill.as_ref())?;
        self.check_organizations(phase)?;
        check_missed_mail(phase)?;
        check_paths(&phase.step)?;
        let expect = phase.expect.as_ref().map_or(Ok(()), Expect::check);
        expect.map_err(|reason| format!("expect.{reason}"))?;
        self.check_step(&phase.step)
    }

    fn check_organizations(&self, phase: &Phase) -> Result<(), String> {
        let fits = matches!(phase.step, Step::Send(_)) && self.fill.is_none() && phase.fill.is_none();
        if self.organizations.is_some() && !fits {
            return Err("organizations: only for `send` without a fill".to_owned());
        }
        Ok(())
    }

    fn check_step(&self, step: &Step) -> Result<(), String> {
        match step {
            Step::Send(step) => {
                check_range("clients", step.clients, CLIENTS_MAX)?;
                check_range("topics", step.topics, u32::MAX)?;
                check_rate("rate_per_sec", step.rate_per_sec.unwrap_or(1.0))?;
                check_chars(step.chars)?;
                if step.messages == Some(0) {
                    return Err("messages must be more than 0".to_owned());
                }
                self.check_background(step.background.as_ref())?;
                self.check_channel("channel", &step.channel, Naming::OneOrAll)
            }
            Step::Fanout(step) => self.check_fanout(step),
            Step::Fetch(step) => {
                check_range("clients", step.clients, CLIENTS_MAX)?;
                check_range("num_before", step.num_before, PAGE_MESSAGES_MAX)?;
                check_rate("rate_per_sec", step.rate_per_sec.unwrap_or(1.0))?;
                let naming = if step.anchor == Anchor::Newest { Naming::OneOrAll } else { Naming::One };
                self.check_channel("channel", &step.channel, naming)
            }
            Step::Get(step) => {
                self.check_users("get", USERS_MAX)?;
                check_rate("rate_per_sec", step.rate_per_sec.unwrap_or(1.0))?;
                check_range("clients", step.clients, CLIENTS_MAX)
            }
            Step::Idle(step) => {
                check_range("polls", step.polls, RECEIVERS_MAX)?;
                if !(0.0..=60.0).contains(&step.hold_secs) {
                    return Err("hold_secs goes from 0 to 60".to_owned());
                }
                self.check_channel("channel", &step.channel, Naming::One)
            }
            Step::Mixed(step) => self.check_mixed(step),
            Step::Crowd(step) => {
                check_range("connections", step.connections, CLIENTS_MAX)?;
                // One more for the other client.
                check_range("accounts", step.accounts, self.users.saturating_sub(1))
            }
            Step::Register(step) => {
                self.check_users("register", USERS_MAX)?;
                check_rate("rate_per_sec", step.rate_per_sec.unwrap_or(1.0))?;
                check_range("clients", step.clients, CLIENTS_MAX)
            }
            Step::Edit(step) => {
                check_range("clients", step.clients, CLIENTS_MAX)?;
                check_range("topics", step.topics, u32::MAX)?;
                check_range("edits", step.edits, 10_000)?;
                check_rate("rate_per_sec", step.rate_per_sec.unwrap_or(1.0))?;
                check_chars(step.chars)?;
                self.check_channel("channel", &step.channel, Naming::OneOrAll)
            }
            Step::Start(step) => check_range("rounds", step.rounds, ROUNDS_MAX),
        }
    }

    fn check_fanout(&self, step: &FanoutStep) -> Result<(), String> {
        check_range("senders", step.senders, CLIENTS_MAX)?;
        check_range("receivers", step.receivers, RECEIVERS_MAX)?;
        check_range("topics", step.topics, u32::MAX)?;
        check_rate("rate_per_sec", step.rate_per_sec)?;
        check_chars(step.chars)?;
        if let Some(slow) = &step.slow {
            check_range("slow.receivers", slow.receivers, RECEIVERS_MAX)?;
            check_range("slow.pause_ms", slow.pause_ms, 60_000)?;
        }
        self.check_channel("channel", &step.channel, Naming::One)
    }

    fn check_background(&self, plan: Option<&BackgroundPlan>) -> Result<(), String> {
        match plan {
            Some(BackgroundPlan::Move { channel, to, pause_ms }) => {
                check_at_most("pause_ms", u32::try_from(*pause_ms).unwrap_or(u32::MAX), 60_000)?;
                self.check_channel("channel", channel, Naming::One)?;
                if channel == to {
                    return Err(format!("to: the topic is in {to} already; name another channel"));
                }
                self.check_channel("to", to, Naming::One)
            }
            Some(BackgroundPlan::MissedMail { channel, every_ms }) => {
                check_range("every_ms", u32::try_from(*every_ms).unwrap_or(u32::MAX), 60_000)?;
                self.check_channel("channel", channel, Naming::One)
            }
            Some(BackgroundPlan::DeleteTopic { channel }) => {
                self.check_channel("channel", channel, Naming::One)
            }
            Some(BackgroundPlan::Login { concurrent, per_sec }) => {
                check_rate("per_sec", per_sec.unwrap_or(1.0))?;
                check_range("concurrent", *concurrent, CLIENTS_MAX)
            }
            None => Ok(()),
        }
    }

    fn check_mixed(&self, step: &MixedStep) -> Result<(), String> {
        self.check_users("mixed", CLIENTS_MAX)?;
        if self.channels.is_empty() || step.each.is_empty() {
            return Err("each: a mixed phase needs channels and activities".to_owned());
        }
        self.check_background(step.background.as_ref())?;
        for activity in &step.each {
            match activity {
                Activity::LongPoll => {}
                Activity::Send { per_min, chars, topics } => {
                    check_rate("per_min", *per_min)?;
                    check_chars(*chars)?;
                    check_range("topics", *topics, u32::MAX)?;
                }
                Activity::Get { per_min, path: _ } => check_rate("per_min", *per_min)?,
                Activity::Fetch { per_min, num_before } => {
                    check_rate("per_min", *per_min)?;
                    check_range("num_before", *num_before, PAGE_MESSAGES_MAX)?;
                }
            }
        }
        Ok(())
    }

    /// The users of the scenario, where a step needs some.
    fn check_users(&self, step: &str, most: u32) -> Result<(), String> {
        let needed = |reason| format!("{reason}: {step} needs the scenario's `users`");
        check_range("users", self.users, most).map_err(needed)
    }

    /// The channels by name, for a message.
    fn list_channels(&self) -> String {
        let listed = |plan: &super::ChannelPlan| match plan.names().as_slice() {
            [first, .., last] => format!("{first} to {last}"),
            [one] => one.clone(),
            [] => String::new(),
        };
        match self.channels.as_slice() {
            [] => "none".to_owned(),
            plans => plans.iter().map(listed).collect::<Vec<_>>().join(", "),
        }
    }

    /// Whether a name is that of a channel, or of several where that is allowed.
    fn check_channel(&self, field: &str, name: &str, naming: Naming) -> Result<(), String> {
        let named =
            |plan: &&super::ChannelPlan| plan.name == name || plan.names().iter().any(|one| one == name);
        let Some(plan) = self.channels.iter().find(named) else {
            return Err(format!(
                "{field}: no channel {name} in this scenario, which has {}",
                self.list_channels()
            ));
        };
        if plan.subscribers == 0 {
            return Err(format!("{field}: {name} has no subscribers"));
        }
        match plan.count {
            Some(count) if plan.name == name && naming == Naming::One => {
                Err(format!("{field}: {name} is {count} channels; name one of them, such as {name} 0"))
            }
            _ => Ok(()),
        }
    }
}

/// Whether the step can follow the phase's stages.
fn check_stages(phase: &Phase) -> Result<(), String> {
    let Some(ramp) = Ramp::new(&phase.stages)? else { return Ok(()) };
    if phase.secs > 0.0 || phase.warmup_secs > 0.0 {
        return Err("stages: they have their own seconds, so secs and warmup_secs must be absent".to_owned());
    }
    let (clients, rate) = match &phase.step {
        Step::Send(step) => (step.clients, step.rate_per_sec),
        Step::Fetch(step) => (step.clients, step.rate_per_sec),
        Step::Get(step) => (step.clients, step.rate_per_sec),
        Step::Register(step) => (step.clients, step.rate_per_sec),
        Step::Edit(step) => (step.clients, step.rate_per_sec),
        Step::Fanout(_) | Step::Idle(_) | Step::Mixed(_) | Step::Crowd(_) | Step::Start(_) => {
            return Err(format!("stages: not for {}", phase.step.kind()));
        }
    };
    if rate.is_some() {
        return Err("stages: they set the load, so rate_per_sec must be absent".to_owned());
    }
    let has_load =
        ramp.segments.iter().any(|segment| segment.secs > 0.0 && segment.from.max(segment.to) > 0.0);
    if !has_load {
        return Err("stages: one of them must last, and have clients or a rate of more than 0".to_owned());
    }
    let too_many = ramp.segments.iter().position(|segment| segment.to > f64::from(clients));
    if let Some(number) = too_many.filter(|_| ramp.quantity == Quantity::Clients) {
        return Err(format!("stages[{number}].clients: at most the {clients} `clients` of the step"));
    }
    Ok(())
}

/// Emails about missed messages come so late that a short phase would measure none.
fn check_missed_mail(phase: &Phase) -> Result<(), String> {
    let least = crate::units::as_float(MISSED_MAIL_SECS + MISSED_MAIL_LAST_SECS);
    let secs = phase.measured_secs();
    if matches!(phase.step.background(), Some(BackgroundPlan::MissedMail { .. })) && secs <= least {
        return Err(format!(
            "secs is {secs}, and must be more than {least} with `missed_mail`: an email comes {MISSED_MAIL_SECS} s after its message"
        ));
    }
    Ok(())
}

/// The paths that a step requests.
fn check_paths(step: &Step) -> Result<(), String> {
    match step {
        Step::Get(step) => check_path(&step.path),
        Step::Mixed(step) => step.each.iter().try_for_each(|activity| match activity {
            Activity::Get { per_min: _, path } => check_path(path),
            Activity::LongPoll | Activity::Send { .. } | Activity::Fetch { .. } => Ok(()),
        }),
        Step::Send(_)
        | Step::Fanout(_)
        | Step::Fetch(_)
        | Step::Idle(_)
        | Step::Crowd(_)
        | Step::Register(_)
        | Step::Edit(_)
        | Step::Start(_) => Ok(()),
    }
}

/// A path goes into the request line as it is.
fn check_path(path: &str) -> Result<(), String> {
    if !path.starts_with('/') {
        return Err(format!("path is {path:?}, and must begin with /"));
    }
    if !path.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(format!(
            "path is {path:?}: spaces, control characters and letters beyond ASCII must be percent-encoded"
        ));
    }
    Ok(())
}

fn check_at_most(field: &str, value: u32, most: u32) -> Result<(), String> {
    if value > most {
        return Err(format!("{field} is {value}, at most {most}"));
    }
    Ok(())
}

fn check_range(field: &str, value: u32, most: u32) -> Result<(), String> {
    if value == 0 {
        return Err(format!("{field} must be more than 0"));
    }
    check_at_most(field, value, most)
}

fn check_rate(field: &str, value: f64) -> Result<(), String> {
    if !(value > 0.0 && value <= 1_000_000.0) {
        return Err(format!("{field} must be more than 0 and at most 1,000,000"));
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
