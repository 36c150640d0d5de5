//! Sockets that connections use.

use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::server::TlsStream;

use crate::socket::Transport;

/// Connection of the operating system, possibly below TLS.
pub(super) trait Socket: AsyncRead + AsyncWrite + Send + Unpin + 'static {
    fn transport(&self) -> &Transport;
}

impl Socket for Transport {
    fn transport(&self) -> &Transport {
        self
    }
}

impl Socket for TlsStream<Transport> {
    fn transport(&self) -> &Transport {
        self.get_ref().0
    }
}
