//! Lies of storages, each with its expected outcome.

use std::io::Write as _;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::servers::Failure;

/// Lie of a storage about one object.
#[derive(Debug, Clone)]
pub(super) enum Lie {
    /// Acknowledges writes, but stores nothing, half of the bytes, or other bytes.
    KeepsNothing,
    KeepsHalf,
    KeepsOther,
    /// Stores other bytes than the written ones, with the version that these would have.
    Forges,
    /// Responds to reads with the previous object.
    Stale,
    /// Reports objects as missing.
    Forgets,
    /// Responds to a write with a version other than the stored one.
    WrongTag,
    /// Reports a different version in each response.
    ChangingTags,
    /// Reports this ETag and generation instead of the real ones, or neither.
    Tags(Option<String>),
    /// Refuses conditional writes, or all writes, with a status and a body.
    Refuses(bool, u16, Vec<u8>),
    /// Redirects to another host, with this status.
    Leads(u16),
    /// Adds headers to its responses.
    Headers(String),
    /// Responds to requests of this method with the first bytes, and then with the second ones
    /// repeatedly, with a pause before each.
    Sends(&'static str, Vec<u8>, Vec<u8>, Duration),
    /// Truncates objects, and responds to the retry with a range that overflows.
    BreaksOff,
    /// Refuses a write with a response that contains the headers of the request.
    Echoes,
}

/// Expected outcome of a lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The bundle's status reports the failure and its reason.
    Failure,
    /// The storage contains the bundle all the same.
    Held,
    /// The lie is undetectable, as documented.
    Believed,
    /// Only the time and size limits of a request end it, which the attack does not wait for.
    Open,
}

/// Size of a large response body, in bytes.
const HUGE: usize = 100 << 20;

const PIECE: usize = 64 << 10;

const SLOWLY: Duration = Duration::from_millis(500);

/// Header with a body length beyond the memory of any machine.
const IMPOSSIBLE: &str = "Content-Length: 4611686018427387904\r\n\r\n";

const ENTITIES: &str = "<?xml version=\"1.0\"?><!DOCTYPE e [<!ENTITY a \"lol\">\
    <!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;\"><!ENTITY c \"&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;\">\
    <!ENTITY d \"&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;\"><!ENTITY f SYSTEM \"file:///etc/passwd\">]>\
    <Error><Code>&d;</Code><Message>&f;</Message></Error>";

const OTHER_BUCKET: &str = "<?xml version=\"1.0\"?><Error><Code>NoSuchBucket</Code>\
    <BucketName>bucket-of-others</BucketName><Endpoint>others.example.com</Endpoint></Error>";

