//! `POST /user_uploads`: stores a file (docs/api/uploads.md#upload-a-file).

use super::delete_bytes;
use crate::http::file_stream::{FileSink, FileStream};
use crate::http::{ApiError, App, Caller, HandlerResult, reply};
use crate::integrations::blobs::uploads::{new_path, upload_blob};
use crate::integrations::blobs::writer::BlobWriter;
use actors::{DomainError, RealmHandle, commands};
use bytes::Bytes;
use model::RealmId;
use rules::uploads::{check_room, declared_type, file_name};
use serde::Serialize;

/// The type of a file about which nothing is known.
const UNKNOWN_TYPE: &str = "application/octet-stream";

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
    let form = body.read_into(&mut incoming, limit, second, app.blobs.writer_bytes()).await?;
    let file = incoming.file.ok_or_else(|| ApiError::bad_request("You must specify a file to upload"))?;
    let (name, path_id) = (file.name.clone(), file.path_id.clone());
    keep(&app, &caller, file).await?;
    let url = format!("/user_uploads/{path_id}");
    Ok(reply(&Uploaded { uri: &url, url: &url, filename: &name })?.ignoring(form.fields.ignored()))
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
    writer: BlobWriter,
}

impl IncomingFile {
    /// Begins a file in the store, under a new path.
    pub fn begin(
        app: &App,
        realm: RealmId,
        name: &str,
        content_type: Option<&str>,
    ) -> Result<Self, ApiError> {
        let name = file_name(name);
        let path_id = new_path(realm, &name)?;
        let blob = upload_blob(&path_id).ok_or_else(ApiError::internal)?;
        let declared = content_type.and_then(declared_type);
        let guessed = || mime_guess::from_path(&name).first_raw().map(str::to_owned);
        let content_type = declared.or_else(guessed).unwrap_or_else(|| UNKNOWN_TYPE.to_owned());
        Ok(Self { name, path_id, content_type, size: 0, writer: app.blobs.writer(blob) })
    }

    /// Adds bytes to its end. Refused while the disk is almost full.
    pub async fn write(&mut self, app: &App, piece: Bytes) -> Result<(), ApiError> {
        if let Some(pause) = app.server.storage_status().paused {
            return Err(ApiError::paused(pause));
        }
        self.size += piece.len() as u64;
        Ok(self.writer.write(piece).await?)
    }
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
    let IncomingFile { name, path_id, content_type, size, writer } = file;
    let (app, realm, user) = (app.clone(), caller.realm.clone(), caller.user.id);
    let quota_bytes = app.config.uploads.quota_bytes();
    let kept = actix_rt::spawn(async move {
        writer.finish().await?;
        let path = path_id.clone();
        let image = None;
        let command = commands::AddAttachment { user, path_id, name, size, content_type, image, quota_bytes };
        decide(&app, &realm, command, &path).await
    });
    kept.await.map_err(|_| ApiError::internal())?
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
