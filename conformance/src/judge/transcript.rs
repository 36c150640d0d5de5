//! Transcripts: requests and responses as canonical text.
//!
//! ```text
//! given PUT /v1/data/<ns>/a 1
//! PUT /v1/data/<ns>/a as viewer
//! If-None-Match: *
//! 2
//!   status = 304
//! ```
//!
//! Lines that start with two blanks are facts; the lines before them are the request.

use std::collections::BTreeSet;
use std::fmt;
use std::iter::repeat;

use serde_json::Value;

use crate::judge::facts::Fact;
use crate::scenario::resource_names::{canonical, fill, fill_json, quoted};
use crate::scenario::{BUILTIN, Body, Identity, Recipient, Scenario, Send, Step};

/// Maximum length of a body in a transcript, in bytes.
const BODY_SHOWN: usize = 400;
/// Maximum length of a raw request in a transcript, in bytes.
const RAW_SHOWN: usize = 2000;

/// Prefix of the line of a `given` step.
const GIVEN: &str = "given ";
/// Line below a request whose response may be anything.
const NOTHING: &str = "nothing recorded";

/// A transcript: its steps in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Transcript {
    pub(crate) steps: Vec<Entry>,
}

/// One step of a transcript.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The request: one line, or for a judged step also its headers and body.
    pub(crate) request: String,
    /// The recorded facts.
    pub(crate) facts: Vec<Fact>,
}

impl fmt::Display for Transcript {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in &self.steps {
            writeln!(out, "{}", step.request)?;
            for fact in &step.facts {
                writeln!(out, "  {} = {}", fact.key, fact.value)?;
            }
            if step.facts.is_empty() && !step.request.starts_with(GIVEN) {
                writeln!(out, "  {NOTHING}")?;
            }
        }
        Ok(())
    }
}

impl Transcript {
    /// Parses a transcript.
    pub(crate) fn parse(text: &str) -> Self {
        let mut steps: Vec<Entry> = Vec::new();
        let mut in_request = false;
        for line in text.lines() {
            if let Some(line) = line.strip_prefix("  ") {
                in_request = false;
                if line == NOTHING {
                    continue;
                }
                let (key, value) = line.split_once(" = ").unwrap_or((line, ""));
                if let Some(step) = steps.last_mut() {
                    step.facts.push(Fact {
                        key: key.to_owned(),
                        value: value.to_owned(),
                    });
                }
            } else if let Some(step) = steps.last_mut().filter(|_| in_request) {
                step.request.push('\n');
                step.request.push_str(line);
            } else {
                // The request of a `given` step is one line; nothing follows it.
                in_request = !line.starts_with(GIVEN);
                steps.push(Entry {
                    request: line.to_owned(),
                    facts: Vec::new(),
                });
            }
        }
        Self { steps }
    }
}

/// Formats the requests of a scenario for its transcript, with `<name>` for each known `{name}`.
#[derive(Debug)]
pub(crate) struct Namer {
    known: BTreeSet<&'static str>,
}

impl Namer {
    pub(crate) fn new(scenario: &Scenario) -> Self {
        let captured = scenario
            .steps
            .iter()
            .flat_map(|step| step.capture.iter().map(|(name, _)| *name));
        Self {
            known: ["ns", "i", "depot", BUILTIN]
                .into_iter()
                .chain(captured)
                .collect(),
        }
    }

    /// Formats the request of a step for the transcript.
    pub(crate) fn request(&self, step: &Step) -> String {
        let mut text = self.line(step);
        let Send::Http { headers, body, .. } = &step.request else {
            return text;
        };
        if step.given {
            let body = self.body(body);
            if !body.is_empty() {
                text = format!("{text} {body}");
            }
            return format!("{GIVEN}{text}");
        }
        let named = |header: &str| {
            headers
                .iter()
                .any(|(name, _)| name.eq_ignore_ascii_case(header))
        };
        if let Some(media_type) = shown_media_type(body).filter(|_| !named("content-type")) {
            text.push_str(&format!("\nContent-Type: {media_type}"));
        }
        for (name, value) in headers {
            text.push_str(&format!("\n{name}: {}", self.fill(value)));
        }
        let body = self.body(body);
        if !body.is_empty() {
            text.push('\n');
            text.push_str(&body);
        }
        text
    }

