//! Fills an index with made-up messages and measures it: `cargo run --release -p millstream-search --example measure -- 1000000`.
//!
//! The words follow Zipf's law over a vocabulary of 60,000, as in natural text; every tenth message has a number that no
//! other has, and all have the same two words at the end.

use model::{MessageId, Sequence};
use roaring::RoaringBitmap;
use search::{
    Analyzer, HashedTerms, Identity, Index, Language, Merges, Query, Reader, SearchError, TermHasher,
};
use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

const VOCABULARY: u64 = 60_000;
const BATCH: u32 = 4096;
const ROUNDS: usize = 200;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// The number of a word: small numbers are frequent.
    fn word(&mut self) -> u64 {
        let uniform = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        ((VOCABULARY as f64).powf(uniform) - 1.0) as u64
    }
}

/// A word of three to nine letters.
fn spell(number: u64, out: &mut String) {
    const SYLLABLES: [&str; 16] =
        ["ba", "ce", "di", "fo", "gu", "ha", "le", "mi", "no", "pu", "ra", "se", "ti", "vo", "wu", "za"];
    let mut rest = number.wrapping_mul(2_654_435_761) % 16_777_213;
    for _ in 0..(2 + number % 3) {
        out.push_str(SYLLABLES[(rest % 16) as usize]);
        rest /= 16;
    }
    out.push_str(["", "s", "n", "r"][(number / 3 % 4) as usize]);
}

fn message(id: u32, random: &mut Random) -> String {
    let mut html = String::from("<p>");
    for _ in 0..8 + random.next() % 24 {
        // Four of ten words of English are stop words.
        match random.next() % 10 {
            0..4 => html.push_str(["the", "of", "and", "is"][(random.next() % 4) as usize]),
            _ => spell(random.word(), &mut html),
        }
        html.push(' ');
    }
    if id.is_multiple_of(10) {
        html.push_str(&format!("ticket {id}"));
    }
    html.push_str(" printer stapler</p>");
    html
}

fn main() -> Result<(), Box<dyn Error>> {
    let count: u32 = std::env::args().nth(1).map_or(Ok(100_000), |text| text.parse())?;
    let folder = std::env::temp_dir().join(format!("millstream-search-{}", std::process::id()));
    let identity = Identity::new(1, 0, Language::of("en"));
    let index = Index::create(&folder, &identity)?;
    let mut random = Random(88_172_645_463_325_252);
    let started = Instant::now();
    let text_bytes = fill(&index, count, &mut random)?;
    let filled = started.elapsed();
    let bytes = size(&folder)?;
    println!(
        "{count} messages, {} MB of text: filled in {filled:?} ({:?} a message), index {} MB, {:.1} % of the text",
        text_bytes / 1_000_000,
        filled / count,
        bytes / 1_000_000,
        bytes as f64 * 100.0 / text_bytes as f64
    );
    drop(index);
    println!("resident before opening it: {}", resident());
    let started = Instant::now();
    let (index, _) = Index::open(&folder, &identity)?.ok_or("the index is gone")?;
    println!("opened with its checksums in {:?}", started.elapsed());
    for (what, words) in [("rare word", 1), ("two words", 2), ("three words", 3)] {
        measure(&index, what, || {
            let mut text = String::new();
            for _ in 0..words {
                spell(if words == 1 { 5000 + random.next() % 50_000 } else { random.word() }, &mut text);
                text.push(' ');
            }
            text
        })?;
    }
    measure(&index, "most frequent word", || {
        let mut text = String::new();
        spell(1, &mut text);
        text
    })?;
    measure_partial(&index, count)?;
    measure_unindexed(&mut random);
    println!("resident: {}", resident());
    std::fs::remove_dir_all(folder)?;
    Ok(())
}

