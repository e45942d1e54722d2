//! `GET /messages/matches_narrow`: the given messages that match a narrow
//! (docs/api/messages.md#match-messages-with-a-narrow).

use super::page::{Page, PageForm, PageReader, reserve_for};
use super::range::read_narrow;
use super::text_search::{NarrowedRequest, Selected};
use crate::http::admission::Admission;
use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params};
use actors::queries::{Covered, Narrowed};
use model::MessageId;
use rules::narrow::Term;
use serde::Serialize;

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

/// A response without further fields.
#[derive(Serialize)]
struct NoFields {}

/// Returns the matching `messages`, among those that were delivered to the caller.
pub async fn matches_narrow(
    admission: Admission,
    caller: Caller,
    Params(request): Params<MatchNarrow>,
) -> HandlerResult {
    let Caller { realm, user } = caller;
    let MatchNarrow { ids, narrow } = request;
    let held = reserve_for(&admission, ids.len()).await?;
    let covered = Covered::Matching(ids.clone());
    let narrow =
        NarrowedRequest { admission: &admission, realm: &realm, user: Some(&user), narrow: &narrow, covered };
    let select = |narrowed: &Narrowed<'_>| {
        let ids = narrowed.matching(&ids);
        (Selected::ids(&ids), ids)
    };
    let finish = |narrowed: &Narrowed<'_>, ids: Vec<MessageId>| Ok(Page::take(narrowed, &ids));
    let (page, highlighter) = narrow.select(|| Ok(()), select, finish).await?;
    let reader = PageReader::new(realm, Some(user), PageForm::Matches, highlighter);
    reader.reply(admission, page, held, &NoFields {}).await
}
