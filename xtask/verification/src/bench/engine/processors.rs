//! CPU pinning of programs.
//!
//! A client and a server that take turns mostly wait for one another to be woken. On two processors
//! that takes tens of microseconds on virtual machines, and how often it has to be done is up to
//! the system; on one processor it is the same for every server.

use std::error::Error;
use std::{fs, process};

use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Takes a measure while this program and another run on one and the same processor.
///
/// # Errors
/// Those of the measure, and when the system does not tell or take their processors.
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

/// Keeps all threads of a program on these processors.
fn keep(program: u32, processors: &CpuSet) -> Result<(), Box<dyn Error>> {
    for thread in fs::read_dir(format!("/proc/{program}/task"))? {
        let id = thread?.file_name().to_string_lossy().parse()?;
        let placed = sched_setaffinity(Pid::from_raw(id), processors);
        // A thread may have ended meanwhile.
        if !matches!(placed, Err(rustix::io::Errno::SRCH)) {
            placed?;
        }
    }
    Ok(())
}
