//! Parallel parsing of long JSON texts: other threads start at guessed item boundaries, and their
//! results are used if the guess was right.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Scope, ScopedJoinHandle};

use super::{Documents, Entry, Kind, List, Stop};
use crate::Value;
use crate::value::json::Reader;
use crate::value::object::Member;
use crate::value::tree::Subtree;

/// Number of bytes that are searched for a position at which the text can be split.
const SPLIT_SEARCH_BYTES: usize = 256 << 10;

/// Threads that parse later parts of a text.
#[derive(Clone, Copy)]
pub(super) struct Helpers<'s, 't> {
    pub(super) scope: &'s Scope<'s, 't>,
    /// Number of further threads that may be started.
    pub(super) left: usize,
    /// Minimum number of bytes for a further thread.
    pub(super) worth: usize,
}

/// Speculative parse of the rest of a list in another thread. It may be any list of the same kind
/// and nesting depth as the list that was being parsed when the thread was started.
pub(super) struct Speculative<'s> {
    /// Position in the text at which the thread starts, after a comma.
    pub(super) at: usize,
    depth: usize,
    /// Opening bracket of the list.
    open: char,
    read: ScopedJoinHandle<'s, Result<Rest, Stop>>,
    _told: CancelOnDrop,
}

/// Cancels the thread when dropped.
struct CancelOnDrop(Arc<AtomicBool>);

/// Parsed rest of a list.
struct Rest {
    parts: Parts,
    /// Position in the text after the closing bracket.
    end: usize,
}

/// Chunks of an array or an object.
pub(super) enum Parts {
    Items(Vec<Subtree<Value>>),
    Members(Vec<Subtree<Member>>),
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl<'s, 't: 's> Documents<'s, 't> {
    /// Starts another thread for later text, if there is enough of it.
    pub(super) fn read_ahead<T: Kind>(&mut self, depth: usize) {
        let Some(helpers) = self.helpers.filter(|helpers| helpers.left > 0) else {
            return;
        };
        let (text, here) = (self.reader.text, self.reader.at);
        let rest = text.len() - here;
        if self.ahead.is_some() || here < self.guessed || rest < helpers.worth {
            return;
        }
        self.guessed = here + rest / (helpers.left + 1);
        let Some(at) = boundary(text, self.guessed) else {
            return;
        };
        let others = Helpers {
            left: helpers.left - 1,
            ..helpers
        };
        let useless = Arc::<AtomicBool>::default();
        let other = Documents::new(Reader::at(text, at), Some(others), Arc::clone(&useless));
        let read = move || other.rest::<T>(depth);
        let read = thread::Builder::new().spawn_scoped(helpers.scope, read);
        self.ahead = read.ok().map(|read| Speculative {
            at,
            depth,
            open: T::OPEN,
            read,
            _told: CancelOnDrop(useless),
        });
    }

    /// Parses the rest of a list.
    fn rest<T: Kind>(mut self, depth: usize) -> Result<Rest, Stop> {
        let mut list = self.begin::<T>();
        self.entries(&mut list, depth)?;
        match list.is_ordered {
            true => Ok(Rest {
                parts: T::to_rest(self.parts(&mut list)),
                end: self.reader.at,
            }),
            false => Err(Stop::Disorder),
        }
    }

    /// Adds the rest of a list from the thread that parsed it, unless the thread parsed another
    /// list.
    pub(super) fn join<T: Kind>(
        &mut self,
        list: &mut List<T>,
        depth: usize,
        ahead: Speculative<'s>,
    ) -> Result<bool, Stop> {
        // Errors of a list of another kind do not count: an error in an array need not be one in an
        // object.
        if ahead.at != self.reader.at || ahead.depth != depth || ahead.open != T::OPEN {
            return Ok(false);
        }
        let Ok(rest) = ahead.read.join() else {
            return Ok(false);
        };
        let Rest { parts, end } = rest?;
        let Some(parts) = T::of_rest(parts) else {
            return Ok(false);
        };
        let last = self
            .entries
            .get(list.first_entry..)
            .and_then(<[Entry]>::last);
        let last = last.map_or("", |last| last.name(&self.written));
        let follows = parts
            .first()
            .is_some_and(|first| T::follows(&first.mark, last));
        if !list.is_ordered || !follows {
            return Err(Stop::Disorder);
        }
        list.parts = self.parts(list);
        list.parts.extend(parts);
        self.reader.at = end;
        Ok(true)
    }
}

