//! An export as a stored file, for administrators who request one by the API.

use super::jobs::{Exports, on_thread};
use super::run::{ExportRequest, export};
use super::scope::ExportKind;
use crate::integrations::blobs::exports::{export_blob, new_export};
use crate::integrations::blobs::writer::BlobWriter;
use crate::integrations::blobs::{BlobError, Blobs};
use crate::transfer::problem::TransferError;
use actors::RealmHandle;
use actors::commands::FinishExport;
use model::export::RequestedExport;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use tokio::runtime::Runtime;

/// Bytes that are written at a time.
const BUFFER_BYTES: usize = 1 << 18;

impl Exports {
    /// Makes an export that was requested, in its turn, and records what became of it. Returns at once. `folder` is for temporary
    /// files. When the server stops meanwhile, the next start records that it failed.
    pub fn begin(
        &self,
        realm: RealmHandle,
        blobs: Blobs,
        folder: PathBuf,
        (id, kind): (u32, RequestedExport),
    ) {
        let own = self.clone();
        actix_rt::spawn(async move {
            let made = own.in_turn(own.make(&realm, blobs, folder, kind)).await;
            let file = match made {
                Ok(file) => Some(file),
                Err(TransferError::Stopped) if own.is_stopping() => return,
                Err(error) => {
                    tracing::error!(%error, id, "an export failed");
                    None
                }
            };
            if let Err(error) = realm.execute(FinishExport { id, file }).await {
                tracing::error!(%error, id, "the end of an export could not be recorded");
            }
        });
    }

    /// The path and the bytes of the file.
    async fn make(
        &self,
        realm: &RealmHandle,
        blobs: Blobs,
        folder: PathBuf,
        kind: RequestedExport,
    ) -> Result<(String, u64), TransferError> {
        let (path, top) = new_export(realm.id())?;
        let kind = match kind {
            RequestedExport::Public => ExportKind::Public,
            RequestedExport::WithConsent => ExportKind::Consent,
        };
        let (realm, stop) = (realm.clone(), self.stop_flag());
        on_thread(move || {
            let name = export_blob(&path).ok_or(BlobError::Missing)?;
            let request = ExportRequest { realm, blobs: blobs.clone(), kind, top, folder, stop };
            let sink = BufWriter::with_capacity(BUFFER_BYTES, Sink::new(blobs.writer(name))?);
            let (sink, _) = export(&request, sink, &|_| ())?;
            let sink = sink.into_inner().map_err(|error| Sink::failed(&error.into_error()))?;
            Ok((path, sink.finish()?))
        })
        .await
    }
}

/// Writes to a stored file from a thread of its own.
struct Sink {
    runtime: Runtime,
    writer: BlobWriter,
    bytes: u64,
}

impl Sink {
    fn new(writer: BlobWriter) -> Result<Self, TransferError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Self::failed(&error))?;
        Ok(Self { runtime, writer, bytes: 0 })
    }

    fn failed(error: &io::Error) -> TransferError {
        BlobError::Store(error.to_string()).into()
    }

    /// Completes the file; returns its size.
    fn finish(self) -> Result<u64, TransferError> {
        self.runtime.block_on(self.writer.finish())?;
        Ok(self.bytes)
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.runtime.block_on(self.writer.write(bytes)).map_err(io::Error::other)?;
        self.bytes += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
