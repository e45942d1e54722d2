//! The lower bound of any durable write: append 4 KiB to a file and wait for `fdatasync`, on the data folder's disk.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

use crate::error::LoadError;

const BLOCK_BYTES: usize = 4096;
/// Bounds the size of the file, which is deleted afterwards.
const BLOCKS_MAX: u32 = 65_536;

/// The result of one round.
#[derive(Debug, Clone, Copy)]
pub struct DiskRound {
    pub syncs_per_sec: f64,
    pub p50_ms: f64,
    pub p99_ms: f64,
}

/// Appends for `secs` seconds to an unnamed file in `folder`.
pub async fn measure(folder: &Path, secs: f64) -> Result<DiskRound, LoadError> {
    let folder: PathBuf = folder.to_path_buf();
    tokio::task::spawn_blocking(move || append(&folder, secs))
        .await
        .map_err(|error| LoadError::Server(format!("the disk measurement ended: {error}")))?
}

fn append(folder: &Path, secs: f64) -> Result<DiskRound, LoadError> {
    let failed = |source| LoadError::file(folder, source);
    let mut file = tempfile::tempfile_in(folder).map_err(failed)?;
    let block = [0x5a_u8; BLOCK_BYTES];
    let mut micros = Histogram::<u64>::new_with_bounds(1, 60_000_000, 3).expect("constant bounds are valid");
    let begun = Instant::now();
    let mut blocks = 0;
    while begun.elapsed() < Duration::from_secs_f64(secs) && blocks < BLOCKS_MAX {
        let started = Instant::now();
        file.write_all(&block).map_err(failed)?;
        file.sync_data().map_err(failed)?;
        micros.saturating_record(u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX).max(1));
        blocks += 1;
    }
    let millis = |quantile| Duration::from_micros(micros.value_at_quantile(quantile)).as_secs_f64() * 1000.0;
    Ok(DiskRound {
        syncs_per_sec: f64::from(blocks) / begun.elapsed().as_secs_f64(),
        p50_ms: millis(0.5),
        p99_ms: millis(0.99),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_measures_and_deletes_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let round = append(folder.path(), 0.05).unwrap();
        assert!(round.syncs_per_sec > 0.0 && round.p50_ms > 0.0 && round.p99_ms >= round.p50_ms, "{round:?}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        assert!(append(&folder.path().join("none"), 0.05).is_err());
    }
}