/// Adds messages to the index. Returns the bytes of their texts.
fn fill(index: &Index, count: u32, random: &mut Random) -> Result<usize, Box<dyn Error>> {
    let mut analyzer = Analyzer::new(Language::of("en"));
    let mut text_bytes = 0;
    for first in (1..=count).step_by(BATCH as usize) {
        let mut writer = index.writer(Merges::Soon)?;
        for id in first..(first + BATCH).min(count + 1) {
            let html = message(id, random);
            text_bytes += html.len() - "<p></p>".len();
            writer.add(MessageId(id), &html, &mut analyzer)?;
        }
        writer.commit(Sequence(first.into()))?;
        writer.finish()?;
    }
    index.reload()?;
    Ok(text_bytes)
}

/// Words of every message, looked up as a whole and in part.
fn measure_partial(index: &Index, count: u32) -> Result<(), Box<dyn Error>> {
    let newest: RoaringBitmap = (count.saturating_sub(4096)..=count).collect();
    let middle: RoaringBitmap = (count / 2..count / 2 + 1024).collect();
    for (what, ids) in
        [("all", None), ("the newest 4096 ids", Some(&newest)), ("1024 ids in the middle", Some(&middle))]
    {
        let what = format!("two words of every message, {what}");
        measure_as(
            index,
            &what,
            || "printer stapler".to_owned(),
            |reader, query| match ids {
                None => reader.find(query),
                Some(ids) => reader.find_in(query, ids),
            },
        )?;
    }
    let mut mixed = String::from("printer ");
    spell(20_000, &mut mixed);
    measure_as(
        index,
        "a rare word and one of every message",
        || mixed.clone(),
        |reader, query| reader.find_with(query, 1),
    )
}

fn measure(index: &Index, what: &str, text: impl FnMut() -> String) -> Result<(), Box<dyn Error>> {
    measure_as(index, what, text, Reader::find)
}

fn measure_as(
    index: &Index,
    what: &str,
    mut text: impl FnMut() -> String,
    find: impl Fn(&Reader, &Query) -> Result<Vec<RoaringBitmap>, SearchError>,
) -> Result<(), Box<dyn Error>> {
    let mut analyzer = Analyzer::new(Language::of("en"));
    let (mut times, mut found) = (Vec::new(), 0);
    for _ in 0..ROUNDS {
        let query = Query::parse(&text(), &mut analyzer);
        let started = Instant::now();
        let words = find(&index.reader(), &query)?;
        found += words.into_iter().reduce(|all, word| all & word).map_or(0, |ids| ids.len());
        times.push(started.elapsed());
    }
    times.sort_unstable();
    let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or(Duration::ZERO);
    println!("{what}: p50 {:?}, p99 {:?}, {} messages in the mean", at(50), at(99), found / ROUNDS as u64);
    Ok(())
}

/// 1,000 messages that the index lacks: reading their words, and finding a word in what was read.
fn measure_unindexed(random: &mut Random) {
    let (hasher, mut analyzer) = (TermHasher::default(), Analyzer::new(Language::of("en")));
    let messages: Vec<String> = (0..1000).map(|id| message(id, random)).collect();
    let started = Instant::now();
    let read: Vec<_> = messages.iter().map(|html| hasher.terms_of_html(html, &mut analyzer)).collect();
    println!("1000 messages analyzed in {:?}", started.elapsed());
    let query = Query::parse("printer unheard", &mut analyzer);
    let words = hasher.words_of(&query);
    let started = Instant::now();
    let found = read.iter().filter(|terms| words.iter().all(|word| terms.has(word))).count();
    let bytes: usize = read.iter().map(HashedTerms::bytes).sum();
    println!("then searched in {:?}, {found} found, {} KB kept", started.elapsed(), bytes / 1000);
}

fn size(folder: &Path) -> std::io::Result<u64> {
    std::fs::read_dir(folder)?.map(|file| Ok(file?.metadata()?.len())).sum()
}

fn resident() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().find(|line| line.starts_with("VmRSS")).unwrap_or("unknown").to_owned()
}
