//! `GET /user_uploads/…`: the bytes of files (docs/api/uploads.md#read-a-file).

use super::{IN_PATH, access};
use crate::http::admission::Admission;
use crate::http::call::{Call, FromCall};
use crate::http::conditions::{Conditions, Selected};
use crate::http::reply::ByteStream;
use crate::http::{ApiError, Audience, Caller, HandlerResult, Path, Realm, Reply};
use crate::integrations::blobs::uploads::upload_blob;
use crate::integrations::blobs::{BlobError, BlobName, CHUNK_BYTES};
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderValue};
use futures_util::TryStreamExt;
use model::Attachment;
use percent_encoding::utf8_percent_encode;
use rules::uploads::{folder_of, is_inline};
use std::ops::Range;
use std::time::Duration;

/// Files never change, and who may read them does.
const CACHED: &str = "private, immutable";

/// Shown files load nothing and run nothing.
const INLINE_POLICY: &str = "default-src 'none'; style-src 'self' 'unsafe-inline'; img-src 'self'; media-src 'self'; object-src 'self'";
/// What is only downloaded does not even belong to this origin.
const DOWNLOAD_POLICY: &str = "sandbox; default-src 'none'";

/// How long a URL at the store itself is valid.
const SIGNED_URL_VALID: Duration = Duration::from_secs(60);

/// Whether a browser may show a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Serving {
    /// If its type is safe.
    Inline,
    /// It is always downloaded.
    Download,
}

/// A request for a file.
pub struct Asked {
    admission: Admission,
    caller: Option<Caller>,
    realm: Realm,
    audience: Audience,
    path: Path<(u32, String)>,
    conditions: Conditions,
}

impl FromCall for Asked {
    fn from_call(call: &mut Call<'_>) -> Result<Self, ApiError> {
        Ok(Self {
            admission: Admission::from_call(call)?,
            caller: Option::from_call(call)?,
            realm: Realm::from_call(call)?,
            audience: Audience::from_call(call)?,
            path: Path::from_call(call)?,
            conditions: Conditions::from_call(call)?,
        })
    }
}

/// Sends a file that the requester may read.
pub async fn serve(asked: Asked) -> HandlerResult {
    asked.send(Serving::Inline).await
}

/// Sends a file that the requester may read, always as a download.
pub async fn download(asked: Asked) -> HandlerResult {
    asked.send(Serving::Download).await
}

impl Asked {
    async fn send(self, serving: Serving) -> HandlerResult {
        let Path((id, path)) = self.path;
        let asker = self.caller.as_ref().map(|caller| &*caller.user);
        match access(&self.realm.0, asker, &format!("{id}/{path}"), self.audience)? {
            Ok(file) => send(&self.admission, &file, &self.conditions, serving).await,
            Err(refusal) => Ok(refusal),
        }
    }
}

/// Sends a file, or what the client asks of it.
pub(super) async fn send(
    admission: &Admission,
    file: &Attachment,
    conditions: &Conditions,
    serving: Serving,
) -> HandlerResult {
    let is_shown = serving == Serving::Inline && is_inline(&file.content_type);
    let (content_type, disposition) = (type_of(file), disposition(file, is_shown));
    let blob = upload_blob(&file.path_id).ok_or_else(ApiError::not_found)?;
    let tag = tag_of(file);
    let mut headers = vec![
        (header::ETAG, text(&tag)?),
        (header::CACHE_CONTROL, HeaderValue::from_static(CACHED)),
        (header::ACCEPT_RANGES, HeaderValue::from_static("bytes")),
    ];
    let (status, range) = match conditions.select(&tag, file.size) {
        Selected::NotModified => return Ok(Reply::bare(StatusCode::NOT_MODIFIED, headers)),
        Selected::NoSuchPart => return no_such_part(file.size),
        Selected::Whole => (StatusCode::OK, None),
        Selected::Part(range) => {
            let part = format!("bytes {}-{}/{}", range.start, range.end - 1, file.size);
            headers.push((header::CONTENT_RANGE, text(&part)?));
            (StatusCode::PARTIAL_CONTENT, Some(range))
        }
    };
    let asked = [
        ("response-content-type", content_type.clone()),
        ("response-content-disposition", disposition.clone()),
    ];
    if let Some(url) = admission.app.blobs.signed_url(&blob, SIGNED_URL_VALID, asked).await {
        let cache = (header::CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
        return Ok(Reply::bare(StatusCode::FOUND, vec![(header::LOCATION, text(&url)?), cache]));
    }
    let policy = if is_shown { INLINE_POLICY } else { DOWNLOAD_POLICY };
    headers.extend([
        (header::CONTENT_TYPE, text(&content_type)?),
        (header::CONTENT_DISPOSITION, text(&disposition)?),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy)),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    ]);
    if file.size == 0 {
        let nothing = futures_util::stream::empty::<Result<_, BlobError>>();
        return Ok(Reply::stream(headers, 0, Box::pin(nothing.map_err(boxed))));
    }
    let (size, bytes) = content(admission, &blob, range).await?;
    Ok(Reply::stream_with(status, headers, size, bytes))
}

/// The size and the bytes of a file or of a part of it. What is read ahead counts against the memory budget.
async fn content(
    admission: &Admission,
    blob: &BlobName,
    range: Option<Range<u64>>,
) -> Result<(u64, ByteStream), ApiError> {
    let held = admission.reserve(CHUNK_BYTES as u64).await?;
    let read = admission.app.blobs.read(blob, range).await?;
    // Released with the stream.
    let bytes = read.bytes.inspect_ok(move |_| _ = &held);
    Ok((read.size, Box::pin(bytes.map_err(boxed))))
}

fn boxed(error: BlobError) -> Box<dyn std::error::Error> {
    error.into()
}

fn no_such_part(size: u64) -> HandlerResult {
    let size = (header::CONTENT_RANGE, text(&format!("bytes */{size}"))?);
    Ok(Reply::bare(StatusCode::RANGE_NOT_SATISFIABLE, vec![size]))
}

/// The entity tag: the part of the path that no other file has.
fn tag_of(file: &Attachment) -> String {
    let folder = folder_of(&file.path_id).trim_end_matches('/');
    format!("\"{}\"", folder.rsplit('/').next().unwrap_or(folder))
}

fn text(value: &str) -> Result<HeaderValue, ApiError> {
    HeaderValue::from_str(value).map_err(|_| ApiError::internal())
}

/// The type of a file as browsers get it. Text is UTF-8: the most frequent encoding, and none was declared.
fn type_of(file: &Attachment) -> String {
    match file.content_type.as_str() {
        "text/plain" => "text/plain; charset=utf-8".to_owned(),
        other => other.to_owned(),
    }
}

/// `Content-Disposition` with the name as uploaded (RFC 6266). Names of ASCII letters are written plainly.
fn disposition(file: &Attachment, is_shown: bool) -> String {
    let word = if is_shown { "inline" } else { "attachment" };
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b" -_.()".contains(&byte);
    if file.name.bytes().all(is_plain) {
        return format!("{word}; filename=\"{}\"", file.name);
    }
    format!("{word}; filename*=utf-8''{}", utf8_percent_encode(&file.name, IN_PATH))
}
