//! `POST /messages/flags/narrow`: sets or clears a flag on a range of messages
//! (docs/api/message-flags.md#change-flags-in-a-narrow).

use super::flags::FlagChange;
use super::range::{MESSAGES_MAX, check_anchor_place, parse_anchor, read_count, read_narrow};
use super::text_search::{NarrowedRequest, Selected};
use crate::http::admission::Admission;
use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, reply};
use actors::queries::{Covered, Narrowed, Range, Window};
use model::{ChannelId, MessageId};
use rules::narrow::Term;
use serde::Serialize;

/// A window, and the flag to change in it.
pub struct ChangeFlagsInNarrow {
    range: Range,
    narrow: Vec<Term>,
    change: FlagChange,
}

impl FromFields for ChangeFlagsInNarrow {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let anchor = fields.required_str("anchor")?;
        let include_anchor = fields.bool_or("include_anchor", true)?;
        let count = |name| read_count(fields, name)?.ok_or_else(|| ApiError::missing_parameter(name));
        let num_before = count("num_before")?;
        let num_after = count("num_after")?;
        fields.required_str("narrow")?;
        let narrow = read_narrow(fields)?;
        let (op, flag) = FlagChange::read(fields)?;
        let anchor = parse_anchor(anchor)?;
        let num_before = num_before.min(MESSAGES_MAX);
        let num_after = num_after.min(MESSAGES_MAX - num_before);
        let range = Range { anchor, num_before, num_after, include_anchor };
        Ok(Self { range, narrow, change: FlagChange::parse(&op, &flag)? })
    }
}

#[derive(Serialize)]
struct ChangedFlags {
    processed_count: usize,
    updated_count: u64,
    first_processed_id: Option<MessageId>,
    last_processed_id: Option<MessageId>,
    found_oldest: bool,
    found_newest: bool,
    ignored_because_not_subscribed_channels: Vec<ChannelId>,
}

/// Changes a flag on the caller's messages in a window.
pub async fn change_in_narrow(
    admission: Admission,
    caller: Caller,
    Params(request): Params<ChangeFlagsInNarrow>,
) -> HandlerResult {
    let Caller { realm, user } = caller;
    let FlagChange { flag, op } = request.change;
    let check = || check_anchor_place(&request.range);
    let narrow = NarrowedRequest {
        admission: &admission,
        realm: &realm,
        user: Some(&user),
        narrow: &request.narrow,
        covered: Covered::Window(request.range),
    };
    let select = |narrowed: &Narrowed<'_>| {
        let window = narrowed.window(&request.range);
        (Selected::window(&window, &request.range), window)
    };
    let finish = |narrowed: &Narrowed<'_>, window: Window| {
        let selected = narrowed.select_flags(&user, (flag, op), &window.ids)?;
        Ok((window, selected))
    };
    let ((window, selected), _) = narrow.select(check, select, finish).await?;
    realm.change_flags(user.id, flag, op, selected.messages).await?;
    reply(&ChangedFlags {
        processed_count: window.ids.len(),
        updated_count: selected.count,
        first_processed_id: window.ids.first().copied(),
        last_processed_id: window.ids.last().copied(),
        found_oldest: window.found_oldest,
        found_newest: window.found_newest,
        ignored_because_not_subscribed_channels: selected.not_subscribed,
    })
}
