//! Recorded requests of the mock, up to a limit.

use std::collections::{BTreeMap, VecDeque};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde_json::{Map, Value};

/// Maximum size of all recorded requests, in bytes; the oldest are dropped.
const MAX_TOTAL_BYTES: usize = 32 * 1024 * 1024;
/// Estimated memory of a recorded request in addition to its strings, in bytes.
const OVERHEAD: usize = 256;

/// Limits of the recorded requests.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Maximum number of recorded requests; the oldest are dropped.
    pub(crate) requests: usize,
    /// Maximum number of recorded bytes of a request's body.
    pub(crate) body: usize,
    /// Maximum number of recorded bytes of a response's body.
    pub(crate) answer: usize,
}

/// A request as received.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(super) api: &'static str,
    pub(crate) method: String,
    /// Path and query as on the wire.
    pub(crate) target: String,
    /// Headers in the order of arrival, names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Bytes,
}

/// A response as sent.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Bytes,
}

/// A recorded request, and its outcome.
#[derive(Debug)]
struct Recorded {
    number: u64,
    request: Request,
    /// Length of the whole request body, in bytes.
    length: usize,
    /// Response; none before it is sent, or if none is ever sent.
    reply: Option<Reply>,
    faults: Vec<String>,
}

/// The latest requests, within the limits.
#[derive(Debug)]
pub(super) struct Recordings {
    limits: Limits,
    entries: VecDeque<Recorded>,
    /// Total size of the recorded requests, in bytes.
    size: usize,
    /// Number of the next request. It is not reset when requests are deleted, so that numbers stay
    /// unique.
    next: u64,
    /// Number of requests dropped because of the limits since the last deletion.
    dropped: u64,
}

/// Filter of recorded requests.
#[derive(Debug, Default)]
pub(super) struct Filter {
    pub(super) api: Option<String>,
    pub(super) method: Option<String>,
    pub(super) path: Option<String>,
    /// Only requests with a greater number than this.
    pub(super) after: Option<u64>,
}

impl Recordings {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            limits,
            entries: VecDeque::new(),
            size: 0,
            next: 1,
            dropped: 0,
        }
    }

    /// Records a request, and returns its number.
    pub(super) fn record(&mut self, mut request: Request) -> u64 {
        let number = self.next;
        self.next += 1;
        let length = request.body.len();
        // A copy, so that a short prefix does not retain all of a long body.
        let prefix = request.body.get(..length.min(self.limits.body));
        request.body = Bytes::copy_from_slice(prefix.unwrap_or_default());
        let recorded = Recorded {
            number,
            request,
            length,
            reply: None,
            faults: Vec::new(),
        };
        self.size += recorded.size();
        self.entries.push_back(recorded);
        while self.size > MAX_TOTAL_BYTES || self.entries.len() > self.limits.requests {
            let Some(oldest) = self.entries.pop_front() else {
                break;
            };
            self.size -= oldest.size();
            self.dropped += 1;
        }
        number
    }

    /// Records which faults affect a request, if it is still recorded.
    pub(super) fn set_faults(&mut self, number: u64, faults: Vec<String>) {
        if let Some(recorded) = self.find(number) {
            recorded.faults = faults;
        }
    }

    /// Records the response to a request, if it is still recorded.
    pub(super) fn set_reply(&mut self, number: u64, mut reply: Reply) {
        let limit = self.limits.answer;
        let available = MAX_TOTAL_BYTES.saturating_sub(self.size);
        if let Some(recorded) = self.find(number) {
            let prefix = reply.body.get(..reply.body.len().min(limit).min(available));
            reply.body = Bytes::copy_from_slice(prefix.unwrap_or_default());
            let added = reply.body.len();
            recorded.reply = Some(reply);
            self.size += added;
        }
    }

    /// Returns all recorded requests, oldest first, each with its response.
    pub(super) fn all(&self) -> Vec<(Request, Option<Reply>)> {
        let entries = self.entries.iter();
        entries
            .map(|one| (one.request.clone(), one.reply.clone()))
            .collect()
    }

    pub(super) fn forget(&mut self) {
        self.entries.clear();
        self.size = 0;
        self.dropped = 0;
    }

    /// Returns the requests that match the filter as JSON, oldest first.
    pub(super) fn to_json(&self, filter: &Filter) -> Value {
        let matching = self.entries.iter().filter(|one| filter.matches(one));
        let matching = matching.map(Recorded::to_json).collect();
        let members = [
            ("requests".to_owned(), Value::Array(matching)),
            ("dropped".to_owned(), self.dropped.into()),
        ];
        Value::Object(members.into_iter().collect())
    }

    fn find(&mut self, number: u64) -> Option<&mut Recorded> {
        let first = self.entries.front()?.number;
        let index = usize::try_from(number.checked_sub(first)?).ok()?;
        self.entries.get_mut(index)
    }
}

impl Filter {
    fn matches(&self, recorded: &Recorded) -> bool {
        let matches = |expected: &Option<String>, found: &str| {
            expected.as_deref().is_none_or(|expected| expected == found)
        };
        let request = &recorded.request;
        matches(&self.api, request.api)
            && matches(&self.method, &request.method)
            && matches(&self.path, request.path_and_query().0)
            && self.after.is_none_or(|after| recorded.number > after)
    }
}

impl Request {
    fn path_and_query(&self) -> (&str, &str) {
        self.target.split_once('?').unwrap_or((&self.target, ""))
    }
}

