//! `millstream completions` and `millstream man`: what packages install beside the program.

use super::error::CliError;
use super::print::print_text;
use clap::Command;
use clap_complete::Shell;
use std::path::{Path, PathBuf};

/// Print completions for a shell
///
/// For example, for bash: millstream completions bash > /etc/bash_completion.d/millstream
#[derive(Debug, clap::Args)]
pub struct CompletionsArgs {
    /// The shell to complete commands in
    #[arg(value_enum)]
    shell: Shell,
}

/// Print the man page, or write one for each command
#[derive(Debug, clap::Args)]
pub struct ManArgs {
    /// Write the pages of all commands to this folder
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// Prints completions for a shell.
pub fn completions(args: &CompletionsArgs, mut program: Command) -> Result<(), CliError> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut program, "millstream", &mut text);
    print_text(&String::from_utf8_lossy(&text))
}

/// Prints or writes man pages.
pub fn man(args: &ManArgs, program: Command) -> Result<(), CliError> {
    let what = "cannot write the man pages";
    if let Some(folder) = &args.dir {
        let written = std::fs::create_dir_all(folder)
            .and_then(|()| clap_mangen::generate_to(program, folder))
            .and_then(|()| name_examples(folder));
        return written.map_err(|reason| CliError::System { what, reason });
    }
    let mut text = Vec::new();
    clap_mangen::Man::new(program).render(&mut text).map_err(|reason| CliError::System { what, reason })?;
    print_text(&with_examples(&String::from_utf8_lossy(&text)))
}

/// A page with the heading that pages have for examples, whose lines stay as they are so that they can be copied; the library calls
/// all text after the options "extra", and lets it be filled and justified.
fn with_examples(page: &str) -> String {
    let Some((before, extra)) = page.split_once(".SH EXTRA\n") else { return page.to_owned() };
    let end = extra.find("\n.SH ").map_or(extra.len(), |end| end + 1);
    let (examples, after) = extra.split_at(end);
    let end = if examples.ends_with('\n') { "" } else { "\n" };
    format!("{before}.SH EXAMPLES\n.nf\n{examples}{end}.fi\n{after}")
}

fn name_examples(folder: &Path) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        // Folders of man pages have those of other programs, too.
        if name.starts_with("millstream") && name.ends_with(".1") {
            std::fs::write(&path, with_examples(&std::fs::read_to_string(&path)?))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_examples_are_not_filled() {
        let page = ".SH OPTIONS\nx\n.SH EXTRA\nExamples:\n  millstream dev\n.SH VERSION\nv1\n";
        assert_eq!(
            with_examples(page),
            ".SH OPTIONS\nx\n.SH EXAMPLES\n.nf\nExamples:\n  millstream dev\n.fi\n.SH VERSION\nv1\n"
        );
        assert_eq!(with_examples(".SH EXTRA\na"), ".SH EXAMPLES\n.nf\na\n.fi\n");
        assert_eq!(with_examples(".SH NAME\na\n"), ".SH NAME\na\n");
    }
}
