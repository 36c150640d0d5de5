//! Engine without free file descriptors.

use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Resource, Rlimit, prlimit};
use tokio::net::{TcpListener, TcpStream};

use crate::wire::{GET, HANG_LIMIT, all, send};

/// Engine process, killed when dropped.
struct Program {
    child: Child,
    address: SocketAddr,
}

impl Program {
    async fn start() -> Self {
        let Ok(address) = free_address().await else {
            panic!("no address is free");
        };
        let started = Command::new(env!("CARGO_BIN_EXE_reference"))
            .args(["engine", "--addr", &address.to_string()])
            .stderr(Stdio::null())
            .stdout(Stdio::null())
            .spawn();
        let Ok(child) = started else {
            panic!("the program does not start");
        };
        let end = Instant::now() + HANG_LIMIT;
        while Instant::now() < end {
            if TcpStream::connect(address).await.is_ok() {
                return Self { child, address };
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("the program does not listen");
    }

    /// Limits the number of open files of the process.
    fn limit(&self, files: u64) {
        let limit = Rlimit {
            current: Some(files),
            maximum: Some(files),
        };
        let process = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        let limited = prlimit(process, Resource::Nofile, limit);
        assert!(process.is_some() && limited.is_ok());
    }

    async fn connect(&self) -> TcpStream {
        match TcpStream::connect(self.address).await {
            Ok(stream) => stream,
            Err(failure) => panic!("cannot connect: {failure}"),
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        assert!(self.child.kill().is_ok() && self.child.wait().is_ok());
    }
}

async fn free_address() -> std::io::Result<SocketAddr> {
    TcpListener::bind("127.0.0.1:0").await?.local_addr()
}

#[tokio::test]
async fn idle_connections_are_given_back_to_the_system() {
    let program = Program::start().await;
    let mut idle = Vec::new();
    for _ in 0..40 {
        idle.push(program.connect().await);
    }
    // No descriptor is left to accept further connections, so they wait in the backlog.
    program.limit(40);
    for _ in 0..20 {
        idle.push(program.connect().await);
    }
    for _ in 0..5 {
        let mut stream = program.connect().await;
        send(&mut stream, GET).await;
        let answer = all(&mut stream).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
    drop(idle);
}
