//! What follows a sent message, for counting instructions: rows in the trees, and a checkpoint.
//! `cargo build --release -p millstream-storage --features memory-log --example trees`, then
//! `valgrind --tool=callgrind --separate-threads=yes trees 20000 512`: messages, and how many of them are one batch.

use model::channel::ChannelPermissions;
use model::{
    Channel, ChannelFact, ChannelId, EventNumber, Fact, Frame, GroupId, GroupSetting, Message, MessageFact,
    MessageId, Place, Realm, RealmFact, RealmId, RecipientId, Role, Sequence, Timestamp, User, UserFact,
    UserId,
};
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};
use storage::checkpoint::{Pace, advance};
use storage::log::{Durable, FrameBytes, LogError, MemoryLog, RealmLog, Ticket};
use storage::{Applied, Checkpoints, Trees, View, decode_frame, encode_frame};
use xxhash_rust::xxh3::Xxh3;

/// The allocator of the server.
#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

const REALM: RealmId = RealmId(1);
const CACHE_BYTES: u64 = 64 * 1024 * 1024;
const CHANNEL: u32 = 1;
const USERS: u32 = 100;
const TOPICS: u32 = 20;
const WORDS: &str = "the channel was quiet until noon when someone asked about the red pens and three people answered at \
once with different drawers so the thread went on for an hour before anyone looked under the printer where they had been \
since spring together with a stapler two badges and the minutes of a meeting few remember having attended ";

/// A sink that ignores the reports of the log.
struct Ignored;

impl Durable for Ignored {
    fn durable(&mut self, _: Ticket, _: Result<(), LogError>) {}
}

fn random_of(id: u32) -> u32 {
    let mixed = u64::from(id).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 33) as u32
}

/// A message of 100 to 300 characters, as load tests send them.
fn message(id: u32) -> Message {
    let random = random_of(id);
    let (count, from) = (84 + random as usize % 200, random as usize / 256 % WORDS.len());
    let words: String = WORDS.chars().cycle().skip(from).take(count).collect();
    let content = format!("t{:x}n{id:x}x{:08x}{}", u64::from(id) * 45 + 2_000_000, random, words.trim_end());
    let topic = format!("topic {}", random_of(random) % TOPICS);
    let place = Place::Channel { channel: ChannelId(CHANNEL), topic };
    let sent = Timestamp(1_790_000_000_000 + u64::from(id / 20));
    let mut message =
        Message::new(MessageId(id), UserId(1 + random % USERS), RecipientId(CHANNEL), place, sent);
    message.rendered = format!("<p>{content}</p>");
    (message.content, message.client) = (content, "website".into());
    message
}

fn first_facts() -> Vec<Fact> {
    let created = Timestamp(1_000);
    let realm = Realm::new(REALM, "tea", "Tea", "tea.example", created);
    let mut facts = vec![Fact::Realm(RealmFact::Created(Box::new(realm)))];
    facts.extend((1..=USERS).map(|id| {
        let (mail, name) = (format!("person{id}@tea.example"), format!("Person {id}"));
        Fact::User(UserFact::Created(Box::new(User::new(UserId(id), mail, name, Role::Member, created))))
    }));
    let permissions = ChannelPermissions::all(GroupSetting::Group(GroupId(1)));
    let channel =
        Channel::new(ChannelId(CHANNEL), RecipientId(CHANNEL), "load".to_owned(), created, permissions);
    facts.push(Fact::Channel(ChannelFact::Created(Box::new(channel))));
    facts
}

fn frame(sequence: u64) -> Frame {
    let facts = match sequence {
        1 => first_facts(),
        _ => {
            let message = Arc::new(message(sequence as u32 - 1));
            vec![Fact::Message(MessageFact::Sent { message, echo: None })]
        }
    };
    Frame { at: Timestamp(1_790_000_000_000 + sequence), first_event: EventNumber(1_000 + sequence), facts }
}

/// Writes the rows of all frames, in batches. Returns how long the writes took.
fn write(trees: &Trees, log: &MemoryLog, (last, batch): (u64, usize)) -> Result<Duration, Box<dyn Error>> {
    let (mut view, mut waiting, mut took) = (None::<View>, Vec::new(), Duration::ZERO);
    for frame in log.read(REALM.0, 1)? {
        let frame = frame?;
        let (sequence, decoded) = (Sequence(frame.sequence), decode_frame(&frame.payload)?);
        let rows = match &mut view {
            Some(view) => view.apply(sequence, &decoded)?,
            None => {
                let (created, rows) = View::create(sequence, &decoded)?;
                view = Some(created);
                rows
            }
        };
        let Some(view) = &view else { continue };
        let stored = view.recent.stored();
        waiting.push(Applied { realm: REALM, progress: view.progress, rows, stored: stored.clone() });
        if waiting.len() >= batch || frame.sequence == last {
            let started = Instant::now();
            trees.write(std::mem::take(&mut waiting))?;
            took += started.elapsed();
            stored.store(frame.sequence, std::sync::atomic::Ordering::Release);
        }
    }
    Ok(took)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<u32>());
    let messages = arguments.next().transpose()?.unwrap_or(20_000);
    let batch = arguments.next().transpose()?.unwrap_or(512) as usize;
    let last = u64::from(messages) + 1;
    let log = MemoryLog::new(Box::new(Ignored));
    let epoch = log.open(REALM.0, 0)?.epoch;
    for sequence in 1..=last {
        let payload = encode_frame(&frame(sequence))?;
        log.append(FrameBytes { realm: REALM.0, sequence, payload, original: None }, epoch)?;
    }
    let folder = tempfile::tempdir()?;
    let trees = Trees::open(&folder.path().join("state"), CACHE_BYTES)?;
    let written = write(&trees, &log, (last, batch))?;
    trees.flush()?;
    println!("trees: {:.2} µs a message", written.as_secs_f64() * 1e6 / f64::from(messages));
    let (mut rows, mut bytes, mut hash) = (0_u64, 0, Xxh3::new());
    for row in trees.rows(REALM) {
        let row = row?;
        rows += 1;
        bytes += row.key.len() + row.value.len();
        hash.update(&row.key);
        hash.update(&row.value);
    }
    println!("{rows} rows with {bytes} bytes, checksum {:016x}", hash.digest());
    let checkpoints = Checkpoints::of(&folder.path().join("checkpoints"), REALM);
    let started = Instant::now();
    let advanced = advance(&checkpoints, &log, last, &Pace::unlimited())?;
    let took = started.elapsed();
    println!("checkpoint: {:.2} µs a message, {advanced:?}", took.as_secs_f64() * 1e6 / f64::from(messages));
    trees.close();
    Ok(())
}
