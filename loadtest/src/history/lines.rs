//! The lines of the history: which figures they have, how these are read from results, and their CSV.

use crate::outcome::{RunResult, ScenarioResult};
use crate::report::dates;

/// A recorded figure, its column, and how it is read from the result of a scenario.
pub struct Column {
    name: &'static str,
    pub title: &'static str,
    pub scenario: &'static str,
    read: fn(&ScenarioResult) -> Option<f64>,
}

/// The recorded figures, in the order of their columns.
pub const COLUMNS: &[Column] = &[
    Column {
        name: "send_over_bare",
        title: "send, 64 clients: CPU over bare POST",
        scenario: "send",
        read: cpu_ratio,
    },
    Column { name: "lone_send_us", title: "lone send: µs of CPU", scenario: "send_one", read: cpu },
    Column { name: "delivery_us", title: "delivery to 100 polls: µs of CPU", scenario: "fanout", read: cpu },
    Column {
        name: "users_me_over_bare",
        title: "users/me: CPU over bare GET",
        scenario: "users_me",
        read: cpu_ratio,
    },
    Column {
        name: "newest_100_over_bare",
        title: "newest 100: CPU over bare GET",
        scenario: "fetch_newest",
        read: cpu_ratio,
    },
    Column { name: "idle_poll_bytes", title: "idle poll: bytes", scenario: "idle", read: idle_bytes },
    Column {
        name: "start_mb",
        title: "memory at the start, with --data: MB",
        scenario: "start",
        read: |result| start(result).filter(|_| !result.lacks_data),
    },
    Column {
        name: "start_without_data_mb",
        title: "memory at the start, without --data: MB",
        scenario: "start",
        read: |result| start(result).filter(|_| result.lacks_data),
    },
];
/// Columns of the first histories; a file may lack those that came later.
const FIRST_COLUMNS: usize = 7;

fn cpu_ratio(result: &ScenarioResult) -> Option<f64> {
    result.phases.first()?.baseline.as_ref()?.cpu_ratio
}

fn cpu(result: &ScenarioResult) -> Option<f64> {
    result.phases.first()?.server?.cpu_us_per_request
}

fn idle_bytes(result: &ScenarioResult) -> Option<f64> {
    result.phases.first()?.idle?.bytes_per_poll
}

fn start(result: &ScenarioResult) -> Option<f64> {
    result.phases.first()?.start.as_ref()?.rss_mb
}

/// Whether a name of a release or change can be written to the history as it is.
pub fn check_version(version: &str) -> Result<(), String> {
    let is_plain = !version.contains([',', '"', '\n', '\r']);
    if version.trim().is_empty() || !is_plain {
        return Err(format!(
            "--version {version:?}: a version is not empty, and has no comma, quote or line break, which the history cannot have"
        ));
    }
    Ok(())
}

/// Why nothing of a run is recorded, if it is not.
pub fn incomplete(run: &RunResult) -> Option<String> {
    let place = run.interrupted.as_ref().map(|place| format!("the run was interrupted by {place}"));
    let rest = || Some(format!("not run: {}", run.not_run.join(", "))).filter(|_| !run.not_run.is_empty());
    place.or_else(rest)
}

/// Why the figure of a scenario is not recorded, if it is not: it would be of something else than those before it.
pub fn left_out(result: &ScenarioResult) -> Option<&'static str> {
    let phase = result.phases.first();
    let failed = phase.is_some_and(|phase| phase.failed() + phase.unsent() > 0);
    let faulty = phase.and_then(|phase| phase.delivery).is_some_and(|delivery| delivery.faults() > 0);
    let reasons = [
        (result.lacks_sync, "its server did not sync; use one that does (`dev --data FOLDER`)"),
        (result.ended_early.is_some(), "it ended early"),
        (failed, "requests failed or were not sent"),
        (faulty, "events were lost, duplicated, out of order or not fetched, or receivers ended early"),
    ];
    reasons.into_iter().find_map(|(is_left_out, reason)| is_left_out.then_some(reason))
}

/// A recorded run. Figures that it did not measure are absent.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    pub date: String,
    pub version: String,
    pub machine: String,
    pub figures: Vec<Option<f64>>,
}

/// The figures of a run, under the name of a release or change. Those of scenarios that are left out are absent.
pub fn line_of(run: &RunResult, version: &str) -> Line {
    let machine = &run.machine;
    let figure = |column: &Column| {
        let is_wanted =
            |result: &&ScenarioResult| result.name == column.scenario && left_out(result).is_none();
        let scenario = run.scenarios.iter().find(is_wanted)?;
        (column.read)(scenario)
    };
    Line {
        date: dates::day(run.started_at),
        version: version.to_owned(),
        machine: format!("{} × {}; load {:.1}", machine.cores, machine.cpu, machine.load_average),
        figures: COLUMNS.iter().map(figure).collect(),
    }
}

/// The first line of a file with this many figures.
fn header(figures: usize) -> String {
    let names: Vec<&str> = COLUMNS.iter().take(figures).map(|column| column.name).collect();
    format!("date,version,machine,{}", names.join(","))
}

