//! The priority of background threads, for whose work no request waits.

/// How much lower it is. At this difference, a thread that serves requests gets three times as much of a core that both want, and gets it at
/// once; what is behind still keeps up with full load, which needs a sixth of a core.
#[cfg(target_os = "linux")]
const NICE: i32 = 5;

/// Lowers the priority of the current thread, and of those that it starts. Other systems have priorities of processes only.
pub(crate) fn lower_thread_priority() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::nice(NICE) {
        tracing::debug!(%error, "the priority of a background thread could not be lowered");
    }
}

#[cfg(test)]
mod tests {
    #[cfg(target_os = "linux")]
    #[test]
    fn only_the_thread_and_its_children_have_a_lower_priority() {
        use super::*;
        use rustix::process::getpriority_process;
        let priority = || getpriority_process(None).unwrap();
        let before = priority();
        let of_threads = std::thread::spawn(move || {
            lower_thread_priority();
            (priority(), std::thread::spawn(priority).join().unwrap())
        });
        let lower = (before + NICE).min(19);
        assert_eq!(of_threads.join().unwrap(), (lower, lower));
        assert_eq!(priority(), before);
    }
}
