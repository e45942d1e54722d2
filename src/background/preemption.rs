//! Lets waiting threads have the core of a thread of the lowest priority within a quarter of a millisecond, for the first
//! fifty milliseconds of its work: most passwords take less.
//!
//! Linux compares priorities within a group of processes (a session, if `kernel.sched_autogroup_enabled`). A thread of another group
//! that wakes up, such as one of the kernel that ends a write to the disk, waits for the next tick of the scheduler: 4 ms.
//! One of this process preempts at once, and then the kernel chooses among all. So a thread of ordinary priority wakes up on
//! the same core again and again. Work that takes longer is on whichever core is idle then, and others wait for the next tick.

use parking_lot::Mutex;
use rustix::process::Pid;
use rustix::thread::{CpuSet, gettid, sched_getaffinity, sched_getcpu, sched_setaffinity};
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// Time between two wake-ups. They cost about one percent of the core.
const INTERVAL: Duration = Duration::from_micros(250);

/// Wake-ups after which they end, and the thread may use other cores again: its own may be busy. That is after about 50 ms.
const WAKE_UPS_MAX: u32 = 200;

/// Wake-ups on the core of a thread, until it drops this at its end, or there were `WAKE_UPS_MAX`.
#[derive(Debug)]
pub struct Preemption {
    /// Locked while the thread is released, so that it ends only after that: its number may be given to another one then.
    is_over: Arc<Mutex<bool>>,
}

impl Preemption {
    /// Binds the calling thread to the core on which it runs, and starts wake-ups there, both for about 50 ms. Call it before
    /// the priority of the thread is lowered, because threads inherit that.
    ///
    /// # Errors
    /// When the system refuses it.
    pub fn start() -> io::Result<Self> {
        Self::with_max(WAKE_UPS_MAX)
    }

    fn with_max(wake_ups_max: u32) -> io::Result<Self> {
        let (thread, cores, core) = (gettid(), sched_getaffinity(None)?, sched_getcpu());
        let mut own = CpuSet::new();
        if core >= CpuSet::MAX_CPU {
            return Err(io::ErrorKind::Unsupported.into());
        }
        own.set(core);
        sched_setaffinity(None, &own)?;
        let is_over = Arc::new(Mutex::new(false));
        let run = {
            let is_over = is_over.clone();
            move || {
                // Inherits the binding.
                for _ in 0..wake_ups_max {
                    if *is_over.lock() {
                        return;
                    }
                    std::thread::sleep(INTERVAL);
                }
                release(thread, &cores, &is_over);
            }
        };
        match std::thread::Builder::new().name("preemption".into()).spawn(run) {
            Ok(_) => Ok(Self { is_over }),
            Err(error) => {
                sched_setaffinity(None, &cores)?;
                Err(error)
            }
        }
    }
}

impl Drop for Preemption {
    fn drop(&mut self) {
        *self.is_over.lock() = true;
    }
}

/// Lets a thread use all cores again that it could use.
fn release(thread: Pid, cores: &CpuSet, is_over: &Mutex<bool>) {
    let is_over = is_over.lock();
    if *is_over {
        return;
    }
    if let Err(error) = sched_setaffinity(Some(thread), cores) {
        tracing::debug!(%error, "a background thread could not be released from its core");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cores() -> u32 {
        sched_getaffinity(None).unwrap().count()
    }

    #[test]
    fn thread_is_bound_to_its_core_for_a_while() {
        let all = cores();
        let bound = std::thread::spawn(move || {
            let preemption = Preemption::with_max(4).unwrap();
            while cores() < all {
                std::thread::yield_now();
            }
            drop(preemption);
            let _preemption = Preemption::with_max(u32::MAX).unwrap();
            cores()
        });
        assert_eq!(bound.join().unwrap(), 1);
        assert_eq!(cores(), all);
    }
}
