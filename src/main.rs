//! The binary: parses the command line and runs the command.

use std::process::ExitCode;

#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// Freed memory returns to the system ten seconds later. Without threads of its own the allocator returns only that of threads that
/// allocate meanwhile. It has none with musl.
#[cfg(all(target_os = "linux", not(target_env = "musl")))]
fn return_freed_memory() {
    if let Err(error) = tikv_jemalloc_ctl::background_thread::write(true) {
        // Before the log is set up; the server works as well.
        eprintln!("freed memory is returned to the system later than usual: {error}");
    }
}

#[cfg(not(all(target_os = "linux", not(target_env = "musl"))))]
fn return_freed_memory() {}

fn main() -> ExitCode {
    return_freed_memory();
    millstream::cli::Cli::run()
}
