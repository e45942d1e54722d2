//! Files that are read in chunks as they are sent: whole or in part.

use super::{Blob, BlobError, BlobName, Blobs};
use bytes::Bytes;
use futures_util::stream::{self, BoxStream};
use futures_util::{StreamExt, TryStreamExt};
use object_store::signer::{SignedUrlOptions, Signer};
use object_store::{GetOptions, GetResultPayload, ObjectStore};
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::time::Duration;

/// Bytes that are read from a folder at a time.
pub const CHUNK_BYTES: usize = 128 << 10;
/// Bytes that are given to the connection at a time.
const PIECE_BYTES: usize = 64 << 10;

impl Blobs {
    /// Reads a file, or a part of it; the caller knows its size.
    pub async fn read(&self, name: &BlobName, range: Option<Range<u64>>) -> Result<Blob, BlobError> {
        self.record_read(self.read_unrecorded(name, range).await)
    }

    async fn read_unrecorded(&self, name: &BlobName, range: Option<Range<u64>>) -> Result<Blob, BlobError> {
        let options = GetOptions { range: range.map(Into::into), ..GetOptions::default() };
        let found = self.streaming.get_opts(&name.path(), options).await?;
        let range = found.range.clone();
        let size = range.end - range.start;
        let bytes = match found.payload {
            GetResultPayload::File(file, _) => chunks_of(file, range),
            GetResultPayload::Stream(bytes) => bytes.map_err(BlobError::from).boxed(),
        };
        Ok(Blob { size, bytes })
    }

    /// A URL at the store itself, with which anyone can read a file for a while, with these headers in the answer; none where
    /// that is not configured.
    pub async fn signed_url(
        &self,
        name: &BlobName,
        valid: Duration,
        headers: [(&'static str, String); 2],
    ) -> Option<String> {
        let signer = self.signer.as_ref()?;
        let options = SignedUrlOptions::default().with_query(headers);
        match signer.signed_url_opts(reqwest::Method::GET, &name.path(), valid, &options).await {
            Ok(url) => Some(url.into()),
            Err(error) => {
                let error = BlobError::from(error);
                tracing::warn!(%error, "a URL could not be signed; the file is sent by this server");
                None
            }
        }
    }
}

/// A part of a file, read by the threads for blocking work.
fn chunks_of(file: File, range: Range<u64>) -> BoxStream<'static, Result<Bytes, BlobError>> {
    let file = Arc::new(file);
    let chunks = stream::try_unfold(range, move |left| {
        let file = file.clone();
        async move {
            if left.is_empty() {
                return Ok::<_, BlobError>(None);
            }
            let end = left.end.min(left.start + CHUNK_BYTES as u64);
            let chunk = read_chunk(file, left.start..end).await?;
            Ok(Some((chunk, end..left.end)))
        }
    });
    chunks.map_ok(|chunk| stream::iter(pieces_of(chunk).map(Ok::<_, BlobError>))).try_flatten().boxed()
}

async fn read_chunk(file: Arc<File>, range: Range<u64>) -> Result<Bytes, BlobError> {
    let read = tokio::task::spawn_blocking(move || {
        let mut bytes = vec![0; (range.end - range.start) as usize];
        file.read_exact_at(&mut bytes, range.start).map(|()| Bytes::from(bytes))
    });
    let bytes = read.await.map_err(|ended| BlobError::Store(ended.to_string()))?;
    bytes.map_err(|error| BlobError::Store(error.to_string()))
}

fn pieces_of(mut chunk: Bytes) -> impl Iterator<Item = Bytes> {
    std::iter::from_fn(move || {
        let length = chunk.len().min(PIECE_BYTES);
        (length > 0).then(|| chunk.split_to(length))
    })
}
