//! What a run prints. Its results are in files, so it goes on when what is printed is no longer read, as after `| head`.

use std::fmt::Display;
use std::io::Write;

/// Prints a line to standard output.
pub fn print(text: impl Display) {
    print_to(std::io::stdout().lock(), text);
}

/// Prints a line about the run itself to standard error.
pub fn note(text: impl Display) {
    print_to(std::io::stderr().lock(), text);
}

fn print_to(mut out: impl Write, text: impl Display) {
    // A closed pipe is no reason to lose what was measured.
    let _ = writeln!(out, "{text}");
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
}
