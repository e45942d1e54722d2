//! `GET /user_avatars/{realm}/…`: the bytes of pictures. No login is required: the
//! URL cannot be guessed.

use super::blob_name;
use super::default::draw;
use crate::http::reply::ByteStream;
use crate::http::{ApiError, App, HandlerResult, IfNoneMatch, Path, Realm, Reply};
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderValue};
use futures_util::{StreamExt, TryStreamExt};
use model::RealmId;
use rules::avatar::DEFAULT_FOLDER;

/// A changed picture has another name.
const FOREVER: &str = "public, max-age=31536000, immutable";

/// Returns a picture of the organization at this host.
pub async fn serve(
    app: App,
    Realm(realm): Realm,
    Path(path): Path<String>,
    known: IfNoneMatch,
) -> HandlerResult {
    let file = path.split_once('/').filter(|(id, _)| *id == realm.id().to_string()).map(|(_, file)| file);
    let file = file.ok_or_else(ApiError::not_found)?;
    let content_type = match file.rsplit_once('.') {
        Some((_, "png")) => "image/png",
        Some((_, "gif")) => "image/gif",
        _ => return Err(ApiError::not_found()),
    };
    let (size, bytes) = content(&app, realm.id(), file).await?;
    let tag = format!("\"{}\"", file.rsplit('/').next().unwrap_or(file));
    let headers = vec![
        (header::ETAG, HeaderValue::from_str(&tag).map_err(|_| ApiError::not_found())?),
        (header::CACHE_CONTROL, HeaderValue::from_static(FOREVER)),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::CONTENT_TYPE, HeaderValue::from_static(content_type)),
    ];
    if known.has(&tag) {
        return Ok(Reply::bare(StatusCode::NOT_MODIFIED, headers));
    }
    Ok(Reply::stream(headers, size, bytes))
}

/// The size and the bytes of a picture; default pictures are drawn.
async fn content(app: &App, realm: RealmId, file: &str) -> Result<(u64, ByteStream), ApiError> {
    if let Some(name) = file.strip_prefix(DEFAULT_FOLDER) {
        let bytes = draw(realm, name).ok_or_else(ApiError::not_found)?;
        let size = bytes.len() as u64;
        return Ok((size, futures_util::stream::once(async move { Ok(bytes.into()) }).boxed()));
    }
    let name = blob_name(realm, file).ok_or_else(ApiError::not_found)?;
    let blob = app.blobs.get(&name).await?;
    Ok((blob.size, blob.bytes.map_err(Into::into).boxed()))
}
