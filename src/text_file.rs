//! Text files of operators, read within a limit. What is wrong with one has its line.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use thiserror::Error;

/// Why a file is not read. The texts follow the name of the file.
#[derive(Debug, Error)]
pub enum TextFileError {
    #[error("{0}")]
    System(#[from] io::Error),
    #[error("it is larger than {0} bytes")]
    TooLarge(usize),
    #[error("line {line} is not UTF-8 text; save the file as UTF-8")]
    NotText { line: usize },
}

/// Reads a file of at most `bytes_max` bytes, without a byte order mark.
///
/// # Errors
/// Those of [`TextFileError`].
pub fn read_text(path: &Path, bytes_max: usize) -> Result<String, TextFileError> {
    let mut bytes = Vec::new();
    File::open(path)?.take(bytes_max as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > bytes_max {
        return Err(TextFileError::TooLarge(bytes_max));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        TextFileError::NotText { line: 1 + before.iter().filter(|byte| **byte == b'\n').count() }
    })?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_no_text_have_the_line() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let read = |content: &[u8]| {
            std::fs::write(file.path(), content).unwrap();
            read_text(file.path(), 20).map_err(|error| error.to_string())
        };
        assert_eq!(read("tea = \"Käse\"".as_bytes()).unwrap(), "tea = \"Käse\"");
        assert_eq!(read("\u{feff}tea".as_bytes()).unwrap(), "tea");
        let wrong = read(b"a = 1\nb = \"K\xe4se\"\n").unwrap_err();
        assert_eq!(wrong, "line 2 is not UTF-8 text; save the file as UTF-8");
        assert_eq!(read(&[b' '; 21]).unwrap_err(), "it is larger than 20 bytes");
        let missing = read_text(Path::new("/nowhere/tea"), 20).unwrap_err().to_string();
        assert!(missing.starts_with("No such file or directory"), "{missing}");
    }
}
