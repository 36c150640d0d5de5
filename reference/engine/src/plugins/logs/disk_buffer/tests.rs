//! Disk buffer across restarts, damage and lack of disk space.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rstest::rstest;

use super::{DiskBuffer, Unwritten, segment};
use crate::config::{BufferFull, BufferSync, Disk};

type Done<T = ()> = Result<T, Box<dyn std::error::Error>>;

fn disk(directory: &Path, bytes: u64) -> Disk {
    Disk {
        directory: directory.join("spool"),
        bytes,
        sync: BufferSync::Never,
        full: BufferFull::Drop,
    }
}

/// Event for a number, of a length that differs from those of its neighbours.
fn event(number: u64) -> Vec<u8> {
    let padding = "x".repeat((number % 7) as usize * 10);
    format!("{{\"number\":{number},\"padding\":\"{padding}\"}}").into_bytes()
}

fn put(spool: &DiskBuffer, numbers: std::ops::Range<u64>) -> Done {
    for number in numbers {
        spool.take(&event(number)).written?;
    }
    Ok(())
}

/// All buffered events, without removing them, and the number of damaged ones that were skipped.
fn waiting(spool: &DiskBuffer) -> Done<(Vec<Vec<u8>>, u64)> {
    let (entries, damaged) = spool.oldest(usize::MAX);
    let events = entries?.iter().map(|entry| entry.event.to_vec()).collect();
    Ok((events, damaged))
}

/// Numbers in the buffered events.
fn numbers(spool: &DiskBuffer) -> Done<Vec<u64>> {
    let (events, _) = waiting(spool)?;
    let numbers = events.iter().map(|event| {
        let event: serde_json::Value = serde_json::from_slice(event)?;
        let number = event.get("number").and_then(serde_json::Value::as_u64);
        Ok(number.ok_or("no number")?)
    });
    numbers.collect()
}

/// Segment files, oldest first.
fn files(directory: &Path) -> Done<Vec<PathBuf>> {
    let directory = directory.join("spool");
    let segments = segment::list(&directory)?.into_iter();
    Ok(segments
        .map(|segment| segment::path(&directory, segment.first))
        .collect())
}

#[test]
fn delivery_goes_on_after_a_restart() -> Done {
    let folder = tempfile::tempdir()?;
    let disk = disk(folder.path(), 16_000);
    let spool = DiskBuffer::open(&disk)?;
    put(&spool, 0..50)?;
    let (entries, _) = spool.oldest(300);
    let entries = entries?;
    assert!((2..20).contains(&entries.len()), "{}", entries.len());
    let last = entries.last().ok_or("no entry")?.number;
    // Events that were read but not removed are read again.
    assert_eq!(numbers(&spool)?, (0..50).collect::<Vec<_>>());
    spool.remove_before(last + 1);
    let segments = files(folder.path())?.len();
    drop(spool);

    let spool = DiskBuffer::open(&disk)?;
    assert_eq!(numbers(&spool)?, (last + 1..50).collect::<Vec<_>>());
    put(&spool, 50..60)?;
    assert_eq!(numbers(&spool)?, (last + 1..60).collect::<Vec<_>>());
    assert!(files(folder.path())?.len() > segments);
    spool.remove_before(spool.end());
    assert_eq!(spool.size(), (0, 0));
    assert_eq!(files(folder.path())?.len(), 0);
    drop(spool);

    let spool = DiskBuffer::open(&disk)?;
    assert_eq!(numbers(&spool)?.len(), 0);
    // Numbers are never reused.
    assert_eq!(spool.end(), 60);
    Ok(())
}

#[test]
fn a_directory_has_one_spool() -> Done {
    let folder = tempfile::tempdir()?;
    let disk = disk(folder.path(), 1000);
    let spool = DiskBuffer::open(&disk)?;
    let refused = DiskBuffer::open(&disk).err().unwrap_or_default();
    assert!(refused.ends_with("another process uses it"), "{refused}");
    drop(spool);
    DiskBuffer::open(&disk)?;
    Ok(())
}

