//! What went wrong with a service, and how the owner of its bot is told.

use super::Errand;
use actors::{DirectDraft, draft_notice, notification_bot};
use model::{Place, User, UserId};
use reqwest::StatusCode;
use rules::markdown::{ChannelRef, message_url};
use rules::permissions::channel::sees_content;
use std::fmt::Write;

/// Characters of an answer that an owner is shown.
const EXCERPT_CHARS_MAX: usize = 500;

/// Why a service did not do what it is there for. The words say nothing of addresses and tokens.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Failure {
    /// It was too slow.
    #[error("A timeout occurred.")]
    TimeOut,
    /// It could not be reached, or hung up.
    #[error("A connection error occurred. Is my bot server down?")]
    Connection,
    /// It answered with an error, or sent us elsewhere.
    #[error("Third party responded with {}", status.as_u16())]
    Status {
        /// The code.
        status: StatusCode,
        /// The beginning of what it said.
        said: String,
    },
    /// It is where this server does not go.
    #[error("{why}")]
    Address {
        /// Why not.
        why: &'static str,
    },
    /// Its answer cannot be acted on.
    #[error("{why}")]
    Answer {
        /// Why not.
        why: String,
    },
    /// Its answer is too long.
    #[error("The response is longer than {bytes_max} bytes")]
    TooLong {
        /// How long it may be.
        bytes_max: usize,
    },
    /// There is no form for it.
    #[error("Slack outgoing webhooks don't support direct messages.")]
    NoDirectMessages,
}

impl Failure {
    /// What became of a request that got no answer, or only half of it.
    pub fn of(error: &reqwest::Error) -> Self {
        if error.is_timeout() { Self::TimeOut } else { Self::Connection }
    }
}

/// The beginning of an answer, as text.
pub(super) fn excerpt(body: &[u8]) -> String {
    String::from_utf8_lossy(body).chars().take(EXCERPT_CHARS_MAX).collect()
}

/// A direct message of the notification bot; none where it cannot be made.
pub(super) fn to_owner(errand: &Errand<'_>, owner: UserId, failure: &Failure) -> Option<DirectDraft> {
    let directory = &errand.directory;
    let owner = directory.user(owner)?;
    let text = text(errand, owner, failure);
    let draft = draft_notice(&errand.parcel.realm, directory, owner, text)?;
    let mut users = vec![notification_bot(directory)?.id, owner.id];
    users.sort_unstable();
    Some(DirectDraft { draft, users })
}

fn text(errand: &Errand<'_>, owner: &User, failure: &Failure) -> String {
    let (bot, message) = (&errand.bot, place(errand, owner));
    let mut text =
        format!("{message} to your bot @_**{}|{}** triggered an outgoing webhook.", bot.full_name, bot.id);
    match failure {
        Failure::Status { status, said } => {
            let _ = write!(text, "\nThe webhook got a response with status code *{}*.", status.as_u16());
            if !said.trim().is_empty() {
                let _ = write!(text, "\nThe response contains the following payload:\n{}", fenced(said));
            }
        }
        Failure::Answer { why } => {
            let _ = write!(
                text,
                "\nThe outgoing webhook server attempted to send a message, but that request resulted in the \
                 following error:\n> {why}"
            );
        }
        other => {
            let _ = write!(text, "\n{other}");
        }
    }
    text
}

/// A link where the owner may follow it; others' conversations are not named.
fn place(errand: &Errand<'_>, owner: &User) -> String {
    let found = match &errand.message.place {
        Place::Channel { channel, topic } => {
            let channel = errand.directory.channel(*channel);
            channel.filter(|channel| sees_content(&errand.directory, owner, channel)).map(|it| (it, topic))
        }
        Place::Direct => None,
    };
    match found {
        Some((channel, topic)) => {
            let channel = ChannelRef { id: channel.id.0.into(), name: channel.name.clone() };
            let path = message_url(&channel, topic, errand.message.id.0.into());
            format!("[A message]({}{path})", errand.url)
        }
        None => "A message".to_owned(),
    }
}

/// A block that the text cannot end.
fn fenced(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}\n{text}\n{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_service_said_stays_in_its_block() {
        assert_eq!(fenced("a"), "```\na\n```");
        assert_eq!(fenced("````\n@**all**"), "`````\n````\n@**all**\n`````");
        assert_eq!(excerpt("ä".repeat(900).as_bytes()).chars().count(), EXCERPT_CHARS_MAX);
    }
}