    /// Formats method, path, identity and repetitions: the line that identifies a step in failures.
    pub(crate) fn line(&self, step: &Step) -> String {
        let mut line = match &step.request {
            Send::Http { method, path, .. } => format!("{method} {}", self.fill(path)),
            Send::Raw(text) if text.len() > RAW_SHOWN => format!("raw <{} bytes>", text.len()),
            Send::Raw(text) => {
                format!(
                    "raw {}",
                    quoted(&self.fill_with(text, &["host", "prefix", "authorization"]))
                )
            }
        };
        match &step.identity {
            _ if step.recipient == Recipient::Mock => line.insert_str(0, "depot "),
            _ if step.recipient == Recipient::Engine => line.insert_str(0, "engine "),
            _ if step.recipient == Recipient::Elsewhere => line.insert_str(0, "elsewhere "),
            Identity::Administrator => {}
            Identity::Role(role) => line.push_str(&format!(" as {role}")),
            Identity::Anonymous => line.push_str(" anonymous"),
            Identity::Authorization(value) => {
                let value = self.fill_with(value, &["token"]);
                line.push_str(&format!(" with {}", quoted(&value)));
            }
        }
        if step.times != 1 {
            line.push_str(&format!(" {} times", step.times));
        }
        if step.walk {
            line.push_str(" to the last page");
        }
        for (first, checks) in [("until", &step.until), ("shows", &step.shows)] {
            for (check, word) in checks.iter().zip([first].into_iter().chain(repeat("and"))) {
                line.push_str(&format!(" {word} {}", self.fill(&check.to_string())));
            }
        }
        line
    }

    /// Replaces known placeholders in a string with their names.
    pub(crate) fn fill(&self, text: &str) -> String {
        self.fill_with(text, &[])
    }

    /// Replaces known placeholders and those in `more` with their names.
    fn fill_with(&self, text: &str, more: &[&str]) -> String {
        fill(text, &|name| {
            let known = more.contains(&name) || self.known.contains(name);
            known.then(|| format!("<{name}>"))
        })
    }

    fn placeholder(&self, name: &str) -> Option<String> {
        self.known.contains(name).then(|| format!("<{name}>"))
    }

    fn body(&self, body: &Body) -> String {
        let whole = match body {
            Body::Empty => return String::new(),
            Body::Json(value) => {
                let filled: Value = fill_json(value, &|name| self.placeholder(name));
                canonical(&filled, "")
            }
            Body::Text(_, text) => quoted(&self.fill(text)),
            Body::Bytes(_, bytes) => return format!("<{} bytes>", bytes.len()),
            Body::Gzip(inner) => return format!("gzip {}", self.body(inner)),
        };
        if whole.len() > BODY_SHOWN {
            format!("<{} bytes>", whole.len())
        } else {
            whole
        }
    }
}

/// Returns the media type of a body, unless the body is JSON.
fn shown_media_type(body: &Body) -> Option<&'static str> {
    match body {
        Body::Empty | Body::Json(_) => None,
        Body::Text(media_type, _) | Body::Bytes(media_type, _) => {
            (!media_type.is_empty()).then_some(media_type)
        }
        Body::Gzip(inner) => shown_media_type(inner),
    }
}

