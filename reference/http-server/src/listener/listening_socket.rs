//! Listening sockets: a TCP port or a Unix domain socket.

use std::fmt;
use std::fs::{self, Permissions};
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tokio::net::{TcpListener, UnixListener};

use crate::remote_addr::Peer;
use crate::socket::Transport;

/// A listening socket.
#[derive(Debug)]
pub(crate) enum ListeningSocket {
    Tcp(TcpListener),
    Unix(UnixListener, SocketFile),
}

/// Address that a server listens on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListenAddress {
    /// Network address.
    Tcp(SocketAddr),
    /// Unix domain socket.
    Unix(PathBuf),
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(formatter),
            Self::Unix(path) => write!(formatter, "unix://{}", path.display()),
        }
    }
}

/// Socket file, which is removed on drop if it is still the same file.
#[derive(Debug)]
pub(crate) struct SocketFile {
    path: PathBuf,
    /// Device and inode number of the file.
    identity: (u64, u64),
}

impl SocketFile {
    fn of(path: &Path) -> io::Result<Self> {
        Ok(Self {
            path: path.to_owned(),
            identity: identity(path)?,
        })
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if identity(&self.path).is_ok_and(|identity| identity == self.identity) {
            // A file that cannot be removed is replaced at the next start.
            fs::remove_file(&self.path).ok();
        }
    }
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    let metadata = fs::symlink_metadata(path)?;
    Ok((metadata.dev(), metadata.ino()))
}

impl ListeningSocket {
    /// Creates a Unix domain socket with these permissions, replacing an existing socket file.
    pub(crate) fn unix(path: &Path, permissions: u32) -> io::Result<Self> {
        match fs::symlink_metadata(path) {
            Ok(metadata) if metadata.file_type().is_socket() => fs::remove_file(path)?,
            Ok(_) => {
                return Err(io::Error::new(
                    io::ErrorKind::AlreadyExists,
                    "a file that is not a socket exists at this path",
                ));
            }
            Err(_) => {}
        }
        let listener = UnixListener::bind(path)?;
        let file = SocketFile::of(path)?;
        fs::set_permissions(path, Permissions::from_mode(permissions))?;
        Ok(Self::Unix(listener, file))
    }

    /// Address of the socket.
    pub(crate) fn place(&self) -> io::Result<ListenAddress> {
        Ok(match self {
            Self::Tcp(listener) => ListenAddress::Tcp(listener.local_addr()?),
            Self::Unix(_, file) => ListenAddress::Unix(file.path.clone()),
        })
    }

    /// Accepts the next connection, with its peer.
    pub(super) async fn accept(&self) -> io::Result<(Transport, Peer)> {
        Ok(match self {
            Self::Tcp(listener) => {
                let (stream, peer) = listener.accept().await?;
                (Transport::Tcp(stream), Peer::Tcp(peer))
            }
            Self::Unix(listener, _) => {
                let (stream, _) = listener.accept().await?;
                (Transport::Unix(stream), Peer::Unix)
            }
        })
    }
}
