//! The backup repositories that commands name, and how they are written about.

use super::super::config::environment;
use super::super::data::{Output, SHARED_ARGUMENTS};
use super::super::error::CliError;
use crate::admin::time;
use crate::config::{Config, Overrides};
use crate::integrations::blobs::backups::Bucket;
use crate::units::{counted, readable_time};
use actors::backups::{FileStore, Folder};
use std::path::{Path, PathBuf};

/// An existing backup repository.
#[derive(Debug, clap::Args)]
pub struct FromArgs {
    /// Backup repository: a folder, or s3://BUCKET/PREFIX, with the access of section [backups] of the configuration
    #[arg(long, value_name = "REPOSITORY")]
    from: String,
    /// Configuration file of the server
    #[arg(long, value_name = "FILE", display_order = SHARED_ARGUMENTS)]
    config: Option<PathBuf>,
    /// How to print the result: for people, or one line of JSON
    #[arg(long, value_enum, default_value_t, display_order = SHARED_ARGUMENTS)]
    pub output: Output,
}

impl FromArgs {
    /// The repository that these arguments name.
    pub fn repository(&self) -> Result<Box<dyn FileStore>, CliError> {
        let config = Config::load(self.config.as_deref(), environment(), Overrides::default())?;
        repository(&self.from, &config)
    }
}

/// The folder or the S3 service of this name.
pub fn repository(name: &str, config: &Config) -> Result<Box<dyn FileStore>, CliError> {
    if !name.contains("://") {
        return Ok(Box::new(Folder::new(Path::new(name))));
    }
    let refused = |why: String| CliError::Refused(format!("{name}: {why}"));
    let path =
        name.strip_prefix("s3://").ok_or_else(|| refused("only folders and s3:// are supported".into()))?;
    let (bucket, prefix) = path.split_once('/').unwrap_or((path, ""));
    let bucket = Bucket::open(&config.backups, bucket, prefix).map_err(|error| refused(error.to_string()))?;
    Ok(Box::new(bucket))
}

/// Refuses a folder inside the data folder: it would be lost together with what it is to save.
pub fn check_outside(to: &str, data: &Path) -> Result<(), CliError> {
    if to.contains("://") {
        return Ok(());
    }
    let to =
        std::path::absolute(to).map_err(|reason| CliError::System { what: "the current folder", reason })?;
    // The repository may be missing, and so may folders above it.
    let existing = to.ancestors().find_map(|folder| folder.canonicalize().ok());
    let is_inside = |data: PathBuf| existing.is_some_and(|existing| existing.starts_with(data));
    if !data.canonicalize().is_ok_and(is_inside) {
        return Ok(());
    }
    Err(CliError::Refused(format!(
        "{} is inside the data folder {}, and would be lost with it; choose a folder on another disk",
        to.display(),
        data.display()
    )))
}

/// A time in milliseconds since 1970, as people write it.
pub fn readable(at: u64) -> String {
    readable_time(time(model::Timestamp(at)).as_str().unwrap_or_default())
}

/// A number of files.
pub fn files(count: usize) -> String {
    counted(count as u64, "file")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repositories_are_folders_or_buckets() {
        let config = Config::load(None, [], Overrides::default()).unwrap();
        for name in
            ["/backups", "backups", "s3://bucket", "s3://bucket/", "s3://bucket/a/b-c", "s3://bucket/a/"]
        {
            let repository = repository(name, &config).map(|repository| repository.title());
            assert_eq!(repository.unwrap(), name.trim_end_matches('/'));
        }
        for name in ["ftp://host/backups", "s3://", "s3:///a", "s3://bucket/../a", "s3://bucket/a b"] {
            assert!(repository(name, &config).is_err(), "{name}");
        }
    }

    #[test]
    fn repositories_inside_the_data_folder_are_refused() {
        let temp = tempfile::tempdir().unwrap();
        let data = temp.path().join("data");
        std::fs::create_dir(&data).unwrap();
        std::os::unix::fs::symlink(&data, temp.path().join("link")).unwrap();
        let path = |name: &str| temp.path().join(name).display().to_string();
        for inside in ["data", "data/backups", "data/a/b", "link/backups"] {
            let refused = check_outside(&path(inside), &data).unwrap_err().to_string();
            assert!(refused.contains("is inside the data folder"), "{inside}: {refused}");
        }
        for outside in ["backups", "data-backups", "other/a"] {
            assert!(check_outside(&path(outside), &data).is_ok(), "{outside}");
        }
        assert!(check_outside("s3://bucket/backups", &data).is_ok());
        assert!(check_outside(&path("backups"), &temp.path().join("missing")).is_ok());
    }
}
