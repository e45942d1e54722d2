//! The lines of the history: which figures they have, how these are read from results, and their CSV.

use crate::outcome::{PhaseResult, RunResult, ScenarioResult};
use crate::report::dates;

/// A recorded figure, its column, and how it is read from the first phase of a scenario.
pub struct Column {
    name: &'static str,
    pub title: &'static str,
    pub scenario: &'static str,
    read: fn(&PhaseResult) -> Option<f64>,
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
    Column { name: "start_mb", title: "memory at the start: MB", scenario: "start", read: start },
];

fn cpu_ratio(phase: &PhaseResult) -> Option<f64> {
    phase.baseline.as_ref()?.cpu_ratio
}

fn cpu(phase: &PhaseResult) -> Option<f64> {
    phase.server?.cpu_us_per_request
}

fn idle_bytes(phase: &PhaseResult) -> Option<f64> {
    phase.idle?.bytes_per_poll
}

fn start(phase: &PhaseResult) -> Option<f64> {
    Some(phase.start.as_ref()?.rss_mb)
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

/// A recorded run. Figures that it did not measure are absent.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    pub date: String,
    pub version: String,
    pub machine: String,
    pub figures: Vec<Option<f64>>,
}

/// The figures of a run, under the name of a release or change. Those of durable sends are absent if the server did not sync.
pub fn line_of(run: &RunResult, version: &str) -> Line {
    let machine = &run.machine;
    let figure = |column: &Column| {
        let is_wanted = |result: &&ScenarioResult| result.name == column.scenario && !result.lacks_sync;
        let scenario = run.scenarios.iter().find(is_wanted)?;
        (column.read)(scenario.phases.first()?)
    };
    Line {
        date: dates::day(run.started_at),
        version: version.to_owned(),
        machine: format!("{} × {}; load {:.1}", machine.cores, machine.cpu, machine.load_average),
        figures: COLUMNS.iter().map(figure).collect(),
    }
}

fn header() -> String {
    let names: Vec<&str> = COLUMNS.iter().map(|column| column.name).collect();
    format!("date,version,machine,{}", names.join(","))
}

/// The whole file.
pub fn render(lines: &[Line]) -> String {
    let mut text = header() + "\n";
    for line in lines {
        let plain = |field: &str| field.replace([',', '\n', '"'], " ");
        let number = |figure: &Option<f64>| figure.map_or_else(String::new, |figure| format!("{figure:.2}"));
        let figures: Vec<String> = line.figures.iter().map(number).collect();
        let head = [&line.date, &line.version, &line.machine].map(|field| plain(field)).join(",");
        text += &format!("{head},{}\n", figures.join(","));
    }
    text
}

/// The lines of the file. An empty text has none.
pub fn parse(text: &str) -> Result<Vec<Line>, String> {
    let mut rows = text.lines();
    match rows.next() {
        None => return Ok(Vec::new()),
        Some(first) if first == header() => {}
        Some(_) => return Err(format!("the first line must be {}", header())),
    }
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
        let figures: Vec<Option<f64>> = figures.iter().map(figure).collect::<Result<_, _>>()?;
        if figures.len() != COLUMNS.len() {
            return Err(format!("line {number} has {} figures, the header {}", figures.len(), COLUMNS.len()));
        }
        let [date, version, machine] = [date, version, machine].map(|field| (*field).to_owned());
        lines.push(Line { date, version, machine, figures });
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn results_become_a_line_that_is_read_again() {
        let line = line_of(&sample::run_result(), "0.1.0, new");
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
        let mut run = sample::run_result();
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
        assert!(parse(&format!("{}\n2026-01-01,1,m,x,,,,,,\n", header())).unwrap_err().contains("line 2"));
        assert!(parse(&format!("{}\n2026-01-01,1,m,1\n", header())).unwrap_err().contains("figures"));
    }
}
