//! `GET /messages/matches_narrow`: the given messages that match a narrow
//! (docs/api/messages.md#match-messages-with-a-narrow).

use super::page::run;
use super::range::read_narrow;
use super::text_search::{NarrowedRequest, Selected};
use crate::http::admission::Admission;
use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, reply_field};
use actors::queries::{Covered, Narrowed};
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
pub async fn matches_narrow(
    admission: Admission,
    caller: Caller,
    Params(request): Params<MatchNarrow>,
) -> HandlerResult {
    let Caller { realm, user } = caller;
    let MatchNarrow { ids, narrow } = request;
    let covered = Covered::Matching(ids.clone());
    let narrow =
        NarrowedRequest { admission: &admission, realm: &realm, user: Some(&user), narrow: &narrow, covered };
    let select = |narrowed: &Narrowed<'_>| {
        let ids = narrowed.matching(&ids);
        (Selected::ids(&ids), ids)
    };
    let finish = |narrowed: &Narrowed<'_>, ids: Vec<MessageId>| Ok(narrowed.snapshot(&ids));
    let (snapshot, mut highlighter) = narrow.select(|| Ok(()), select, finish).await?;
    let matches = run(snapshot.is_in_memory(), move || {
        // Messages that the caller can read, but that were not delivered to them, do not count.
        let foreign = Flags::only(Flag::Read).with(Flag::Historical);
        let found = snapshot.read(&realm)?.into_iter().filter(|fetched| fetched.flags != foreign);
        let shown = found.map(|fetched| {
            let message = fetched.message;
            let shown = match &mut highlighter {
                Some(highlighter) => Match {
                    match_content: highlighter.content(&message.rendered),
                    match_subject: highlighter
                        .subject(message.place.channel().map(|_| message.place.topic())),
                },
                None => Match {
                    match_content: message.rendered.clone(),
                    match_subject: escape_html(message.place.topic()),
                },
            };
            (message.id, shown)
        });
        Ok(shown.collect::<BTreeMap<MessageId, Match>>())
    });
    reply_field("messages", &matches.await?)
}
