//! `GET /user_uploads/thumbnail/…`: a smaller version of an uploaded image (docs/api/thumbnails.md#read-a-thumbnail).

use crate::http::{Address, ApiError, App, Caller, HandlerResult, Path, Realm, Reply};
use crate::integrations::blobs::uploads::{thumbnail_blob, upload_blob};
use crate::integrations::images::missing::missing_picture;
use crate::integrations::images::thumbnail::ThumbnailFormat;
use crate::integrations::thumbnails::ThumbnailError;
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderName, HeaderValue};
use actors::FileAccess;
use actors::budget::Holder;
use futures_util::{StreamExt, TryStreamExt};
use model::Attachment;

/// Thumbnails never change, and who may read them does.
const CACHED: &str = "private, immutable";
const NOT_CACHED: &str = "private, no-store";

/// Sends the thumbnail of an image that the requester may read. Where there is none, the answer is a picture as well, because
/// browsers show it in the place of the image.
pub async fn thumbnail(
    app: App,
    caller: Option<Caller>,
    Address(address): Address,
    Realm(realm): Realm,
    Path((id, path)): Path<(u32, String)>,
) -> HandlerResult {
    let (file, format) = path.rsplit_once('/').unwrap_or((&path, ""));
    let client = caller.as_ref().map_or_else(|| Holder::address(address), Caller::holder);
    let asker = caller.as_ref().map(|caller| &*caller.user);
    match (realm.access_file(asker, &format!("{id}/{file}")), asker) {
        (FileAccess::Allowed(file), _) => send(&app, &file, format, client).await,
        (FileAccess::Missing | FileAccess::Refused, None) => Err(ApiError::not_logged_in()),
        (FileAccess::Missing, Some(_)) => Ok(no_picture(StatusCode::NOT_FOUND)),
        (FileAccess::Refused, Some(_)) => Ok(no_picture(StatusCode::FORBIDDEN)),
    }
}

async fn send(app: &App, file: &Attachment, format: &str, client: Holder) -> HandlerResult {
    let (Some(image), Some(asked)) = (file.image, ThumbnailFormat::closest(format)) else {
        return Ok(no_picture(StatusCode::NOT_FOUND));
    };
    // Images that do not move have one thumbnail.
    let format = if image.is_animated { asked } else { ThumbnailFormat::Still };
    let source = upload_blob(&file.path_id).ok_or_else(ApiError::internal)?;
    let target = thumbnail_blob(&file.path_id, format).ok_or_else(ApiError::internal)?;
    match app.thumbnails.get((source, target), format, client).await {
        Ok(blob) => {
            let headers = headers("image/webp", format.name(), CACHED)?;
            Ok(Reply::stream(headers, blob.size, blob.bytes.map_err(Into::into).boxed()))
        }
        Err(ThumbnailError::NotAnImage) => Ok(no_picture(StatusCode::NOT_FOUND)),
        Err(error) => Err(error.into()),
    }
}

fn no_picture(status: StatusCode) -> Reply {
    match headers("image/png", "image-not-exist.png", NOT_CACHED) {
        Ok(headers) => Reply::small(status, headers, missing_picture()),
        Err(_) => Reply::bare(status, Vec::new()),
    }
}

fn headers(
    content_type: &'static str,
    name: &str,
    cache: &'static str,
) -> Result<Vec<(HeaderName, HeaderValue)>, ApiError> {
    let disposition = HeaderValue::from_str(&format!("inline; filename=\"{name}\""));
    Ok(vec![
        (header::CONTENT_TYPE, HeaderValue::from_static(content_type)),
        (header::CACHE_CONTROL, HeaderValue::from_static(cache)),
        (header::CONTENT_DISPOSITION, disposition.map_err(|_| ApiError::internal())?),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'")),
    ])
}

impl From<ThumbnailError> for ApiError {
    fn from(error: ThumbnailError) -> Self {
        match error {
            ThumbnailError::NotAnImage => Self::not_found(),
            ThumbnailError::Work(error) => error.into(),
            ThumbnailError::TooManyWaiting(error) => error.into(),
            ThumbnailError::Blob(error) => error.into(),
        }
    }
}
