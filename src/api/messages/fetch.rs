//! `GET /messages`: a range of messages around an anchor, or messages by their ids
//! (docs/api/messages.md#fetch-messages).

use super::page::{Page, PageForm, PageReader, reserve_for};
use super::range::{check_anchor_place, check_count, parse_anchor, read_count, read_narrow};
use super::text_search::{NarrowedRequest, Selected};
use crate::api::wire::message::MessageForm;
use crate::http::admission::Admission;
use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, Realm};
use actors::queries::{Anchor, Covered, Narrowed, Range, Window};
use model::MessageId;
use rules::narrow::Term;
use serde::Serialize;

/// `message_ids`, and the parameters of a window, which exclude it.
const SELECTORS: [&str; 6] =
    ["num_before", "num_after", "anchor", "message_ids", "include_anchor", "use_first_unread_anchor"];

/// The messages to fetch, and their form.
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
            // Older clients send an unused anchor, too.
            _ if first_unread => Anchor::FirstUnread,
            Some(anchor) => parse_anchor(anchor)?,
            None => return Err(ApiError::bad_request("Missing 'anchor' argument.")),
        };
        let range = Range { anchor, num_before, num_after, include_anchor };
        Ok(Self { wanted: Wanted::Window(range), narrow, form })
    }
}

impl Wanted {
    /// Maximum number of messages.
    fn count(&self) -> usize {
        match self {
            Self::Window(range) => range.num_before.saturating_add(range.num_after).saturating_add(1),
            Self::Ids(ids) => ids.len(),
        }
    }

    /// What they are selected from.
    fn covered(&self) -> Covered {
        match self {
            Self::Window(range) => Covered::Window(*range),
            Self::Ids(ids) => Covered::Readable(ids.clone()),
        }
    }

    /// The wanted messages of a narrow.
    fn select(&self, narrowed: &Narrowed<'_>) -> (Selected, Window) {
        match self {
            Self::Window(range) => {
                let window = narrowed.window(range);
                (Selected::window(&window, range), window)
            }
            Self::Ids(ids) => {
                let ids = narrowed.readable(ids);
                (Selected::ids(&ids), Window { ids, ..Window::default() })
            }
        }
    }

    /// Refuses too many messages.
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

/// Refuses `message_ids` together with parameters of a window.
fn check_alone(fields: &Fields) -> Result<(), ApiError> {
    match SELECTORS.iter().filter(|name| fields.optional_str(name).is_some()).count() {
        1 => Ok(()),
        _ => Err(ApiError::unsupported_combination(&SELECTORS)),
    }
}

/// The fields after `messages`.
#[derive(Serialize)]
struct WindowJson {
    #[serde(skip_serializing_if = "Option::is_none")]
    anchor: Option<u64>,
    found_anchor: bool,
    found_newest: bool,
    found_oldest: bool,
    history_limited: bool,
}

/// Returns messages that the caller may read, or a spectator.
pub async fn fetch(
    admission: Admission,
    caller: Option<Caller>,
    Realm(realm): Realm,
    Params(request): Params<FetchMessages>,
) -> HandlerResult {
    let user = caller.map(|caller| caller.user);
    let FetchMessages { wanted, narrow, form } = request;
    let held = reserve_for(&admission, wanted.count()).await?;
    let request = NarrowedRequest {
        admission: &admission,
        realm: &realm,
        user: user.as_deref(),
        narrow: &narrow,
        covered: wanted.covered(),
    };
    let finish = |narrowed: &Narrowed<'_>, window: Window| {
        let page = Page::take(narrowed, &window.ids);
        Ok((window, page))
    };
    let ((window, page), highlighter) =
        request.select(|| wanted.check(), |narrowed| wanted.select(narrowed), finish).await?;
    let shown = WindowJson {
        anchor: matches!(wanted, Wanted::Window(_)).then_some(window.anchor),
        found_anchor: window.found_anchor,
        found_newest: window.found_newest,
        found_oldest: window.found_oldest,
        history_limited: false,
    };
    let reader = PageReader::new(realm, user, PageForm::Messages(form), highlighter);
    reader.reply(admission, page, held, &shown).await
}
