//! The lower bound of any durable write: overwrite 4 KiB of a file that was written before and wait for `fdatasync`, on the data
//! folder's disk. Appending takes longer, because the file's new size must be written, too.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

use crate::error::LoadError;

const BLOCK_BYTES: usize = 4096;
/// Blocks of the file, which is deleted afterwards: 16 MiB, overwritten in turn.
const BLOCKS: u64 = 4_096;

/// The result of one round.
#[derive(Debug, Clone, Copy)]
pub struct DiskRound {
    pub syncs_per_sec: f64,
    pub p50_ms: f64,
    /// The fastest one.
    pub least_ms: f64,
    pub p99_ms: f64,
}

/// Overwrites for `secs` seconds in an unnamed file in `folder`.
pub async fn measure(folder: &Path, secs: f64) -> Result<DiskRound, LoadError> {
    let folder: PathBuf = folder.to_path_buf();
    tokio::task::spawn_blocking(move || overwrite(&folder, secs))
        .await
        .map_err(|error| LoadError::Server(format!("the disk measurement ended: {error}")))?
}

fn overwrite(folder: &Path, secs: f64) -> Result<DiskRound, LoadError> {
    let failed = |source| LoadError::file(folder, source);
    let file = tempfile::tempfile_in(folder).map_err(failed)?;
    fill(&file).map_err(failed)?;
    let block = [0x5a_u8; BLOCK_BYTES];
    let mut micros = Histogram::<u64>::new_with_bounds(1, 60_000_000, 3).expect("constant bounds are valid");
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs_f64(secs) {
        let started = Instant::now();
        write_block(&file, &block, micros.len()).map_err(failed)?;
        file.sync_data().map_err(failed)?;
        micros.saturating_record(u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX).max(1));
    }
    let millis = |quantile| Duration::from_micros(micros.value_at_quantile(quantile)).as_secs_f64() * 1000.0;
    Ok(DiskRound {
        syncs_per_sec: crate::units::as_float(micros.len()) / begun.elapsed().as_secs_f64(),
        p50_ms: millis(0.5),
        least_ms: millis(0.0),
        p99_ms: millis(0.99),
    })
}

/// Writes all blocks once, so that only their content changes later.
fn fill(file: &File) -> std::io::Result<()> {
    let zeros = [0; BLOCK_BYTES];
    (0..BLOCKS).try_for_each(|number| write_block(file, &zeros, number))?;
    file.sync_all()
}

/// Writes the block of a number, starting over after the last one.
fn write_block(file: &File, block: &[u8; BLOCK_BYTES], number: u64) -> std::io::Result<()> {
    file.write_all_at(block, number % BLOCKS * BLOCK_BYTES as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_measures_and_deletes_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let round = overwrite(folder.path(), 0.05).unwrap();
        assert!(
            round.syncs_per_sec > 0.0
                && round.least_ms > 0.0
                && round.p50_ms >= round.least_ms
                && round.p99_ms >= round.p50_ms,
            "{round:?}"
        );
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        assert!(overwrite(&folder.path().join("none"), 0.05).is_err());
    }

    #[test]
    fn only_blocks_that_were_written_are_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let file = tempfile::tempfile_in(folder.path()).unwrap();
        fill(&file).unwrap();
        let size = file.metadata().unwrap().len();
        for number in [0, BLOCKS - 1, BLOCKS, 3 * BLOCKS + 5] {
            write_block(&file, &[1; BLOCK_BYTES], number).unwrap();
        }
        assert_eq!(file.metadata().unwrap().len(), size);
    }
}
