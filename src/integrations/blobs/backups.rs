//! Backups in S3. Locks are an object with an owner and an end, which the owner moves on while it works.

use super::s3::Retries;
use super::{BlobError, BlobName, Blobs};
use crate::config::{BackupSettings, BlobKind, BlobSettings};
use actors::backups::{Access, FileStore};
use bytes::{Buf, Bytes};
use futures_util::{StreamExt, TryStreamExt};
use object_store::{ObjectStore, ObjectStoreExt, PutMode, PutOptions};
use parking_lot::Mutex;
use std::io::{self, ErrorKind, Read};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::runtime::{Builder, Runtime};

const LOCK: &str = "lock";

/// How long a lock is valid without being renewed.
const LOCK_VALID: Duration = Duration::from_secs(600);

/// After this time a lock is renewed.
const LOCK_RENEWED: Duration = Duration::from_secs(60);

/// Bytes of a file that are read and given to the service at a time.
const PIECE_BYTES: usize = 256 << 10;

/// A backup repository in a bucket. Not to be used by threads of an async runtime.
pub struct Bucket {
    title: String,
    prefix: String,
    blobs: Blobs,
    runtime: Runtime,
    lock: Option<Mutex<Lease>>,
}

/// The lock that this process holds.
struct Lease {
    owner: String,
    renewed: Instant,
}

impl Bucket {
    /// A bucket, and the beginning of the names in it, without a slash at the end. The service is not contacted.
    ///
    /// # Errors
    /// `Store` for names that are not valid, and inconsistent options.
    pub fn open(settings: &BackupSettings, bucket: &str, prefix: &str) -> Result<Self, BlobError> {
        let prefix = prefix.trim_end_matches('/');
        let is_valid = BlobName::parse(bucket).is_some() && !bucket.contains('/');
        if !is_valid || !(prefix.is_empty() || BlobName::parse(prefix).is_some()) {
            let why = "the names of bucket and folders have letters, digits, `-`, `_` and dots".to_owned();
            return Err(BlobError::Store(why));
        }
        let settings = BlobSettings {
            kind: BlobKind::S3,
            bucket: bucket.to_owned(),
            endpoint: settings.endpoint.clone(),
            region: settings.region.clone(),
            path_style: settings.path_style,
            access_key_id: settings.access_key_id.clone(),
            secret_access_key: settings.secret_access_key.clone(),
            request_secs_max: settings.request_secs_max,
            redirects: false,
        };
        // A backup at night is worth waiting for.
        Self::with(&settings, prefix, Retries::UntilTimeout)
    }

    /// The names with a beginning, without a slash at the end, in the bucket of uploaded files.
    #[cfg(feature = "cluster")]
    pub(super) fn below(settings: &BlobSettings, prefix: &str) -> Result<Self, BlobError> {
        Self::with(settings, prefix, Retries::Few)
    }

    fn with(settings: &BlobSettings, prefix: &str, retries: Retries) -> Result<Self, BlobError> {
        let slash = if prefix.is_empty() { "" } else { "/" };
        let runtime = Builder::new_current_thread().enable_all().build()?;
        Ok(Self {
            title: format!("s3://{}{slash}{prefix}", settings.bucket),
            prefix: format!("{prefix}{slash}"),
            blobs: Blobs::open_s3_store(settings, retries)?,
            runtime,
            lock: None,
        })
    }

    fn name(&self, name: &str) -> io::Result<BlobName> {
        let found = BlobName::parse(&format!("{}{name}", self.prefix));
        found.ok_or_else(|| io::Error::other(format!("{name:?} is not the name of a file of backups")))
    }

    /// The owner in the lock and the end of its time in milliseconds since 1970.
    fn locked(&self) -> io::Result<Option<(String, u64)>> {
        let mut text = String::new();
        match self.open(LOCK).and_then(|lock| lock.take(1_024).read_to_string(&mut text)) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            read => read?,
        };
        let (owner, end) = text.trim_end().rsplit_once(' ').unwrap_or((&text, ""));
        Ok(Some((owner.to_owned(), end.parse().unwrap_or_default())))
    }

    /// Writes the lock; false if it must be new and is not.
    fn write_lock(&self, owner: &str, mode: PutMode) -> io::Result<bool> {
        let text = format!("{owner} {}\n", now() + LOCK_VALID.as_millis() as u64);
        let path = self.name(LOCK)?.path();
        let options = PutOptions { mode, ..PutOptions::default() };
        let put = self.blobs.store.put_opts(&path, text.into(), options);
        match self.runtime.block_on(put) {
            Ok(_) => Ok(true),
            Err(object_store::Error::AlreadyExists { .. } | object_store::Error::Precondition { .. }) => {
                Ok(false)
            }
            Err(error) => Err(io_error(BlobError::of_write(error))),
        }
    }

    /// Renews the lock before something is changed. Fails if it is lost.
    fn renew(&self) -> io::Result<()> {
        let Some(lease) = &self.lock else { return Ok(()) };
        let mut lease = lease.lock();
        if lease.renewed.elapsed() < LOCK_RENEWED {
            return Ok(());
        }
        if self.locked()?.is_none_or(|(owner, _)| owner != lease.owner) {
            return Err(io::Error::other("another process took the lock, because this one was too slow"));
        }
        self.write_lock(&lease.owner, PutMode::Overwrite)?;
        lease.renewed = Instant::now();
        Ok(())
    }
}

