//! The operations of phases, with their parameters.

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::background::BackgroundPlan;

/// The operation of a phase.
#[derive(Debug, Clone)]
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
    /// Registrations of event queues, which are deleted at once.
    Register(RegisterStep),
    /// Messages that are edited and moved to other topics again and again.
    Edit(EditStep),
    /// From exec to the first response; needs `--spawn`.
    Start(StartStep),
}

/// The names of all steps, for messages.
const NAMES: &str = "send, fanout, fetch, get, idle, mixed, crowd, register, edit, start";

impl<'de> Deserialize<'de> for Step {
    /// By the field `do`. Not derived, because the derived one does not say which field is wrong.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut fields = Map::deserialize(deserializer)?;
        let Some(Value::String(kind)) = fields.remove("do") else {
            return Err(D::Error::custom(format!("`do` must be one of {NAMES}")));
        };
        match kind.as_str() {
            "send" => read(fields).map(Self::Send),
            "fanout" => read(fields).map(Self::Fanout),
            "fetch" => read(fields).map(Self::Fetch),
            "get" => read(fields).map(Self::Get),
            "idle" => read(fields).map(Self::Idle),
            "mixed" => read(fields).map(Self::Mixed),
            "crowd" => read(fields).map(Self::Crowd),
            "register" => read(fields).map(Self::Register),
            "edit" => read(fields).map(Self::Edit),
            "start" => read(fields).map(Self::Start),
            other => Err(D::Error::custom(format!("`do` is `{other}`, and must be one of {NAMES}"))),
        }
    }
}

fn read<T: DeserializeOwned, E: Error>(fields: Map<String, Value>) -> Result<T, E> {
    serde_path_to_error::deserialize(Value::Object(fields)).map_err(|error| E::custom(located(&error)))
}

/// What the names of types in errors mean.
const NUMBERS: [(&str, &str); 3] =
    [("u32", "a whole number from 0 to 4294967295"), ("u64", "a whole number from 0"), ("f64", "a number")];

/// An error with the path of its field; without one, if it is about the outermost object.
pub fn located<E: std::fmt::Display>(error: &serde_path_to_error::Error<E>) -> String {
    let mut reason = error.inner().to_string();
    for (kind, words) in NUMBERS {
        reason = reason.replace(&format!("expected {kind}"), &format!("expected {words}"));
    }
    match error.path().to_string().as_str() {
        "." => reason,
        path => format!("{path}: {reason}"),
    }
}

/// The parameters of [`Step::Send`].
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SendStep {
    /// Number of concurrent clients, each with its own account and connection.
    pub clients: u32,
    /// Name of the channel, or of several with `count`, which are then sent to evenly.
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
#[derive(Debug, Clone, Deserialize)]
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
    /// Further event queues whose clients pause before each poll.
    #[serde(default)]
    pub slow: Option<SlowReaders>,
}

/// Receivers that do not poll again at once.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlowReaders {
    /// Number of their event queues, spread over the subscribers.
    pub receivers: u32,
    /// Pause before each poll, in milliseconds.
    pub pause_ms: u32,
}

/// The parameters of [`Step::Fetch`].
#[derive(Debug, Clone, Deserialize)]
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
    /// Of all clients together; if absent, each asks again as soon as it got a reply.
    #[serde(default)]
    pub rate_per_sec: Option<f64>,
}

/// The position of a page of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Anchor {
    /// The newest messages.
    Newest,
    /// Around a random message of the channel.
    Anywhere,
}

/// The parameters of [`Step::Get`].
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GetStep {
    /// Number of concurrent clients.
    pub clients: u32,
    /// Path and query below `/api/v1`, for example `/users/me`.
    pub path: String,
    /// Of all clients together; if absent, each asks again as soon as it got a reply.
    #[serde(default)]
    pub rate_per_sec: Option<f64>,
}

