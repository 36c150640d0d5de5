//! HTTP/2 at the frame level.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::wire::ending;

pub(crate) const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const RST_STREAM: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const PING: u8 = 6;
pub(crate) const GO_AWAY: u8 = 7;

/// Identifier of the setting `SETTINGS_INITIAL_WINDOW_SIZE`.
pub(crate) const INITIAL_WINDOW: u16 = 4;

/// Encodes an HTTP/2 frame.
pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len())
        .unwrap_or_default()
        .to_be_bytes();
    let mut bytes = length[1..].to_vec();
    bytes.extend([kind, flags]);
    bytes.extend(stream.to_be_bytes());
    bytes.extend(payload);
    bytes
}

/// Encodes a GET request as a HEADERS frame.
pub(crate) fn get(stream: u32, path: &str) -> Vec<u8> {
    let length = u8::try_from(path.len()).unwrap_or_default();
    // HPACK of `:method: GET`, `:scheme: http`, `:authority: x` and `:path`.
    let mut headers = vec![0x82, 0x86, 0x01, 1, b'x', 0x04, length];
    headers.extend(path.as_bytes());
    frame(HEADERS, 0x5, stream, &headers)
}

/// Received frame: its type, stream, and payload length.
pub(crate) type Arrived = (u8, u32, usize);

/// Client end of a connection.
pub(crate) struct Peer(pub(crate) TcpStream);

impl Peer {
    /// Sends the connection preface with settings.
    pub(crate) async fn begin(stream: TcpStream, settings: &[(u16, u32)]) -> Self {
        let mut payload = Vec::new();
        for (name, value) in settings {
            payload.extend(name.to_be_bytes());
            payload.extend(value.to_be_bytes());
        }
        let mut peer = Self(stream);
        let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
        peer.send(&[preface, frame(SETTINGS, 0, 0, &payload)].concat())
            .await;
        peer
    }

    pub(crate) async fn send(&mut self, bytes: &[u8]) {
        if let Err(failure) = self.0.write_all(bytes).await {
            panic!("cannot send: {failure}");
        }
    }

    /// Reads the next frame; `None` if the server has closed the connection.
    pub(crate) async fn next(&mut self) -> Option<Arrived> {
        let read = async {
            let mut head = [0; 9];
            self.0.read_exact(&mut head).await.ok()?;
            let [a, b, c, kind, _, stream @ ..] = head;
            let length = u32::from_be_bytes([0, a, b, c]);
            let mut payload = vec![0; usize::try_from(length).ok()?];
            self.0.read_exact(&mut payload).await.ok()?;
            Some((kind, u32::from_be_bytes(stream), payload.len()))
        };
        ending("the server says nothing more", read).await
    }

    /// Reads frames up to the first one of a type, or until the connection is closed.
    pub(crate) async fn until(&mut self, kind: u8) -> Vec<Arrived> {
        let mut arrived = Vec::new();
        while let Some(next) = self.next().await {
            arrived.push(next);
            if next.0 == kind {
                break;
            }
        }
        arrived
    }
}