impl FileStore for Bucket {
    fn title(&self) -> String {
        self.title.clone()
    }

    fn lock(&mut self, access: Access) -> io::Result<bool> {
        if access == Access::Read {
            return Ok(true);
        }
        if let Some((owner, end)) = self.locked()? {
            if end > now() && !is_gone(&owner) {
                return Ok(false);
            }
            self.remove(LOCK)?;
        }
        let owner = format!("{} {} {}", host(), std::process::id(), super::random_name().map_err(io_error)?);
        let is_free = self.write_lock(&owner, PutMode::Create)?;
        self.lock = is_free.then(|| Mutex::new(Lease { owner, renewed: Instant::now() }));
        Ok(is_free)
    }

    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        let prefix = match folder {
            "" => self.prefix.clone(),
            folder => format!("{}{folder}/", self.prefix),
        };
        let path = object_store::path::Path::from(prefix.trim_end_matches('/'));
        let path = (!prefix.is_empty()).then_some(path);
        let listed = self.blobs.store.list(path.as_ref()).map_ok(|meta| meta.location.to_string());
        let names: Vec<String> = self
            .runtime
            .block_on(listed.try_collect())
            .map_err(|error| io_error(BlobError::of_write(error)))?;
        Ok(names.into_iter().filter_map(|name| Some(name.strip_prefix(&prefix)?.to_owned())).collect())
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn Read + '_>> {
        let blob = self.runtime.block_on(self.blobs.read(&self.name(name)?, None)).map_err(io_error)?;
        Ok(Box::new(Reading { runtime: &self.runtime, bytes: blob.bytes, piece: Bytes::new() }))
    }

    fn store(&self, name: &str, content: &mut dyn Read) -> io::Result<()> {
        self.renew()?;
        let mut writer = self.blobs.writer(self.name(name)?);
        let mut piece = vec![0; PIECE_BYTES];
        self.runtime.block_on(async {
            loop {
                let count = content.read(&mut piece)?;
                if count == 0 {
                    return writer.finish().await.map_err(io_error);
                }
                writer.write(&piece[..count]).await.map_err(io_error)?;
            }
        })
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.renew()?;
        self.runtime.block_on(self.blobs.delete(&self.name(name)?)).map_err(io_error)
    }

    /// The service copies it; the other name is complete before this one is removed.
    fn rename(&self, name: &str, to: &str) -> io::Result<()> {
        self.renew()?;
        let (from, to) = (self.name(name)?.path(), self.name(to)?.path());
        let renamed = self.runtime.block_on(self.blobs.store.rename(&from, &to));
        renamed.map_err(|error| io_error(error.into()))
    }

    /// What the service accepted is durable. The lock is checked once more, because a manifest follows.
    fn sync(&self) -> io::Result<()> {
        self.renew()
    }
}

impl Drop for Bucket {
    fn drop(&mut self) {
        let Some(lease) = self.lock.take().map(Mutex::into_inner) else { return };
        // Another process may have taken it meanwhile.
        let is_own = self.locked().map(|lock| lock.is_some_and(|(owner, _)| owner == lease.owner));
        if let Err(error) = is_own.and_then(|is_own| if is_own { self.remove(LOCK) } else { Ok(()) }) {
            tracing::warn!(%error, "the lock of the backup repository could not be removed; other machines can make backups when it expires, in ten minutes");
        }
    }
}

/// A file that is being read.
struct Reading<'b> {
    runtime: &'b Runtime,
    bytes: futures_util::stream::BoxStream<'static, Result<Bytes, BlobError>>,
    piece: Bytes,
}

impl Read for Reading<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        while self.piece.is_empty() {
            match self.runtime.block_on(self.bytes.next()) {
                Some(piece) => self.piece = piece.map_err(io_error)?,
                None => return Ok(0),
            }
        }
        let count = self.piece.len().min(to.len());
        self.piece.copy_to_slice(&mut to[..count]);
        Ok(count)
    }
}

fn io_error(error: BlobError) -> io::Error {
    match error {
        BlobError::Missing => io::Error::new(ErrorKind::NotFound, error),
        // The caller says what could not be done with the backup.
        BlobError::Store(reason) => io::Error::other(reason),
        BlobError::Full(_) | BlobError::Owned => io::Error::other(error),
    }
}

/// Whether a process of this machine held the lock and does not run any more.
fn is_gone(owner: &str) -> bool {
    let mut words = owner.split(' ');
    let (Some(name), Some(Ok(process))) = (words.next(), words.next().map(str::parse::<u32>)) else {
        return false;
    };
    let is_running =
        process != std::process::id() && std::path::Path::new("/proc").join(process.to_string()).exists();
    name == host() && !is_running
}

/// Names this machine, its start and its numbering of processes, so that no other one is taken for it.
fn host() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default().trim().to_owned();
    let (name, start) = (read("/proc/sys/kernel/hostname"), read("/proc/sys/kernel/random/boot_id"));
    let processes = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    format!("{name}/{start}/{}", processes.display()).replace(' ', "_")
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis() as u64)
}
