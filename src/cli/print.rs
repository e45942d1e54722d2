//! What commands write to standard output and standard error. Nothing here panics when the other side is gone, as after `| head` or
//! when a terminal was closed.

use super::error::CliError;
use std::fmt::Arguments;
use std::io::{self, ErrorKind, Write};

/// Prints a text on standard output. A closed pipe is not an error: `| head` ends so.
///
/// # Errors
/// `System` when the text cannot be written, such as to a file on a full disk.
pub fn print_text(text: &str) -> Result<(), CliError> {
    print_to(&mut io::stdout().lock(), text.as_bytes())
}

/// Prints a help text, or the version, as [`print_text`] does.
///
/// # Errors
/// Those of [`print_text`].
pub fn print_help(help: &clap::Error) -> Result<(), CliError> {
    written(help.print().and_then(|()| io::stdout().flush()))
}

/// Prints bytes to a stream.
fn print_to(out: &mut dyn Write, bytes: &[u8]) -> Result<(), CliError> {
    written(out.write_all(bytes).and_then(|()| out.flush()))
}

fn written(result: io::Result<()>) -> Result<(), CliError> {
    match result {
        Err(reason) if reason.kind() != ErrorKind::BrokenPipe => {
            Err(CliError::System { what: "cannot write the output", reason })
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Prints a line for people on standard error, if that is possible.
pub fn print_note(line: Arguments<'_>) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// Replaces the line of a terminal on standard error, if that is possible; an empty text removes it.
pub fn replace_line(text: Arguments<'_>) {
    let mut err = io::stderr().lock();
    let _ = write!(err, "\r\x1b[K{text}").and_then(|()| err.flush());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stream that refuses everything.
    struct Refusing(ErrorKind);

    impl Write for Refusing {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn closed_pipe_is_no_error_and_full_disk_is_one() {
        assert!(print_to(&mut Refusing(ErrorKind::BrokenPipe), b"x").is_ok());
        let failed = print_to(&mut Refusing(ErrorKind::StorageFull), b"x").unwrap_err().to_string();
        assert!(failed.starts_with("cannot write the output: "), "{failed}");
    }
}