/// Finds the position after a comma of the outermost list, near the position `middle` of a JSON
/// text. The result is a guess, because `middle` may be inside of a string.
fn boundary(text: &str, middle: usize) -> Option<usize> {
    let bytes = text.as_bytes().get(middle..)?;
    let bytes = bytes.get(..SPLIT_SEARCH_BYTES).unwrap_or(bytes);
    let closed = |pair: &[u8]| matches!(pair, [b'}' | b']', b',']);
    let first = bytes.windows(2).position(closed)? + 1;
    let (mut depth, mut lowest, mut found) = (0_isize, 1, None);
    let (mut in_string, mut escaped) = (false, false);
    for (at, byte) in bytes.iter().enumerate().skip(first) {
        if in_string {
            in_string = escaped || *byte != b'"';
            escaped = !escaped && *byte == b'\\';
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            b',' if depth < lowest => {
                lowest = depth;
                found = Some(middle + at + 1);
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::thread;

    use super::{Documents, Helpers, Member, Reader, boundary};
    use crate::value::document::read;
    use crate::value::from_json;

    /// Returns texts in which guesses are right, wrong, or right for another list, and texts with
    /// errors that one thread alone cannot report.
    fn texts() -> Vec<String> {
        let user = |at: usize| format!(r#""user-{at:05}": {{"n": {at}, "s": "}},\"{{["}}"#);
        let object = |from: usize, to: usize| {
            let users: Vec<_> = (from..to).map(user).collect();
            format!("{{{}}}", users.join(",\n"))
        };
        let (users, small) = (object(0, 6_000), object(0, 2_000));
        let list = format!("[{}[]]", r#"[{"a": [1, 2]}, "x"], "#.repeat(9_000));
        let pairs = "[1, 2], ".repeat(20_000);
        let half = small.len() / 2;
        let mut texts = vec![
            format!(r#"{{"a": {users}}}"#),
            format!(r#"{{"a": {users}, "b": {{"c": {list}, "d": {small}}}}}"#),
            format!("[{users}, {list}, {users}]"),
            // The guess for one kind of list is in the other, which has the same nesting depth.
            format!(r#"{{"a": [{}1], "b": {users}}}"#, "1, ".repeat(30_000)),
            format!(r#"{{"a": {small}, "b": [{}1]}}"#, "1, ".repeat(100_000)),
            format!("[{list}, {small}]"),
            format!(r#"["{}", {list}]"#, "},{".repeat(90_000)),
            format!(r#"["{}", {list}]"#, "},\\\"{".repeat(90_000)),
            format!(r#"[{pairs}"{}", {pairs}[]]"#, "},{".repeat(100_000)),
            format!("[{}1]", "1, ".repeat(50_000)),
            format!("[{}[]]", "[[],[[{}]],{}],".repeat(8_000)),
            // Unsorted, and with a duplicate name, where threads meet or anywhere.
            format!("{}, {}", object(3_000, 6_000), object(0, 3_000)).replace("}, {", ", "),
            format!("{}, {}", object(0, 3_000), object(2_999, 6_000)).replace("}, {", ", "),
            users.replace("user-05000", "user-04000"),
        ];
        for broken in ["}", "]", ",", "\"", "{", "\\"] {
            let (before, after) = small.split_at(half);
            texts.push(format!("{before}{broken}{after}"));
            texts.push(format!("{small}{broken}"));
        }
        texts.push(small.get(..small.len() - 9).unwrap_or_default().to_owned());
        texts
    }

    #[test]
    fn many_threads_read_what_one_does() {
        for text in texts() {
            let expected = from_json(text.as_bytes());
            // Every text is long enough for a few threads.
            let worth = 100_000.min(text.len() / 3);
            for threads in 1..5 {
                let found = read(text.as_bytes(), threads, worth);
                let begin = text.get(..60).unwrap_or_default();
                assert!(found == expected, "{threads} threads: {begin}");
            }
        }
    }

    /// Returns the outcome of a speculative parse of an object, of which only the first member is
    /// parsed before: the position of the guess, whether the rest is used, and the number of
    /// members.
    fn joined(text: &str) -> (usize, Option<bool>, usize) {
        thread::scope(|scope| {
            let helpers = Helpers {
                scope,
                left: 1,
                worth: 1_000,
            };
            let reader = Reader::at(text, 1);
            let mut documents = Documents::new(reader, Some(helpers), Arc::default());
            let mut list = documents.begin::<Member>();
            let read = documents.entry(&mut list, 1);
            assert!(read.is_ok());
            documents.read_ahead::<Member>(1);
            let ahead = documents.ahead.take();
            let at = ahead.as_ref().map(|ahead| ahead.at).unwrap_or_default();
            documents.reader.at = at;
            let taken = ahead.and_then(|ahead| documents.join(&mut list, 1, ahead).ok());
            let length: usize = list.parts.iter().map(|part| part.length).sum();
            (at, taken, length)
        })
    }

    #[test]
    fn what_was_read_ahead_is_taken_where_it_follows() {
        let users = (0..9_000).map(|at| format!(r#","{at:05}":{{"n":{at}}}"#));
        let users: String = users.collect();
        let (at, taken, length) = joined(&format!(r#"{{"":1{users}}}"#));
        let tail = users.get(at - 6..).unwrap_or_default();
        assert!(tail.starts_with(",\""), "{at}");
        assert_eq!(taken, Some(true));
        assert_eq!(length, 1 + tail.matches("\"n\"").count());
        let (_, taken, _) = joined(&format!(r#"{{"99999":1{users}}}"#));
        assert_eq!(taken, None, "the first key belongs behind");
    }

    #[test]
    fn texts_are_cut_in_their_outermost_list() {
        let text = r#"[{"a":[[1],[2],[3]],"b":"],["},{"c":[[4],[5]]},{}]"#;
        let outer = text.find(",{\"c\"").map(|at| at + 1);
        for (middle, _) in text.char_indices().take(9) {
            assert_eq!(boundary(text, middle), outer, "{middle}");
        }
        assert_eq!(boundary(text, text.len() - 2), None);
        assert_eq!(boundary(text, text.len() + 1), None);
        assert_eq!(boundary("[1,2,3]", 0), None);
    }
}
