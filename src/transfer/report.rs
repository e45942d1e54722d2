//! What happened to the rows of an export: imported, changed, left out. The numbers are those of the files.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fmt::{self, Write};

/// What became of one table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Rows in the files.
    pub rows: u64,
    pub carried: u64,
    pub left_out: u64,
}

/// The report of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    tables: BTreeMap<String, Counts>,
    /// What was carried over in another form, and how often.
    changed: BTreeMap<String, u64>,
    /// Why rows were left out, and how often.
    left_out: BTreeMap<String, u64>,
}

impl Report {
    /// Rows of a table were read.
    pub fn read(&mut self, table: &str, rows: u64) {
        self.tables.entry(table.to_owned()).or_default().rows += rows;
    }

    /// Rows of a table were carried over.
    pub fn carry(&mut self, table: &str, rows: u64) {
        self.tables.entry(table.to_owned()).or_default().carried += rows;
    }

    /// Rows of a table were left out for a reason.
    pub fn leave_out(&mut self, table: &str, why: &str, rows: u64) {
        if rows > 0 {
            self.tables.entry(table.to_owned()).or_default().left_out += rows;
            *self.left_out.entry(format!("{table}: {why}")).or_default() += rows;
        }
    }

    /// Something was carried over in another form.
    pub fn change(&mut self, what: &str, times: u64) {
        if times > 0 {
            *self.changed.entry(what.to_owned()).or_default() += times;
        }
    }

    /// Adds another report to this one.
    pub fn add(&mut self, other: &Self) {
        for (table, counts) in &other.tables {
            let own = self.tables.entry(table.clone()).or_default();
            own.rows += counts.rows;
            own.carried += counts.carried;
            own.left_out += counts.left_out;
        }
        other
            .changed
            .iter()
            .for_each(|(what, times)| *self.changed.entry(what.clone()).or_default() += times);
        let reasons = other.left_out.iter();
        reasons.for_each(|(why, rows)| *self.left_out.entry(why.clone()).or_default() += rows);
    }

    /// The counts of a table.
    pub fn counts(&self, table: &str) -> Counts {
        self.tables.get(table).copied().unwrap_or_default()
    }

    /// Tables with rows that were neither carried over nor left out for a reason: there must be none.
    pub fn unaccounted(&self) -> impl Iterator<Item = (&str, Counts)> {
        let tables = self.tables.iter().map(|(table, counts)| (table.as_str(), *counts));
        tables.filter(|(_, counts)| counts.carried + counts.left_out != counts.rows)
    }

    /// The report as JSON.
    pub fn to_json(&self) -> Value {
        let tables: Map<String, Value> = self
            .tables
            .iter()
            .map(|(table, counts)| {
                let Counts { rows, carried, left_out } = counts;
                (table.clone(), json!({"rows": rows, "carried_over": carried, "left_out": left_out}))
            })
            .collect();
        let unaccounted: Vec<&str> = self.unaccounted().map(|(table, _)| table).collect();
        json!({
            "tables": tables,
            "changed": self.changed,
            "left_out": self.left_out,
            "unaccounted": unaccounted,
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = format!("{:<36} {:>10} {:>12} {:>10}\n", "table", "rows", "carried over", "left out");
        for (table, Counts { rows, carried, left_out }) in &self.tables {
            if *rows > 0 {
                writeln!(text, "{table:<36} {rows:>10} {carried:>12} {left_out:>10}")?;
            }
        }
        for (title, entries) in [("Changed", &self.changed), ("Left out", &self.left_out)] {
            if !entries.is_empty() {
                writeln!(text, "\n{title}:")?;
                entries.iter().try_for_each(|(what, times)| writeln!(text, "  {times:>8}  {what}"))?;
            }
        }
        for (table, counts) in self.unaccounted() {
            writeln!(text, "\nNot accounted for: {table}, {} rows in the files", counts.rows)?;
        }
        f.write_str(text.trim_end())
    }
}
