//! The files that all nodes of a cluster share, beside uploaded files: in their bucket, or in the shared folder.

use super::backups::Bucket;
use crate::config::{BlobKind, Config};
use actors::backups::FileStore;
use actors::cluster::{OpenShared, SharedFolder};
use std::sync::Arc;

/// How to open them; none if the nodes share no files.
pub fn opener(config: &Config) -> Option<OpenShared> {
    let (blobs, folder) = (config.blobs.clone(), config.cluster.shared_folder().map(ToOwned::to_owned));
    match (blobs.kind, folder) {
        (BlobKind::S3, _) => Some(Arc::new(move |cluster: &str, _: &str| {
            let bucket = Bucket::below(&blobs, &format!("cluster/{cluster}"));
            bucket.map(|bucket| Box::new(bucket) as Box<dyn FileStore>).map_err(|error| error.to_string())
        })),
        (BlobKind::Local, Some(folder)) => Some(Arc::new(move |cluster: &str, writer: &str| {
            Ok(Box::new(SharedFolder::new(&folder.join("cluster").join(cluster), writer))
                as Box<dyn FileStore>)
        })),
        (BlobKind::Local, None) => None,
    }
}
