//! The answers of the operator's commands: text for people, and the same as JSON.

use crate::units::readable_time;
use model::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The width up to which a cell makes its column wider for all rows, in characters. A longer one moves only what follows it in its row.
const CELL_WIDTH_MAX: usize = 60;

/// What a command has to say.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// A list, if that is what was asked for.
    pub table: Option<Table>,
    /// Sentences, or a value alone.
    pub lines: Vec<String>,
    /// The values for programs, where there is no list.
    pub value: Value,
}

impl Answer {
    /// A sentence, with values for programs.
    pub fn of(line: String, value: Value) -> Self {
        Self { table: None, lines: vec![line], value }
    }

    /// A list for people and programs.
    pub fn list(table: Table) -> Self {
        Self { table: Some(table), ..Self::default() }
    }

    /// The text for people.
    pub fn text(&self) -> String {
        let mut text = self.table.as_ref().map(Table::text).unwrap_or_default();
        self.lines.iter().for_each(|line| {
            text.push_str(line);
            text.push('\n');
        });
        text
    }

    /// One line of JSON.
    pub fn json(&self) -> String {
        let value = self.table.as_ref().map_or_else(|| self.value.clone(), Table::value);
        format!("{value}\n")
    }
}

/// Rows of texts below the names of their columns.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Table {
    columns: Vec<String>,
    /// The columns of times, which are of RFC 3339 for programs.
    #[serde(default)]
    times: Vec<String>,
    /// The columns that only programs read.
    #[serde(default)]
    programs_only: Vec<String>,
    /// The columns with values that may be unknown: null for programs.
    #[serde(default)]
    maybe_unknown: Vec<String>,
    rows: Vec<Vec<Value>>,
    /// What people read instead of a list without rows; empty: only the names of the columns.
    #[serde(default)]
    when_empty: String,
}

impl Table {
    /// A list without rows.
    pub fn new(columns: &[&str]) -> Self {
        Self { columns: columns.iter().map(|name| (*name).to_owned()).collect(), ..Self::default() }
    }

    /// Says which column has times.
    pub fn with_times(mut self, column: &str) -> Self {
        self.times.push(column.to_owned());
        self
    }

    /// Says which columns only programs read.
    pub fn with_programs_only(mut self, columns: &[&str]) -> Self {
        self.programs_only.extend(columns.iter().map(|name| (*name).to_owned()));
        self
    }

    /// Says in which column a null stands for a value that is not known.
    pub fn with_unknowns(mut self, column: &str) -> Self {
        self.maybe_unknown.push(column.to_owned());
        self
    }

    /// Says what people read instead of a list without rows.
    pub fn or_sentence(mut self, sentence: impl Into<String>) -> Self {
        self.when_empty = sentence.into();
        self
    }

    /// Adds a row: a value for each column.
    pub fn push(&mut self, row: Vec<Value>) {
        self.rows.push(row);
    }

    fn text(&self) -> String {
        if self.rows.is_empty() && !self.when_empty.is_empty() {
            return format!("{}\n", self.when_empty);
        }
        let shown: Vec<usize> = (0..self.columns.len())
            .filter(|column| !self.programs_only.contains(&self.columns[*column]))
            .collect();
        let head: Vec<String> =
            shown.iter().map(|column| self.columns[*column].to_uppercase().replace('_', " ")).collect();
        let is_of = |names: &[String], column: usize| {
            self.columns.get(column).is_some_and(|name| names.contains(name))
        };
        let written = |(column, value): (usize, &Value)| match value {
            Value::String(text) if is_of(&self.times, column) => readable_time(text),
            Value::Null if is_of(&self.maybe_unknown, column) => "?".to_owned(),
            value => cell(value),
        };
        let row = |row: &Vec<Value>| {
            let values = shown.iter().filter_map(|column| Some((*column, row.get(*column)?)));
            values.map(written).collect()
        };
        let rows: Vec<Vec<String>> = self.rows.iter().map(row).collect();
        let all = || std::iter::once(&head).chain(&rows);
        let width = |column: usize| {
            let widths = all().filter_map(|row| row.get(column)).map(|text| text.chars().count());
            widths.filter(|width| *width <= CELL_WIDTH_MAX).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..shown.len()).map(width).collect();
        all().map(|row| row_text(row, &widths)).collect()
    }

