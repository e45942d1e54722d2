//! Rounds of tests that kill a process at a random time.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

/// A random generator that prints its seed; MILLSTREAM_SEED=… repeats a run.
pub struct Random(u64);

impl Random {
    pub fn new(number: u64) -> Self {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970");
        let given = std::env::var("MILLSTREAM_SEED").ok().and_then(|seed| seed.parse().ok());
        let seed = given.unwrap_or(now.as_nanos() as u64) ^ number;
        println!("MILLSTREAM_SEED={}", seed ^ number);
        Self(seed | 1)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// The number of rounds: the usual one, or MILLSTREAM_KILL_ROUNDS for a long run.
pub fn rounds(usual: usize) -> usize {
    let given = std::env::var("MILLSTREAM_KILL_ROUNDS").ok();
    given.map_or(usual, |given| given.parse().expect("MILLSTREAM_KILL_ROUNDS is a number"))
}

/// Runs a command of the program to its end. Returns how long it took.
pub fn time_of(args: &[&str]) -> Duration {
    let start = Instant::now();
    let (status, text) = crate::support::ServerProcess::run(args);
    assert!(status.success(), "{args:?}: {text}");
    start.elapsed()
}

/// Runs a command of the program and kills it after a time. Returns whether it had not ended by then.
pub fn kill_after(args: &[&str], time: Duration) -> bool {
    let mut command = Command::new(env!("CARGO_BIN_EXE_millstream"));
    let child = command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let mut child = child.expect("it starts");
    std::thread::sleep(time);
    let is_running = child.try_wait().expect("it is a child").is_none();
    // It may end by itself just now.
    let _ = child.kill();
    child.wait().expect("it ends");
    is_running
}
