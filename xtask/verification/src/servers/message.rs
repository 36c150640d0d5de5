//! HTTP/1 messages, parsed without a library because libraries may correct errors.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt};

/// Maximum length of a head (the first line and the headers), in bytes.
const HEAD: usize = 1 << 20;

/// HTTP request or response.
#[derive(Debug, Clone, Default)]
pub(crate) struct Message {
    /// Request line or status line.
    pub(crate) first: String,
    /// Headers in order: names in lower case, with their values.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Message {
    /// Returns the value of a header, by its name in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Returns the status of a response; 0 if the first line contains no status.
    pub(crate) fn status(&self) -> u16 {
        let status = self.first.split(' ').nth(1);
        status.and_then(|text| text.parse().ok()).unwrap_or(0)
    }

    /// Returns the body as a string.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Returns the body as JSON; null if it is invalid.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

/// Reader of the messages on a connection.
#[derive(Debug)]
pub(crate) struct Reader<S> {
    pub(crate) stream: S,
    buffer: Vec<u8>,
}

impl<S: AsyncRead + Unpin> Reader<S> {
    pub(crate) fn new(stream: S) -> Self {
        let buffer = Vec::new();
        Self { stream, buffer }
    }

    /// Reads the next message; `None` if the connection is closed before a message. If `bodiless`
    /// is true, as for responses to HEAD, the message has no body, whatever its headers are.
    ///
    /// # Errors
    /// When the connection fails or ends within the message, or the message is malformed.
    pub(crate) async fn message(&mut self, bodiless: bool) -> io::Result<Option<Message>> {
        let Some(mut message) = self.begin().await? else {
            return Ok(None);
        };
        if !bodiless && !matches!(message.status(), 204 | 304) {
            self.finish(&mut message).await?;
        }
        Ok(Some(message))
    }

    /// Reads the head of the next message.
    ///
    /// # Errors
    /// When the connection fails or ends within the head.
    pub(crate) async fn begin(&mut self) -> io::Result<Option<Message>> {
        let Some(head) = self.head().await? else {
            return Ok(None);
        };
        let text = String::from_utf8_lossy(&head);
        let mut lines = text.split("\r\n");
        let first = lines.next().unwrap_or_default().to_owned();
        let headers = lines.filter_map(|line| {
            let (name, value) = line.split_once(':')?;
            Some((name.trim().to_ascii_lowercase(), value.trim().to_owned()))
        });
        Ok(Some(Message {
            first,
            headers: headers.collect(),
            body: Vec::new(),
        }))
    }

    /// Reads the body of a message, after its head was read.
    ///
    /// # Errors
    /// When the connection fails or ends within the body.
    pub(crate) async fn finish(&mut self, message: &mut Message) -> io::Result<()> {
        let chunked = message
            .header("transfer-encoding")
            .is_some_and(|coding| coding.to_ascii_lowercase().contains("chunked"));
        let length = message.header("content-length");
        let length: usize = length.and_then(|text| text.parse().ok()).unwrap_or(0);
        message.body = match chunked {
            true => self.chunks().await?,
            false => self.take(length).await?,
        };
        Ok(())
    }

    /// Reads the bytes of a head, up to its empty line.
    async fn head(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            let end = self.buffer.windows(4).position(|four| four == b"\r\n\r\n");
            if let Some(end) = end {
                let rest = self.buffer.split_off(end + 4);
                let mut head = std::mem::replace(&mut self.buffer, rest);
                head.truncate(end);
                return Ok(Some(head));
            }
            if self.buffer.len() > HEAD {
                return Err(io::Error::other("the head is too long"));
            }
            if !self.more().await? {
                return match self.buffer.is_empty() {
                    true => Ok(None),
                    false => Err(io::ErrorKind::UnexpectedEof.into()),
                };
            }
        }
    }

    /// Reads a chunked body.
    async fn chunks(&mut self) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let line = self.line().await?;
            let size = line.split(';').next().unwrap_or_default().trim();
            let size = usize::from_str_radix(size, 16).map_err(io::Error::other)?;
            body.extend(self.take(size).await?);
            self.line().await?;
            if size == 0 {
                return Ok(body);
            }
        }
    }

    async fn line(&mut self) -> io::Result<String> {
        loop {
            if let Some(end) = self.buffer.windows(2).position(|two| two == b"\r\n") {
                let rest = self.buffer.split_off(end + 2);
                let line = std::mem::replace(&mut self.buffer, rest);
                return Ok(String::from_utf8_lossy(&line).trim_end().to_owned());
            }
            if !self.more().await? {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }

    async fn take(&mut self, length: usize) -> io::Result<Vec<u8>> {
        while self.buffer.len() < length {
            if !self.more().await? {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        let rest = self.buffer.split_off(length);
        Ok(std::mem::replace(&mut self.buffer, rest))
    }

    /// Reads available bytes into the buffer; returns false at the end of the connection.
    pub(crate) async fn more(&mut self) -> io::Result<bool> {
        let mut piece = vec![0; 64 << 10];
        let read = self.stream.read(&mut piece).await?;
        piece.truncate(read);
        self.buffer.extend(piece);
        Ok(read > 0)
    }
}
