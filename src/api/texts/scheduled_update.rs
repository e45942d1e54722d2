//! `PATCH /scheduled_messages/{scheduled_message_id}` (docs/api/scheduled-messages.md#change-a-scheduled-message).

use super::recipient_fields::{Kind, To, to_topic};
use crate::api::formulas;
use crate::http::{
    ApiError, App, Caller, Fields, FromFields, HandlerResult, Params, Path, RealmUrl, reply_ok,
};
use actors::{DomainError, commands};
use model::{ScheduledMessage, ScheduledMessageId, ScheduledTo, Timestamp};
use rules::RuleError;
use rules::content::parse_content;
use rules::error::TextError;
use rules::scheduling::parse_due;
use std::sync::Arc;

/// How often a change is made again because the message was changed meanwhile.
const TRIES_MAX: usize = 16;

/// The requested changes of a scheduled message.
pub struct ScheduledUpdate {
    kind: Option<Kind>,
    to: Option<To>,
    topic: Option<String>,
    content: Option<String>,
    secs: Option<i64>,
}

impl FromFields for ScheduledUpdate {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self {
            kind: Kind::of(fields)?,
            to: To::of(fields)?,
            topic: fields.optional("topic"),
            content: fields.optional("content"),
            secs: fields.optional_int("scheduled_delivery_timestamp")?,
        })
    }
}

impl ScheduledUpdate {
    fn check(&self) -> Result<(), ApiError> {
        let has_text = self.topic.is_some() || self.content.is_some();
        if self.kind.is_none() && self.to.is_none() && !has_text && self.secs.is_none() {
            return Err(ApiError::bad_request("Nothing to change"));
        }
        if self.kind.is_some() && self.to.is_none() {
            return Err(ApiError::bad_request("Recipient required when updating type of scheduled message."));
        }
        if self.kind == Some(Kind::Channel) && self.topic.is_none() {
            return Err(ApiError::bad_request(
                "Topic required when updating scheduled message type to channel.",
            ));
        }
        Ok(())
    }

    /// The message after the change; a failed one is to be sent at another time.
    fn apply(
        &self,
        caller: &Caller,
        before: &ScheduledMessage,
        due: Option<Timestamp>,
        url: &str,
    ) -> Result<ScheduledMessage, ApiError> {
        if before.failure.is_some() && due.is_none() {
            return Err(RuleError::from(TextError::NotInFuture).into());
        }
        let mut after = ScheduledMessage {
            to: self.recipients(caller, before)?,
            due: due.unwrap_or(before.due),
            failure: None,
            ..before.clone()
        };
        if let Some(content) = &self.content {
            after.content = parse_content(content)?;
        }
        if after.to != before.to || after.content != before.content || before.failure.is_some() {
            after.url = url.to_owned();
            caller.realm.check_scheduled(&caller.user, &mut after)?;
        }
        Ok(after)
    }

    fn recipients(&self, caller: &Caller, before: &ScheduledMessage) -> Result<ScheduledTo, ApiError> {
        let (channel_before, topic_before) = match &before.to {
            ScheduledTo::Channel { channel, topic } => (Some(*channel), Some(topic.as_str())),
            ScheduledTo::People(_) => (None, None),
        };
        let kind_before = if channel_before.is_some() { Kind::Channel } else { Kind::Direct };
        let to = self.to.as_ref();
        match self.kind.unwrap_or(kind_before) {
            Kind::Channel => {
                let channel = to.map(To::channel).transpose()?.or(channel_before);
                match channel {
                    Some(channel) => to_topic(channel, self.topic.as_deref().or(topic_before)),
                    None => Ok(before.to.clone()),
                }
            }
            Kind::Direct => match to {
                Some(to) => to.people(&caller.realm.directory(), &caller.user),
                None => Ok(before.to.clone()),
            },
        }
    }
}

/// Changes a scheduled message; missing parameters change nothing.
pub async fn update(
    app: App,
    caller: Caller,
    RealmUrl(url): RealmUrl,
    Path(id): Path<ScheduledMessageId>,
    Params(update): Params<ScheduledUpdate>,
) -> HandlerResult {
    update.check()?;
    let user = caller.user.id;
    for _ in 0..TRIES_MAX {
        let due = update.secs.map(|secs| parse_due(secs, caller.realm.now())).transpose()?;
        let before = find(&caller, id)?;
        formulas::prepare(&app, &caller, [update.content.as_ref().unwrap_or(&before.content).as_str()])
            .await?;
        let after = update.apply(&caller, &before, due, &url)?;
        if caller.realm.execute(commands::UpdateScheduled { user, id, before, after }).await? {
            return reply_ok();
        }
    }
    Err(DomainError::Overloaded.into())
}

fn find(caller: &Caller, id: ScheduledMessageId) -> Result<Arc<ScheduledMessage>, ApiError> {
    let directory = caller.realm.directory();
    let found = directory.scheduled_message(caller.user.id, id).filter(|found| found.reminder.is_none());
    found.cloned().ok_or_else(|| RuleError::from(TextError::ScheduledMissing).into())
}
