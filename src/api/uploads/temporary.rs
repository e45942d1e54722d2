//! `GET /api/v1/user_uploads/…`: a URL with which a file can be read for a short time without logging in
//! (docs/api/uploads.md#temporary-url), and that URL.

use super::serve::{Serving, send};
use super::{IN_PATH, access, missing};
use crate::http::admission::Admission;
use crate::http::conditions::Conditions;
use crate::http::{ApiError, Audience, Caller, HandlerResult, Params, Path, Realm, reply_field};
use crate::pages::message_of;
use actix_web::http::StatusCode;
use actors::RealmHandle;
use model::{Attachment, AttachmentId};
use percent_encoding::utf8_percent_encode;
use std::sync::Arc;

/// How long a temporary URL is valid, in seconds.
const VALID_SECS: u64 = 60;

/// The purpose of the keys of temporary URLs.
const PURPOSE: &str = "uploaded file";

/// Returns the `url` of a file that the requester may read.
pub async fn temporary_url(
    caller: Caller,
    audience: Audience,
    Path((realm, path)): Path<(u32, String)>,
    _: Params<()>,
) -> HandlerResult {
    let path_id = format!("{realm}/{path}");
    let file = match access(&caller.realm, Some(&caller.user), &path_id, audience)? {
        Ok(file) => file,
        Err(refusal) => return Ok(refusal),
    };
    let until = caller.realm.now().plus_secs(VALID_SECS).secs();
    let token = token(&caller.realm, &file, until);
    let name = utf8_percent_encode(name_in_path(&file), IN_PATH);
    reply_field("url", &format!("/user_uploads/temporary/{token}/{name}"))
}

/// Sends the file of a temporary URL.
pub async fn serve_temporary(
    admission: Admission,
    Realm(realm): Realm,
    Path((token, name)): Path<(String, String)>,
    conditions: Conditions,
    audience: Audience,
) -> HandlerResult {
    let file = match read_token(&realm, &token) {
        None => return invalid_link(&realm, audience, "Invalid token"),
        Some(None) => return missing(&realm, audience),
        Some(Some(file)) => file,
    };
    if name != name_in_path(&file) {
        return invalid_link(&realm, audience, "Invalid filename");
    }
    send(&admission, &file, &conditions, Serving::Inline).await
}

/// The refusal of a path that is not (or no longer) valid: for people what to do, for programs an error with this text.
fn invalid_link(realm: &RealmHandle, audience: Audience, msg: &'static str) -> HandlerResult {
    if !audience.wants_page {
        return Err(ApiError::bad_request(msg));
    }
    let text = "Such links are valid for one minute. Open the file from its message again.";
    message_of(realm, StatusCode::BAD_REQUEST, "This link is not valid", text, None)
}

/// The name of a file in its path.
fn name_in_path(file: &Attachment) -> &str {
    file.path_id.rsplit('/').next().unwrap_or(&file.path_id)
}

/// The id of the file, the end of the validity, and a key that only this server can make of both.
fn token(realm: &RealmHandle, file: &Attachment, until: u64) -> String {
    let (id, until) = (file.id.to_string(), until.to_string());
    let key = realm.link_key(PURPOSE, &[&id, &until]);
    format!("{id}.{until}.{key}")
}

/// None: the token is not valid (any more). Otherwise its file, unless that was deleted.
fn read_token(realm: &RealmHandle, token: &str) -> Option<Option<Arc<Attachment>>> {
    let mut parts = token.splitn(3, '.');
    let (id, until, key) = (parts.next()?, parts.next()?, parts.next()?);
    if !realm.is_link_key(key, PURPOSE, &[id, until]) {
        return None;
    }
    let until: u64 = until.parse().ok()?;
    let id = AttachmentId(id.parse().ok()?);
    (realm.now().secs() <= until).then(|| realm.directory().attachment(id).cloned())
}
