//! Reproducible bundle archives: gzip tar whose bytes depend only on the files.

use std::io::{self, Write};

use flate2::{Compression, GzBuilder};
use tar::{Builder, EntryType, Header};

/// Maximum length of a name that fits in the header of an entry, in bytes.
const MAX_SHORT_NAME: usize = 100;

/// Writes an archive of files, in the order given, under their names with a leading slash.
///
/// # Errors
/// When a name is too long.
pub(super) fn write<'f>(
    files: impl IntoIterator<Item = (&'f str, &'f [u8])>,
) -> io::Result<Vec<u8>> {
    let gzip = GzBuilder::new().write(Vec::new(), Compression::default());
    let mut archive = Builder::new(gzip);
    for (name, bytes) in files {
        let name = format!("/{name}");
        if name.len() > MAX_SHORT_NAME {
            let mut long = name.clone().into_bytes();
            long.push(0);
            let header = header("././@LongLink", EntryType::GNULongName, &long)?;
            archive.append(&header, long.as_slice())?;
        }
        archive.append(&header(&name, EntryType::Regular, bytes)?, bytes)?;
    }
    archive.into_inner()?.finish()
}

/// Creates a header without times and owners. If the name is truncated, the previous entry has
/// the full name.
fn header(name: &str, kind: EntryType, bytes: &[u8]) -> io::Result<Header> {
    let mut header = Header::new_gnu();
    let mut field = header.as_old_mut().name.as_mut_slice();
    field.write_all(
        name.as_bytes()
            .get(..MAX_SHORT_NAME)
            .unwrap_or(name.as_bytes()),
    )?;
    header.set_entry_type(kind);
    header.set_mode(0o600);
    header.set_mtime(0);
    header.set_uid(0);
    header.set_gid(0);
    header.set_size(bytes.len().try_into().map_err(io::Error::other)?);
    header.set_cksum();
    Ok(header)
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn archives_read_back() -> io::Result<()> {
        let long = format!("{}/x.rego", "d".repeat(300));
        let exact = "e".repeat(MAX_SHORT_NAME - 1);
        let files = [
            ("data.json", b"{}".as_slice()),
            (long.as_str(), b"package d"),
            (exact.as_str(), &[]),
        ];
        let archive = write(files)?;
        assert_eq!(archive, write(files)?);
        let mut read = tar::Archive::new(flate2::read::GzDecoder::new(archive.as_slice()));
        let mut found = Vec::new();
        for entry in read.entries()? {
            let mut entry = entry?;
            let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
            assert_eq!(
                (entry.header().mode()?, entry.header().mtime()?),
                (0o600, 0)
            );
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes)?;
            found.push((name, bytes));
        }
        let expected = files.map(|(name, bytes)| (format!("/{name}"), bytes.to_vec()));
        assert_eq!(found, expected);
        Ok(())
    }
}
