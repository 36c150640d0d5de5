//! CPU pinning of programs.
//!
//! A client and a server that take turns mostly wait for each other's wake-ups. Across two
//! processors, a wake-up takes tens of microseconds on virtual machines, and the scheduler
//! determines the number of wake-ups; on one processor the cost is the same for every server.

use std::error::Error;
use std::{fs, process};

use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Runs a measurement while this program and another one are pinned to the same processor.
///
/// # Errors
/// Errors of the measurement, and when the CPU affinities cannot be read or set.
pub(super) fn on_one<T>(
    other: u32,
    measure: impl FnOnce() -> Result<T, Box<dyn Error>>,
) -> Result<T, Box<dyn Error>> {
    let all = sched_getaffinity(None)?;
    let mut one = CpuSet::new();
    let mut processors = 0..CpuSet::MAX_CPU;
    one.set(
        processors
            .find(|at| all.is_set(*at))
            .ok_or("no processor")?,
    );
    let programs = [process::id(), other];
    programs.iter().try_for_each(|id| keep(*id, &one))?;
    let measured = measure();
    programs.iter().try_for_each(|id| keep(*id, &all))?;
    measured
}

/// Pins all threads of a process to these processors.
fn keep(program: u32, processors: &CpuSet) -> Result<(), Box<dyn Error>> {
    for thread in fs::read_dir(format!("/proc/{program}/task"))? {
        let id = thread?.file_name().to_string_lossy().parse()?;
        let placed = sched_setaffinity(Pid::from_raw(id), processors);
        // The thread may have ended meanwhile.
        if !matches!(placed, Err(rustix::io::Errno::SRCH)) {
            placed?;
        }
    }
    Ok(())
}
