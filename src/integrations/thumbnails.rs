//! Thumbnails of uploaded images: made when the first client asks for one, and stored beside the image.
//!
//! Clients ask for the same thumbnail at the same moment, when a message arrives. So each is made by one request, for which
//! the others wait. An image that cannot be decoded is remembered as an empty file, so that it is not tried again.

use super::blobs::{Blob, BlobError, BlobName, Blobs};
use super::images::PATIENCE;
use super::images::inspect::SOURCE_BYTES_MAX;
use super::images::thumbnail::{ThumbnailFormat, make};
use crate::background::{Background, WorkError};
use crate::fair_queue::{FairQueue, FairQueueLimits, TooManyWaiting};
use actors::budget::Holder;
use futures_util::TryStreamExt;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::watch;

/// Images that are decoded at a time.
const PERMITS_MAX: usize = 1;
/// Thumbnails that wait to be made. Beyond it: 503.
const WAITING_MAX: usize = 1000;

/// Limits of the clients that ask for thumbnails that are not made yet.
const QUEUE: FairQueueLimits =
    FairQueueLimits { client_max: 2, client_waiting_max: 200, organization_max: 4 };

/// Why there is no thumbnail.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ThumbnailError {
    #[error("the file is not an image that can be decoded")]
    NotAnImage,
    #[error(transparent)]
    Work(#[from] WorkError),
    #[error(transparent)]
    TooManyWaiting(#[from] TooManyWaiting),
    #[error(transparent)]
    Blob(#[from] BlobError),
}

type Outcome = Result<(), ThumbnailError>;

/// Makes thumbnails. Cheap to clone.
#[derive(Clone)]
pub struct Thumbnails {
    blobs: Blobs,
    work: Arc<Background>,
    queue: FairQueue,
    /// Thumbnails that are being made; none until the outcome is known.
    flights: Arc<Mutex<HashMap<BlobName, watch::Receiver<Option<Outcome>>>>>,
}

impl Thumbnails {
    /// Makes thumbnails of files in a store.
    pub fn new(blobs: Blobs) -> Self {
        Self {
            blobs,
            work: Arc::new(Background::new(PERMITS_MAX, WAITING_MAX, PATIENCE)),
            queue: FairQueue::new(QUEUE),
            flights: Arc::default(),
        }
    }

    /// A thumbnail of a file, under its name, made when it is asked for the first time, with a permit of the client.
    ///
    /// # Errors
    /// If the image cannot be decoded or read, or too many thumbnails are waiting.
    pub async fn get(
        &self,
        (source, target): (BlobName, BlobName),
        format: ThumbnailFormat,
        client: Holder,
    ) -> Result<Blob, ThumbnailError> {
        let blob = match self.blobs.get(&target).await {
            Err(BlobError::Missing) => {
                self.ensure_made((source, target.clone()), format, client).await?;
                self.blobs.get(&target).await?
            }
            found => found?,
        };
        if blob.size == 0 { Err(ThumbnailError::NotAnImage) } else { Ok(blob) }
    }

    /// Waits until the thumbnail is made, by this request or another one. First it waits for a permit of its client, so that
    /// a client that asked earlier, and has much work waiting, delays no other.
    async fn ensure_made(
        &self,
        (source, target): (BlobName, BlobName),
        format: ThumbnailFormat,
        client: Holder,
    ) -> Outcome {
        let client_permit = self.queue.acquire(client).await?;
        if !matches!(self.blobs.get(&target).await, Err(BlobError::Missing)) {
            return Ok(());
        }
        let mut outcome = {
            let mut flights = self.flights.lock();
            match flights.get(&target) {
                Some(flight) => flight.clone(),
                None => {
                    let (done, flight) = watch::channel(None);
                    flights.insert(target.clone(), flight.clone());
                    // It continues also if this client disconnects, because others may wait for it.
                    let (maker, client_permit) = (self.clone(), client_permit);
                    actix_rt::spawn(async move {
                        let outcome = maker.make(source, &target, format).await;
                        maker.flights.lock().remove(&target);
                        done.send_replace(Some(outcome));
                        drop(client_permit);
                    });
                    flight
                }
            }
        };
        match outcome.wait_for(Option::is_some).await {
            Ok(outcome) => outcome.clone().unwrap_or(Err(WorkError::Failed.into())),
            Err(_) => Err(WorkError::Stopping.into()),
        }
    }

    async fn make(&self, source: BlobName, target: &BlobName, format: ThumbnailFormat) -> Outcome {
        // Only now is the image read: those that wait take no memory.
        let permit = self.work.acquire_permit().await?;
        let bytes = read_image(&self.blobs, &source).await?;
        let made = permit.run(move || make(&bytes, format)).await?;
        let made = made.unwrap_or_else(|refusal| {
            tracing::debug!(%refusal, "an uploaded image has no thumbnail");
            Vec::new()
        });
        Ok(self.blobs.put(target, made.into()).await?)
    }
}

/// A complete image, in memory.
///
/// # Errors
/// If it is too large, or cannot be read.
pub async fn read_image(blobs: &Blobs, name: &BlobName) -> Result<Vec<u8>, ThumbnailError> {
    let image = blobs.get(name).await?;
    if image.size > SOURCE_BYTES_MAX {
        return Err(ThumbnailError::NotAnImage);
    }
    let mut bytes = Vec::with_capacity(usize::try_from(image.size).unwrap_or_default());
    let mut pieces = image.bytes;
    while let Some(piece) = pieces.try_next().await? {
        bytes.extend_from_slice(&piece);
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests;
