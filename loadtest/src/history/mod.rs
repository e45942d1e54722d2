//! The recorded history of figures: a line of CSV for each release or large change, and a plot of it. CPU times and bytes,
//! because they hold on any machine; rates do not.

mod lines;
mod plot;

use std::path::Path;

use crate::cli::HistoryArgs;
use crate::error::LoadError;
use crate::output::print;
use crate::report;
use lines::{COLUMNS, Line, check_version, line_of, parse, render};

/// Lines that the history keeps at most; with one for each release it never reaches it.
const LINES_MAX: usize = 1_000;

/// Appends the figures of results, if there are some, and draws the plot.
pub fn record(args: &HistoryArgs) -> Result<(), LoadError> {
    let text = match std::fs::read_to_string(&args.file) {
        // A first line begins the file; without one there is nothing to draw.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && args.results.is_some() => String::new(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(LoadError::Usage(format!(
                "{}: {error}; call this in the repository's folder or name the history with --file, or begin one with --results",
                args.file.display()
            )));
        }
        read => read.map_err(|source| LoadError::file(&args.file, source))?,
    };
    let mut lines =
        parse(&text).map_err(|reason| LoadError::Usage(format!("{}: {reason}", args.file.display())))?;
    if let (Some(results), Some(version)) = (&args.results, &args.version) {
        check_version(version).map_err(LoadError::Usage)?;
        let run = report::read(results)?;
        if let Some(reason) = lines::incomplete(&run) {
            return Err(LoadError::Usage(format!("{}: {reason}, so nothing was added", results.display())));
        }
        for result in &run.scenarios {
            if let Some(reason) = lines::left_out(result) {
                print(format!("{} is left out: {reason}", result.name));
            }
        }
        let line = line_of(&run, version);
        if line.figures.iter().all(Option::is_none) {
            let mut names: Vec<&str> = COLUMNS.iter().map(|column| column.scenario).collect();
            names.dedup();
            return Err(LoadError::Usage(format!(
                "the results have no figure of any of {}",
                names.join(", ")
            )));
        }
        if lines.last().is_some_and(|newest| is_same(newest, &line)) {
            return Err(LoadError::Usage(format!(
                "{}: the newest line has the same date, version and figures already, so nothing was added",
                args.file.display()
            )));
        }
        lines.push(line);
        if lines.len() > LINES_MAX {
            return Err(LoadError::Usage(format!("the history has more than {LINES_MAX} lines")));
        }
        let text = render(&lines);
        // The plot has the values as they are written.
        lines = parse(&text).map_err(LoadError::Usage)?;
        write(&args.file, &text)?;
    }
    write(&args.plot, &plot::render(&lines))?;
    print(format!("written: {}, {} lines; {}", args.file.display(), lines.len(), args.plot.display()));
    Ok(())
}

/// Whether a line says the same as a recorded one, as it would be written.
fn is_same(recorded: &Line, line: &Line) -> bool {
    let written = |line: &Line| render(&[Line { machine: String::new(), ..line.clone() }]);
    written(recorded) == written(line)
}

fn write(path: &Path, text: &str) -> Result<(), LoadError> {
    std::fs::write(path, text).map_err(|source| LoadError::file(path, source))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::RunResult;
    use crate::report::sample;

    #[test]
    fn recorded_run_is_in_the_file_and_in_its_plot() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let mut run = sample::run_result();
        run.scenarios[0].phases[0].baseline.as_mut().unwrap().cpu_ratio = Some(9.6284);
        sample::forget_failures(&mut run);
        report::write(&run, folder.path()).unwrap();
        let args = HistoryArgs {
            results: Some(path("results.json")),
            version: Some("1".to_owned()),
            file: path("history.csv"),
            plot: path("plot.svg"),
        };
        let nothing =
            HistoryArgs { results: None, version: None, file: path("misspelt.csv"), plot: path("plot.svg") };
        let error = record(&nothing).unwrap_err().to_string();
        assert!(error.contains("misspelt.csv") && error.contains("--file"), "{error}");
        assert!(!path("plot.svg").exists());
        record(&args).unwrap();
        let named = RunResult { scenarios: Vec::new(), ..run.clone() };
        report::write(&named, folder.path()).unwrap();
        let error = record(&args).unwrap_err().to_string();
        assert!(error.ends_with("of send, send_one, fanout, users_me, fetch_newest, idle, start"), "{error}");
        report::write(&run, folder.path()).unwrap();
        let error = record(&args).unwrap_err().to_string();
        assert!(error.contains("same date, version and figures"), "{error}");
        let with = |version: &str| HistoryArgs {
            results: args.results.clone(),
            version: Some(version.to_owned()),
            file: args.file.clone(),
            plot: args.plot.clone(),
        };
        assert!(record(&with("2, new")).unwrap_err().to_string().contains("comma"));
        record(&with("2")).unwrap();
        let lines = parse(&std::fs::read_to_string(&args.file).unwrap()).unwrap();
        assert_eq!(lines.iter().map(|line| line.figures[0]).collect::<Vec<_>>(), [Some(9.63), Some(9.63)]);
        sample::interrupt(&mut run);
        report::write(&run, folder.path()).unwrap();
        let error = record(&with("3")).unwrap_err().to_string();
        assert!(error.contains("interrupted by SIGINT in phase b of send"), "{error}");
        assert!(
            std::fs::read_to_string(&args.plot).unwrap() == plot::render(&lines),
            "it is drawn from the file"
        );
    }

    #[test]
    fn recorded_plot_is_that_of_the_recorded_history() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(folder.join("history.csv")).unwrap();
        let lines = parse(&text).unwrap();
        assert!(!lines.is_empty());
        assert_eq!(render(&lines), text, "the file is written as the command writes it");
        let drawn = std::fs::read_to_string(folder.join("HISTORY.svg")).unwrap();
        assert!(drawn == plot::render(&lines), "draw it again with `loadtest history`");
    }
}
