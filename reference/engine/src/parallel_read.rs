//! Parallel reads of long files.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::thread;

/// Minimum bytes of a file that is read by several threads.
const WORTH_THREADS: u64 = 8 << 20;

/// Reads a whole file; a long one by several threads.
pub(super) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    if length >= WORTH_THREADS {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        if let Ok(bytes) = read_parts(&file, length, threads) {
            return Ok(bytes);
        }
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads parts of a file concurrently. Fails if the length of the file differs from `length`,
/// because a file that changes meanwhile must be read sequentially.
fn read_parts(file: &File, length: u64, threads: usize) -> io::Result<Vec<u8>> {
    let size = usize::try_from(length).map_err(io::Error::other)?;
    // Without enough memory, the allocation below would abort the process instead of failing.
    Vec::<u8>::new()
        .try_reserve_exact(size)
        .map_err(io::Error::other)?;
    let mut bytes = vec![0; size];
    let share = size.div_ceil(threads).max(1);
    thread::scope(|scope| {
        let mut readers = Vec::new();
        for (at, part) in bytes.chunks_mut(share).enumerate() {
            let from = (at * share) as u64;
            let read = move || file.read_exact_at(part, from);
            readers.push(thread::Builder::new().spawn_scoped(scope, read)?);
        }
        readers.into_iter().try_for_each(|reader| {
            let read = reader.join();
            read.unwrap_or_else(|_| Err(io::Error::other("a reader has ended early")))
        })
    })?;
    match file.metadata()?.len() == length {
        true => Ok(bytes),
        false => Err(io::Error::other("the file has changed")),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use super::read_parts;

    #[test]
    fn parts_are_the_whole_file() -> std::io::Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("file");
        for length in [1_u64, 2, 7, 100_003] {
            let bytes: Vec<u8> = (0..length).map(|at| at.to_le_bytes()[0]).collect();
            fs::write(&path, &bytes)?;
            let file = File::open(&path)?;
            for threads in 1..5 {
                assert!(read_parts(&file, length, threads)? == bytes, "{length}");
                assert!(read_parts(&file, length + 1, threads).is_err(), "{length}");
                assert!(read_parts(&file, length - 1, threads).is_err(), "{length}");
            }
        }
        let file = File::open(&path)?;
        assert!(read_parts(&file, u64::MAX / 2, 2).is_err(), "no memory");
        Ok(())
    }
}
