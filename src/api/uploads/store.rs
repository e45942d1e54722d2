//! `POST /user_uploads`: stores a file (docs/api/uploads.md#upload-a-file).

use super::delete_bytes;
use crate::http::file_stream::{FileSink, FileStream};
use crate::http::{ApiError, App, Caller, Code, HandlerResult, reply};
use crate::integrations::blobs::BlobError;
use crate::integrations::blobs::uploads::{new_path, upload_blob};
use crate::integrations::blobs::writer::BlobWriter;
use crate::integrations::images::inspect::{HEAD_BYTES_MAX, Inspection, inspect, preview_type};
use crate::integrations::thumbnails::{ThumbnailError, read_image};
use actors::{DomainError, RealmHandle, commands, for_current_requester};
use bytes::Bytes;
use model::{ImageInfo, RealmId};
use rules::uploads::{check_room, declared_type, file_name};
use serde::Serialize;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::time::timeout;

/// `Retry-After` while there is no room for files, in seconds.
const RETRY_SECS: f64 = 10.0;

/// The type of a file about which nothing is known.
const UNKNOWN_TYPE: &str = "application/octet-stream";

/// Bytes in which every image shows its type.
const SIGNATURE_BYTES: usize = 16;
/// How long an upload waits until its image is read, where the first bytes are not enough.
const INSPECTION_MAX: Duration = Duration::from_secs(20);

#[derive(Serialize)]
struct Uploaded<'a> {
    /// The older name of `url`.
    uri: &'a str,
    url: &'a str,
    filename: &'a str,
}

/// Stores the file of the body, and responds when file and record are durable.
pub async fn upload(app: App, caller: Caller, body: FileStream) -> HandlerResult {
    let mut incoming = Incoming::new(&app, &caller);
    let settings = &app.config.uploads;
    let limit = (settings.file_bytes_max(), too_large(settings.file_mib_max.get()));
    let second = ApiError::bad_request("You may only upload one file at a time");
    let memory = app.blobs.writer_bytes() + HEAD_BYTES_MAX;
    let form = body.read_into(&mut incoming, limit, second, memory).await?;
    let ignored = form.ignored();
    let file = incoming.file.ok_or_else(|| ApiError::bad_request("You must specify a file to upload"))?;
    let (name, path_id) = (file.name.clone(), file.path_id.clone());
    keep(&app, &caller, file).await?;
    let url = format!("/user_uploads/{path_id}");
    Ok(reply(&Uploaded { uri: &url, url: &url, filename: &name })?.ignoring(ignored))
}

/// The refusal of a file above the maximum size.
pub fn too_large(mib: u64) -> ApiError {
    ApiError::bad_request(format!(
        "File is larger than this server's configured maximum upload size ({mib} MiB)."
    ))
}

/// A file that is being received. Nothing of it is left if it is dropped before it is kept.
pub struct IncomingFile {
    pub name: String,
    pub path_id: String,
    pub content_type: String,
    pub size: u64,
    head: Head,
    writer: BlobWriter,
}

/// The first bytes of a file, kept for as long as they may be those of an image.
#[derive(Default)]
struct Head {
    bytes: Vec<u8>,
    is_other: bool,
}

impl Head {
    fn add(&mut self, piece: &[u8]) {
        if self.is_other {
            return;
        }
        let room = HEAD_BYTES_MAX - self.bytes.len();
        self.bytes.extend_from_slice(&piece[..piece.len().min(room)]);
        if self.bytes.len() >= SIGNATURE_BYTES && preview_type(&self.bytes).is_none() {
            *self = Self { bytes: Vec::new(), is_other: true };
        }
    }
}

impl IncomingFile {
    /// Begins a file in the store, under a new path.
    pub fn begin(
        app: &App,
        realm: RealmId,
        name: &str,
        content_type: Option<&str>,
    ) -> Result<Self, ApiError> {
        Self::begin_at(app, new_path(realm, &file_name(name))?, name, content_type)
    }