/// Returns all lies by name, each with its expected outcome.
///
/// # Errors
/// When compression fails.
pub(super) fn all() -> Result<Vec<(String, Lie, Outcome)>, Failure> {
    use Outcome::{Believed, Failure, Held, Open};
    let mut all = vec![
        ("nothing", Lie::KeepsNothing, Failure),
        ("half", Lie::KeepsHalf, Failure),
        ("other", Lie::KeepsOther, Failure),
        ("forged", Lie::Forges, Believed),
        ("stale", Lie::Stale, Failure),
        ("forgotten", Lie::Forgets, Failure),
        ("wrongtag", Lie::WrongTag, Held),
        ("changingtags", Lie::ChangingTags, Failure),
        ("notag", Lie::Tags(None), Held),
        ("hugetag", tag("t".repeat(100 << 10)), Held),
        ("controltag", tag("t\u{1}\u{1b}[2J".to_owned()), Failure),
        ("foreigntag", tag("tägß".to_owned()), Held),
        ("unmet", Lie::Refuses(false, 412, Vec::new()), Held),
        (
            "garbled",
            Lie::Refuses(false, 412, vec![0xff, 0xfe, 0xff]),
            Held,
        ),
        ("conflict", Lie::Refuses(false, 409, Vec::new()), Held),
        ("never", Lie::Refuses(true, 412, Vec::new()), Failure),
        ("entities", refuses(400, ENTITIES), Failure),
        ("otherbucket", refuses(404, OTHER_BUCKET), Failure),
        (
            "longheaders",
            Lie::Headers(format!("X-Long: {}\r\n", "x".repeat(100 << 10))),
            Held,
        ),
        (
            "manyheaders",
            Lie::Headers("X-Many: x\r\n".repeat(1_000)),
            Failure,
        ),
        ("breaksoff", Lie::BreaksOff, Failure),
        ("echoes", Lie::Echoes, Failure),
    ]
    .into_iter()
    .map(|(name, lie, outcome)| (name.to_owned(), lie, outcome))
    .collect::<Vec<_>>();
    for status in [301, 302, 303, 307, 308] {
        all.push((format!("leads{status}"), Lie::Leads(status), Failure));
    }
    let (megabytes, bomb) = (vec![b'x'; PIECE], bomb()?);
    let chunk = [b"10000\r\n".as_slice(), &megabytes, b"\r\n"].concat();
    let (now, chunked) = (Duration::ZERO, "Transfer-Encoding: chunked\r\n\r\n");
    let zipped = format!(
        "Content-Encoding: gzip\r\nContent-Length: {}\r\n\r\n",
        bomb.len()
    );
    let huge = format!("Content-Type: application/xml\r\nContent-Length: {HUGE}\r\n\r\n<Error>");
    let later = "Retry-After: 3153600000\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
    let before = "Retry-After: -1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
    for (name, method, status, head, piece, pause, outcome) in [
        ("endless", "PUT", 500, chunked, chunk.clone(), now, Failure),
        (
            "unlimited",
            "PUT",
            403,
            IMPOSSIBLE,
            megabytes.clone(),
            now,
            Failure,
        ),
        ("silent", "PUT", 400, IMPOSSIBLE, Vec::new(), now, Failure),
        (
            "dripping",
            "PUT",
            404,
            IMPOSSIBLE,
            b"x".to_vec(),
            SLOWLY,
            Failure,
        ),
        ("slowhead", "PUT", 200, "X: ", b"x".to_vec(), SLOWLY, Open),
        (
            "slowlook",
            "HEAD",
            200,
            "X: ",
            b"x".to_vec(),
            SLOWLY,
            Failure,
        ),
        (
            "hugexml",
            "PUT",
            503,
            huge.as_str(),
            megabytes.clone(),
            now,
            Failure,
        ),
        ("later", "PUT", 503, later, Vec::new(), now, Failure),
        ("before", "PUT", 429, before, Vec::new(), now, Failure),
        (
            "bomb",
            "PUT",
            400,
            zipped.as_str(),
            bomb.clone(),
            now,
            Failure,
        ),
        ("readendless", "GET", 200, chunked, chunk, now, Held),
        (
            "readunlimited",
            "GET",
            200,
            IMPOSSIBLE,
            megabytes,
            now,
            Failure,
        ),
        ("readsilent", "GET", 200, IMPOSSIBLE, Vec::new(), now, Open),
        (
            "readdripping",
            "GET",
            200,
            IMPOSSIBLE,
            vec![0x1f],
            SLOWLY,
            Open,
        ),
        ("readbomb", "GET", 200, zipped.as_str(), bomb, now, Failure),
    ] {
        let start = format!("HTTP/1.1 {status} As-Asked\r\n{SHOWN}{head}");
        let lie = Lie::Sends(method, start.into_bytes(), piece, pause);
        all.push((name.to_owned(), lie, outcome));
    }
    Ok(all)
}

/// Headers that a storage must send with an object.
const SHOWN: &str = "ETag: \"shown\"\r\nx-goog-generation: 7\r\n\
    Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT\r\n";

fn tag(tag: String) -> Lie {
    Lie::Tags(Some(tag))
}

fn refuses(status: u16, body: &str) -> Lie {
    Lie::Refuses(true, status, body.as_bytes().to_vec())
}

/// Compresses a hundred megabytes into a few bytes.
fn bomb() -> Result<Vec<u8>, Failure> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(&vec![0; HUGE])?;
    Ok(packed.finish()?)
}
