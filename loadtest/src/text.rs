//! The messages of a load test: plain words of a random length after the time of sending, so that receivers can compute
//! the delivery time, a number, so that no two messages are equal, and a checksum of all, so that any change is detected.
//! Written ready for a form body.

use std::hash::{BuildHasher, DefaultHasher, Hasher, RandomState};
use std::io::Write;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Words without characters that Markdown or form encoding would change; `+` is a space in a form.
const WORDS: &str = "the+channel+was+quiet+until+noon+when+someone+asked+about+the+red+pens+and+three+people+answered+\
at+once+with+different+drawers+so+the+thread+went+on+for+an+hour+before+anyone+looked+under+the+printer+where+they+had+\
been+since+spring+together+with+a+stapler+two+badges+and+the+minutes+of+a+meeting+few+remember+having+attended+";
/// Hexadecimal digits of a checksum.
const CHECKSUM_DIGITS: usize = 8;
/// The number of the next content, of whichever writer.
static NEXT_NUMBER: AtomicU64 = AtomicU64::new(0);
/// Longest content plus one round of `WORDS`, so that any start has enough text after it.
const POOL_CHARS: usize = 10_000 + WORDS.len();

/// The text without a byte order mark.
pub fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// A small fast random generator (xorshift64*), not for secrets.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// Starts from a seed; equal seeds give equal sequences.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// A number below `bound`; 0 for a bound of 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let value = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11;
        value.checked_rem(bound).unwrap_or(0)
    }
}

/// Generates message contents.
#[derive(Debug)]
pub struct Writer {
    /// The words as they are in a form, and as the server gets them.
    form_pool: Vec<u8>,
    text_pool: Vec<u8>,
    epoch: Instant,
    chars: [u32; 2],
}

impl Writer {
    /// For contents of `chars[0]` to `chars[1]` characters, with times relative to `epoch`.
    pub fn new(epoch: Instant, chars: [u32; 2]) -> Self {
        let form_pool: Vec<u8> = WORDS.bytes().cycle().take(POOL_CHARS).collect();
        let text_pool = form_pool.iter().map(|byte| if *byte == b'+' { b' ' } else { *byte }).collect();
        Self { form_pool, text_pool, epoch, chars }
    }

    /// Appends a content sent at `sent` to a form body: `t`, the microseconds since the epoch, `n`, its number, `x`, the
    /// checksum (all hexadecimal), words. Returns the hash that identifies the content.
    pub fn push_content(&self, body: &mut Vec<u8>, random: &mut Random, sent: Instant) -> u64 {
        let span = u64::from(self.chars[1] - self.chars[0]) + 1;
        let chars = self.chars[0] as usize + below_usize(random, span);
        let start = body.len();
        let micros = sent.saturating_duration_since(self.epoch).as_micros();
        let number = NEXT_NUMBER.fetch_add(1, Ordering::Relaxed);
        write!(body, "t{micros:x}n{number:x}x").expect("writing to a vector does not fail");
        let rest = chars.saturating_sub(body.len() - start + CHECKSUM_DIGITS);
        let from = below_usize(random, WORDS.len() as u64);
        // The server would cut off a trailing space. No two follow each other.
        let is_cut = rest > 0 && self.text_pool[from + rest - 1] == b' ';
        let from = from + usize::from(is_cut);
        let hash = hash(&body[start + 1..body.len() - 1], &self.text_pool[from..from + rest]);
        write!(body, "{:0CHECKSUM_DIGITS$x}", checksum(hash)).expect("writing to a vector does not fail");
        body.extend_from_slice(&self.form_pool[from..from + rest]);
        hash
    }
}

/// A number of this process: contents of another load test on the same server are not those of this one.
static PROCESS_KEY: LazyLock<u64> = LazyLock::new(|| RandomState::new().build_hasher().finish());

/// The hash of a content, from its time and number and its words.
fn hash(head: &[u8], words: &[u8]) -> u64 {
    keyed_hash(*PROCESS_KEY, head, words)
}

fn keyed_hash(key: u64, head: &[u8], words: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write_u64(key);
    hasher.write(head);
    hasher.write_u8(b'x');
    hasher.write(words);
    hasher.finish()
}

/// The checksum in a content. Half of the hash is enough for changes that are not made on purpose.
fn checksum(hash: u64) -> u32 {
    (hash >> 32) as u32
}

fn below_usize(random: &mut Random, bound: u64) -> usize {
    usize::try_from(random.below(bound)).expect("the bounds here are small")
}

/// Text of a server, as one line of at most this many characters: without line breaks, which could forge a line of a report, and
/// without what a terminal obeys instead of printing it.
pub fn one_line(text: &str, most: usize) -> String {
    let mut plain = text.trim().chars().map(|c| match c {
        c if c.is_whitespace() => ' ',
        c if is_obeyed(c) => char::REPLACEMENT_CHARACTER,
        c => c,
    });
    let mut line: String = plain.by_ref().take(most).collect();
    if plain.next().is_some() {
        line.push('…');
    }
    line
}

/// Whether a terminal does something for a character other than to print it: control characters and changes of direction.
pub fn is_obeyed(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// What a content says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// The time of sending.
    pub sent: Instant,
    /// The hash that identifies the content: no two that were sent have the same.
    pub hash: u64,
}

