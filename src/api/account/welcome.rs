//! What is said when somebody has come in: to the new one, to whoever invited them, and to everybody (endpoints.md 10).
//!
//! Best effort, as all notices: the account is there anyway.

use actors::{
    ChannelDraft, DirectDraft, DomainError, RealmHandle, Sent, draft_notice, notification_bot, welcome_bot,
};
use model::{ChannelId, Directory, Invitation, User};
use rules::RuleError;
use rules::error::AccountError;
use rules::notices::{SIGNUPS_TOPIC, invitation_accepted_text, signed_up_text, welcome_text};
use rules::settings::{realm_int, realm_text};
use std::sync::Arc;

/// Greets a new person, and tells others of them. `invitation` is what they came with, if it was one.
pub async fn welcome(realm: &RealmHandle, user: &User, invitation: Option<&Invitation>) {
    let directory = realm.directory();
    greet(realm, &directory, user, invitation).await;
    if let Some(invitation) = invitation.filter(|invitation| invitation.notifies_inviter)
        && let Some(inviter) = directory.user(invitation.inviter).filter(|inviter| inviter.is_active)
        && let Some(bot) = notification_bot(&directory)
    {
        note_failure(write(realm, &directory, bot, inviter, invitation_accepted_text(user)).await);
    }
    announce(realm, &directory, user).await;
}

/// The server's own words, and those of the organization: the ones of the invitation instead, if it has some.
async fn greet(realm: &RealmHandle, directory: &Directory, user: &User, invitation: Option<&Invitation>) {
    note_failure(greet_with(realm, directory, user, welcome_text(&directory.realm().name)).await);
    let own_text = invitation.and_then(|invitation| invitation.welcome_text.as_deref());
    let text = own_text.unwrap_or_else(|| realm_text(directory.realm(), "welcome_message_custom_text"));
    if !text.trim().is_empty() {
        note_failure(greet_with(realm, directory, user, text.to_owned()).await);
    }
}

/// Says something to a person as the bot that greets.
///
/// # Errors
/// Everything that sending is refused with; `ContentEmpty` where nothing can be made of the text.
pub async fn greet_with(
    realm: &RealmHandle,
    directory: &Directory,
    to: &User,
    content: String,
) -> Result<Sent, DomainError> {
    let bot = welcome_bot(directory).ok_or(RuleError::from(AccountError::NoSuchUser))?;
    write(realm, directory, bot, to, content).await
}

async fn write(
    realm: &RealmHandle,
    directory: &Directory,
    bot: &Arc<User>,
    to: &User,
    content: String,
) -> Result<Sent, DomainError> {
    let mut draft = draft_notice(realm, directory, bot, content).ok_or(RuleError::ContentEmpty)?;
    draft.sender = bot.clone();
    let mut users = vec![bot.id, to.id];
    users.sort_unstable();
    realm.send_direct(DirectDraft { draft, users }).await
}

/// Where the organization has a channel for it.
async fn announce(realm: &RealmHandle, directory: &Directory, user: &User) {
    let id = realm_int(directory.realm(), "signup_announcements_stream_id");
    let id = id.and_then(|id| u32::try_from(id).ok()).map(ChannelId);
    let channel = id.and_then(|id| directory.channel(id)).filter(|channel| !channel.is_archived);
    let (Some(channel), Some(bot)) = (channel, notification_bot(directory)) else { return };
    let Some(draft) = draft_notice(realm, directory, bot, signed_up_text(user)) else { return };
    let topic = SIGNUPS_TOPIC.to_owned();
    let sent =
        realm.send_to_channel(ChannelDraft { draft, channel: channel.id, topic, topic_links: Vec::new() });
    note_failure(sent.await);
}

fn note_failure(outcome: Result<Sent, DomainError>) {
    if let Err(error) = outcome {
        tracing::warn!(%error, "a notice about a new person could not be sent");
    }
}
