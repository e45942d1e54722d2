//! Random steps. They are generated without any state, so that steps can be removed and the rest keeps its meaning; a
//! step is turned into an action when it runs.

use super::state::{ChannelIndex, PEOPLE, Place, Privacy, RESOLVED, State, Who, is_toggle};
use std::collections::BTreeSet;

/// A step, as generated.
#[derive(Clone, Debug)]
pub enum Step {
    Send {
        who: Who,
        channel: ChannelIndex,
        topic: usize,
        is_read: bool,
        mention: Option<Who>,
    },
    Direct {
        who: Who,
        to: Vec<Who>,
        is_read: bool,
    },
    Edit {
        who: Option<Who>,
        pick: usize,
    },
    Move {
        who: Who,
        pick: usize,
        topic: Option<usize>,
        channel: Option<ChannelIndex>,
        mode: Mode,
        notify: (bool, bool),
    },
    Resolve {
        who: Who,
        pick: usize,
    },
    Delete {
        who: Option<Who>,
        pick: usize,
    },
    DeleteTopic {
        who: Who,
        pick: usize,
    },
    Policy {
        who: Who,
        channel: ChannelIndex,
        topic: usize,
        policy: u8,
    },
    Mute {
        who: Who,
        channel: ChannelIndex,
        is_muted: bool,
    },
    Subscribe {
        who: Who,
        channel: ChannelIndex,
        whom: Who,
    },
    Unsubscribe {
        who: Who,
        channel: ChannelIndex,
        whom: Who,
    },
    Privacy {
        who: Who,
        channel: ChannelIndex,
        privacy: Privacy,
    },
    Flag {
        who: Who,
        picks: Vec<usize>,
        is_star: bool,
        adds: bool,
    },
    Wait {
        secs: u64,
    },
    /// All users read their pending events.
    Poll,
    Restart,
}

/// The value of `propagate_mode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    One,
    Later,
    All,
}

/// An action: a request to the server, or a change of its environment.
#[derive(Clone, Debug)]
pub enum Action {
    Send {
        who: Who,
        channel: ChannelIndex,
        topic: String,
        content: String,
        is_read: bool,
        mention: Option<Who>,
    },
    Direct {
        who: Who,
        to: BTreeSet<Who>,
        content: String,
        is_read: bool,
    },
    Edit {
        who: Who,
        id: u64,
        content: String,
    },
    Move {
        who: Who,
        id: u64,
        topic: Option<String>,
        channel: Option<ChannelIndex>,
        mode: Mode,
        notify: (bool, bool),
    },
    Delete {
        who: Who,
        id: u64,
    },
    DeleteTopic {
        who: Who,
        channel: ChannelIndex,
        topic: String,
    },
    Policy {
        who: Who,
        channel: ChannelIndex,
        topic: String,
        policy: u8,
    },
    Mute {
        who: Who,
        channel: ChannelIndex,
        is_muted: bool,
    },
    Subscribe {
        who: Who,
        channel: ChannelIndex,
        whom: Who,
    },
    Unsubscribe {
        who: Who,
        channel: ChannelIndex,
        whom: Who,
    },
    Privacy {
        who: Who,
        channel: ChannelIndex,
        privacy: Privacy,
    },
    Flag {
        who: Who,
        ids: Vec<u64>,
        is_star: bool,
        adds: bool,
    },
    Wait {
        secs: u64,
    },
    /// All users read their pending events.
    Poll,
    Restart,
}

/// The maximum number of channels.
pub const CHANNELS: usize = 4;
/// Two differ in case only, one is empty.
pub const TOPICS: [&str; 5] = ["ink", "Ink", "pens", "paper", ""];

/// A SplitMix64 generator: small, and the same on all platforms.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((word ^ (word >> 31)) % bound as u64).expect("below a usize")
    }

    fn one_in(&mut self, many: usize) -> bool {
        self.below(many) == 0
    }

    fn who(&mut self) -> Who {
        self.below(PEOPLE.len())
    }

    /// A distance from the newest item, mostly small.
    fn pick(&mut self) -> usize {
        let bound = [3, 8, 20, 60][self.below(4)];
        self.below(bound)
    }

    fn privacy(&mut self) -> Privacy {
        [Privacy::Public, Privacy::Shared, Privacy::Protected][self.below(3)]
    }

    fn mode(&mut self) -> Mode {
        [Mode::One, Mode::Later, Mode::All][self.below(3)]
    }
}

/// A random step; the numbers are weights in percent.
pub fn random_step(random: &mut Random) -> Step {
    let (who, channel, topic) = (random.who(), random.below(CHANNELS), random.below(TOPICS.len()));
    match random.below(100) {
        0..27 => {
            // Another user: mentioning oneself is not modelled.
            let mention = random.one_in(6).then(|| random.who()).filter(|whom| *whom != who);
            Step::Send { who, channel, topic, is_read: !random.one_in(3), mention }
        }
        27..31 => {
            let to = (0..=random.below(2)).map(|_| random.who()).collect();
            Step::Direct { who, to, is_read: random.one_in(2) }
        }
        // Mostly by the author, sometimes by a user without permission.
        31..36 => Step::Edit { who: random.one_in(4).then_some(who), pick: random.pick() },
        36..54 => {
            let to_channel = random.one_in(2).then_some(channel);
            let topic = (to_channel.is_none() || random.one_in(2)).then_some(topic);
            let notify = (random.one_in(4), random.one_in(3));
            Step::Move { who, pick: random.pick(), topic, channel: to_channel, mode: random.mode(), notify }
        }
        54..59 => Step::Resolve { who, pick: random.pick() },
        59..63 => Step::Delete { who: random.one_in(2).then_some(who), pick: random.pick() },
        63..65 => Step::DeleteTopic { who, pick: random.pick() },
        65..70 => Step::Policy { who, channel, topic, policy: u8::try_from(random.below(4)).expect("small") },
        70..72 => Step::Mute { who, channel, is_muted: random.one_in(2) },
        72..81 => Step::Subscribe { who, channel, whom: if random.one_in(2) { who } else { random.who() } },
        81..86 => Step::Unsubscribe { who, channel, whom: if random.one_in(2) { who } else { random.who() } },
        86..89 => Step::Privacy { who, channel, privacy: random.privacy() },
        89..96 => {
            let picks = (0..=random.below(3)).map(|_| random.pick()).collect();
            Step::Flag { who, picks, is_star: random.one_in(2), adds: !random.one_in(3) }
        }
        96..97 => Step::Wait { secs: [1, 30, 61, 400][random.below(4)] },
        _ => Step::Poll,
    }
}