/// The whole file.
pub fn render(lines: &[Line]) -> String {
    let mut text = header(COLUMNS.len()) + "\n";
    for line in lines {
        let plain = |field: &str| field.replace([',', '\n', '"'], " ");
        let number = |figure: &Option<f64>| figure.map_or_else(String::new, |figure| format!("{figure:.2}"));
        let figures: Vec<String> = line.figures.iter().map(number).collect();
        let head = [&line.date, &line.version, &line.machine].map(|field| plain(field)).join(",");
        text += &format!("{head},{}\n", figures.join(","));
    }
    text
}

/// The lines of the file, also of one that lacks the last columns. An empty text has none.
pub fn parse(text: &str) -> Result<Vec<Line>, String> {
    let mut rows = text.lines();
    let Some(first) = rows.next() else { return Ok(Vec::new()) };
    let mut counts = FIRST_COLUMNS..=COLUMNS.len();
    let Some(count) = counts.find(|count| first == header(*count)) else {
        return Err(format!("the first line must be {}", header(COLUMNS.len())));
    };
    let mut lines = Vec::new();
    for (number, row) in (2..).zip(rows) {
        let fields: Vec<&str> = row.split(',').collect();
        let [date, version, machine, figures @ ..] = &fields[..] else {
            return Err(format!("line {number} is too short"));
        };
        let figure = |field: &&str| match *field {
            "" => Ok(None),
            field => field.parse().map(Some).map_err(|_| format!("line {number}: {field} is not a number")),
        };
        let mut figures: Vec<Option<f64>> = figures.iter().map(figure).collect::<Result<_, _>>()?;
        if figures.len() != count {
            return Err(format!("line {number} has {} figures, the header {count}", figures.len()));
        }
        figures.resize(COLUMNS.len(), None);
        let [date, version, machine] = [date, version, machine].map(|field| (*field).to_owned());
        lines.push(Line { date, version, machine, figures });
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    /// The sample without failures.
    fn good() -> RunResult {
        let mut run = sample::run_result();
        sample::forget_failures(&mut run);
        run
    }

    #[test]
    fn figures_of_runs_with_failures_are_left_out() {
        let figure = |change: fn(&mut ScenarioResult)| {
            let mut run = good();
            change(&mut run.scenarios[0]);
            line_of(&run, "1").figures[0]
        };
        assert_eq!(figure(|_| {}), Some(5.0));
        let changes: [fn(&mut ScenarioResult); 4] = [
            |result| result.phases[0].operations[0].failed = 1,
            |result| result.phases[0].operations[0].unsent = 1,
            |result| result.phases[0].delivery.as_mut().unwrap().lost_events = 1,
            |result| result.ended_early = Some("the server ended".to_owned()),
        ];
        assert_eq!(changes.map(figure), [None; 4]);
        assert_eq!(incomplete(&good()), None);
        let partial = RunResult { not_run: vec!["idle".to_owned()], ..good() };
        assert_eq!(incomplete(&partial).as_deref(), Some("not run: idle"));
    }

    #[test]
    fn results_become_a_line_that_is_read_again() {
        let line = line_of(&good(), "0.1.0, new");
        assert_eq!(line.date, "2026-09-21");
        assert_eq!(line.figures[0], Some(5.0));
        assert!(line.figures[1..].iter().all(Option::is_none), "the sample has only `send`: {line:?}");
        let text = render(std::slice::from_ref(&line));
        let again = parse(&text).unwrap();
        assert_eq!(again, [Line { version: "0.1.0  new".to_owned(), ..line }]);
        assert_eq!(render(&again), text);
    }

    #[test]
    fn durable_sends_of_a_server_without_sync_are_left_out() {
        let mut run = good();
        run.scenarios[0].lacks_sync = true;
        assert_eq!(line_of(&run, "1").figures[0], None);
    }

    #[test]
    fn versions_that_would_be_changed_are_refused() {
        assert_eq!(check_version("0.1.0-a b"), Ok(()));
        for bad in ["0.1.0, new", "the \"new\" one", "a\nb", ""] {
            assert!(check_version(bad).unwrap_err().contains("--version"), "{bad}");
        }
    }

    #[test]
    fn broken_histories_are_refused() {
        assert_eq!(parse(""), Ok(Vec::new()));
        assert!(parse("date,version\n").unwrap_err().contains("first line"));
        let header = header(COLUMNS.len());
        assert!(parse(&format!("{header}\n2026-01-01,1,m,x,,,,,,,\n")).unwrap_err().contains("line 2"));
        assert!(parse(&format!("{header}\n2026-01-01,1,m,1\n")).unwrap_err().contains("figures"));
    }

    #[test]
    fn histories_without_the_last_column_are_read() {
        let text = format!("{}\n2026-01-01,1,m,,,,,,,24.00\n", header(FIRST_COLUMNS));
        let lines = parse(&text).unwrap();
        assert_eq!(lines[0].figures[6..], [Some(24.0), None]);
        let written = render(&lines);
        assert!(written.starts_with(&header(COLUMNS.len())) && parse(&written) == Ok(lines), "{written}");
    }

    #[test]
    fn memory_at_the_start_with_data_is_another_figure_than_without() {
        let figures = |lacks_data| {
            let mut run = good();
            (run.scenarios[0].name, run.scenarios[0].lacks_data) = ("start".to_owned(), lacks_data);
            line_of(&run, "1").figures[6..].to_vec()
        };
        assert_eq!(figures(false), [Some(30.0), None]);
        assert_eq!(figures(true), [None, Some(30.0)]);
    }
}
