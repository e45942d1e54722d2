//! Tables: a header row, a row of dashes, and rows of cells separated by pipes.

/// Cells a table may have. A wide header over many short rows would otherwise make a short message large.
const CELLS_MAX: usize = 20_000;

/// Where a column's text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Center,
    Right,
}

/// A table; every row has as many cells as there are columns.
#[derive(Debug)]
pub(super) struct Table<'t> {
    pub aligns: Vec<Option<Align>>,
    pub header: Vec<&'t str>,
    pub rows: Vec<Vec<&'t str>>,
}

/// Reads the lines as a table; `None` if they are not one.
pub(super) fn parse<'t>(lines: &[&'t str]) -> Option<Table<'t>> {
    let [first, second, rest @ ..] = lines else { return None };
    let is_separator = |byte: u8| matches!(byte, b'|' | b'-' | b':' | b' ');
    if !second.contains('-') || !second.bytes().all(is_separator) {
        return None;
    }
    let header = split_cells(first);
    let is_bordered = first.trim().starts_with('|') && second.trim().starts_with('|');
    if header.len() < 2 && !is_bordered {
        return None;
    }
    let aligns: Vec<_> = split_cells(second).iter().map(|cell| align_of(cell)).collect::<Option<_>>()?;
    if aligns.len() != header.len() || aligns.len() * rest.len().max(1) > CELLS_MAX {
        return None;
    }
    let mut rows: Vec<Vec<&str>> = rest.iter().map(|line| split_cells(line)).collect();
    if rows.is_empty() {
        rows.push(Vec::new());
    }
    for row in &mut rows {
        row.resize(aligns.len(), "");
    }
    Some(Table { aligns, header, rows })
}

/// The outer `None` if the cell is not made of dashes with optional colons.
fn align_of(cell: &str) -> Option<Option<Align>> {
    let is_left = cell.starts_with(':');
    let is_right = cell.len() > 1 && cell.ends_with(':');
    let dashes = cell.trim_start_matches(':').trim_end_matches(':');
    if dashes.is_empty() || !dashes.bytes().all(|byte| byte == b'-') {
        return None;
    }
    Some(match (is_left, is_right) {
        (true, true) => Some(Align::Center),
        (true, false) => Some(Align::Left),
        (false, true) => Some(Align::Right),
        (false, false) => None,
    })
}

/// Splits a row at pipes that stand neither in a code span nor after a backslash.
fn split_cells(line: &str) -> Vec<&str> {
    let mut row = line.trim();
    row = row.strip_prefix('|').unwrap_or(row);
    if row.ends_with('|') && !row.ends_with("\\|") {
        row = &row[..row.len() - 1];
    }
    let bytes = row.as_bytes();
    let mut cells = Vec::new();
    let mut start = 0;
    let mut at = 0;
    let mut code_ends_at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            b'`' if at >= code_ends_at => {
                let width = bytes[at..].iter().take_while(|byte| **byte == b'`').count();
                code_ends_at = at + width;
                if let Some(length) = row[code_ends_at..].find(&row[at..at + width]) {
                    code_ends_at += length + width;
                    at = code_ends_at;
                    continue;
                }
                at = code_ends_at;
                continue;
            }
            b'|' => {
                cells.push(row[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    cells.push(row[start..].trim());
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pipes_in_code_do_not_split() {
        assert_eq!(split_cells("| a | `b|c` | d\\|e |"), ["a", "`b|c`", "d\\|e"]);
        assert_eq!(split_cells("a|b"), ["a", "b"]);
        assert_eq!(split_cells("``` | x"), ["```", "x"]);
    }

    #[test]
    fn only_a_row_of_dashes_makes_a_table() {
        assert!(parse(&["a | b", "--|:-:"]).is_some());
        assert!(parse(&["| a |", "|---|", "| 1 |"]).is_some());
        assert!(parse(&["a", "---", "b"]).is_none());
        assert!(parse(&["a | b", "-- | -- | --"]).is_none());
        assert!(parse(&["a | b", "1 | 2"]).is_none());
        assert!(parse(&["a | b"]).is_none());
    }
}
