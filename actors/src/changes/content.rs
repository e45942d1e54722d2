//! New content of a message: its next version, and the flags that follow from the new content.

use super::{ConversationKey, DecisionContext, Target};
use crate::channel::participants;
use crate::draft::{ContentFlags, check_mentioned_groups};
use crate::error::DomainError;
use crate::uploads::claimed_files;
use model::{AttachmentId, Flags, MessageId, MessageVersion, TopicKey, User, UserId};
use rules::markdown::Rendered;
use rules::permissions::message::{Wildcard, check_wildcard};
use std::sync::Arc;
use storage::View;

/// The message's next version. An edit delivers the message to no further users. Fails for wildcards and groups that the user
/// may not mention.
pub(super) fn next_version(
    context: &DecisionContext<'_>,
    user: &User,
    target: &Target,
    content: &str,
    rendered: &Rendered,
) -> Result<Arc<MessageVersion>, DomainError> {
    let participants = check_mentions(context, user, target, rendered)?;
    let mut traits = target.own.traits;
    traits.is_me = rendered.is_me_message;
    traits.has_link = rendered.has_link;
    traits.has_image = rendered.has_image;
    traits.has_attachment = !claims_after(context.view, user, target.own.id, rendered).is_empty();
    traits.channel_wildcard = rendered.mentions.channel_wildcard;
    Ok(Arc::new(MessageVersion {
        number: target.own.version + 1,
        by: user.id,
        at: context.now,
        content: content.to_owned(),
        rendered: rendered.html.clone(),
        traits,
        user_flags: user_flags(context, target, content, rendered, &participants),
    }))
}

/// The uploaded files that a message claims with new content.
pub(super) fn claims_after(
    view: &View,
    user: &User,
    message: MessageId,
    rendered: &Rendered,
) -> Vec<AttachmentId> {
    claimed_files(view, user, view.claims.of_message(message), &rendered.upload_paths)
}

/// Checks the mentions of new content. Returns the users that a topic wildcard mentions.
fn check_mentions(
    context: &DecisionContext<'_>,
    user: &User,
    target: &Target,
    rendered: &Rendered,
) -> Result<Vec<UserId>, DomainError> {
    let directory = &context.view.directory;
    let mentions = &rendered.mentions;
    let mut in_topic = Vec::new();
    if let ConversationKey::Channel(channel) = context.conversation {
        if mentions.channel_wildcard {
            let people = directory.subscriber_count(channel) as usize;
            check_wildcard(directory, user, Wildcard::Channel, people)?;
        }
        if mentions.topic_wildcard {
            in_topic = participants(context.view, channel, &TopicKey::new(target.message.place.topic()));
            check_wildcard(directory, user, Wildcard::Topic, in_topic.len())?;
        }
    }
    check_mentioned_groups(rendered, user, directory)?;
    Ok(in_topic)
}

/// The flags by the new content, for the users who have the message. Their other flags do not change.
fn user_flags(
    context: &DecisionContext<'_>,
    target: &Target,
    content: &str,
    rendered: &Rendered,
    participants: &[UserId],
) -> Vec<(UserId, Flags)> {
    let has_it = |user: UserId| context.view.is_delivered(user, &target.message);
    let flags = ContentFlags { content, rendered, participants };
    flags.of_readers(&context.view.directory, has_it).into_iter().collect()
}
