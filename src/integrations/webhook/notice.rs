//! The failures of a webhook call, and the notification of the bot's owner.

use super::call::WebhookCall;
use actors::{DirectDraft, notification_bot};
use model::{Place, User, UserId};
use reqwest::StatusCode;
use rules::markdown::{ChannelRef, message_url};
use rules::permissions::channel::sees_content;
use std::fmt::Write;

/// Maximum number of characters of a response that the owner is shown.
const EXCERPT_CHARS_MAX: usize = 500;

/// Why a webhook call failed. The texts contain no addresses and tokens.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Failure {
    #[error("A timeout occurred.")]
    TimeOut,
    /// The connection could not be made, or broke.
    #[error("A connection error occurred. Is my bot server down?")]
    Connection,
    /// The service responded with an error or a redirect.
    #[error("Third party responded with {}", status.as_u16())]
    Status { status: StatusCode, body: String },
    /// The server does not connect to this address.
    #[error("{why}")]
    Address { why: &'static str },
    #[error("{why}")]
    WebhookResponse { why: String },
    #[error("The response is longer than {bytes_max} bytes")]
    TooLong { bytes_max: usize },
    /// The interface has no form for direct messages.
    #[error("Slack outgoing webhooks don't support direct messages.")]
    NoDirectMessages,
}

impl Failure {
    /// The failure of a request without a complete response.
    pub fn of(error: &reqwest::Error) -> Self {
        if error.is_timeout() { Self::TimeOut } else { Self::Connection }
    }
}

pub(super) fn excerpt(body: &[u8]) -> String {
    String::from_utf8_lossy(body).chars().take(EXCERPT_CHARS_MAX).collect()
}

/// A direct message of the notification bot; none if it cannot be sent.
pub(super) fn to_owner(call: &WebhookCall<'_>, owner: UserId, failure: &Failure) -> Option<DirectDraft> {
    let directory = &call.directory;
    let owner = directory.user(owner)?;
    let text = text(call, owner, failure);
    let draft = call.attempt.realm.draft_notice(directory, owner, text)?;
    let mut users = vec![notification_bot(directory)?.id, owner.id];
    users.sort_unstable();
    Some(DirectDraft { draft, users })
}

fn text(call: &WebhookCall<'_>, owner: &User, failure: &Failure) -> String {
    let (bot, message) = (&call.bot, place(call, owner));
    let mut text =
        format!("{message} to your bot @_**{}|{}** triggered an outgoing webhook.", bot.full_name, bot.id);
    match failure {
        Failure::Status { status, body } => {
            let _ = write!(text, "\nThe webhook got a response with status code *{}*.", status.as_u16());
            if !body.trim().is_empty() {
                let _ = write!(text, "\nThe response contains the following payload:\n{}", fenced(body));
            }
        }
        Failure::WebhookResponse { why } => {
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

/// A link if the owner may follow it; conversations of others are not named.
fn place(call: &WebhookCall<'_>, owner: &User) -> String {
    let found = match &call.message.place {
        Place::Channel { channel, topic } => {
            let channel = call.directory.channel(*channel);
            channel.filter(|channel| sees_content(&call.directory, owner, channel)).map(|it| (it, topic))
        }
        Place::Direct => None,
    };
    match found {
        Some((channel, topic)) => {
            let channel = ChannelRef { id: channel.id.0.into(), name: channel.name.clone() };
            let path = message_url(&channel, topic, call.message.id.0.into());
            format!("[A message]({}{path})", call.url)
        }
        None => "A message".to_owned(),
    }
}

/// A code block that the text cannot close.
fn fenced(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}\n{text}\n{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn response_cannot_close_its_code_block() {
        assert_eq!(fenced("a"), "```\na\n```");
        assert_eq!(fenced("````\n@**all**"), "`````\n````\n@**all**\n`````");
        assert_eq!(excerpt("ä".repeat(900).as_bytes()).chars().count(), EXCERPT_CHARS_MAX);
    }
}
