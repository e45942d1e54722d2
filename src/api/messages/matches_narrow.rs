//! `GET /messages/matches_narrow`: the given messages that match a narrow
//! (docs/api/messages.md#match-messages-with-a-narrow).

use super::page::run;
use super::range::read_narrow;
use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, reply_field};
use model::{Flag, Flags, MessageId};
use rules::narrow::Term;
use rules::text::escape_html;
use serde::Serialize;
use std::collections::BTreeMap;

/// Maximum number of messages of a request.
const IDS_MAX: usize = 5000;

/// Messages, and the narrow to match.
pub struct MatchNarrow {
    ids: Vec<MessageId>,
    narrow: Vec<Term>,
}

impl FromFields for MatchNarrow {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let ids = fields.required_ids("msg_ids")?;
        fields.required_str("narrow")?;
        if ids.len() > IDS_MAX {
            let text = format!("Too many messages requested (maximum {IDS_MAX}).");
            return Err(ApiError::bad_request(text));
        }
        Ok(Self { ids: ids.into_iter().map(MessageId).collect(), narrow: read_narrow(fields)? })
    }
}

#[derive(Serialize)]
struct Match {
    match_content: String,
    match_subject: String,
}

/// Returns the matching `messages`, among those that were delivered to the caller.
pub async fn matches_narrow(caller: Caller, Params(request): Params<MatchNarrow>) -> HandlerResult {
    let Caller { realm, user } = caller;
    let snapshot = realm.narrow(
        Some(&user),
        &request.narrow,
        || Ok(()),
        |narrowed| Ok::<_, ApiError>(narrowed.snapshot(&narrowed.matching(&request.ids))),
    )?;
    let matches = run(snapshot.is_in_memory(), move || {
        // Messages that the caller can read, but that were not delivered to them, do not count.
        let foreign = Flags::only(Flag::Read).with(Flag::Historical);
        let found = snapshot.read(&realm)?.into_iter().filter(|fetched| fetched.flags != foreign);
        let shown = found.map(|fetched| {
            let message = fetched.message;
            let match_subject = escape_html(message.place.topic());
            (message.id, Match { match_content: message.rendered.clone(), match_subject })
        });
        Ok(shown.collect::<BTreeMap<MessageId, Match>>())
    });
    reply_field("messages", &matches.await?)
}
