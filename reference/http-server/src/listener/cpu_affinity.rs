//! CPU affinity of threads and of incoming connections.

use crate::socket::Transport;

/// Processor that this thread runs on, if the system reports it.
#[cfg(target_os = "linux")]
pub(super) fn of_this_thread() -> Option<usize> {
    Some(rustix::thread::sched_getcpu())
}

/// Processor that a client's data arrives at, if the system reports it. For a local client that is
/// the processor it sends from.
#[cfg(target_os = "linux")]
pub(super) fn of_client(stream: &Transport) -> Option<usize> {
    match stream {
        Transport::Tcp(stream) => socket2::SockRef::from(stream).cpu_affinity().ok(),
        Transport::Unix(_) => None,
    }
}

/// Unsupported on other systems.
#[cfg(not(target_os = "linux"))]
pub(super) fn of_this_thread() -> Option<usize> {
    None
}

/// Unsupported on other systems.
#[cfg(not(target_os = "linux"))]
pub(super) fn of_client(_stream: &Transport) -> Option<usize> {
    None
}
