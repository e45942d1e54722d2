//! What a run prints. Its results are in files, so it goes on when what is printed is no longer read, as after `| head`.

use std::fmt::Display;
use std::io::Write;

use crate::text::is_obeyed;

/// Prints a line to standard output.
pub fn print(text: impl Display) {
    print_to(std::io::stdout().lock(), text);
}

/// Prints a line about the run itself to standard error.
pub fn note(text: impl Display) {
    print_to(std::io::stderr().lock(), text);
}

fn print_to(mut out: impl Write, text: impl Display) {
    // Names in files of results may have anything.
    let plain = text.to_string().replace(|c| c != '\n' && is_obeyed(c), "\u{fffd}");
    // A closed pipe is no reason to lose what was measured.
    let _ = writeln!(out, "{plain}");
}

#[cfg(test)]
mod tests {
    use super::print_to;

    #[test]
    fn closed_pipe_is_no_error() {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        print_to(writer, "a line");
    }

    #[test]
    fn what_a_terminal_would_obey_is_not_printed() {
        let mut out = Vec::new();
        print_to(&mut out, "a\u{1b}[2J\n– b");
        assert_eq!(String::from_utf8(out).unwrap(), "a\u{fffd}[2J\n– b\n");
    }
}
