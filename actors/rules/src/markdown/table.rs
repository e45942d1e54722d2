//! Tables: a header row, a row of dashes, and rows of cells separated by pipes.

/// Maximum number of cells. A wide header with many short rows would otherwise turn a short message into a large one.
const CELLS_MAX: usize = 20_000;

/// The alignment of a column.
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

/// Parses the lines as a table; `None` if they are not one. If the header begins or ends with a pipe, pipes at the edges
/// of rows are borders, otherwise they separate cells.
pub(super) fn parse<'t>(lines: &[&'t str]) -> Option<Table<'t>> {
    let [first, second, rest @ ..] = lines else { return None };
    if !second.bytes().all(|byte| matches!(byte, b'|' | b'-' | b':' | b' ')) {
        return None;
    }
    let (first, second) = (first.trim_matches(' '), second.trim_matches(' '));
    let is_bordered = has_border(first);
    let header = split_cells(first, is_bordered);
    if header.len() < 2 && !(is_bordered && lines[1..].iter().all(|line| has_border(line.trim_matches(' '))))
    {
        return None;
    }
    let aligns: Vec<_> = split_cells(second, is_bordered).iter().map(|cell| align_of(cell)).collect();
    if aligns.len() != header.len() || aligns.len() * rest.len().max(1) > CELLS_MAX {
        return None;
    }
    let cells_of = |line: &&'t str| split_cells(line.trim_matches(' '), is_bordered);
    let mut rows: Vec<Vec<&str>> = rest.iter().map(cells_of).collect();
    if rows.is_empty() {
        rows.push(Vec::new());
    }
    for row in &mut rows {
        row.resize(aligns.len(), "");
    }
    Some(Table { aligns, header, rows })
}

/// Whether a row begins or ends with a pipe.
fn has_border(row: &str) -> bool {
    row.starts_with('|') || ends_in_pipe(row)
}

/// Whether a row ends with a pipe that no backslash escapes.
fn ends_in_pipe(row: &str) -> bool {
    let Some(before) = row.strip_suffix('|') else { return false };
    let escapes = before.len() - before.trim_end_matches('\\').len();
    escapes.is_multiple_of(2)
}

fn align_of(cell: &str) -> Option<Align> {
    match (cell.starts_with(':'), cell.ends_with(':')) {
        (true, true) => Some(Align::Center),
        (true, false) => Some(Align::Left),
        (false, true) => Some(Align::Right),
        (false, false) => None,
    }
}

/// Splits a row at pipes that are neither in a code span nor after a backslash.
fn split_cells(line: &str, is_bordered: bool) -> Vec<&str> {
    let mut row = line;
    if is_bordered {
        row = row.strip_prefix('|').unwrap_or(row);
        if ends_in_pipe(row) {
            row = &row[..row.len() - 1];
        }
    }
    let bytes = row.as_bytes();
    let mut cells = Vec::new();
    let mut start = 0;
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            b'`' => {
                let width = bytes[at..].iter().take_while(|byte| **byte == b'`').count();
                let (marker, rest) = row[at..].split_at(width);
                at += width + rest.find(marker).map_or(0, |length| length + width);
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
        assert_eq!(split_cells("| a | `b|c` | d\\|e |", true), ["a", "`b|c`", "d\\|e"]);
        assert_eq!(split_cells("a|b", false), ["a", "b"]);
        assert_eq!(split_cells("|a|b|", false), ["", "a", "b", ""]);
        assert_eq!(split_cells("``` | x", false), ["```", "x"]);
    }

    #[test]
    fn only_a_row_of_dashes_makes_a_table() {
        assert!(parse(&["a | b", "--|:-:"]).is_some());
        assert!(parse(&["| a |", "|---|", "| 1 |"]).is_some());
        assert!(parse(&["a", "---", "b"]).is_none());
        assert!(parse(&["a | b", "-- | -- | --"]).is_none());
        assert!(parse(&["a | b", "1 | 2"]).is_none());
        assert!(parse(&["a | b", "|--|--|"]).is_none());
        assert!(parse(&["| a |", "|---|", "b"]).is_none());
        assert!(parse(&["a | b"]).is_none());
    }
}
