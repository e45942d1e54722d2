//! What a scenario can do in the background of a phase; `driver/background.rs` does it.

use serde::Deserialize;

/// The default delay of missed-message emails, in seconds.
pub const MISSED_MAIL_SECS: u64 = 120;
/// Seconds at the end of a phase in which no email is due, so that each can come before the end.
pub const MISSED_MAIL_LAST_SECS: u64 = 20;

/// Work on a whole topic by an administrator, while others send to another channel.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum BackgroundPlan {
    /// Moves all of a channel's `topic 0` to another channel and back repeatedly, and ends where it began.
    Move { channel: String, to: String, pause_ms: u64 },
    /// Users log in with their passwords repeatedly.
    Login {
        concurrent: u32,
        /// Of all together; if absent, each logs in again at once.
        #[serde(default)]
        per_sec: Option<f64>,
    },
    /// Sends to or mentions one subscriber after another, and waits for the email that each gets two minutes later.
    MissedMail {
        /// Name of the channel with these subscribers.
        channel: String,
        every_ms: u64,
    },
    /// Deletes all of a channel's `topic 0`, and ends the phase when it is deleted.
    DeleteTopic { channel: String },
}

const MOVE: &str = "move";
const LOGIN: &str = "login";
const MISSED_MAIL: &str = "missed_mail";
const DELETE_TOPIC: &str = "delete_topic";

impl BackgroundPlan {
    /// The names of its operations in results.
    pub const NAMES: [&str; 4] = [MOVE, LOGIN, MISSED_MAIL, DELETE_TOPIC];

    /// The name of the operation in results.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Move { .. } => MOVE,
            Self::Login { .. } => LOGIN,
            Self::MissedMail { .. } => MISSED_MAIL,
            Self::DeleteTopic { .. } => DELETE_TOPIC,
        }
    }
}
