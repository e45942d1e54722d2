//! `GET /messages`: a window of messages around an anchor, or messages by their ids (api.md; endpoints.md 3).

use super::page::{is_recent, run, write_messages};
use super::range::{MESSAGES_MAX, check_anchor_place, parse_anchor, plan, read_count, read_narrow};
use crate::api::wire::message::MessageForm;
use crate::http::{Answer, ApiError, Caller, Envelope, Fields, FromFields, Params, Realm};
use actors::queries::{Anchor, Range, Window, ids_among, readable_among, window};
use model::MessageId;
use rules::narrow::Term;
use serde::Serialize;
use std::sync::Arc;

/// Parameters that ask for a window, and exclude `message_ids`.
const WINDOW_NAMES: [&str; 5] =
    ["num_before", "num_after", "anchor", "include_anchor", "use_first_unread_anchor"];

/// Which messages are asked for.
pub struct FetchMessages {
    wanted: Wanted,
    narrow: Vec<Term>,
    form: MessageForm,
}

enum Wanted {
    Window(Range),
    Ids(Vec<MessageId>),
}

impl FromFields for FetchMessages {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let anchor = fields.optional_str("anchor");
        let include_anchor = fields.bool_or("include_anchor", true)?;
        let num_before = read_count(fields, "num_before")?.unwrap_or(0);
        let num_after = read_count(fields, "num_after")?.unwrap_or(0);
        let narrow = read_narrow(fields)?;
        let first_unread = fields.bool_or("use_first_unread_anchor", false)?;
        let form = MessageForm {
            client_gravatar: fields.bool_or("client_gravatar", true)?,
            apply_markdown: fields.bool_or("apply_markdown", true)?,
            allow_empty_topic: fields.bool_or("allow_empty_topic_name", false)?,
        };
        if let Some(ids) = fields.optional_ids("message_ids")? {
            let wanted = Wanted::Ids(check_ids(fields, ids)?);
            return Ok(Self { wanted, narrow, form });
        }
        let anchor = match anchor {
            // Older clients name an anchor that is not meant, too.
            _ if first_unread => Anchor::FirstUnread,
            Some(anchor) => parse_anchor(anchor)?,
            None => return Err(ApiError::bad_request("Missing 'anchor' argument.")),
        };
        let range = Range { anchor, num_before, num_after, include_anchor };
        check_count(num_before.saturating_add(num_after))?;
        check_anchor_place(&range)?;
        Ok(Self { wanted: Wanted::Window(range), narrow, form })
    }
}

fn check_ids(fields: &Fields, ids: Vec<u32>) -> Result<Vec<MessageId>, ApiError> {
    if WINDOW_NAMES.iter().any(|name| fields.optional_str(name).is_some()) {
        return Err(ApiError::unsupported_combination(&[
            "num_before",
            "num_after",
            "anchor",
            "message_ids",
            "include_anchor",
            "use_first_unread_anchor",
        ]));
    }
    check_count(ids.len())?;
    Ok(ids.into_iter().map(MessageId).collect())
}

fn check_count(count: usize) -> Result<(), ApiError> {
    if count > MESSAGES_MAX {
        let text = format!("Too many messages requested (maximum {MESSAGES_MAX}).");
        return Err(ApiError::bad_request(text));
    }
    Ok(())
}

/// What is told about the window, behind its messages.
#[derive(Serialize)]
struct WindowJson {
    #[serde(skip_serializing_if = "Option::is_none")]
    anchor: Option<u64>,
    found_anchor: bool,
    found_newest: bool,
    found_oldest: bool,
    history_limited: bool,
}

/// Fetches messages that the caller may read; nobody in particular may read what is open to the world.
pub async fn fetch(
    caller: Option<Caller>,
    Realm(realm): Realm,
    Params(request): Params<FetchMessages>,
) -> Answer {
    let asker = caller.map(|caller| caller.user);
    let FetchMessages { wanted, narrow, form } = request;
    let (window, is_recent) = realm.read(|view| {
        let asker = asker.as_deref();
        let plan = plan(view, asker, &narrow)?;
        let window = match &wanted {
            Wanted::Window(range) => window(view, asker, &plan, range),
            // Without a narrow, chosen messages are not only one's own: whatever may be read is given.
            Wanted::Ids(ids)
                if narrow.is_empty()
                    && let Some(asker) = asker =>
            {
                Window { ids: readable_among(view, asker, ids), ..Window::default() }
            }
            Wanted::Ids(ids) => Window { ids: ids_among(view, asker, &plan, ids), ..Window::default() },
        };
        let is_recent = is_recent(view, &window.ids);
        Ok::<_, ApiError>((window, is_recent))
    })?;
    let shown = WindowJson {
        anchor: matches!(wanted, Wanted::Window(_)).then_some(window.anchor),
        found_anchor: window.found_anchor,
        found_newest: window.found_newest,
        found_oldest: window.found_oldest,
        history_limited: false,
    };
    let envelope = run(is_recent, move || {
        let mut envelope = Envelope::with_capacity(0);
        let asker: Option<Arc<model::User>> = asker;
        write_messages(&mut envelope, &realm, asker.as_deref(), &window.ids, form)?;
        Ok(envelope)
    });
    envelope.await?.fields(&shown)?.reply()
}
