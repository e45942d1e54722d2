//! Uploaded pictures: decoding, storing and serving them.

pub mod avatar;
mod default;
pub mod emoji;
pub mod realm;
pub mod redirect;
pub mod serve;

use crate::http::upload::{Form, UploadedFile};
use crate::http::{ApiError, App, Caller, Code};
use crate::integrations::blobs::pictures::blob_name;
use crate::integrations::blobs::{BlobError, BlobName, Blobs, random_name};
use crate::integrations::images::{self, AvatarImages, ImageRefusal};
use actors::{DomainError, for_current_requester};
use model::RealmId;
use rules::avatar::medium_file;

/// Maximum size of an uploaded picture, in MiB.
const FILE_MIB_MAX: u64 = 5;
/// Maximum size of an uploaded picture, in bytes.
pub const FILE_BYTES_MAX: u64 = FILE_MIB_MAX << 20;

/// The only file of a form. `what` is its name in the error text.
fn one_file(form: Form, what: &str) -> Result<UploadedFile, ApiError> {
    let file = form.file.filter(|_| form.file_count == 1);
    file.ok_or_else(|| ApiError::bad_request(format!("You must upload exactly one {what}.")))
}

/// Refuses pictures above the maximum size.
fn check_size(file: &UploadedFile) -> Result<(), ApiError> {
    if file.size > FILE_BYTES_MAX {
        let msg = format!("Uploaded file is larger than the allowed limit of {FILE_MIB_MAX} MiB");
        return Err(ApiError::bad_request(msg));
    }
    Ok(())
}

/// Converts an upload into the form that is stored, off the HTTP threads.
async fn convert_upload<T: Send + 'static>(
    app: &App,
    caller: &Caller,
    file: UploadedFile,
    make: impl Fn(&[u8], Option<&str>) -> Result<T, ImageRefusal> + Send + Sync + 'static,
) -> Result<T, ApiError> {
    check_size(&file)?;
    let declared = file.declared_type().map(str::to_owned);
    let _permit = app.image_queue.acquire(caller.holder()).await?;
    let permit = app.images.acquire_permit().await?;
    let bytes = file.into_bytes().await?;
    Ok(permit.run(move || make(&bytes, declared.as_deref())).await??)
}

/// Stores files, and executes the command that refers to them. If it is refused, the files are deleted. Runs to its end
/// also if the client disconnects.
async fn keep<T: 'static>(
    app: &App,
    realm: RealmId,
    files: Vec<(String, Vec<u8>)>,
    decide: impl Future<Output = Result<T, DomainError>> + 'static,
) -> Result<T, ApiError> {
    // A command that would be refused anyway must not use up the disk.
    if let Some(pause) = app.server.storage_status().paused {
        return Err(ApiError::paused(pause));
    }
    let blobs = app.blobs.clone();
    let kept = actix_rt::spawn(for_current_requester(async move {
        let mut names = Vec::new();
        for (file, bytes) in files {
            let name = blob_name(realm, &file).ok_or_else(ApiError::internal)?;
            names.push(name.clone());
            if let Err(error) = blobs.put(&name, bytes.into()).await {
                discard(&blobs, &names).await;
                return Err(error.into());
            }
        }
        match decide.await {
            Ok(outcome) => Ok(outcome),
            // The outcome is unknown; files that nothing refers to are deleted by the next cleanup.
            Err(error @ (DomainError::Stopping | DomainError::Storage(_) | DomainError::Paused(_))) => {
                Err(error.into())
            }
            Err(refusal) => {
                discard(&blobs, &names).await;
                Err(refusal.into())
            }
        }
    }));
    kept.await.map_err(|_| ApiError::internal())?
}

async fn discard(blobs: &Blobs, names: &[BlobName]) {
    for name in names {
        if let Err(error) = blobs.delete(name).await {
            tracing::warn!(%error, "an unused file could not be deleted");
        }
    }
}

/// Converts an upload into an avatar.
///
/// # Errors
/// BAD_IMAGE, or the text for files above the maximum size.
pub async fn made_avatar(app: &App, caller: &Caller, file: UploadedFile) -> Result<AvatarImages, ApiError> {
    convert_upload(app, caller, file, images::avatar).await
}

/// Stores an avatar, if there is one, and executes the command that names its file: if storing fails, nothing is decided.
///
/// # Errors
/// FILES_UNAVAILABLE and STORAGE_FULL, and those of the command.
pub async fn with_avatar<T: 'static, F>(
    app: &App,
    realm: RealmId,
    made: Option<AvatarImages>,
    decide: impl FnOnce(Option<String>) -> F,
) -> Result<T, ApiError>
where
    F: Future<Output = Result<T, DomainError>> + 'static,
{
    let Some(made) = made else { return Ok(decide(None).await?) };
    let name = format!("{}.png", random_name()?);
    let files = vec![(name.clone(), made.small), (medium_file(&name), made.medium)];
    keep(app, realm, files, decide(Some(name))).await
}

impl From<ImageRefusal> for ApiError {
    fn from(refusal: ImageRefusal) -> Self {
        Self::new(Code::BAD_IMAGE, refusal.to_string())
    }
}

impl From<BlobError> for ApiError {
    fn from(error: BlobError) -> Self {
        match error {
            BlobError::Missing => Self::not_found(),
            error @ (BlobError::Store(_) | BlobError::Owned) => {
                // The file and the reason are only logged.
                tracing::error!(%error, "a request failed because files cannot be stored or read");
                Self::retry_later(
                    Code::FILES_UNAVAILABLE,
                    "The server cannot store or read files at the moment",
                    10.0,
                )
            }
            BlobError::Full(reason) => {
                tracing::error!(%reason, "a request failed because the disk is full");
                Self::retry_later(Code::STORAGE_FULL, "The server has no room to store files", 10.0)
            }
        }
    }
}