#[test]
fn only_the_owner_sees_the_files() -> Done {
    let folder = tempfile::tempdir()?;
    let spool = DiskBuffer::open(&disk(folder.path(), 1000))?;
    put(&spool, 0..2)?;
    let mode = |path: &Path| Ok::<_, std::io::Error>(fs::metadata(path)?.permissions().mode());
    let directory = folder.path().join("spool");
    assert_eq!(mode(&directory)? & 0o777, 0o700);
    let mut count = 0;
    for entry in fs::read_dir(&directory)? {
        assert_eq!(mode(&entry?.path())? & 0o777, 0o600);
        count += 1;
    }
    assert!(count >= 3, "{count}");
    Ok(())
}

#[test]
fn an_incomplete_end_is_cut_off() -> Done {
    let complete = {
        let folder = tempfile::tempdir()?;
        put(&*DiskBuffer::open(&disk(folder.path(), 1 << 20))?, 0..3)?;
        let file = files(folder.path())?.pop().ok_or("no segment")?;
        fs::read(file)?
    };
    // Wherever the write ends, the preceding records survive.
    for length in 0..complete.len() {
        let folder = tempfile::tempdir()?;
        let disk = disk(folder.path(), 1 << 20);
        put(&*DiskBuffer::open(&disk)?, 0..3)?;
        let file = files(folder.path())?.pop().ok_or("no segment")?;
        let cut = OpenOptions::new().write(true).open(&file)?;
        cut.set_len(length as u64)?;
        let spool = DiskBuffer::open(&disk)?;
        let left = numbers(&spool)?;
        assert_eq!(left, (0..left.len() as u64).collect::<Vec<_>>(), "{length}");
        let bytes: usize = (0..left.len() as u64 + 1)
            .map(|number| event(number).len() + 20)
            .sum();
        assert!(left.len() == 3 || bytes > length, "{length}: {left:?}");
        put(&spool, 7..8)?;
        assert_eq!(numbers(&spool)?.last(), Some(&7), "{length}");
        drop(spool);
        assert_eq!(
            numbers(&*DiskBuffer::open(&disk)?)?.len(),
            left.len() + 1,
            "{length}"
        );
    }
    Ok(())
}

/// Length of the record with an event.
fn record(number: u64) -> usize {
    event(number).len() + 20
}

/// The cases have the offset of the damage, the bytes written there, and the lost records.
#[rstest]
#[case::event(record(0) + 30, vec![0; 1], vec![1])]
#[case::mark(record(0), vec![0; 1], vec![1])]
#[case::long_length(record(0) + 4, vec![0xff; 4], vec![1])]
#[case::short_length(record(0) + 4, vec![1, 0, 0, 0], vec![1])]
#[case::number(record(0) + 8, vec![9; 8], vec![1])]
#[case::checksum(16, vec![0; 4], vec![0])]
#[case::two_records(record(0) + 30, vec![7; record(1)], vec![1, 2])]
fn damaged_records_are_passed_over_and_counted(
    #[case] from: usize,
    #[case] with: Vec<u8>,
    #[case] lost: Vec<u64>,
) -> Done {
    let folder = tempfile::tempdir()?;
    let disk = disk(folder.path(), 1 << 20);
    put(&*DiskBuffer::open(&disk)?, 0..5)?;
    let file = files(folder.path())?.pop().ok_or("no segment")?;
    let mut bytes = fs::read(&file)?;
    bytes.splice(from..from + with.len(), with);
    fs::write(&file, bytes)?;
    let spool = DiskBuffer::open(&disk)?;
    let (events, damaged) = waiting(&spool)?;
    assert_eq!(damaged, lost.len() as u64);
    let left: Vec<_> = (0..5).filter(|n| !lost.contains(n)).map(event).collect();
    assert_eq!(events, left);
    Ok(())
}

