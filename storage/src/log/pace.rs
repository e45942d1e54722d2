//! How long the writer waits for more frames before it begins a group.
//!
//! While many clients send, each sync costs CPU that all frames of its group share, and the clients wait for the CPU anyway:
//! a short pause makes groups larger. A frame that comes alone is never delayed.

use std::time::Duration;

/// Groups of fewer frames are not worth a pause.
const FRAMES_MIN: usize = 4;
/// A pause is at most this long, and never longer than the last sync.
const PAUSE_MAX: Duration = Duration::from_micros(300);

/// The last group.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    frames: usize,
    sync: Duration,
}

impl Pace {
    /// Records a group that was stored, and how long its sync took.
    pub fn note(&mut self, frames: usize, sync: Duration) {
        (self.frames, self.sync) = (frames, sync);
    }

    /// The pause before the next group, of which `queued` frames are there. None if nothing waits, since then the next frame may
    /// come alone, and none if as many wait as the last group had.
    pub fn pause(&self, queued: usize) -> Option<Duration> {
        let is_busy = self.frames >= FRAMES_MIN && queued > 0 && queued < self.frames;
        (is_busy && !self.sync.is_zero()).then(|| self.sync.min(PAUSE_MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_frames_among_many_wait() {
        let after = |frames, micros, queued| {
            let mut pace = Pace::default();
            assert_eq!(pace.pause(queued), None, "before the first group");
            pace.note(frames, Duration::from_micros(micros));
            pace.pause(queued)
        };
        assert_eq!(after(1, 250, 1), None);
        assert_eq!(after(3, 250, 2), None);
        assert_eq!(after(8, 250, 0), None);
        assert_eq!(after(8, 250, 8), None);
        assert_eq!(after(8, 0, 3), None, "a journal that does not sync");
        assert_eq!(after(8, 250, 3), Some(Duration::from_micros(250)));
        assert_eq!(after(8, 5_000, 3), Some(PAUSE_MAX));
    }
}
