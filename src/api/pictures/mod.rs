//! Pictures that people upload: where their files are, how a new one is kept, and how all of them are served.

pub mod avatar;
pub mod emoji;
pub mod realm;
pub mod redirect;
pub mod serve;

use crate::http::upload::{Form, UploadedFile};
use crate::http::{ApiError, App};
use crate::outside::blobs::{BlobError, BlobName, Blobs, random_word};
use crate::outside::images::{self, AvatarImages, ImageRefusal};
use actors::{DomainError, RealmHandle};
use model::{RealmId, UserId};
use rules::avatar::medium_file;
use std::collections::HashSet;

/// Longest picture that is taken, in MiB.
const FILE_MIB_MAX: u64 = 5;
/// The same in bytes.
pub const FILE_BYTES_MAX: u64 = FILE_MIB_MAX << 20;

/// The folder of an organization's pictures among all files.
pub fn pictures_folder(realm: RealmId) -> String {
    format!("avatars/{realm}")
}

/// The name of a file of an organization's pictures; none if it is no name.
fn blob_name(realm: RealmId, file: &str) -> Option<BlobName> {
    BlobName::parse(&format!("{}/{file}", pictures_folder(realm)))
}

/// Every file that something of an organization names.
pub fn named_files(realm: &RealmHandle) -> HashSet<String> {
    let directory = realm.directory();
    let folder = pictures_folder(realm.id());
    let avatars = directory.avatar_files().flat_map(|file| [file.to_string(), medium_file(file)]);
    let pictures = directory.realm_pictures().all().map(|picture| picture.file.clone());
    let emoji = directory.realm_emoji().flat_map(|emoji| [Some(emoji.file.clone()), emoji.still.clone()]);
    let all = avatars.chain(pictures.into_iter().chain(emoji).flatten());
    all.map(|file| format!("{folder}/{file}")).collect()
}

/// The one file of a form, not too long. `what` is what the text of a refusal calls it.
fn one_file(form: Form, what: &str) -> Result<UploadedFile, ApiError> {
    let file = form.file.filter(|_| form.file_count == 1);
    file.ok_or_else(|| ApiError::bad_request(format!("You must upload exactly one {what}.")))
}

/// Refuses a picture of more bytes than anybody needs.
fn check_size(file: &UploadedFile) -> Result<(), ApiError> {
    if file.size > FILE_BYTES_MAX {
        let msg = format!("Uploaded file is larger than the allowed limit of {FILE_MIB_MAX} MiB");
        return Err(ApiError::bad_request(msg));
    }
    Ok(())
}

/// Makes of an upload what is kept of it, off the threads that serve requests.
async fn made_of<T: Send + 'static>(
    app: &App,
    file: UploadedFile,
    make: impl FnOnce(&[u8], Option<&str>) -> Result<T, ImageRefusal> + Send + 'static,
) -> Result<T, ApiError> {
    check_size(&file)?;
    let declared = file.declared_type().map(str::to_owned);
    let turn = app.images.turn().await?;
    let bytes = file.into_bytes().await?;
    turn.run(move || make(&bytes, declared.as_deref())).await
}

/// Keeps files, and decides what names them. Where that is refused they are gone again. Goes on to its end also when the
/// client does not wait for it.
async fn keep(
    app: &App,
    realm: RealmId,
    files: Vec<(String, Vec<u8>)>,
    decide: impl Future<Output = Result<(), DomainError>> + 'static,
) -> Result<(), ApiError> {
    let blobs = app.blobs.clone();
    let kept = actix_rt::spawn(async move {
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
            Ok(()) => Ok(()),
            // Nobody knows whether it was decided; what is named by nothing goes with the next look.
            Err(error @ (DomainError::Stopping | DomainError::Storage(_))) => Err(error.into()),
            Err(refusal) => {
                discard(&blobs, &names).await;
                Err(refusal.into())
            }
        }
    });
    kept.await.map_err(|_| ApiError::internal())?
}

async fn discard(blobs: &Blobs, names: &[BlobName]) {
    for name in names {
        if let Err(error) = blobs.delete(name).await {
            tracing::warn!(%error, "a file that nothing names stays for now");
        }
    }
}

/// Gives somebody the picture in an upload: oneself, or a bot that one looks after.
///
/// # Errors
/// BAD_IMAGE, the text for files that are too long, and those of `RealmHandle::set_avatar`.
pub async fn set_avatar(
    app: &App,
    realm: &RealmHandle,
    by: UserId,
    user: UserId,
    file: UploadedFile,
) -> Result<(), ApiError> {
    let made = made_avatar(app, file).await?;
    keep_avatar(app, realm, by, user, made).await
}

/// What is made of an upload that is to be a picture of somebody.
///
/// # Errors
/// BAD_IMAGE, the text for files that are too long.
pub async fn made_avatar(app: &App, file: UploadedFile) -> Result<AvatarImages, ApiError> {
    made_of(app, file, images::avatar).await
}

/// Gives somebody a picture: oneself, or a bot that one looks after.
///
/// # Errors
/// Those of `RealmHandle::set_avatar`.
pub async fn keep_avatar(
    app: &App,
    realm: &RealmHandle,
    by: UserId,
    user: UserId,
    made: AvatarImages,
) -> Result<(), ApiError> {
    let name = format!("{}.png", random_word()?);
    let files = vec![(name.clone(), made.small), (medium_file(&name), made.medium)];
    let handle = realm.clone();
    keep(app, realm.id(), files, async move { handle.set_avatar(by, user, Some(name)).await }).await
}

impl From<BlobError> for ApiError {
    fn from(error: BlobError) -> Self {
        match error {
            BlobError::Missing | BlobError::OutOfRange => Self::not_found(),
            BlobError::Source(_) => Self::bad_request("Request body is incomplete"),
            BlobError::Store(reason) => {
                // Which file and why is for those who run the server.
                tracing::error!(%reason, "a request failed because files cannot be kept or read");
                Self::unavailable("The server cannot store or read its data at the moment")
            }
        }
    }
}