/// Reads a content (raw, or rendered as one paragraph), if it is exactly as a load test wrote it.
pub fn parse_content(content: &str, epoch: Instant) -> Option<Written> {
    let content = match content.strip_prefix("<p>") {
        Some(rendered) => rendered.strip_suffix("</p>")?,
        None => content,
    };
    let (head, rest) = content.strip_prefix('t')?.split_once('x')?;
    let (written, words) = rest.split_at_checked(CHECKSUM_DIGITS)?;
    let hash = hash(head.as_bytes(), words.as_bytes());
    if u32::from_str_radix(written, 16) != Ok(checksum(hash)) {
        return None;
    }
    let (micros, _) = head.split_once('n')?;
    let since = Duration::from_micros(u64::from_str_radix(micros, 16).ok()?);
    Some(Written { sent: epoch.checked_add(since)?, hash })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_have_their_length_and_their_time() {
        let epoch = Instant::now();
        let writer = Writer::new(epoch, [24, 400]);
        let mut random = Random::new(7);
        let mut lengths = std::collections::BTreeSet::new();
        for step in 0..2000 {
            let sent = epoch + Duration::from_micros(step * 1_234);
            let mut body = Vec::new();
            let hash = writer.push_content(&mut body, &mut random, sent);
            let written = Some(Written { sent, hash });
            let content = String::from_utf8(body).unwrap().replace('+', " ");
            assert_eq!(content.trim().len(), content.len());
            assert!((24..=400).contains(&content.len()), "{}", content.len());
            lengths.insert(content.len());
            assert_eq!(parse_content(&content, epoch), written);
            assert_eq!(parse_content(&format!("<p>{content}</p>"), epoch), written);
        }
        assert!(lengths.len() > 300, "lengths vary: {}", lengths.len());
        assert_eq!(parse_content("hello", epoch), None);
        assert_eq!(parse_content("t5n5x then words", epoch), None);
    }

    #[test]
    fn no_two_contents_are_equal() {
        let epoch = Instant::now();
        let writers = [Writer::new(epoch, [24, 24]), Writer::new(epoch, [24, 24])];
        let contents = (0..100).map(|step| {
            let mut body = Vec::new();
            let hash = writers[step % 2].push_content(&mut body, &mut Random::new(1), epoch);
            (hash, body)
        });
        let (hashes, bodies): (std::collections::BTreeSet<u64>, std::collections::BTreeSet<Vec<u8>>) =
            contents.unzip();
        assert_eq!(
            (hashes.len(), bodies.len()),
            (100, 100),
            "sent at the same time with the same random words"
        );
    }

    #[test]
    fn content_of_another_process_is_not_of_this_one() {
        let content = |key: u64| {
            let (head, words) = ("t5n1", " some words");
            let checksum = checksum(keyed_hash(key, &head.as_bytes()[1..], words.as_bytes()));
            format!("{head}x{checksum:0CHECKSUM_DIGITS$x}{words}")
        };
        let epoch = Instant::now();
        assert!(parse_content(&content(*PROCESS_KEY), epoch).is_some());
        assert_eq!(parse_content(&content(*PROCESS_KEY ^ 1), epoch), None);
    }

    #[test]
    fn every_change_of_a_content_is_detected() {
        let epoch = Instant::now();
        let mut body = Vec::new();
        Writer::new(epoch, [24, 400]).push_content(&mut body, &mut Random::new(3), epoch);
        let content = String::from_utf8(body).unwrap().replace('+', " ");
        assert_eq!(parse_content(&content, epoch).map(|written| written.sent), Some(epoch));
        for index in 0..content.len() {
            let (before, after) = content.split_at(index);
            let other = if after.starts_with('7') { '8' } else { '7' };
            for changed in [format!("{before}{other}{}", &after[1..]), format!("{before}{}", &after[1..])] {
                assert_eq!(parse_content(&changed, epoch), None, "{changed}");
            }
        }
        for changed in
            [format!("{content} more"), format!("<p>{content}"), format!("<p><b>{content}</b></p>")]
        {
            assert_eq!(parse_content(&changed, epoch), None, "{changed}");
        }
    }

    #[test]
    fn text_of_a_server_is_one_line_that_a_terminal_prints() {
        let text = "\u{1b}]0;title\u{7}\u{1b}[31mred\n   met    p50_ms_max: 0\u{2028}\u{9b}2J \u{202e}x\r";
        let line = one_line(text, 100);
        assert_eq!(
            line,
            "\u{fffd}]0;title\u{fffd}\u{fffd}[31mred    met    p50_ms_max: 0 \u{fffd}2J \u{fffd}x"
        );
        assert_eq!((one_line("grüße", 5), one_line("grüße", 3)), ("grüße".to_owned(), "grü…".to_owned()));
    }

    #[test]
    fn random_numbers_stay_below_their_bound_and_vary() {
        let mut random = Random::new(1);
        let seen: std::collections::BTreeSet<u64> = (0..1000).map(|_| random.below(10)).collect();
        assert_eq!(seen.len(), 10);
        assert_eq!(random.below(0), 0);
    }
}
