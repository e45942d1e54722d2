//! Reads CSV as spreadsheets write it: with a byte order mark, quoted cells, and lines that end with CR and LF; also with
//! semicolons or tabs, where the decimal separator is a comma.

use crate::text::without_mark;

/// A line of a table, with its number in the file.
#[derive(Debug, PartialEq, Eq)]
pub struct Row {
    pub line: usize,
    pub cells: Vec<String>,
}

/// All rows that are not empty. Spaces around cells that are not quoted do not count.
pub fn rows(text: &str) -> Result<Vec<Row>, String> {
    let text = without_mark(text);
    let header = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let separator = header.chars().find(|c| [',', ';', '\t'].contains(c)).unwrap_or(',');
    let (mut rows, mut rest, mut line) = (Vec::new(), text, 1);
    while !rest.is_empty() {
        let mut row = Row { line, cells: Vec::new() };
        loop {
            let (cell, after) =
                read_cell(rest, separator).map_err(|reason| format!("line {line}: {reason}"))?;
            line += rest[..rest.len() - after.len()].matches('\n').count();
            row.cells.push(cell);
            rest = after;
            match rest.strip_prefix(separator) {
                Some(next) => rest = next,
                None => break,
            }
        }
        rest = rest.strip_prefix('\r').unwrap_or(rest);
        rest = rest.strip_prefix('\n').unwrap_or(rest);
        line += 1;
        if row.cells.iter().any(|cell| !cell.is_empty()) {
            rows.push(row);
        }
    }
    Ok(rows)
}

/// The cell at the beginning of a text, and what follows it: a separator, the end of the line or nothing.
fn read_cell(text: &str, separator: char) -> Result<(String, &str), String> {
    let ends = |c: char| c == separator || c == '\r' || c == '\n';
    let Some(mut rest) = text.trim_start_matches(' ').strip_prefix('"') else {
        let (cell, after) = text.split_at(text.find(ends).unwrap_or(text.len()));
        return Ok((cell.trim().to_owned(), after));
    };
    let mut cell = String::new();
    loop {
        let Some((part, after)) = rest.split_once('"') else {
            return Err("a quote is not closed".to_owned());
        };
        cell.push_str(part);
        match after.strip_prefix('"') {
            // A doubled quote is one in the cell.
            Some(after) => {
                cell.push('"');
                rest = after;
            }
            None => {
                let after = after.trim_start_matches(' ');
                let is_end = after.is_empty() || after.starts_with(ends);
                return if is_end {
                    Ok((cell, after))
                } else {
                    Err("text follows a closing quote".to_owned())
                };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(text: &str) -> Vec<Vec<String>> {
        rows(text).unwrap().into_iter().map(|row| row.cells).collect()
    }

    #[test]
    fn tables_of_spreadsheets_are_read() {
        let wanted = vec![vec!["a", "b"], vec!["1", "x, \"y\""], vec!["2", ""]];
        for text in [
            "\u{feff}\"a\",\"b\"\r\n\"1\",\"x, \"\"y\"\"\"\r\n2,\r\n",
            "a;b\r\n1;\"x, \"\"y\"\"\"\r\n\r\n2;\r\n",
            " a , b\n1,\"x, \"\"y\"\"\" \n2,",
            "a\tb\n1\t\"x, \"\"y\"\"\"\n2\t\n",
        ] {
            assert_eq!(cells(text), wanted, "{text:?}");
        }
        assert_eq!(rows(""), Ok(Vec::new()));
    }

    #[test]
    fn lines_are_numbered_as_in_the_file() {
        let numbers: Vec<usize> =
            rows("a,b\n\n\"1\n2\",x\r\n3,y").unwrap().iter().map(|row| row.line).collect();
        assert_eq!(numbers, [1, 3, 5]);
        assert_eq!(rows("a\n\"b").unwrap_err(), "line 2: a quote is not closed");
        assert_eq!(rows("a\n\"b\"c\n").unwrap_err(), "line 2: text follows a closing quote");
    }
}
