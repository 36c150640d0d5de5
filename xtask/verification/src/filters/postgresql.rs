//! Raw PostgreSQL sessions that can declare any encoding.

use std::collections::BTreeSet;
use std::error::Error;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

use super::Selected;
use crate::servers::HANG_LIMIT;

/// Version of the protocol.
const VERSION: u32 = 196_608;

/// Session of the database user whom the server trusts without a password.
#[derive(Debug)]
pub(super) struct Session(TcpStream);

/// Type and body of a protocol message.
type Message = (u8, Vec<u8>);

impl Session {
    /// Starts a session in a database with these settings.
    ///
    /// # Errors
    /// When the server refuses the session.
    pub(super) fn start(
        address: SocketAddr,
        database: &str,
        settings: &[(&str, &str)],
    ) -> Result<Self, Box<dyn Error>> {
        let stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(HANG_LIMIT))?;
        let mut session = Self(stream);
        let mut body = VERSION.to_be_bytes().to_vec();
        let own = [("user", "postgres"), ("database", database)];
        for (name, value) in own.iter().chain(settings) {
            body.extend([name.as_bytes(), b"\0", value.as_bytes(), b"\0"].concat());
        }
        body.push(0);
        session.0.write_all(&framed(&body)?)?;
        session
            .rows()?
            .map_err(|error| format!("PostgreSQL: {error}"))?;
        Ok(session)
    }

    /// Runs a query; returns the numbers in its first column, or the server's error.
    ///
    /// # Errors
    /// When the session has ended.
    pub(super) fn select(&mut self, query: &str) -> Result<Selected, Box<dyn Error>> {
        let mut message = vec![b'Q'];
        message.extend(framed(&[query.as_bytes(), b"\0"].concat())?);
        self.0.write_all(&message)?;
        self.rows()
    }

    fn rows(&mut self) -> Result<Selected, Box<dyn Error>> {
        let mut found: Selected = Ok(BTreeSet::new());
        loop {
            match self.message()? {
                (b'Z', _) => return Ok(found),
                (b'E', body) => {
                    found = Err(String::from_utf8_lossy(&body).replace('\0', " "));
                }
                (b'D', body) => {
                    // After the number of columns and the length of the first column.
                    let value = body.get(6..).unwrap_or_default();
                    let value: i64 = std::str::from_utf8(value)?.parse()?;
                    if let Ok(rows) = &mut found {
                        rows.insert(value);
                    }
                }
                _ => {}
            }
        }
    }

    fn message(&mut self) -> Result<Message, Box<dyn Error>> {
        let (mut kind, mut length) = ([0; 1], [0; 4]);
        self.0.read_exact(&mut kind)?;
        self.0.read_exact(&mut length)?;
        let length = usize::try_from(u32::from_be_bytes(length))?;
        let mut body = vec![0; length.saturating_sub(4)];
        self.0.read_exact(&mut body)?;
        let [kind] = kind;
        Ok((kind, body))
    }
}

/// Prefixes a message body with its length, which includes the length itself.
fn framed(body: &[u8]) -> Result<Vec<u8>, Box<dyn Error>> {
    let length = u32::try_from(body.len() + 4)?;
    Ok([&length.to_be_bytes(), body].concat())
}
