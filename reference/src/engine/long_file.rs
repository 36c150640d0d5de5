//! Reads files, long ones by all processors: handing out pages and copying takes as long as
//! reading a tenth of the JSON in them.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::thread;

/// A shorter file is read by one thread.
const WORTH_THREADS: u64 = 8 << 20;

/// All that a file holds.
pub(super) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let length = fs::metadata(path)?.len();
    if length >= WORTH_THREADS {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        if let Ok(bytes) = read_parts(path, length, threads) {
            return Ok(bytes);
        }
    }
    fs::read(path)
}

/// Reads parts of a file at once. A file that changes meanwhile has to be read from its beginning
/// to its end, so it fails where this one is not as long as was said.
fn read_parts(path: &Path, length: u64, threads: usize) -> io::Result<Vec<u8>> {
    let length = usize::try_from(length).map_err(io::Error::other)?;
    let mut bytes = vec![0; length];
    let share = length.div_ceil(threads).max(1);
    thread::scope(|scope| {
        let mut readers = Vec::new();
        for (at, part) in bytes.chunks_mut(share).enumerate() {
            let read = move || read_part(path, at * share, part);
            readers.push(thread::Builder::new().spawn_scoped(scope, read)?);
        }
        readers.into_iter().try_for_each(|reader| {
            let read = reader.join();
            read.unwrap_or_else(|_| Err(io::Error::other("a reader has ended early")))
        })
    })?;
    match fs::metadata(path)?.len() == bytes.len() as u64 {
        true => Ok(bytes),
        false => Err(io::Error::other("the file has changed")),
    }
}

fn read_part(path: &Path, from: usize, part: &mut [u8]) -> io::Result<()> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(from as u64))?;
    file.read_exact(part)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::read_parts;

    #[test]
    fn parts_are_the_whole_file() -> std::io::Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("file");
        for length in [1_u64, 2, 7, 100_003] {
            let bytes: Vec<u8> = (0..length).map(|at| at.to_le_bytes()[0]).collect();
            fs::write(&path, &bytes)?;
            for threads in 1..5 {
                assert!(read_parts(&path, length, threads)? == bytes, "{length}");
                assert!(read_parts(&path, length + 1, threads).is_err(), "{length}");
                assert!(read_parts(&path, length - 1, threads).is_err(), "{length}");
            }
        }
        Ok(())
    }
}
