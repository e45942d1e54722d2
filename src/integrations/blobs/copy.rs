//! Copying all files of an organization from one store to another.

use super::exports::exports_folder;
use super::pictures::pictures_folder;
use super::uploads::{thumbnails_folder, uploads_folder};
use super::{BlobError, BlobName, Blobs};
use futures_util::{StreamExt, TryStreamExt};
use model::RealmId;
use sha2::{Digest, Sha256};

/// What was copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CopiedFiles {
    /// Files of the organization.
    pub files: u64,
    /// What the other store did not have.
    pub new_files: u64,
    pub new_bytes: u64,
}

/// Copies what the other store does not have, and reads it back. Files never change, so one of the same name and size is not
/// copied again. `progress` receives the number of files so far, and of all.
pub async fn copy_files(
    from: &Blobs,
    to: &Blobs,
    realm: RealmId,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<CopiedFiles, BlobError> {
    let mut names = Vec::new();
    for folder in folders(realm) {
        let listed: Vec<BlobName> = from.list(&folder).map_ok(|known| known.name).try_collect().await?;
        names.extend(listed);
    }
    let mut copied = CopiedFiles::default();
    for name in &names {
        let bytes = copy_file(from, to, name).await?;
        copied.files += 1;
        copied.new_files += u64::from(bytes.is_some());
        copied.new_bytes += bytes.unwrap_or_default();
        progress(copied.files, names.len() as u64);
    }
    Ok(copied)
}

/// The folders of an organization's files.
fn folders(realm: RealmId) -> impl Iterator<Item = BlobName> {
    let all =
        [uploads_folder(realm), pictures_folder(realm), thumbnails_folder(realm), exports_folder(realm)];
    all.into_iter().filter_map(|folder| BlobName::parse(&folder))
}

/// Copies a file; returns its size, or none if it was there.
async fn copy_file(from: &Blobs, to: &Blobs, name: &BlobName) -> Result<Option<u64>, BlobError> {
    let mut source = match from.get(name).await {
        // It was deleted since it was listed.
        Err(BlobError::Missing) => return Ok(None),
        found => found?,
    };
    match to.get(name).await {
        Ok(known) if known.size == source.size => return Ok(None),
        Ok(_) | Err(BlobError::Missing) => {}
        Err(error) => return Err(error),
    }
    let (mut writer, mut hash, mut bytes) = (to.writer(name.clone()), Sha256::new(), 0);
    while let Some(piece) = source.bytes.next().await {
        let piece = piece?;
        hash.update(&piece);
        bytes += piece.len() as u64;
        writer.write(&piece).await?;
    }
    writer.finish().await?;
    if hash_of(to, name).await? != hash.finalize().as_slice() {
        return Err(BlobError::Store(format!(
            "{} is not what was written when it is read back",
            name.as_str()
        )));
    }
    Ok(Some(bytes))
}

async fn hash_of(blobs: &Blobs, name: &BlobName) -> Result<Vec<u8>, BlobError> {
    let (mut found, mut hash) = (blobs.get(name).await?, Sha256::new());
    while let Some(piece) = found.bytes.next().await {
        hash.update(&piece?);
    }
    Ok(hash.finalize().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Overrides};
    use bytes::Bytes;

    #[actix_web::test]
    async fn files_of_one_organization_are_copied_once() {
        let config = Config::load(None, [], Overrides::default()).unwrap();
        let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let [from, to] = [0, 1].map(|at| Blobs::open(&config.blobs, folders[at].path(), false).unwrap());
        let name = |text: &str| BlobName::parse(text).unwrap();
        for text in
            ["uploads/7/4b/x/cat.txt", "avatars/7/a.png", "exports/7/t/e.tar.gz", "uploads/77/4b/x/other.txt"]
        {
            from.put(&name(text), Bytes::from(text.to_owned())).await.unwrap();
        }
        let first = copy_files(&from, &to, RealmId(7), &mut |_, _| ()).await.unwrap();
        assert_eq!((first.files, first.new_files), (3, 3));
        assert_eq!(
            hash_of(&to, &name("avatars/7/a.png")).await.unwrap(),
            Sha256::digest("avatars/7/a.png").to_vec()
        );
        assert!(matches!(to.get(&name("uploads/77/4b/x/other.txt")).await, Err(BlobError::Missing)));
        // What was cut short is copied again.
        to.put(&name("avatars/7/a.png"), Bytes::from("ava")).await.unwrap();
        let second = copy_files(&from, &to, RealmId(7), &mut |_, _| ()).await.unwrap();
        assert_eq!((second.files, second.new_files), (3, 1));
        assert_eq!(
            hash_of(&to, &name("avatars/7/a.png")).await.unwrap(),
            Sha256::digest("avatars/7/a.png").to_vec()
        );
    }
}
