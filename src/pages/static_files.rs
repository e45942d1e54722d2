//! `GET /static/…`: the files of the installed web app (docs/web-app.md#files), and a picture that messages have.
//!
//! A file is read in pieces while it is sent, off the HTTP threads, so that memory does not depend on its size.

mod encoding;

use crate::http::accept_encoding::AcceptEncoding;
use crate::http::conditions::{Conditions, Selected};
use crate::http::reply::ByteStream;
use crate::http::{ApiError, App, HandlerResult, Path, Reply};
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderName, HeaderValue};
use bytes::Bytes;
use encoding::Encoding;
use futures_util::{StreamExt, stream};
use rules::emoji::ZULIP_PICTURE;
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use tokio::task::spawn_blocking;

/// Names with a hash are never given to another content.
const FOREVER: &str = "public, max-age=31536000, immutable";
const AN_HOUR: &str = "public, max-age=3600";
/// Lengths of the hashes in names: of Django, and of webpack.
const HASH_LENGTHS: [usize; 2] = [12, 20];
/// Size of the pieces in which a file is read, in bytes.
const PIECE_BYTES: u64 = 64 << 10;
/// Maximum length of a path below `/static`, in bytes.
const PATH_LENGTH_MAX: usize = 512;

/// Returns a file of the web app; 404 for folders, other paths, and if no web app is installed. The picture of `:zulip:`, which
/// messages have, is always there.
pub async fn serve(
    app: App,
    Path(path): Path<String>,
    conditions: Conditions,
    accepted: AcceptEncoding,
) -> HandlerResult {
    let Some(bundle) = app.web_app.current() else { return own_picture(&path) };
    if !is_plain(&path) {
        return Err(ApiError::not_found());
    }
    let file = bundle.static_folder().join(&path);
    let encodings = encoding::wanted(&accepted, conditions.wants_part());
    let opened = spawn_blocking(move || open(&file, &encodings)).await.map_err(|_| ApiError::internal())?;
    let Some(found) = opened else { return own_picture(&path) };
    let tag = format!("\"{}-{:x}{}\"", bundle.id(), found.size, found.encoding.tag_ending());
    let mut headers = vec![
        (header::CACHE_CONTROL, HeaderValue::from_static(if has_hash(&path) { FOREVER } else { AN_HOUR })),
        (header::VARY, HeaderValue::from_static("Accept-Encoding")),
        (header::ACCEPT_RANGES, HeaderValue::from_static("bytes")),
        (header::ETAG, text_value(&tag)?),
    ];
    let selected = conditions.select(&tag, found.size);
    if selected != Selected::NotModified {
        headers.push((header::CONTENT_TYPE, text_value(&content_type(&path))?));
        let encoding = found.encoding.name().map(HeaderValue::from_static);
        headers.extend(encoding.map(|name| (header::CONTENT_ENCODING, name)));
    }
    send(found, selected, headers)
}

/// The server's own picture for `:zulip:`: its icon. 404 for other paths.
fn own_picture(path: &str) -> HandlerResult {
    if ZULIP_PICTURE.strip_prefix("/static/") != Some(path) {
        return Err(ApiError::not_found());
    }
    Ok(Reply::plain("image/png", AN_HOUR, include_bytes!("zulip_emoji.png").as_slice()))
}

/// Sends what was selected of a file.
fn send(
    Found { file, size, .. }: Found,
    selected: Selected,
    mut headers: Vec<(HeaderName, HeaderValue)>,
) -> HandlerResult {
    match selected {
        Selected::NotModified => Ok(Reply::bare(StatusCode::NOT_MODIFIED, headers)),
        Selected::Whole => Ok(Reply::stream(headers, size, pieces(file, 0, size))),
        Selected::Part(Range { start, end }) => {
            let part = format!("bytes {start}-{}/{size}", end - 1);
            headers.push((header::CONTENT_RANGE, text_value(&part)?));
            Ok(Reply::partial(headers, end - start, pieces(file, start, end - start)))
        }
        Selected::NoSuchPart => {
            headers.retain(|(name, _)| *name != header::CONTENT_TYPE && *name != header::CACHE_CONTROL);
            headers.push((header::CONTENT_RANGE, text_value(&format!("bytes */{size}"))?));
            Ok(Reply::bare(StatusCode::RANGE_NOT_SATISFIABLE, headers))
        }
    }
}

