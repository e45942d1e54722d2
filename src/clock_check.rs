//! Whether the clock is behind the journal: it was set back, or the machine has no clock that runs while it is off.

use crate::units::duration;
use std::fs::{DirEntry, metadata, read_dir};
use std::iter::once;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// How much newer than now the journal may be.
const AHEAD_MAX: Duration = Duration::from_secs(60);

/// How much newer than `now` the journal of a data folder is, if that is more than a minute. Ask before the folder is opened,
/// which changes the journal.
pub fn journal_ahead(data: &Path, now: SystemTime) -> Option<Duration> {
    let shards = entries(&data.join("journal")).map(|shard| shard.path());
    let paths = shards.flat_map(|shard| entries(&shard).map(|part| part.path()).chain(once(shard)));
    let newest = paths.filter_map(|path| metadata(path).ok()?.modified().ok()).max()?;
    newest.duration_since(now).ok().filter(|ahead| *ahead > AHEAD_MAX)
}

/// The entries of a folder; none if it cannot be read.
fn entries(folder: &Path) -> impl Iterator<Item = DirEntry> + use<> {
    read_dir(folder).into_iter().flatten().flatten()
}

/// Warns in the log if the clock is behind the journal of a data folder.
pub fn warn_if_behind(data: &Path) {
    if let Some(ahead) = journal_ahead(data, SystemTime::now()) {
        tracing::warn!(
            "the journal is {} newer than now: the system clock is probably behind. New messages get its wrong time until it is set",
            duration(ahead.as_secs())
        );
    }
}
