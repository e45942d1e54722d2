//! `millstream backup verify`: what is damaged in a backup repository, and what to do about it.

use super::super::error::CliError;
use super::repository::{FromArgs, files, readable};
use crate::admin::{Answer, time};
use crate::units::{counted, size};
use actors::backups::{Damage, DamagedFile, Verified};
use serde_json::{Value, json};

/// Compare everything in a backup repository with its checksums
///
/// Names the damaged and missing files, and the backups that have them. The exit code is 0 if there are none, or if --repair set them
/// aside.
#[derive(Debug, clap::Args)]
pub struct VerifyArgs {
    #[command(flatten)]
    from: FromArgs,
    /// Set damaged files aside, in the folder `damaged` of the repository: the next backup stores again what the data folder still has
    /// of them
    #[arg(long)]
    repair: bool,
}

/// Compares everything with its checksums, and prints what is damaged. Fails if something is, unless it was set aside.
pub fn run(args: &VerifyArgs) -> Result<(), CliError> {
    let repository = args.from.repository()?;
    let title = repository.title();
    let found = actors::backups::verify(repository, args.repair)?;
    let lines = lines(&title, &found, args.repair);
    args.from.output.print(&Answer { table: None, lines, value: value(&found) })?;
    let is_repaired = args.repair && found.unreadable == 0;
    if found.damaged_count == 0 || is_repaired {
        return Ok(());
    }
    Err(CliError::Refused(format!(
        "{title} is damaged: {} of {} {} something",
        found.damaged_backups.len(),
        counted(found.backups.len() as u64, "backup"),
        if found.damaged_backups.len() == 1 { "lacks" } else { "lack" },
    )))
}

/// The times of the backups, what is damaged, and what to do.
fn lines(title: &str, found: &Verified, is_repair: bool) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for at in &found.backups {
        let mark = if found.damaged_backups.contains(at) { ": lacks something" } else { "" };
        lines.push(format!("{}{mark}", readable(*at)));
    }
    lines.extend(found.damaged.iter().map(line));
    let more = found.damaged_count - found.damaged.len();
    if more > 0 {
        lines.push(format!("and {}", counted(more as u64, "more damaged file")));
    }
    if found.is_mixed {
        lines.push(format!(
            "{title} has backups of more than one data folder; `restore` takes those of the folder of the newest one."
        ));
    }
    let newest = format!("the newest has {}, {}.", files(found.files), size(found.bytes));
    let intact = found.backups.len() - found.damaged_backups.len();
    lines.push(match intact {
        1 => format!("1 backup is intact; {newest}"),
        count => format!("{count} backups are intact; {newest}"),
    });
    if found.damaged_count > 0 {
        lines.push(advice(title, found, is_repair));
    }
    lines
}

fn line(file: &DamagedFile) -> String {
    let about = match &file.path {
        Some(path) => path.as_str(),
        None => "the list of the files of a backup",
    };
    let of = match file.backups.as_slice() {
        [] => String::new(),
        [only] => format!(", in the backup of {}", readable(*only)),
        [oldest, .., newest] => {
            format!(", in {} backups from {} to {}", file.backups.len(), readable(*oldest), readable(*newest))
        }
    };
    format!("{} {}: {about}{of}", file.name, file.damage)
}

fn advice(title: &str, found: &Verified, is_repair: bool) -> String {
    let again = "stores again what the data folder still has of damaged and missing files; backups that lack something after that can \
                 be restored without uploaded files that are damaged (`restore --skip-damaged`), or not at all";
    match is_repair {
        true => format!(
            "{} set aside in `damaged` of {title}. The next `millstream backup --to {title}` {again}.",
            match found.set_aside {
                1 => "1 file was".to_owned(),
                count => format!("{count} files were"),
            },
        ),
        false => format!(
            "`millstream backup verify --from {title} --repair` sets damaged files aside; the next `millstream backup --to {title}` {again}."
        ),
    }
}

fn value(found: &Verified) -> Value {
    let times =
        |times: &[u64]| -> Vec<Value> { times.iter().map(|at| time(model::Timestamp(*at))).collect() };
    let damage = |damage: &Damage| match damage {
        Damage::Missing => "missing",
        Damage::Changed => "damaged",
        Damage::Unreadable(_) => "unreadable",
    };
    let damaged: Vec<Value> = found
        .damaged
        .iter()
        .map(|file| {
            json!({
                "name": file.name, "damage": damage(&file.damage), "path": file.path,
                "backups": times(&file.backups),
            })
        })
        .collect();
    json!({
        "backups": times(&found.backups), "files": found.files, "bytes": found.bytes,
        "damaged_backups": times(&found.damaged_backups), "damaged": damaged,
        "damaged_count": found.damaged_count, "set_aside": found.set_aside,
        "has_other_data_folders": found.is_mixed,
    })
}