impl Recorded {
    fn size(&self) -> usize {
        let request = &self.request;
        let headers = request.headers.iter();
        // Two heap strings for each of them.
        let headers: usize = headers
            .map(|(name, value)| name.len() + value.len() + 64)
            .sum();
        let reply = self.reply.as_ref().map_or(0, |reply| reply.body.len());
        OVERHEAD
            + request.method.len()
            + request.target.len()
            + headers
            + request.body.len()
            + reply
    }

    fn to_json(&self) -> Value {
        let request = &self.request;
        let (path, query) = request.path_and_query();
        let mut headers: BTreeMap<&str, String> = BTreeMap::new();
        for (name, value) in &request.headers {
            let joined = headers.entry(name.as_str());
            joined
                .and_modify(|before| {
                    before.push_str(", ");
                    before.push_str(value);
                })
                .or_insert_with(|| value.clone());
        }
        let headers = headers
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value.into()));
        let mut members = Map::new();
        let mut insert = |name: &str, value: Value| {
            members.insert(name.to_owned(), value);
        };
        insert("number", self.number.into());
        insert("api", request.api.into());
        insert("method", request.method.as_str().into());
        insert("path", path.into());
        insert("query", query.into());
        insert("headers", Value::Object(headers.collect()));
        match std::str::from_utf8(&request.body) {
            Ok(text) => insert("body", text.into()),
            Err(_) => insert("body_base64", STANDARD.encode(&request.body).into()),
        }
        insert("body_length", self.length.into());
        if let Ok(json) = serde_json::from_slice::<Value>(&request.body)
            && self.length == request.body.len()
        {
            insert("json", json);
        }
        let status = self.reply.as_ref().map(|reply| reply.status);
        insert("status", status.map_or(Value::Null, Value::from));
        insert("faults", self.faults.clone().into());
        Value::Object(members)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn reply(status: u16) -> Reply {
        Reply {
            status,
            headers: Vec::new(),
            body: Bytes::new(),
        }
    }

    fn request(path: &str, body: &[u8]) -> Request {
        Request {
            api: "engine",
            method: "POST".to_owned(),
            target: path.to_owned(),
            headers: vec![
                ("accept".to_owned(), "a".to_owned()),
                ("accept".to_owned(), "b".to_owned()),
            ],
            body: Bytes::copy_from_slice(body),
        }
    }

    fn recordings(requests: usize, body: usize) -> Recordings {
        Recordings::new(Limits {
            requests,
            body,
            answer: 0,
        })
    }

    #[rstest]
    #[case::json(b"{\"a\":1}", "{\"a\":1}", Some("{\"a\":1}"))]
    #[case::cut(b"1234567890", "12345678", None)]
    #[case::text(b"text", "text", None)]
    #[case::empty(b"", "", None)]
    fn bodies_are_shown_as_far_as_they_are_kept(
        #[case] body: &[u8],
        #[case] stored: &str,
        #[case] json: Option<&str>,
    ) {
        let mut all = recordings(9, 8);
        all.record(request("/v1/data/a%2Fb?x=1&y", body));
        let listing = all.to_json(&Filter::default());
        let value_at = |pointer: &str| listing.pointer(pointer).cloned().unwrap_or_default();
        assert_eq!(value_at("/requests/0/body"), stored);
        assert_eq!(value_at("/requests/0/body_length"), body.len());
        assert_eq!(value_at("/requests/0/path"), "/v1/data/a%2Fb");
        assert_eq!(value_at("/requests/0/query"), "x=1&y");
        assert_eq!(value_at("/requests/0/headers/accept"), "a, b");
        let listing = listing.pointer("/requests/0/json").map(Value::to_string);
        assert_eq!(listing.as_deref(), json);
    }

    #[test]
    fn bytes_that_are_no_text_are_shown_in_base64() {
        let mut all = recordings(9, 8);
        all.record(request("/", &[0xff, 0]));
        let listing = all.to_json(&Filter::default());
        assert_eq!(
            listing.pointer("/requests/0/body_base64"),
            Some(&"/wA=".into())
        );
    }

    #[test]
    fn the_oldest_make_room() {
        let mut all = recordings(2, 8);
        let numbers: Vec<u64> = (0..4).map(|_| all.record(request("/", b""))).collect();
        assert_eq!(numbers, [1, 2, 3, 4]);
        // The first was dropped; the response must not be recorded for another.
        all.set_reply(1, reply(500));
        all.set_reply(4, reply(204));
        let listing = all.to_json(&Filter::default());
        let statuses = ["/requests/0/status", "/requests/1/status"].map(|at| listing.pointer(at));
        assert_eq!(statuses, [Some(&Value::Null), Some(&204.into())]);
        assert_eq!(listing.pointer("/dropped"), Some(&2.into()));
        all.forget();
        all.set_reply(4, reply(500));
        assert_eq!(all.record(request("/", b"")), 5);
    }

    #[test]
    fn all_of_them_stay_within_the_limit() {
        let mut all = recordings(1_000, 4 * 1024 * 1024);
        let long = vec![b'x'; 3 * 1024 * 1024];
        for _ in 0..30 {
            all.record(request("/", &long));
        }
        assert!(all.size <= MAX_TOTAL_BYTES, "{}", all.size);
        assert_eq!(all.entries.len(), 10);
        let sizes: usize = all.entries.iter().map(Recorded::size).sum();
        assert_eq!(all.size, sizes);
    }
}