/// A sequence with two restarts.
pub fn random_steps(seed: u64, count: usize) -> Vec<Step> {
    let mut random = Random(seed);
    let mut steps: Vec<Step> = (0..count).map(|_| random_step(&mut random)).collect();
    for _ in 0..2 {
        let at = random.below(count.max(1));
        steps[at] = Step::Restart;
    }
    steps
}

impl Step {
    /// The action of a step in the current state; none if it has no target.
    #[expect(clippy::too_many_lines, reason = "one arm for each step, and nothing else")]
    pub fn action(&self, state: &State, number: usize) -> Option<Action> {
        let pick = |back: usize| {
            let count = state.messages.len();
            (count > 0).then(|| *state.messages.keys().rev().nth(back % count).expect("below the count"))
        };
        let topic_of = |id: u64| match &state.messages[&id].place {
            Place::Topic(channel, topic) => Some((*channel, topic.clone())),
            Place::Direct(_) => None,
        };
        let author = |id: u64| state.messages[&id].sender.unwrap_or(0);
        Some(match self.clone() {
            Self::Send { who, channel, topic, is_read, mention } => {
                let name = mention.map_or(String::new(), |whom| format!(" @**{}**", PEOPLE[whom].1));
                let content = format!("number {number}{name}");
                Action::Send { who, channel, topic: TOPICS[topic].to_owned(), content, is_read, mention }
            }
            Self::Direct { who, to, is_read } => {
                let to = to.into_iter().chain([who]).collect();
                Action::Direct { who, to, content: format!("number {number}"), is_read }
            }
            Self::Edit { who, pick: back } => {
                let id = pick(back)?;
                Action::Edit { who: who.unwrap_or_else(|| author(id)), id, content: format!("edit {number}") }
            }
            Self::Move { who, pick: back, topic, channel, mode, notify } => {
                let id = pick(back)?;
                let topic = topic.map(|topic| TOPICS[topic].to_owned());
                let (_, current) = topic_of(id).unwrap_or_default();
                // Removing the resolved prefix from one message only is not a realistic action.
                let is_mark = topic.as_ref().is_some_and(|topic| is_toggle(&current, topic));
                if is_mark && channel.is_none() {
                    let notify = (false, notify.1);
                    return Some(Action::Move { who, id, topic, channel, mode: Mode::All, notify });
                }
                if is_mark {
                    return None;
                }
                Action::Move { who, id, topic, channel, mode, notify }
            }
            Self::Resolve { who, pick: back } => {
                let id = pick(back)?;
                let (_, topic) = topic_of(id)?;
                let plain = topic.trim_start_matches(['✔', ' ']);
                let new =
                    if topic.starts_with(RESOLVED) { plain.to_owned() } else { format!("{RESOLVED}{topic}") };
                if topic.is_empty() {
                    return None;
                }
                let (topic, mode) = (Some(new), Mode::All);
                Action::Move { who, id, topic, channel: None, mode, notify: (false, true) }
            }
            Self::Delete { who, pick: back } => {
                let id = pick(back)?;
                Action::Delete { who: who.unwrap_or_else(|| author(id)), id }
            }
            Self::DeleteTopic { who, pick: back } => {
                let (channel, topic) = topic_of(pick(back)?)?;
                Action::DeleteTopic { who, channel, topic }
            }
            Self::Policy { who, channel, topic, policy } => {
                Action::Policy { who, channel, topic: TOPICS[topic].to_owned(), policy }
            }
            Self::Mute { who, channel, is_muted } => Action::Mute { who, channel, is_muted },
            Self::Subscribe { who, channel, whom } => Action::Subscribe { who, channel, whom },
            // The first user never unsubscribes.
            Self::Unsubscribe { whom: 0, .. } => return None,
            Self::Unsubscribe { who, channel, whom } => Action::Unsubscribe { who, channel, whom },
            Self::Privacy { who, channel, privacy } => Action::Privacy { who, channel, privacy },
            Self::Flag { who, picks, is_star, adds } => {
                let ids: BTreeSet<u64> = picks.into_iter().filter_map(pick).collect();
                // Rows for inaccessible messages could not be compared afterwards.
                let is_plain =
                    |id: &u64| state.reads(who, *id) || !state.messages[id].rows.contains_key(&who);
                let ids: Vec<u64> = ids.into_iter().filter(is_plain).collect();
                if ids.is_empty() {
                    return None;
                }
                Action::Flag { who, ids, is_star, adds }
            }
            Self::Wait { secs } => Action::Wait { secs },
            Self::Poll => Action::Poll,
            Self::Restart => Action::Restart,
        })
    }
}
