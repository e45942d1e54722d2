//! `GET /user_avatars/exports/{realm_id}/{file}`: the file of an export. No login is required: the URL cannot be guessed,
//! and only administrators get it (docs/api/organization.md#exports).

use crate::http::{ApiError, App, HandlerResult, Path, Realm, Reply};
use crate::integrations::blobs::exports::export_blob;
use actix_web::http::header::{self, HeaderValue};
use futures_util::{StreamExt, TryStreamExt};

/// Sends the file.
pub async fn serve(app: App, Realm(realm): Realm, Path((id, file)): Path<(u32, String)>) -> HandlerResult {
    let path = format!("{id}/{file}");
    let directory = realm.directory();
    let is_known = directory.exports().items.iter().any(|export| export.path() == Some(path.as_str()));
    let name = export_blob(&path).filter(|_| is_known && id == realm.id().0);
    let blob = app.blobs.get(&name.ok_or_else(ApiError::not_found)?).await?;
    let headers = vec![
        (header::CONTENT_TYPE, HeaderValue::from_static("application/gzip")),
        (header::CONTENT_DISPOSITION, HeaderValue::from_static("attachment")),
        (header::CACHE_CONTROL, HeaderValue::from_static("private, no-store")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    ];
    Ok(Reply::stream(headers, blob.size, blob.bytes.map_err(Into::into).boxed()))
}
