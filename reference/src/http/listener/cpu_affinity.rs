//! CPU affinity of threads and of incoming connections.

use crate::http::socket::Transport;

/// The processor that this thread is on, if the system tells.
#[cfg(target_os = "linux")]
pub(super) fn of_this_thread() -> Option<usize> {
    Some(rustix::thread::sched_getcpu())
}

/// The processor that what a client sends arrives at, if the system tells. For one on this machine
/// that is where it sends.
#[cfg(target_os = "linux")]
pub(super) fn of_client(stream: &Transport) -> Option<usize> {
    match stream {
        Transport::Tcp(stream) => socket2::SockRef::from(stream).cpu_affinity().ok(),
        Transport::Unix(_) => None,
    }
}

/// Other systems do not tell.
#[cfg(not(target_os = "linux"))]
pub(super) fn of_this_thread() -> Option<usize> {
    None
}

/// Other systems do not tell.
#[cfg(not(target_os = "linux"))]
pub(super) fn of_client(_stream: &Transport) -> Option<usize> {
    None
}
