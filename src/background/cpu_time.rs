//! The CPU time of a thread, which tells a slow thread from one that gets no core.

#[cfg(target_os = "linux")]
use rustix::{process::Pid, thread::gettid};
#[cfg(target_os = "linux")]
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// The clock of one thread, which others read. Cheap to clone.
#[derive(Clone, Default)]
pub struct CpuClock {
    #[cfg(target_os = "linux")]
    thread: Arc<OnceLock<Pid>>,
}

#[cfg(target_os = "linux")]
impl CpuClock {
    /// Says that the calling thread is the one whose time is read.
    pub fn begin(&self) {
        // A clock begins once.
        let _ = self.thread.set(gettid());
    }

    /// The time so far; none before the thread begins, and where the system does not tell it. The thread must not have ended,
    /// because its number may belong to another one then.
    pub fn time(&self) -> Option<Duration> {
        let thread = self.thread.get()?.as_raw_nonzero();
        // Nanoseconds on a core, nanoseconds of waiting for one, and turns.
        let times = std::fs::read_to_string(format!("/proc/self/task/{thread}/schedstat")).ok()?;
        Some(Duration::from_nanos(times.split_whitespace().next()?.parse().ok()?))
    }
}

#[cfg(not(target_os = "linux"))]
impl CpuClock {
    /// Does nothing: the time is unknown.
    pub fn begin(&self) {}

    /// None, as for a thread that has not begun.
    pub fn time(&self) -> Option<Duration> {
        None
    }
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_grows_while_the_thread_computes() {
        let clock = CpuClock::default();
        assert_eq!(clock.time(), None);
        clock.begin();
        let before = clock.time().unwrap();
        while clock.time().unwrap() < before + Duration::from_millis(5) {
            std::hint::spin_loop();
        }
        // Another thread reads the time of this one.
        let read = clock.clone();
        assert!(std::thread::spawn(move || read.time()).join().unwrap() > Some(before));
    }
}
