//! Names, types and limits of uploaded files (docs/api/uploads.md).

use crate::error::{RuleError, UploadError};
use model::{Directory, UserId};

/// Uploaded files that one account may have.
const FILES_OF_ACCOUNT_MAX: usize = 50_000;
/// Uploaded files that an organization may have.
pub const FILES_MAX: usize = 1_000_000;

/// Bytes of the name of a file.
const NAME_BYTES_MAX: usize = 255;
/// Bytes of the name of a file in its path.
const PATH_NAME_BYTES_MAX: usize = 180;
/// Bytes of the ending of a name that is kept when the name is shortened, the dot included.
const ENDING_BYTES_MAX: usize = 20;
/// Maximum length of a content type, in bytes.
const TYPE_BYTES_MAX: usize = 127;
/// The name of a file without one.
const UNNAMED: &str = "uploaded-file";

/// Types that browsers show without running anything.
const INLINE_TYPES: [&str; 22] = [
    "application/pdf",
    "audio/aac",
    "audio/flac",
    "audio/mp4",
    "audio/mpeg",
    "audio/ogg",
    "audio/vnd.wave",
    "audio/wav",
    "audio/webm",
    "audio/x-wav",
    "image/apng",
    "image/avif",
    "image/gif",
    "image/heic",
    "image/jpeg",
    "image/png",
    "image/webp",
    "text/plain",
    "video/mp4",
    "video/ogg",
    "video/quicktime",
    "video/webm",
];

/// The name of a file, from the name that a client sent: without folders and control characters, and shortened.
pub fn file_name(sent: &str) -> String {
    let last = sent.rsplit(['/', '\\']).next().unwrap_or(sent);
    let plain: String = last.chars().filter(|character| !character.is_control()).collect();
    let plain = plain.trim();
    if plain.is_empty() { UNNAMED.to_owned() } else { shortened(plain, NAME_BYTES_MAX) }
}

/// The name of a file in its path: letters, digits, `_`, `.` and `-`, of any script.
pub fn path_name(name: &str) -> String {
    let is_word = |character: char| character.is_alphanumeric() || "_.-".contains(character);
    let kept: String = name.chars().filter(|one| is_word(*one) || one.is_whitespace()).collect();
    let mut path = String::with_capacity(kept.len());
    for character in kept.trim().chars() {
        let character = if character.is_whitespace() { '-' } else { character };
        if character != '-' || !path.ends_with('-') {
            path.push(character);
        }
    }
    if matches!(path.as_str(), "" | "." | "..") {
        return UNNAMED.to_owned();
    }
    shortened(&path, PATH_NAME_BYTES_MAX)
}

/// A name of at most some bytes, with its ending.
fn shortened(name: &str, bytes_max: usize) -> String {
    if name.len() <= bytes_max {
        return name.to_owned();
    }
    let ending = name.rfind('.').map(|dot| &name[dot..]).filter(|ending| ending.len() <= ENDING_BYTES_MAX);
    let ending = ending.unwrap_or_default();
    let stem = name.floor_char_boundary(bytes_max - ending.len());
    [&name[..stem], ending].concat()
}

/// The type of a file as a client declared it, without parameters; none for one that is malformed or says nothing.
pub fn declared_type(declared: &str) -> Option<String> {
    let essence = declared.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_token = |word: &str| {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&byte);
        !word.is_empty() && word.bytes().all(is_plain)
    };
    let (kind, subtype) = essence.split_once('/')?;
    let is_valid = essence.len() <= TYPE_BYTES_MAX && is_token(kind) && is_token(subtype);
    (is_valid && essence != "application/octet-stream").then_some(essence)
}

/// Whether a file of a type is shown in the browser; all others are only downloaded.
pub fn is_inline(content_type: &str) -> bool {
    INLINE_TYPES.contains(&content_type)
}

/// Whether a user may add a file. `quota_bytes` limits the files of the organization together.
pub fn check_room(
    directory: &Directory,
    owner: UserId,
    size: u64,
    quota_bytes: Option<u64>,
) -> Result<(), RuleError> {
    let space = directory.upload_space_used().saturating_add(size);
    if quota_bytes.is_some_and(|quota| space > quota) {
        return Err(UploadError::OverQuota.into());
    }
    if directory.attachment_count_of(owner) >= FILES_OF_ACCOUNT_MAX {
        return Err(UploadError::TooMany { limit: FILES_OF_ACCOUNT_MAX }.into());
    }
    if directory.attachment_count() >= FILES_MAX {
        return Err(UploadError::TooMany { limit: FILES_MAX }.into());
    }
    Ok(())
}

/// The folder of a file in its path: the part that identifies it, such as `1/ab/cdef/`.
pub fn folder_of(path_id: &str) -> &str {
    path_id.rfind('/').map_or(path_id, |slash| &path_id[..=slash])
}

/// The folders of all uploaded files that a text names.
pub fn named_folders(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("user_uploads/").filter_map(|(at, word)| {
        let path = &text[at + word.len()..];
        let mut slashes = path.match_indices('/').map(|(slash, _)| slash);
        let third = slashes.nth(2)?;
        Some(&path[..=third])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files() {
        for (sent, name, path) in [
            ("notes ä.txt", "notes ä.txt", "notes-ä.txt"),
            ("C:\\Temp\\a  b.png", "a  b.png", "a-b.png"),
            ("../../etc/passwd", "passwd", "passwd"),
            ("..", "..", UNNAMED),
            ("", UNNAMED, UNNAMED),
            ("a\r\nb\"<>.html", "ab\"<>.html", "ab.html"),
            ("日本語 資料.pdf", "日本語 資料.pdf", "日本語-資料.pdf"),
            ("a - - b", "a - - b", "a-b"),
        ] {
            assert_eq!(file_name(sent), name, "{sent:?}");
            assert_eq!(path_name(&file_name(sent)), path, "{sent:?}");
        }
        let long = format!("{}.png", "ü".repeat(400));
        assert!(file_name(&long).len() <= NAME_BYTES_MAX && file_name(&long).ends_with("ü.png"));
        assert!(path_name(&long).len() <= PATH_NAME_BYTES_MAX && path_name(&long).ends_with("ü.png"));
    }

    #[test]
    fn types_of_files() {
        assert_eq!(declared_type("Text/Plain; charset=x").as_deref(), Some("text/plain"));
        for bad in ["", "text", "text/", "/x", "te xt/plain", "application/octet-stream", "a/b\r\nX: y"] {
            assert_eq!(declared_type(bad), None, "{bad:?}");
        }
        assert!(is_inline("image/png") && !is_inline("image/svg+xml") && !is_inline("text/html"));
    }

    #[test]
    fn folders_in_texts() {
        let text =
            "[a](/user_uploads/2/ab/x/a%20b.png) and http://x/user_uploads/2/cd/y/z, /user_uploads/2/e";
        assert_eq!(named_folders(text).collect::<Vec<_>>(), ["2/ab/x/", "2/cd/y/"]);
        assert_eq!(folder_of("2/ab/x/a.png"), "2/ab/x/");
    }
}
