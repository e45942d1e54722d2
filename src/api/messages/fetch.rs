//! `GET /messages`: a window of messages around an anchor, or messages by their ids (api.md; endpoints.md 3).

use super::page::{run, write_messages};
use super::range::{check_anchor_place, check_count, parse_anchor, plan, read_count, read_narrow};
use crate::api::wire::message::MessageForm;
use crate::http::{Answer, ApiError, Caller, Envelope, Fields, FromFields, Params, Realm};
use actors::queries::{Anchor, MessageSnapshot, Range, Window, chosen, window};
use model::MessageId;
use rules::narrow::Term;
use serde::Serialize;

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
            check_alone(fields)?;
            let wanted = Wanted::Ids(ids.into_iter().map(MessageId).collect());
            return Ok(Self { wanted, narrow, form });
        }
        let anchor = match anchor {
            // Older clients name an anchor that is not meant, too.
            _ if first_unread => Anchor::FirstUnread,
            Some(anchor) => parse_anchor(anchor)?,
            None => return Err(ApiError::bad_request("Missing 'anchor' argument.")),
        };
        let range = Range { anchor, num_before, num_after, include_anchor };
        Ok(Self { wanted: Wanted::Window(range), narrow, form })
    }
}

impl Wanted {
    /// Whether that much can be asked for.
    fn check(&self) -> Result<(), ApiError> {
        match self {
            Self::Window(range) => {
                check_count(range.num_before.saturating_add(range.num_after))?;
                check_anchor_place(range)
            }
            Self::Ids(ids) => check_count(ids.len()),
        }
    }
}

/// Whoever names messages does not ask for a window.
fn check_alone(fields: &Fields) -> Result<(), ApiError> {
    if WINDOW_NAMES.iter().all(|name| fields.optional_str(name).is_none()) {
        return Ok(());
    }
    Err(ApiError::unsupported_combination(&[
        "num_before",
        "num_after",
        "anchor",
        "message_ids",
        "include_anchor",
        "use_first_unread_anchor",
    ]))
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
    let (window, snapshot) = realm.read(|view| {
        let asker = asker.as_deref();
        let plan = plan(view, asker, &narrow, || wanted.check())?;
        let window = match &wanted {
            Wanted::Window(range) => window(view, asker, &plan, range),
            Wanted::Ids(ids) => Window { ids: chosen(view, asker, &plan, ids), ..Window::default() },
        };
        let snapshot = MessageSnapshot::take(view, asker, &window.ids);
        Ok::<_, ApiError>((window, snapshot))
    })?;
    let shown = WindowJson {
        anchor: matches!(wanted, Wanted::Window(_)).then_some(window.anchor),
        found_anchor: window.found_anchor,
        found_newest: window.found_newest,
        found_oldest: window.found_oldest,
        history_limited: false,
    };
    let envelope = run(snapshot.is_in_memory(), move || {
        let mut envelope = Envelope::with_capacity(0);
        write_messages(&mut envelope, &realm, asker.as_deref(), snapshot, form)?;
        Ok(envelope)
    });
    envelope.await?.fields(&shown)?.reply()
}