    /// Begins a file in the store, under a path that was chosen before.
    pub fn begin_at(
        app: &App,
        path_id: String,
        name: &str,
        content_type: Option<&str>,
    ) -> Result<Self, ApiError> {
        let name = file_name(name);
        let blob = upload_blob(&path_id).ok_or_else(ApiError::internal)?;
        let declared = content_type.and_then(declared_type);
        let guessed = || mime_guess::from_path(&name).first_raw().map(str::to_owned);
        let content_type = declared.or_else(guessed).unwrap_or_else(|| UNKNOWN_TYPE.to_owned());
        let (head, writer) = (Head::default(), app.blobs.writer(blob));
        Ok(Self { name, path_id, content_type, size: 0, head, writer })
    }

    /// A complete and durable file of the data folder, which gets its path in the store; none if its bytes have to be copied.
    pub async fn of_stored(
        app: &App,
        path_id: &str,
        (name, content_type): (&str, Option<&str>),
        file: PathBuf,
    ) -> Result<Option<Self>, ApiError> {
        let blob = upload_blob(path_id).ok_or_else(ApiError::internal)?;
        let Some(writer) = app.blobs.writer_of_file(blob, file.clone()) else { return Ok(None) };
        let read = tokio::task::spawn_blocking(move || read_head(&file)).await;
        let (head, size) = read.map_err(|_| ApiError::internal())?.map_err(BlobError::from)?;
        let mut incoming = Self::begin_at(app, path_id.to_owned(), name, content_type)?;
        (incoming.size, incoming.writer) = (size, writer);
        incoming.head.add(&head);
        Ok(Some(incoming))
    }

    /// Adds bytes to its end. Refused while there is little room on the disk.
    pub async fn write(&mut self, app: &App, piece: Bytes) -> Result<(), ApiError> {
        let storage = app.server.storage_status();
        if let Some(pause) = storage.paused {
            return Err(ApiError::paused(pause));
        }
        // The rest of the disk is for messages.
        if storage.is_low && app.blobs.is_on_disk() {
            let msg = "The server has no room to store files";
            return Err(ApiError::retry_later(Code::STORAGE_FULL, msg, RETRY_SECS));
        }
        self.size += piece.len() as u64;
        self.head.add(&piece);
        Ok(self.writer.write(&piece).await?)
    }
}

/// The first bytes of a file, and its size.
fn read_head(path: &Path) -> std::io::Result<(Vec<u8>, u64)> {
    let file = File::open(path)?;
    let size = file.metadata()?.len();
    let mut head = Vec::new();
    file.take(HEAD_BYTES_MAX as u64).read_to_end(&mut head)?;
    Ok((head, size))
}

/// The file of a body.
struct Incoming<'a> {
    app: &'a App,
    caller: &'a Caller,
    file: Option<IncomingFile>,
}

impl<'a> Incoming<'a> {
    fn new(app: &'a App, caller: &'a Caller) -> Self {
        Self { app, caller, file: None }
    }
}

impl FileSink for Incoming<'_> {
    /// What would be refused at the end is refused before the file is received.
    async fn begin(&mut self, name: String, content_type: Option<String>) -> Result<(), ApiError> {
        let Caller { realm, user } = self.caller;
        check_room(&realm.directory(), user.id, 0, self.app.config.uploads.quota_bytes())?;
        self.file = Some(IncomingFile::begin(self.app, realm.id(), &name, content_type.as_deref())?);
        Ok(())
    }

    async fn write(&mut self, piece: Bytes) -> Result<(), ApiError> {
        match &mut self.file {
            Some(file) => file.write(self.app, piece).await,
            None => Err(ApiError::internal()),
        }
    }
}