/// The parameters of [`Step::Idle`].
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IdleStep {
    /// Number of event queues with a held poll each, spread over the subscribers.
    pub polls: u32,
    /// Name of the channel that gets the message.
    pub channel: String,
    /// How long the polls are held before memory is read, in seconds.
    pub hold_secs: f64,
    /// Whether the held requests of the bare server are left out.
    #[serde(skip)]
    pub without_bare: bool,
}

/// The parameters of [`Step::Mixed`].
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MixedStep {
    /// The activities of each user, all at the same time.
    pub each: Vec<Activity>,
    /// Concurrent background work.
    #[serde(default)]
    pub background: Option<BackgroundPlan>,
}

/// An activity that a user repeats.
#[derive(Debug, Clone, Deserialize)]
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
    /// Requests one path.
    Get {
        /// Requests per minute and user.
        per_min: f64,
        /// Path and query below `/api/v1`.
        path: String,
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
#[derive(Debug, Clone, Deserialize)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Asked {
    /// The newest 5,000 messages.
    Messages,
    /// A registration with the whole state.
    Register,
}

/// The parameters of [`Step::Register`].
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RegisterStep {
    /// Number of concurrent clients, each with its own account and connection.
    pub clients: u32,
    /// Whether they ask for the whole state, or only for messages.
    pub whole_state: bool,
    /// Of all clients together; if absent, each registers again at once.
    #[serde(default)]
    pub rate_per_sec: Option<f64>,
}

/// The parameters of [`Step::Edit`].
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EditStep {
    /// Number of concurrent clients, each with a message of its own.
    pub clients: u32,
    /// Name of the channel, or of several with `count`, which are then used evenly.
    pub channel: String,
    /// Shortest and longest content, in characters.
    pub chars: [u32; 2],
    /// Number of topics the messages move between.
    pub topics: u32,
    /// Edits of a message before it is moved to another topic.
    pub edits: u32,
    /// Edits and moves of all clients together; if absent, each goes on as soon as it got a reply.
    #[serde(default)]
    pub rate_per_sec: Option<f64>,
}

/// The parameters of [`Step::Start`].
#[derive(Debug, Clone, Deserialize)]
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
            Step::Register(_) => "register",
            Step::Edit(_) => "edit",
            Step::Start(_) => "start",
        }
    }

    /// Connections that its clients have at the same time, at most, in a scenario of this many users.
    pub fn connections(&self, users: u32) -> u64 {
        let counts: Vec<u32> = match self {
            Step::Send(step) => vec![step.clients, self.logins()],
            Step::Fanout(step) => {
                let slow = step.slow.as_ref().map_or(0, |slow| slow.receivers);
                vec![step.senders, step.receivers, slow]
            }
            Step::Fetch(step) => vec![step.clients],
            Step::Get(step) => vec![step.clients],
            Step::Register(step) => vec![step.clients],
            Step::Edit(step) => vec![step.clients],
            Step::Idle(step) => vec![step.polls],
            Step::Crowd(step) => vec![step.connections, 1],
            Step::Mixed(step) => {
                let each = u32::try_from(step.each.len()).unwrap_or(u32::MAX);
                vec![users.saturating_mul(each), self.logins()]
            }
            Step::Start(_) => vec![],
        };
        counts.into_iter().map(u64::from).sum()
    }

    /// What happens in its background.
    pub fn background(&self) -> Option<&BackgroundPlan> {
        match self {
            Step::Send(step) => step.background.as_ref(),
            Step::Mixed(step) => step.background.as_ref(),
            Step::Fanout(_)
            | Step::Fetch(_)
            | Step::Get(_)
            | Step::Idle(_)
            | Step::Crowd(_)
            | Step::Register(_)
            | Step::Edit(_)
            | Step::Start(_) => None,
        }
    }

    /// Users that log in with their passwords in its background.
    pub fn logins(&self) -> u32 {
        match self.background() {
            Some(BackgroundPlan::Login { concurrent, per_sec: _ }) => *concurrent,
            Some(
                BackgroundPlan::Move { .. }
                | BackgroundPlan::MissedMail { .. }
                | BackgroundPlan::DeleteTopic { .. },
            )
            | None => 0,
        }
    }
}
