//! Removes what a reply repeats: the quoted e-mail below or above the reply, with the line that introduces it, and the
//! signature.

/// Lines of an introduction such as `On Monday, … wrote:`.
const INTRODUCTION_LINES_MAX: usize = 3;
/// Lines in which the headers of a repeated e-mail are looked for.
const HEADER_LINES_MAX: usize = 6;
/// How introductions end, in the languages of common mail programs.
const WROTE: [&str; 8] =
    ["wrote:", "a écrit :", "a écrit\u{a0}:", "schrieb:", "escribió:", "ha scritto:", "schreef:", "написал:"];
/// How introductions begin.
const ON: [&str; 7] = ["On ", "Le ", "Am ", "El ", "Il ", "Op ", "> On "];

/// The text without quoted e-mails; the whole text if there is nothing else.
pub fn without_quotes(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let kept = match (0..lines.len()).find_map(|at| introduction(&lines, at).map(|length| (at, length))) {
        Some((at, length)) => {
            let quoted = &lines[at + length..];
            let is_quote = |line: &&str| line.trim_start().starts_with('>') || line.trim().is_empty();
            let answer = quoted.iter().skip_while(|line| is_quote(line));
            // An answer below what it answers; without marks there is no telling, and everything is the old e-mail.
            let has_marks = quoted.iter().any(|line| line.trim_start().starts_with('>'));
            let answer: Vec<&str> = if has_marks { answer.copied().collect() } else { Vec::new() };
            [&lines[..at], answer.as_slice()].concat()
        }
        None => without_last_quote(&lines).to_vec(),
    };
    let kept = kept.join("\n");
    if kept.trim().is_empty() { text.to_owned() } else { kept.trim_end().to_owned() }
}

/// The text without a signature: what follows a line of two hyphens, if there is one such line.
pub fn without_footer(text: &str) -> String {
    let is_mark = |line: &&str| line.trim() == "--";
    if text.lines().filter(is_mark).count() != 1 {
        return text.to_owned();
    }
    let kept: Vec<&str> = text.lines().take_while(|line| !is_mark(line)).collect();
    kept.join("\n").trim().to_owned()
}

/// The number of lines that introduce a quoted e-mail at a position.
fn introduction(lines: &[&str], at: usize) -> Option<usize> {
    let line = lines[at].trim();
    let dashes = line.trim_matches('-');
    if line.starts_with("--")
        && line.ends_with("--")
        && dashes.trim().eq_ignore_ascii_case("original message")
    {
        return Some(1);
    }
    if ON.iter().any(|start| line.starts_with(start)) {
        let last = at + INTRODUCTION_LINES_MAX.min(lines.len() - at);
        let ends = |line: &&str| WROTE.iter().any(|end| line.trim_end().ends_with(end));
        return lines[at..last].iter().position(ends).map(|position| position + 1);
    }
    let is_rule = line.len() >= 5 && line.bytes().all(|byte| byte == b'_');
    let first = if is_rule { at + 1 } else { at };
    let headers = lines.get(first..lines.len().min(first + HEADER_LINES_MAX))?;
    let has = |name: &str| headers.iter().any(|line| line.trim_start_matches('*').starts_with(name));
    let begins = headers.first().is_some_and(|line| line.trim_start_matches('*').starts_with("From:"));
    (begins && (has("Sent:") || has("Date:")) && has("Subject:")).then_some(headers.len().max(1))
}

/// The lines without the quoted ones at their end.
fn without_last_quote<'l, 't>(lines: &'l [&'t str]) -> &'l [&'t str] {
    let is_own = |line: &&str| !line.trim().is_empty() && !line.starts_with('>');
    let kept = lines.iter().rposition(is_own).map_or(0, |last| last + 1);
    let quoted = lines[kept..].iter().filter(|line| line.starts_with('>')).count();
    if quoted >= 2 { &lines[..kept] } else { lines }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_removed() {
        let cases = [
            ("Yes.\n\nOn Mon, 3 May 2031, Ada wrote:\n> Is it?\n> Really?\n", "Yes."),
            ("Yes.\n\nOn Mon, 3 May 2031 at 10:00 AM Ada Byron\n<ada@a.example> wrote:\n\n> Is it?", "Yes."),
            ("On Mon, Ada wrote:\n> Is it?\n\nYes, below.\n", "\nYes, below."),
            ("Yes.\n\n-----Original Message-----\nFrom: Ada\nIs it?", "Yes."),
            ("Yes.\n________________\nFrom: Ada\nSent: Monday\nTo: Bob\nSubject: it\n\nIs it?", "Yes."),
            ("Yes.\n> Is it?\n> Really?\n", "Yes."),
            ("One > two\n> a lone line", "One > two\n> a lone line"),
            ("On time, as they said.\nGood.", "On time, as they said.\nGood."),
            ("> only\n> quotes", "> only\n> quotes"),
            ("Am Montag schrieb:\nalles", "Am Montag schrieb:\nalles"),
        ];
        for (text, kept) in cases {
            assert_eq!(without_quotes(text).trim(), kept.trim(), "{text}");
        }
    }

    #[test]
    fn one_signature_is_removed() {
        assert_eq!(without_footer("Yes.\n-- \nAda\n"), "Yes.");
        assert_eq!(without_footer("a\n--\nb\n--\nc"), "a\n--\nb\n--\nc");
        assert_eq!(without_footer("a -- b"), "a -- b");
    }
}
