//! Records: an event with its number and a checksum.

use flate2::Crc;

/// Start of every record. Its first byte never occurs in UTF-8, so that nothing within an event
/// resembles it. Its last byte is the version of the format.
pub(super) const MARK: [u8; 4] = [0xff, b'D', b'L', 1];

/// Bytes of the header: the mark, the length of the event, its number, and the checksum of these
/// two and the event, all little-endian.
pub(super) const HEADER: usize = 20;

/// Header of a record.
#[derive(Debug, Clone, Copy)]
pub(super) struct Header {
    pub(super) length: u32,
    pub(super) number: u64,
    checksum: u32,
}

/// Size of the record of an event, in bytes.
pub(super) fn size(event: &[u8]) -> u64 {
    (HEADER + event.len()) as u64
}

/// Encodes the record of an event into an empty buffer; returns false if the event is too long.
pub(super) fn encode(number: u64, event: &[u8], into: &mut Vec<u8>) -> bool {
    let Ok(length) = u32::try_from(event.len()) else {
        return false;
    };
    into.extend_from_slice(&MARK);
    into.extend_from_slice(&length.to_le_bytes());
    into.extend_from_slice(&number.to_le_bytes());
    into.extend_from_slice(&checksum(length, number, event).to_le_bytes());
    into.extend_from_slice(event);
    true
}

impl Header {
    /// Parses a header, if there is one.
    pub(super) fn read(bytes: &[u8; HEADER]) -> Option<Self> {
        let (mark, rest) = bytes.split_first_chunk()?;
        let (length, rest) = rest.split_first_chunk()?;
        let (number, rest) = rest.split_first_chunk()?;
        let (checksum, _) = rest.split_first_chunk()?;
        (*mark == MARK).then_some(Self {
            length: u32::from_le_bytes(*length),
            number: u64::from_le_bytes(*number),
            checksum: u32::from_le_bytes(*checksum),
        })
    }

    /// Whether the checksum matches this event.
    pub(super) fn matches_checksum(&self, event: &[u8]) -> bool {
        self.checksum == checksum(self.length, self.number, event)
    }
}

fn checksum(length: u32, number: u64, event: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(&length.to_le_bytes());
    crc.update(&number.to_le_bytes());
    crc.update(event);
    crc.sum()
}
