//! New content of a message: its own record afterwards, and who is flagged by what it says now.

use super::{Home, Moment, Target};
use crate::channel::participants;
use crate::draft::{ContentFlags, check_mentioned_groups};
use crate::error::DomainError;
use model::{EditEntry, Flag, Flags, Message, TopicKey, User, UserId};
use rules::markdown::Rendered;
use rules::permissions::message::{Wildcard, check_wildcard};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Flags that follow from what a message says; the others stay through an edit.
const CONTENT_FLAGS: [Flag; 3] = [Flag::Mentioned, Flag::TopicWildcardMentioned, Flag::HasAlertWord];

/// The message's own record after its content was edited. Nobody gets it who did not have it.
///
/// # Errors
/// Wildcards and groups that the user may not mention.
pub(super) fn edited_record(
    moment: &Moment<'_>,
    user: &User,
    target: &Target,
    content: &str,
    rendered: &Rendered,
) -> Result<Arc<Message>, DomainError> {
    let participants = check_mentions(moment, user, target, rendered)?;
    let mut message = Message::clone(&target.own);
    message.user_flags = user_flags(moment, target, content, rendered, &participants);
    let prev_content = std::mem::replace(&mut message.content, content.to_owned());
    let prev_rendered = std::mem::replace(&mut message.rendered, rendered.html.clone());
    let entry = EditEntry {
        user: user.id,
        at: moment.now,
        prev_content: Some(prev_content),
        prev_rendered: Some(prev_rendered),
        channel: None,
        topic: None,
    };
    message.edits.insert(0, entry);
    message.last_edited = Some(moment.now);
    message.traits.is_me = rendered.is_me_message;
    message.traits.has_link = rendered.has_link;
    message.traits.has_image = rendered.has_image;
    message.traits.channel_wildcard = rendered.mentions.channel_wildcard;
    Ok(Arc::new(message))
}

/// Step 8 of endpoints.md 2. Gives the people that a mention of the whole topic means.
fn check_mentions(
    moment: &Moment<'_>,
    user: &User,
    target: &Target,
    rendered: &Rendered,
) -> Result<Vec<UserId>, DomainError> {
    let directory = &moment.view.directory;
    let mentions = &rendered.mentions;
    let mut in_topic = Vec::new();
    if let Home::Channel(channel) = moment.home {
        if mentions.channel_wildcard {
            let people = directory.subscriber_count(channel) as usize;
            check_wildcard(directory, user, Wildcard::Channel, people)?;
        }
        if mentions.topic_wildcard {
            in_topic = participants(moment.view, channel, &TopicKey::new(target.message.place.topic()));
            check_wildcard(directory, user, Wildcard::Topic, in_topic.len())?;
        }
    }
    check_mentioned_groups(rendered, user, directory)?;
    Ok(in_topic)
}

/// Flags by what the message says now for those who have it, and whatever else single users had with it.
fn user_flags(
    moment: &Moment<'_>,
    target: &Target,
    content: &str,
    rendered: &Rendered,
    participants: &[UserId],
) -> Vec<(UserId, Flags)> {
    let has_it = |user: UserId| moment.view.is_delivered(user, &target.message);
    let flags = ContentFlags { content, rendered, participants };
    let mut flags: BTreeMap<UserId, Flags> = flags.of_readers(&moment.view.directory, has_it);
    for (user, before) in &target.own.user_flags {
        let kept = before.iter().filter(|flag| !CONTENT_FLAGS.contains(flag));
        for flag in kept {
            let entry = flags.entry(*user).or_default();
            *entry = entry.with(flag);
        }
    }
    flags.into_iter().collect()
}