#[test]
fn what_is_gone_or_foreign_stops_nothing() -> Done {
    let folder = tempfile::tempdir()?;
    let disk = disk(folder.path(), 3200);
    let spool = DiskBuffer::open(&disk)?;
    put(&spool, 0..20)?;
    drop(spool);
    let segments = files(folder.path())?;
    let [first, second, third, ..] = segments.as_slice() else {
        return Err("too few segments".into());
    };
    fs::remove_file(second)?;
    fs::write(third, "no records")?;
    fs::write(folder.path().join("spool").join("position"), "no position")?;
    fs::write(folder.path().join("spool").join("notes.txt"), "foreign")?;
    let mut grown = OpenOptions::new().append(true).open(first)?;
    grown.write_all(b"trailing")?;
    let spool = DiskBuffer::open(&disk)?;
    let (events, damaged) = waiting(&spool)?;
    assert!(!events.is_empty() && damaged > 0);
    assert_eq!(events.len() as u64 + damaged, 20);
    assert_eq!(events.last(), Some(&event(19)));
    // Removed while in use.
    for file in files(folder.path())? {
        fs::remove_file(file)?;
    }
    spool.remove_before(3);
    assert_eq!(spool.oldest(10).0?.len(), 1);
    Ok(())
}

#[test]
fn the_oldest_make_room() -> Done {
    let folder = tempfile::tempdir()?;
    let spool = DiskBuffer::open(&disk(folder.path(), 3200))?;
    let mut dropped = 0;
    for number in 0..500 {
        let taken = spool.take(&event(number));
        taken.written?;
        dropped += taken.dropped;
        assert!(spool.size().1 <= 3200);
        let on_disk: u64 = files(folder.path())?
            .iter()
            .map(|file| fs::metadata(file).map(|file| file.len()))
            .sum::<Result<_, _>>()?;
        assert_eq!(on_disk, spool.size().1);
    }
    let left = numbers(&spool)?;
    assert!(left.len() > 20, "{}", left.len());
    assert_eq!(left, (dropped..500).collect::<Vec<_>>());
    assert_eq!(spool.size().0, left.len() as u64);
    // An event that exceeds the whole limit drops nothing.
    let taken = spool.take(&[b'x'; 4000]);
    assert!(matches!(taken.written, Err(Unwritten::Full)));
    assert_eq!(taken.dropped, 0);
    assert_eq!(numbers(&spool)?, left);
    Ok(())
}

#[test]
fn what_is_removed_takes_no_room_though_it_is_read() -> Done {
    let folder = tempfile::tempdir()?;
    let spool = DiskBuffer::open(&disk(folder.path(), 3200))?;
    put(&spool, 0..3)?;
    // The oldest segment is open from now on.
    assert_eq!(spool.oldest(1).0?.len(), 1);
    let oldest = files(folder.path())?.into_iter().next();
    let open = fs::File::open(oldest.ok_or("no segment")?)?;
    assert!(open.metadata()?.len() > 0);
    put(&spool, 3..200)?;
    assert_eq!(open.metadata()?.len(), 0);
    let (events, damaged) = waiting(&spool)?;
    assert_eq!((events.last(), damaged), (Some(&event(199)), 0));
    Ok(())
}

#[test]
fn a_full_spool_refuses_until_something_is_delivered() -> Done {
    let folder = tempfile::tempdir()?;
    let mut disk = disk(folder.path(), 3200);
    disk.full = BufferFull::Refuse;
    let spool = DiskBuffer::open(&disk)?;
    let taken = (0..500).take_while(|number| spool.take(&event(*number)).written.is_ok());
    let taken = taken.count() as u64;
    assert!((20..100).contains(&taken), "{taken}");
    assert_eq!(numbers(&spool)?, (0..taken).collect::<Vec<_>>());
    spool.remove_before(taken / 2);
    put(&spool, taken..taken + 3)?;
    // Changed limits for the same directory apply at once.
    spool.configure(&Disk {
        full: BufferFull::Drop,
        ..disk
    })?;
    put(&spool, taken + 3..taken + 500)?;
    assert_eq!(numbers(&spool)?.last(), Some(&(taken + 499)));
    Ok(())
}

