//! HTTP/1 client with little overhead, for measurements.

use std::error::Error;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// Persistent connection to a server, with the body of the last response.
#[derive(Debug)]
pub(crate) struct Client {
    stream: BufReader<TcpStream>,
    body: Vec<u8>,
}

impl Client {
    /// Opens a connection to a server.
    pub(crate) fn connect(address: SocketAddr) -> Result<Self, Box<dyn Error>> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(300)))?;
        Ok(Self {
            stream: BufReader::new(stream),
            body: Vec::new(),
        })
    }

    /// Formats a request.
    pub(crate) fn request(method: &str, path: &str, body: &str) -> Vec<u8> {
        Self::request_with(method, path, "", body)
    }

    /// Formats a request with an `Accept` header.
    pub(crate) fn request_of(method: &str, path: &str, accept: &str, body: &str) -> Vec<u8> {
        Self::request_with(method, path, &format!("Accept: {accept}\r\n"), body)
    }

    /// Formats a request with additional header lines.
    pub(crate) fn request_with(method: &str, path: &str, lines: &str, body: &str) -> Vec<u8> {
        let length = body.len();
        format!(
            "{method} {path} HTTP/1.1\r\nHost: bench\r\n{lines}Content-Length: {length}\r\n\r\n{body}"
        )
        .into_bytes()
    }

    /// Sends a request, reads the complete response, and returns its status.
    pub(crate) fn exchange(&mut self, request: &[u8]) -> Result<u16, Box<dyn Error>> {
        self.stream.get_mut().write_all(request)?;
        let mut line = String::new();
        self.stream.read_line(&mut line)?;
        let status = line
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        let status = status.ok_or("the connection was closed")?;
        let (mut length, mut chunked) = (0, false);
        loop {
            line.clear();
            self.stream.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(':') else {
                break;
            };
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse()?;
            }
            chunked |= name.eq_ignore_ascii_case("transfer-encoding");
        }
        self.body.clear();
        match chunked {
            true => self.chunks()?,
            false => self.take(length)?,
        }
        Ok(status)
    }

    /// Reads a chunked body up to the empty chunk.
    fn chunks(&mut self) -> Result<(), Box<dyn Error>> {
        let mut line = String::new();
        loop {
            line.clear();
            self.stream.read_line(&mut line)?;
            let length = usize::from_str_radix(line.trim_end(), 16)?;
            self.take(length)?;
            line.clear();
            self.stream.read_line(&mut line)?;
            if length == 0 {
                return Ok(());
            }
        }
    }

    /// Reads `length` bytes and appends them to the body.
    fn take(&mut self, length: usize) -> io::Result<()> {
        let begin = self.body.len();
        self.body.resize(begin + length, 0);
        let unread = self.body.get_mut(begin..).unwrap_or_default();
        self.stream.read_exact(unread)
    }

    /// Returns the body of the last response.
    pub(crate) fn body(&self) -> &[u8] {
        &self.body
    }

    /// Sends a request and returns the body of the response. A failure status is an error.
    pub(crate) fn ok(
        &mut self,
        method: &str,
        path: &str,
        body: &str,
    ) -> Result<&[u8], Box<dyn Error>> {
        let status = self.exchange(&Self::request(method, path, body))?;
        if status >= 300 {
            let body_text = String::from_utf8_lossy(&self.body);
            return Err(format!("{method} {path}: {status} {body_text}").into());
        }
        Ok(&self.body)
    }
}