/// Makes a file durable, and records it. Runs to its end also if the client disconnects; if the record is refused, the file is
/// deleted.
pub async fn keep(app: &App, caller: &Caller, file: IncomingFile) -> Result<(), ApiError> {
    let IncomingFile { name, path_id, content_type, size, head, writer } = file;
    let (app, realm, user) = (app.clone(), caller.realm.clone(), caller.user.id);
    let quota_bytes = app.config.uploads.quota_bytes();
    let kept = actix_rt::spawn(for_current_requester(async move {
        writer.finish().await?;
        let path = path_id.clone();
        let image = image_info(&app, &path, &head.bytes, size).await;
        // The bytes of an image say more about its type than its client.
        let found = preview_type(&head.bytes).filter(|_| image.is_some());
        let content_type = found.map_or(content_type, str::to_owned);
        let command = commands::AddAttachment { user, path_id, name, size, content_type, image, quota_bytes };
        decide(&app, &realm, command, &path).await
    }));
    kept.await.map_err(|_| ApiError::internal())?
}

/// Stores a file that is in memory, such as an attachment of an e-mail, and returns its path. The file is durable.
pub async fn store_bytes(
    app: &App,
    owner: &Caller,
    name: &str,
    content_type: Option<&str>,
    bytes: Bytes,
) -> Result<String, ApiError> {
    let settings = &app.config.uploads;
    if bytes.len() as u64 > settings.file_bytes_max() {
        return Err(too_large(settings.file_mib_max.get()));
    }
    check_room(&owner.realm.directory(), owner.user.id, bytes.len() as u64, settings.quota_bytes())?;
    let mut file = IncomingFile::begin(app, owner.realm.id(), name, content_type)?;
    file.write(app, bytes).await?;
    let path_id = file.path_id.clone();
    keep(app, owner, file).await?;
    Ok(path_id)
}

/// Deletes a file that was stored for a message that is not sent. What fails is done by the sweep of unclaimed files.
pub async fn discard(app: &App, owner: &Caller, path_id: &str) {
    let Some(file) = owner.realm.directory().attachment_by_path(path_id).cloned() else { return };
    let command = commands::RemoveAttachment { user: owner.user.id, id: file.id };
    match owner.realm.execute(command).await {
        Ok(_) => delete_bytes(app, path_id).await,
        Err(error) => {
            tracing::warn!(%error, "the file of a message that was not sent could not be deleted; the sweep of unclaimed files deletes it")
        }
    }
}

/// What is known of a file that is an image. In nearly all of them it is in the first bytes; otherwise the file is read.
async fn image_info(app: &App, path_id: &str, head: &[u8], size: u64) -> Option<ImageInfo> {
    let inspection = match inspect(head, size) {
        Inspection::Unfinished => inspect_stored(app, path_id, size).await,
        known => known,
    };
    match inspection {
        Inspection::Image(info) => Some(info),
        Inspection::Other | Inspection::Unfinished => None,
    }
}

/// Inspects a file in the store, off the HTTP threads. A file that cannot be read or waits for too long has no preview.
async fn inspect_stored(app: &App, path_id: &str, size: u64) -> Inspection {
    let inspected = async {
        let permit = app.images.acquire_permit().await?;
        let source = upload_blob(path_id).ok_or(ThumbnailError::NotAnImage)?;
        let bytes = read_image(&app.blobs, &source).await?;
        Ok::<_, ThumbnailError>(permit.run(move || inspect(&bytes, size)).await?)
    };
    match timeout(INSPECTION_MAX, inspected).await {
        Ok(Ok(inspection)) => inspection,
        Ok(Err(error)) => {
            tracing::warn!(%error, "an uploaded image has no preview");
            Inspection::Other
        }
        Err(_) => Inspection::Other,
    }
}

async fn decide(
    app: &App,
    realm: &RealmHandle,
    command: commands::AddAttachment,
    path_id: &str,
) -> Result<(), ApiError> {
    match realm.execute(command).await {
        Ok(_) => Ok(()),
        // The outcome is unknown; a file that nothing refers to is deleted by the next sweep.
        Err(error @ (DomainError::Stopping | DomainError::Storage(_) | DomainError::Paused(_))) => {
            Err(error.into())
        }
        Err(refusal) => {
            delete_bytes(app, path_id).await;
            Err(refusal.into())
        }
    }
}
