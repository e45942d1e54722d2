//! Parsing of drafts in parameters.

use crate::http::ApiError;
use crate::http::params::{Json, check_not_blank};
use rules::drafts::{DraftKind, DraftRequest};
use rules::text::strip;

/// The members of a draft.
const KEYS: [&str; 5] = ["type", "to", "topic", "content", "timestamp"];

/// A list of drafts.
pub(super) fn parse_drafts(list: &Json<'_>) -> Result<Vec<DraftRequest>, ApiError> {
    list.list()?.map(|draft| parse_draft(&draft)).collect()
}

/// One draft of a parameter.
pub(super) fn parse_draft(draft: &Json<'_>) -> Result<DraftRequest, ApiError> {
    let object = draft.object()?;
    let kind = object.required("type")?;
    let kind = match kind.string()? {
        "" => DraftKind::Unaddressed,
        "stream" => DraftKind::Channel,
        "private" => DraftKind::Direct,
        _ => return Err(ApiError::invalid_parameter(kind.place())),
    };
    let to = object.required("to")?.list()?.map(|id| parse_id(&id)).collect::<Result<_, _>>()?;
    let topic = object.required("topic")?.string()?.to_owned();
    let content = object.required("content")?;
    check_not_blank(content.place(), strip(content.string()?))?;
    let content = content.string()?.to_owned();
    let secs = object.optional("timestamp").filter(|secs| !secs.value().is_null());
    let secs =
        secs.map(|secs| secs.value().as_f64().ok_or_else(|| secs.fault("is not a float"))).transpose()?;
    check_keys(draft)?;
    Ok(DraftRequest { kind, to, topic, content, secs })
}

/// An id; one that is too large to be one becomes one that nothing has.
fn parse_id(id: &Json<'_>) -> Result<i64, ApiError> {
    id.int::<i128>().map(|id| i64::try_from(id).unwrap_or(if id < 0 { -1 } else { i64::MAX }))
}

/// Refuses members that a draft does not have.
fn check_keys(draft: &Json<'_>) -> Result<(), ApiError> {
    let members = draft.value().as_object().into_iter().flatten();
    let mut unknown = members.map(|(key, _)| key).filter(|key| !KEYS.contains(&key.as_str()));
    unknown.next().map_or(Ok(()), |key| {
        let place = format!("{}[{}]", draft.place(), serde_json::Value::from(key.as_str()));
        Err(ApiError::bad_request(format!("Argument \"{key}\" at {place} is unexpected")))
    })
}
