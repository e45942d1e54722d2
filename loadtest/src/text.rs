//! The messages of a load test: plain words of a random length after the time of sending, so that receivers can compute
//! the delivery time, and a checksum of both, so that any change is detected. Written ready for a form body.

use std::hash::{DefaultHasher, Hasher};
use std::io::Write;
use std::time::{Duration, Instant};

/// Words without characters that Markdown or form encoding would change; `+` is a space in a form.
const WORDS: &str = "the+channel+was+quiet+until+noon+when+someone+asked+about+the+red+pens+and+three+people+answered+\
at+once+with+different+drawers+so+the+thread+went+on+for+an+hour+before+anyone+looked+under+the+printer+where+they+had+\
been+since+spring+together+with+a+stapler+two+badges+and+the+minutes+of+a+meeting+few+remember+having+attended+";
/// Hexadecimal digits of a checksum.
const CHECKSUM_DIGITS: usize = 8;
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

    /// Appends a content sent at `sent` to a form body: `t`, the nanoseconds since the epoch, `x`, the checksum, words.
    pub fn push_content(&self, body: &mut Vec<u8>, random: &mut Random, sent: Instant) {
        let span = u64::from(self.chars[1] - self.chars[0]) + 1;
        let chars = self.chars[0] as usize + below_usize(random, span);
        let start = body.len();
        let nanos = sent.saturating_duration_since(self.epoch).as_nanos();
        write!(body, "t{nanos}x").expect("writing to a vector does not fail");
        let rest = chars.saturating_sub(body.len() - start + CHECKSUM_DIGITS);
        let from = below_usize(random, WORDS.len() as u64);
        // The server would cut off a trailing space. No two follow each other.
        let is_cut = rest > 0 && self.text_pool[from + rest - 1] == b' ';
        let from = from + usize::from(is_cut);
        let checksum = checksum(&body[start + 1..body.len() - 1], &self.text_pool[from..from + rest]);
        write!(body, "{checksum:0CHECKSUM_DIGITS$x}").expect("writing to a vector does not fail");
        body.extend_from_slice(&self.form_pool[from..from + rest]);
    }
}

/// The checksum of a content, from the digits of its time and its words.
fn checksum(nanos: &[u8], words: &[u8]) -> u32 {
    let mut hasher = DefaultHasher::new();
    hasher.write(nanos);
    hasher.write_u8(b'x');
    hasher.write(words);
    // Half of the hash is enough for changes that are not made on purpose.
    (hasher.finish() >> 32) as u32
}

fn below_usize(random: &mut Random, bound: u64) -> usize {
    usize::try_from(random.below(bound)).expect("the bounds here are small")
}

/// The time of sending of a content (raw, or rendered as one paragraph), if it is exactly as a load test wrote it.
pub fn parse_sent(content: &str, epoch: Instant) -> Option<Instant> {
    let content = match content.strip_prefix("<p>") {
        Some(rendered) => rendered.strip_suffix("</p>")?,
        None => content,
    };
    let (nanos, rest) = content.strip_prefix('t')?.split_once('x')?;
    let (written, words) = rest.split_at_checked(CHECKSUM_DIGITS)?;
    if u32::from_str_radix(written, 16) != Ok(checksum(nanos.as_bytes(), words.as_bytes())) {
        return None;
    }
    epoch.checked_add(Duration::from_nanos(nanos.parse().ok()?))
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
            let sent = epoch + Duration::from_nanos(step * 1_234_567);
            let mut body = Vec::new();
            writer.push_content(&mut body, &mut random, sent);
            let content = String::from_utf8(body).unwrap().replace('+', " ");
            assert_eq!(content.trim().len(), content.len());
            assert!((24..=400).contains(&content.len()), "{}", content.len());
            lengths.insert(content.len());
            assert_eq!(parse_sent(&content, epoch), Some(sent));
            assert_eq!(parse_sent(&format!("<p>{content}</p>"), epoch), Some(sent));
        }
        assert!(lengths.len() > 300, "lengths vary: {}", lengths.len());
        assert_eq!(parse_sent("hello", epoch), None);
        assert_eq!(parse_sent("t5x then words", epoch), None);
    }

    #[test]
    fn every_change_of_a_content_is_detected() {
        let epoch = Instant::now();
        let mut body = Vec::new();
        Writer::new(epoch, [24, 400]).push_content(&mut body, &mut Random::new(3), epoch);
        let content = String::from_utf8(body).unwrap().replace('+', " ");
        assert_eq!(parse_sent(&content, epoch), Some(epoch));
        for index in 0..content.len() {
            let (before, after) = content.split_at(index);
            let other = if after.starts_with('7') { '8' } else { '7' };
            for changed in [format!("{before}{other}{}", &after[1..]), format!("{before}{}", &after[1..])] {
                assert_eq!(parse_sent(&changed, epoch), None, "{changed}");
            }
        }
        for changed in
            [format!("{content} more"), format!("<p>{content}"), format!("<p><b>{content}</b></p>")]
        {
            assert_eq!(parse_sent(&changed, epoch), None, "{changed}");
        }
    }

    #[test]
    fn random_numbers_stay_below_their_bound_and_vary() {
        let mut random = Random::new(1);
        let seen: std::collections::BTreeSet<u64> = (0..1000).map(|_| random.below(10)).collect();
        assert_eq!(seen.len(), 10);
        assert_eq!(random.below(0), 0);
    }
}