/// An opened file, in the encoding that was chosen.
struct Found {
    file: File,
    size: u64,
    encoding: Encoding,
}

/// Opens the first of the variants that is there. Folders are no files.
fn open(path: &std::path::Path, encodings: &[Encoding]) -> Option<Found> {
    encodings.iter().find_map(|encoding| {
        let mut name = path.as_os_str().to_owned();
        name.push(encoding.file_ending());
        let file = File::open(PathBuf::from(name)).ok()?;
        let found = file.metadata().ok().filter(std::fs::Metadata::is_file)?;
        Some(Found { file, size: found.len(), encoding: *encoding })
    })
}

/// The bytes of a part of a file.
fn pieces(file: File, from: u64, length: u64) -> ByteStream {
    let start = (file, from, length);
    let whole = stream::try_unfold(start, |(file, from, left)| async move {
        let size = left.min(PIECE_BYTES);
        if size == 0 {
            return Ok(None);
        }
        let read = spawn_blocking(move || {
            let mut bytes = vec![0; size as usize];
            file.read_exact_at(&mut bytes, from).map(|()| (file, Bytes::from(bytes)))
        });
        let (file, bytes) = read.await.map_err(std::io::Error::other).flatten()?;
        Ok(Some((bytes, (file, from + size, left - size))))
    });
    whole.map(|piece: std::io::Result<Bytes>| piece.map_err(Into::into)).boxed()
}

/// Whether a path has only plain names: nothing in it is hidden or leads out of the folder.
fn is_plain(path: &str) -> bool {
    let is_part = |part: &str| !part.is_empty() && !part.starts_with('.');
    path.len() <= PATH_LENGTH_MAX && !path.contains(['\\', '\0']) && path.split('/').all(is_part)
}

/// Whether the name of a file has a hash of its content between dots, as in `app.0123456789abcdef0123.js`.
fn has_hash(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    name.split('.').skip(1).any(|part| HASH_LENGTHS.contains(&part.len()) && part.bytes().all(is_hex))
        || name
            .split('.')
            .next()
            .is_some_and(|stem| stem.len() == HASH_LENGTHS[1] && stem.bytes().all(is_hex))
}

fn content_type(path: &str) -> String {
    let known = mime_guess::from_path(path).first_raw().unwrap_or("application/octet-stream");
    let is_text = known.starts_with("text/") || matches!(known, "application/json" | "image/svg+xml");
    if is_text { format!("{known}; charset=utf-8") } else { known.to_owned() }
}

fn text_value(text: &str) -> Result<HeaderValue, ApiError> {
    HeaderValue::from_str(text).map_err(|_| ApiError::not_found())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashed_names_are_recognized() {
        for path in [
            "webpack-bundles/app.0123456789abcdef0123.js",
            "webpack-bundles/0123456789abcdef0123.js",
            "webpack-bundles/files/a.0123456789abcdef0123.woff2",
            "images/favicon.0123456789ab.svg",
        ] {
            assert!(has_hash(path), "{path}");
        }
        for path in [
            "images/favicon.svg",
            "0123456789ab/a.png",
            "a.0123456789AB.png",
            "1f600.png",
            "0123456789ab.png",
        ] {
            assert!(!has_hash(path), "{path}");
        }
    }

    #[test]
    fn types_are_those_of_the_names() {
        let cases = [
            ("a.js", "text/javascript; charset=utf-8"),
            ("a.css", "text/css; charset=utf-8"),
            ("a.svg", "image/svg+xml; charset=utf-8"),
            ("a.json", "application/json; charset=utf-8"),
            ("a.webp", "image/webp"),
            ("a.woff2", "font/woff2"),
            ("a.ogg", "audio/ogg"),
            ("a.mp3", "audio/mpeg"),
            ("a.png", "image/png"),
            ("LICENSE", "application/octet-stream"),
        ];
        for (path, expected) in cases {
            assert_eq!(content_type(path), expected, "{path}");
        }
    }

    #[test]
    fn paths_outside_are_refused() {
        for path in ["../a", "a/../b", "a//b", "/a", ".a", "a/.b", "a\\b", "a\0", "", "a/"] {
            assert!(!is_plain(path), "{path}");
        }
        assert!(is_plain("generated/emoji/images-google-64/1f600.png"));
    }
}
