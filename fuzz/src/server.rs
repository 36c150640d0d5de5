//! A real server in this process, on a port of its own.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

use reference::Running;
use tokio::runtime::Runtime;

/// A connection that is served no answer for so long hangs.
const PATIENCE: Duration = Duration::from_secs(20);

/// A server that keeps its state from one input to the next.
#[derive(Debug)]
pub struct Served {
    address: SocketAddr,
    _running: Running,
    _runtime: Runtime,
}

impl Served {
    /// Starts the program with these arguments, on a free port.
    pub fn start(arguments: &[&str]) -> Self {
        let runtime = Runtime::new().unwrap();
        let fixed = ["--addr", "127.0.0.1:0"];
        let arguments = ["reference"].iter().chain(arguments).chain(&fixed);
        let arguments = arguments.map(|argument| (*argument).to_owned());
        let running = runtime.block_on(reference::start(arguments)).unwrap();
        let address = running.engine.or(running.control).unwrap();
        Self {
            address,
            _running: running,
            _runtime: runtime,
        }
    }

    /// Sends all of it on a connection of its own, and gives everything that is answered until
    /// the server closes.
    pub fn talk(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        // A server that has refused what came first may close before it has read the rest.
        let _ = stream.write_all(bytes);
        let _ = stream.shutdown(Shutdown::Write);
        let mut answers = Vec::new();
        match stream.read_to_end(&mut answers) {
            Ok(_) => answers,
            Err(failure) if failure.kind() == std::io::ErrorKind::WouldBlock => {
                panic!("no answer within {PATIENCE:?}")
            }
            // A reset may take answers with it that had not been read.
            Err(_) => answers,
        }
    }
}