#[rstest]
#[case::always(BufferSync::Always)]
#[case::interval(BufferSync::Interval)]
#[case::never(BufferSync::Never)]
fn many_write_at_once(#[case] sync: BufferSync) -> Done {
    let folder = tempfile::tempdir()?;
    let mut disk = disk(folder.path(), 200_000);
    disk.sync = sync;
    let spool = DiskBuffer::open(&disk)?;
    let threads = (0..8_u64).map(|thread| {
        let spool = Arc::clone(&spool);
        std::thread::spawn(move || {
            let numbers = thread * 100..(thread + 1) * 100;
            put(&spool, numbers).map_err(|error| error.to_string())
        })
    });
    for thread in threads.collect::<Vec<_>>() {
        thread.join().map_err(|_| "a thread panicked")??;
    }
    let mut left = numbers(&spool)?;
    // The events of one thread are in order.
    for thread in 0..8 {
        let of_thread = left.iter().filter(|number| **number / 100 == thread);
        assert!(of_thread.is_sorted());
    }
    left.sort_unstable();
    assert_eq!(left, (0..800).collect::<Vec<_>>());
    Ok(())
}

#[test]
fn a_spool_that_is_let_go_takes_nothing_unseen() -> Done {
    let folder = tempfile::tempdir()?;
    let disk = disk(folder.path(), 3200);
    let spool = DiskBuffer::open(&disk)?;
    put(&spool, 0..1)?;
    assert!(!spool.close_if_empty());
    put(&spool, 1..2)?;
    spool.remove_before(2);
    assert!(spool.close_if_empty());
    assert!(matches!(
        spool.take(b"late").written,
        Err(Unwritten::Closed)
    ));
    spool.configure(&disk)?;
    put(&spool, 2..3)?;
    assert_eq!(numbers(&spool)?, [2]);
    Ok(())
}

/// Compares random operations on a disk buffer with a list as model, including crashes in the
/// middle of a write.
#[test]
fn whatever_happens_nothing_is_lost_or_made_up() -> Done {
    let folder = tempfile::tempdir()?;
    // Segments have 64 KiB.
    let disk = disk(folder.path(), 1 << 20);
    let mut spool = DiskBuffer::open(&disk)?;
    let (mut model, mut next): (Vec<u64>, u64) = (Vec::new(), 0);
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let mut draw = |below: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random % below
    };
    for step in 0..600 {
        match draw(10) {
            0..5 => {
                let count = draw(20);
                put(&spool, next..next + count)?;
                model.extend(next..next + count);
                next += count;
            }
            5..8 => {
                let entries = spool.oldest(draw(2000) as usize).0?;
                let events: Vec<_> = entries.iter().map(|entry| entry.event.to_vec()).collect();
                let expected = model.iter().take(entries.len()).copied().map(event);
                assert_eq!(events, expected.collect::<Vec<_>>(), "{step}");
                let sent = draw(entries.len() as u64 + 1) as usize;
                if let Some(last) = sent.checked_sub(1).and_then(|at| entries.get(at)) {
                    spool.remove_before(last.number + 1);
                    model.drain(..sent);
                }
            }
            8 => {
                drop(spool);
                spool = DiskBuffer::open(&disk)?;
            }
            _ => {
                drop(spool);
                if let Some(last) = files(folder.path())?.last() {
                    let torn = event(next);
                    let mut file = OpenOptions::new().append(true).open(last)?;
                    let part = torn.get(..draw(torn.len() as u64) as usize);
                    file.write_all(&[0xff, b'D', b'L', 1, 200, 0, 0, 0])?;
                    file.write_all(part.unwrap_or_default())?;
                }
                spool = DiskBuffer::open(&disk)?;
            }
        }
        assert_eq!(spool.size().0, model.len() as u64, "{step}");
    }
    assert_eq!(numbers(&spool)?, model);
    Ok(())
}
