//! `POST /messages/{message_id}/report`: reports a message to the moderators
//! (docs/api/messages.md#report-a-message).

use super::access::readable_message;
use crate::api::formulas;
use crate::http::params::check_length_max;
use crate::http::{ApiError, App, Caller, Fields, FromFields, HandlerResult, Params, Path, reply_ok};
use actors::ChannelDraft;
use model::{Directory, MessageId, User};
use rules::RuleError;
use rules::markdown::Mentions;
use rules::reports::{
    REPORT_DESCRIPTION_LENGTH_MAX, REPORT_TYPES, Report, check_reason, moderation_channel, report_text,
    report_topic,
};
use std::sync::Arc;

/// The parameters of a report.
pub struct ReportMessage {
    reason: &'static str,
    description: String,
}

impl FromFields for ReportMessage {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let reason = fields.one_of("report_type", &REPORT_TYPES.map(|(key, _)| key))?;
        let description = fields.optional("description").unwrap_or_default();
        check_length_max("description", &description, REPORT_DESCRIPTION_LENGTH_MAX)?;
        Ok(Self { reason, description })
    }
}

/// Sends a notice to the organization's channel for reports; it is durable when this returns.
pub async fn report_message(
    app: App,
    caller: Caller,
    Path(id): Path<MessageId>,
    Params(ReportMessage { reason, description }): Params<ReportMessage>,
) -> HandlerResult {
    let Caller { realm, user } = &caller;
    let channel = moderation_channel(&realm.directory())?.id;
    check_reason(reason, &description)?;
    let message = readable_message(&caller, id).await?;
    let directory = realm.directory();
    let report = Report { by: user, message: &message, reason, description: &description };
    let text = report_text(&directory, &report)?;
    formulas::prepare(&app, &caller, [text.as_str()]).await?;
    let draft = realm.draft_notice(&directory, user, text);
    let mut draft = draft.ok_or_else(|| ApiError::bad_request("Unable to render message"))?;
    // The notice repeats mentions of the reported text, which are not meant for moderators.
    draft.rendered.mentions = Mentions::default();
    let topic = report_topic(sender(&directory, message.sender)?);
    let notice = ChannelDraft { draft, channel, topic, topic_links: Vec::new(), owner_notice: None };
    realm.send_to_channel(notice).await?;
    reply_ok()
}

fn sender(directory: &Directory, id: model::UserId) -> Result<&Arc<User>, RuleError> {
    directory.user(id).ok_or(RuleError::InvalidMessage)
}