/// Returns the transcript in a snapshot file: the content after its front matter.
pub(crate) fn snapshot_text(file: &str) -> String {
    let content = file
        .strip_prefix("---\n")
        .and_then(|rest| rest.split_once("\n---\n"))
        .map_or(file, |(_, content)| content);
    format!("{}\n", content.trim_end())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::scenario::*;

    #[rstest]
    #[case::json(
        put("/v1/data/{ns}/a").json(json!({"b": "{ns}-{next}", "a": 1})),
        "PUT /v1/data/<ns>/a\n{\"a\":1,\"b\":\"<ns>-<next>\"}"
    )]
    #[case::times(
        put("/v1/data/{ns}/{i}").json(json!(1)).times(3),
        "PUT /v1/data/<ns>/<i> 3 times\n1"
    )]
    #[case::role(
        get("/v1/bundles?cursor={next}")
            .role("viewer")
            .header("X", "{ns}"),
        "GET /v1/bundles?cursor=<next> as viewer\nX: <ns>"
    )]
    #[case::text(
        put("/v1/policies/{ns}")
            .text("text/plain", "package {x}\n")
            .anonymous(),
        "PUT /v1/policies/<ns> anonymous\nContent-Type: text/plain\n\"package {x}\\n\""
    )]
    #[case::gzip(
        put("/x")
            .header("content-type", "a/b")
            .text("text/plain", "x")
            .gzip(),
        "PUT /x\ncontent-type: a/b\ngzip \"x\""
    )]
    #[case::authorization(
        get("/v1/bundles").authorization("Basic {token}"),
        "GET /v1/bundles with \"Basic <token>\""
    )]
    #[case::walk(walk("/v1/bundles"), "GET /v1/bundles to the last page")]
    #[case::depot(mock(put("/shelf/a").json(json!("held"))), "depot PUT /shelf/a\n\"held\"")]
    #[case::engine(engine(get("/v1/data/{ns}")), "engine GET /v1/data/<ns>")]
    #[case::until(
        get("/x").until([
            Check::Status(200),
            Check::Equals("/{ns}".into(), json!("{ns}")),
        ]),
        "GET /x until status is 200 and /<ns> is \"<ns>\""
    )]
    #[case::raw(
        raw("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n"),
        r#"raw "GET / HTTP/1.1\r\nHost: <host>\r\n\r\n""#
    )]
    #[case::given(
        Step {
            given: true,
            ..put("/v1/data/{ns}").json(json!([1]))
        },
        "given PUT /v1/data/<ns> [1]"
    )]
    #[case::given_shows(
        Step {
            given: true,
            ..get("/v1/data/{ns}").shows([Check::Equals("/result".into(), json!([1]))])
        },
        "given GET /v1/data/<ns> shows /result is [1]"
    )]
    #[case::long_body(post("/x").json(json!("x".repeat(500))), "POST /x\n<502 bytes>")]
    fn requests_are_named_with_their_placeholders(#[case] step: Step, #[case] text: &str) {
        let mut scenario = scenario();
        scenario
            .steps
            .push(get("/").capture("next", "/next_cursor"));
        let namer = Namer::new(&scenario);
        assert_eq!(namer.request(&step), text);
    }

    #[test]
    fn transcripts_are_read_back_as_written() {
        let text = "given PUT /v1/data/<ns> 1\n\
                    given PUT /v1/data/<ns>/a 1\n\
                    PUT /v1/data/<ns>/a\nIf-None-Match: *\n2\n  status = 304\n  body = <empty>\n\
                    PUT /v1/data/<ns>/b\n1\n  nothing recorded\n\
                    GET /v1/data/<ns>/a\n  /result = {\"a\":\"x = y\"}\n\
                    GET /v1/data/<ns>/a\n  /result = 1\n";
        let transcript = Transcript::parse(text);
        assert_eq!(transcript.to_string(), text);
        assert_eq!(transcript.steps.len(), 6);
        assert_eq!(
            transcript.steps.get(2).map(|step| step.facts.len()),
            Some(2)
        );
    }

    #[rstest]
    #[case::front_matter(
        "---\nsource: tests/x.rs\n---\nGET /\n  status = 200\n",
        "GET /\n  status = 200\n"
    )]
    #[case::no_front_matter("GET /\n", "GET /\n")]
    #[case::no_final_line_feed("---\nsource: x\n---\nGET /", "GET /\n")]
    fn snapshots_are_read_without_their_front_matter(#[case] file: &str, #[case] text: &str) {
        assert_eq!(snapshot_text(file), text);
    }
}
