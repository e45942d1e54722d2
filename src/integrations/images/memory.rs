//! The memory of pictures that are being decoded: large ones one after the other.

use crate::background::has_lowest_priority;
use parking_lot::{Condvar, Mutex};

/// Decoded bytes of pictures that are in memory together. A larger picture takes all of them, and is decoded alone.
const TOGETHER_BYTES_MAX: u64 = 128 << 20;

/// The decoded pictures of this process: avatars, emoji, icons, logos and thumbnails.
pub(super) static DECODED: DecodedBytes = DecodedBytes::new(TOGETHER_BYTES_MAX);

/// Memory for threads of the lowest priority, and as much again for those of ordinary priority: a picture that is begun again
/// because no core is idle waits neither for what its first thread holds nor for other such threads. Those that wait for a
/// core touch little of their memory.
pub(super) struct DecodedBytes {
    idle: Pool,
    ordinary: Pool,
}

/// A number of bytes, which pictures take in the order in which they ask.
///
/// Waiting blocks the thread. Only the few threads that decode wait, each for no more pictures than there are such threads.
struct Pool {
    bytes_max: u64,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    used: u64,
    /// Pictures that have asked.
    asked: u64,
    /// Pictures that have got their bytes.
    served: u64,
}

/// Bytes of a picture, released on drop.
pub(super) struct Held<'d> {
    of: &'d Pool,
    bytes: u64,
}

impl DecodedBytes {
    /// With `bytes_max` bytes for all pictures at one priority together.
    pub const fn new(bytes_max: u64) -> Self {
        Self { idle: Pool::new(bytes_max), ordinary: Pool::new(bytes_max) }
    }

    /// Waits until `bytes` bytes are free for threads of this priority, or all of them for a picture that is larger than that.
    pub fn hold(&self, bytes: u64) -> Held<'_> {
        if has_lowest_priority() { self.idle.hold(bytes) } else { self.ordinary.hold(bytes) }
    }
}

impl Pool {
    const fn new(bytes_max: u64) -> Self {
        let state = State { used: 0, asked: 0, served: 0 };
        Self { bytes_max, state: Mutex::new(state), changed: Condvar::new() }
    }

    fn hold(&self, bytes: u64) -> Held<'_> {
        let bytes = bytes.min(self.bytes_max);
        let mut state = self.state.lock();
        let number = state.asked;
        state.asked += 1;
        while state.served != number || state.used + bytes > self.bytes_max {
            self.changed.wait(&mut state);
        }
        state.served += 1;
        state.used += bytes;
        // The next one may fit, too.
        self.changed.notify_all();
        Held { of: self, bytes }
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.of.state.lock().used -= self.bytes;
        self.of.changed.notify_all();
    }
}

#[cfg(test)]
impl DecodedBytes {
    /// The bytes that are taken.
    pub fn used(&self) -> u64 {
        self.idle.state.lock().used + self.ordinary.state.lock().used
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::background::Background;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::{Arc, mpsc};
    use std::thread;
    use std::time::Duration;
    use tokio::time::{sleep, timeout};

    #[test]
    fn small_pictures_are_held_together_and_a_large_one_takes_everything() {
        let decoded = DecodedBytes::new(100);
        let (one, other) = (decoded.hold(40), decoded.hold(60));
        assert_eq!(decoded.used(), 100);
        drop(one);
        assert_eq!(decoded.used(), 60);
        drop(other);
        let large = decoded.hold(1_000);
        assert_eq!(decoded.used(), 100);
        drop(large);
        assert_eq!(decoded.used(), 0);
    }

    #[test]
    fn pictures_wait_until_they_fit() {
        let (decoded, most) = (DecodedBytes::new(100), AtomicU64::new(0));
        thread::scope(|scope| {
            for bytes in [60, 1_000, 50, 70, 30, 100] {
                let (decoded, most) = (&decoded, &most);
                scope.spawn(move || {
                    let held = decoded.hold(bytes);
                    most.fetch_max(decoded.used(), Ordering::SeqCst);
                    drop(held);
                });
            }
        });
        assert!((70..=100).contains(&most.load(Ordering::SeqCst)), "{most:?}");
        assert_eq!(decoded.used(), 0);
    }

    /// Two pictures of which each needs more than half, and small ones, while no core is idle.
    #[actix_web::test]
    async fn pictures_that_are_begun_again_wait_for_no_thread_without_a_core() {
        static DECODED: DecodedBytes = DecodedBytes::new(100);
        let background = Background::new(2, 8, Duration::from_millis(5));
        let (end, ended) = mpsc::channel::<()>();
        let ended = Arc::new(Mutex::new(ended));
        let starved = |bytes| {
            let ended = ended.clone();
            move || {
                // A first thread has memory before a second one asks.
                while !has_lowest_priority() && DECODED.used() == 0 {
                    thread::sleep(Duration::from_millis(1));
                }
                let _held = DECODED.hold(bytes);
                if has_lowest_priority() {
                    // Until the test ends.
                    let _ = ended.lock().recv();
                }
                bytes
            }
        };
        let pictures = async {
            for bytes in [72, 72, 5, 90, 5] {
                let permit = background.acquire_permit().await.ok().unwrap();
                assert_eq!(permit.run(starved(bytes)).await, Ok(bytes));
            }
        };
        timeout(Duration::from_secs(60), pictures).await.unwrap();
        assert_eq!(DECODED.used(), 72, "of the first thread");
        drop(end);
        while DECODED.used() > 0 {
            sleep(Duration::from_millis(1)).await;
        }
    }
}