    fn value(&self) -> Value {
        let row = |row: &Vec<Value>| -> Value {
            self.columns.iter().cloned().zip(row.iter().cloned()).collect::<Map<_, _>>().into()
        };
        self.rows.iter().map(row).collect()
    }
}

/// A line with cells in columns of these widths, in characters; cells beyond them are not padded.
pub fn row_text(cells: &[String], widths: &[usize]) -> String {
    let widths = widths.iter().copied().chain(std::iter::repeat(0));
    let padded: Vec<String> =
        cells.iter().zip(widths).map(|(text, width)| format!("{text:width$}")).collect();
    padded.join("  ").trim_end().to_owned() + "\n"
}

/// A value as people read it, on one line.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::Bool(flag) => if *flag { "yes" } else { "no" }.to_owned(),
        Value::String(text) if text.is_empty() => "-".to_owned(),
        Value::String(text) => text.replace(char::is_control, " "),
        Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

/// A time of RFC 3339, in whole seconds.
pub fn time(at: Timestamp) -> Value {
    let second = jiff::Timestamp::from_second(at.secs() as i64).unwrap_or_default();
    json!(second.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_for_programs_are_not_for_people() {
        let mut table = Table::new(&["id", "who", "origin", "what"]).with_programs_only(&["id", "origin"]);
        table.push(vec![json!(7), json!("Olga"), json!("api"), json!("left")]);
        let answer = Answer::list(table);
        assert_eq!(answer.text(), "WHO   WHAT\nOlga  left\n");
        assert_eq!(answer.json(), "[{\"id\":7,\"origin\":\"api\",\"what\":\"left\",\"who\":\"Olga\"}]\n");
    }

    #[test]
    fn long_cell_widens_only_its_own_row() {
        let mut table = Table::new(&["what", "client"]);
        let (long, widest) = ("x".repeat(CELL_WIDTH_MAX + 1), "y".repeat(CELL_WIDTH_MAX));
        table.push(vec![json!("left"), json!("web")]);
        table.push(vec![json!(long), json!("web")]);
        assert_eq!(Answer::list(table.clone()).text(), format!("WHAT  CLIENT\nleft  web\n{long}  web\n"));
        table.push(vec![json!(widest), json!("web")]);
        let first = format!("WHAT{}  CLIENT\n", " ".repeat(CELL_WIDTH_MAX - 4));
        assert!(Answer::list(table).text().starts_with(&first));
    }

    #[test]
    fn list_is_aligned_and_json_has_the_names() {
        let mut table = Table::new(&["id", "full_name"]);
        table.push(vec![json!(7), json!("Olga\n\u{1b}[1m")]);
        table.push(vec![json!(100), json!("")]);
        let answer = Answer::list(table);
        assert_eq!(answer.text(), "ID   FULL NAME\n7    Olga  [1m\n100  -\n");
        assert_eq!(
            answer.json(),
            "[{\"full_name\":\"Olga\\n\\u001b[1m\",\"id\":7},{\"full_name\":\"\",\"id\":100}]\n"
        );
    }

    #[test]
    fn list_without_rows_is_a_sentence_or_an_empty_list() {
        let table = || Table::new(&["id"]).or_sentence("There are none.");
        let answer = Answer::list(table());
        assert_eq!((answer.text().as_str(), answer.json().as_str()), ("There are none.\n", "[]\n"));
        let mut filled = table();
        filled.push(vec![json!(1)]);
        assert_eq!(Answer::list(filled).text(), "ID\n1\n");
    }

    #[test]
    fn times_are_for_people_or_for_programs() {
        let mut table = Table::new(&["since", "name"]).with_times("since");
        let at = time(Timestamp(1_800_000_000_123));
        table.push(vec![at.clone(), at]);
        let answer = Answer::list(table);
        assert_eq!(
            answer.text(),
            "SINCE                    NAME\n2027-01-15 08:00:00 UTC  2027-01-15T08:00:00Z\n"
        );
        let json = "[{\"name\":\"2027-01-15T08:00:00Z\",\"since\":\"2027-01-15T08:00:00Z\"}]\n";
        assert_eq!(answer.json(), json);
    }
}
