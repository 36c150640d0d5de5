//! Position up to which records are delivered, stored for the next start.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use flate2::Crc;

use super::segment::own;

/// Name of the position file.
const NAME: &str = "position";

/// File with the number of the first undelivered record, and its checksum.
#[derive(Debug)]
pub(super) struct Position(File);

impl Position {
    /// Opens the file, and returns the number in it: 0 if the file is new or damaged. Then
    /// delivered records are delivered again.
    pub(super) fn open(directory: &Path) -> io::Result<(Self, u64)> {
        let mut options = OpenOptions::new();
        own(options.read(true).write(true).create(true).truncate(false));
        let file = options.open(directory.join(NAME))?;
        let mut bytes = [0; 12];
        let read = match file.read_exact_at(&mut bytes, 0) {
            Ok(()) => parse(&bytes),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => None,
            Err(error) => return Err(error),
        };
        let (position, number) = (Self(file), read.unwrap_or_default());
        // Allocates the space now, so that the number can be updated on a full disk, too. If there
        // is no space, the number is not persisted.
        position.save(number).ok();
        Ok((position, number))
    }

    /// Overwrites the number in place, which needs no further space.
    pub(super) fn save(&self, number: u64) -> io::Result<()> {
        let number = number.to_le_bytes();
        let mut bytes = [0; 12];
        let (start, end) = bytes.split_at_mut(number.len());
        start.copy_from_slice(&number);
        end.copy_from_slice(&checksum(&number).to_le_bytes());
        self.0.write_all_at(&bytes, 0)
    }
}

fn parse(bytes: &[u8; 12]) -> Option<u64> {
    let (number, rest) = bytes.split_first_chunk()?;
    let (sum, _) = rest.split_first_chunk()?;
    (checksum(number) == u32::from_le_bytes(*sum)).then(|| u64::from_le_bytes(*number))
}

fn checksum(number: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(number);
    crc.sum()
}
