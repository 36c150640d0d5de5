//! Runs one rule: starts a server, drives the client and collects the results.

use std::fmt::Write as _;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tempfile::TempDir;

use super::adapter_reply::AdapterReply;
use super::exchange::{event, line};
use super::rules::{ExpectedState, Rule, Step};
use super::{Broken, Subject};
use crate::evidence::Exchange;
use crate::faults::Recipient;
use crate::http_client::answer::Answer;
use crate::http_client::wire::Outgoing;
use crate::judge::verdict::{Difference, Failure, Reason, Verdict};
use crate::mock::{Limits, Mock, Options, Reply};
use crate::scenario::numbers::same;

/// The token of the control plane's administrator.
const ADMINISTRATOR: &str = "control-administrator";
/// Limits of the recorded requests and bodies.
const RECORDING_LIMITS: Limits = Limits {
    requests: 5_000,
    body: 8 * 1024 * 1024,
    answer: 1024 * 1024,
};
/// Timeout of requests that the client is configured with, in seconds.
const CLIENT_TIMEOUT_SECONDS: f64 = 5.0;
/// Maximum number of requests shown in a failure.
const MAX_REPORTED_REQUESTS: usize = 8;
/// Number of characters shown of a reply in a transcript.
const MAX_TEXT_CHARS: usize = 2_000;

/// Result of running a rule.
#[derive(Debug)]
pub(super) struct RuleRun {
    pub(super) verdict: Verdict,
    pub(super) exchanges: Vec<Exchange>,
    pub(super) transcript: String,
    /// Name and version that the client reports.
    pub(super) client: Option<(String, Option<String>)>,
}

/// The verdict as an error, if it ends the rule early.
type Stopped = Result<(), Verdict>;

struct RunState<'a> {
    rule: &'a Rule,
    server: Mock,
    base: String,
    limit: Duration,
    transcript: String,
    client: Option<(String, Option<String>)>,
}

/// Runs a rule on a client.
///
/// # Errors
/// A message, if the rule's server does not start or does not get into the required state.
pub(super) async fn run_rule(
    rule: &Rule,
    subject: &mut Subject,
    limit: Duration,
) -> Result<RuleRun, String> {
    let folder = tempfile::tempdir().map_err(|error| format!("no temporary folder: {error}"))?;
    let server = Mock::start(options(rule, &folder)?).await?;
    switch(&server, rule)?;
    prepare(&server, rule).await?;
    let api = match rule.api {
        Recipient::Control => "control",
        Recipient::Engine | Recipient::Mock => "engine",
    };
    let base = server.addresses.get(api).and_then(Value::as_str);
    let base = base.unwrap_or_default().to_owned();
    let mut run = RunState {
        rule,
        server,
        base,
        limit,
        transcript: String::new(),
        client: None,
    };
    let mut verdict = run.run_steps(subject, api).await?;
    let received = run.server.received();
    let exchanges = received.iter().map(|(request, reply)| {
        let _ = writeln!(run.transcript, "{}", line(request, reply.as_ref()));
        event(&rule.id, &run.base, request, reply.as_ref())
    });
    let exchanges = exchanges.collect();
    if let Some(ended) = run.check_ending(subject, api).await
        && verdict == Verdict::Pass
    {
        verdict = ended;
    }
    Ok(RuleRun {
        verdict,
        exchanges,
        transcript: run.transcript,
        client: run.client,
    })
}

fn options(rule: &Rule, folder: &TempDir) -> Result<Options, String> {
    let start = &rule.start;
    let mut engine = start.arguments.clone();
    engine.push("--".to_owned());
    let mut write = |name: String, text: &str| {
        let path = folder.path().join(name);
        engine.push(path.to_string_lossy().into_owned());
        std::fs::write(&path, text).map_err(|error| in_file(&path, &error))
    };
    for (name, policy) in &start.policies {
        write(format!("{name}.rego"), policy)?;
    }
    if let Some(data) = &start.data {
        write("data.json".to_owned(), &data.to_string())?;
    }
    Ok(Options {
        host: IpAddr::V4(Ipv4Addr::LOCALHOST),
        port: 0,
        admin_port: 0,
        control_port: (rule.api == Recipient::Control).then_some(0),
        control_token: ADMINISTRATOR.to_owned(),
        engine,
        control: Vec::new(),
        fault_files: Vec::new(),
        faults: Vec::new(),
        recording: RECORDING_LIMITS,
    })
}

fn in_file(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}

fn switch(server: &Mock, rule: &Rule) -> Result<(), String> {
    for fault in &rule.start.faults {
        match fault {
            Value::String(name) => server.switch_on(name)?,
            Value::Object(written) => {
                let name = written.get("fault").and_then(Value::as_str);
                server.define(name.unwrap_or("fault"), written.clone())?;
            }
            other => return Err(format!("unknown fault {other}")),
        }
    }
    Ok(())
}

async fn prepare(server: &Mock, rule: &Rule) -> Result<(), String> {
    for setup in &rule.given {
        for number in 0..setup.times {
            let path = setup.put.replace("{n}", &format!("{number:03}"));
            let mut put = request("PUT", &path);
            let json = ("content-type".to_owned(), "application/json".to_owned());
            put.headers.push(json);
            put.body = setup.json.to_string().into();
            let answer = server.send(rule.api, put).await?;
            if !answer.is_success() {
                let (status, text) = (answer.status, answer.text());
                return Err(format!("PUT {path}: {status} {text}"));
            }
        }
    }
    Ok(())
}

fn request(method: &'static str, path: &str) -> Outgoing {
    let token = format!("Bearer {ADMINISTRATOR}");
    Outgoing {
        method,
        path: path.to_owned(),
        headers: vec![("authorization".to_owned(), token)],
        ..Outgoing::default()
    }
}

impl RunState<'_> {
    async fn run_steps(&mut self, subject: &mut Subject, api: &str) -> Result<Verdict, String> {
        if let Err(verdict) = self.open_client(subject, api).await {
            return Ok(verdict);
        }
        let rule = self.rule;
        for (step, number) in rule.steps.iter().zip(1..) {
            if let Err(verdict) = self.run_step(subject, step, number).await {
                return Ok(verdict);
            }
        }
        let received: Vec<_> = self.server.received();
        let requests: Vec<_> = received.into_iter().map(|(request, _)| request).collect();
        let expected_requests = rule.received.iter();
        let mut differences: Vec<_> = expected_requests
            .flat_map(|expected_request| expected_request.differences(&requests))
            .collect();
        for expected_state in &rule.shows {
            differences.extend(self.state_difference(expected_state).await?);
        }
        match differences.is_empty() {
            true => Ok(Verdict::Pass),
            false => Ok(self.failed(rule.steps.len(), differences)),
        }
    }

    /// Returns the failure of an adapter that ended after its last reply, by requesting another
    /// client, to which it does not reply. Otherwise the next rule would fail.
    async fn check_ending(&mut self, subject: &mut Subject, api: &str) -> Option<Verdict> {
        if !subject.is_running() {
            return None;
        }
        let ended @ Broken::AbortReason(_) =
            subject.send(&self.open(api), self.limit).await.err()?
        else {
            return None;
        };
        let _ = writeln!(self.transcript, "then: {ended}");
        let difference = Difference {
            path: "afterwards".to_owned(),
            expected: "that the adapter goes on".to_owned(),
            got: ended.to_string(),
        };
        Some(self.failed(self.rule.steps.len(), vec![difference]))
    }

    /// Builds the operation line that creates a new client.
    fn open(&self, api: &str) -> Value {
        let mut open = Map::new();
        let mut insert = |name: &str, value: Value| open.insert(name.to_owned(), value);
        insert("do", json!("open"));
        insert("api", json!(api));
        insert(
            "url",
            json!(format!("{}{}", self.base, self.rule.start.below)),
        );
        insert("timeout", json!(CLIENT_TIMEOUT_SECONDS));
        let administrator = (self.rule.api == Recipient::Control).then_some(ADMINISTRATOR);
        if let Some(token) = self.rule.start.token.as_deref().or(administrator) {
            insert("token", json!(token));
        }
        Value::Object(open)
    }

    async fn open_client(&mut self, subject: &mut Subject, api: &str) -> Stopped {
        let answer = subject.send(&self.open(api), self.limit).await;
        let answer = answer.map_err(|broken| unreachable(&broken))?;
        let result = parse_reply(&answer).map_err(|broken| unreachable(&broken))?;
        match result {
            AdapterReply::Value(value) => {
                let text = |name: &str| Some(value.get(name)?.as_str()?.to_owned());
                self.client = text("name").map(|name| (name, text("version")));
                Ok(())
            }
            AdapterReply::Unsupported => Err(not_supported(&format!("the {api} API"))),
            AdapterReply::Undefined | AdapterReply::Error(_) => {
                let difference = Difference {
                    path: "result".to_owned(),
                    expected: "that the client is open".to_owned(),
                    got: answer.to_string(),
                };
                Err(self.failed(0, vec![difference]))
            }
        }
    }

    async fn run_step(&mut self, subject: &mut Subject, step: &Step, number: usize) -> Stopped {
        let request = Value::Object(step.ask.clone());
        let _ = writeln!(self.transcript, "asked: {}", short(&request.to_string()));
        let answer = self.send_while_releasing(subject, &request).await;
        let answer = match answer {
            Ok(answer) => answer,
            Err(broken @ (Broken::Start(..) | Broken::Garbled(..))) => {
                return Err(unreachable(&broken));
            }
            Err(broken) => {
                let _ = writeln!(self.transcript, "result: nothing, {broken}");
                let difference = Difference {
                    path: "result".to_owned(),
                    expected: "an answer".to_owned(),
                    got: broken.to_string(),
                };
                return Err(self.failed(number, vec![difference]));
            }
        };
        let text = answer.to_string();
        let _ = writeln!(self.transcript, "result: {}", short(&text));
        let result = parse_reply(&answer).map_err(|broken| unreachable(&broken))?;
        if result == AdapterReply::Unsupported {
            return Err(not_supported(&operation(&step.ask)));
        }
        match step
            .result
            .difference(&result, &answer, self.last().as_ref())
        {
            Some(difference) => Err(self.failed(number, vec![difference])),
            None => Ok(()),
        }
    }

    /// The server's last response, if it is JSON.
    fn last(&self) -> Option<Value> {
        let (_, reply) = self.server.received().pop()?;
        let Reply {
            status,
            headers,
            body,
        } = reply?;
        Answer::new(status, headers, body).json().cloned()
    }

    /// Returns the reply to a step, while hanging requests are released as the rule says.
    async fn send_while_releasing(
        &self,
        subject: &mut Subject,
        request: &Value,
    ) -> Result<Value, Broken> {
        let reply = subject.send(request, self.limit);
        let Some(every) = self.rule.start.release_every else {
            return reply.await;
        };
        let mut ticks = tokio::time::interval(Duration::from_millis(every));
        let mut reply = std::pin::pin!(reply);
        loop {
            tokio::select! {
                answer = &mut reply => return answer,
                _ = ticks.tick() => self.server.release(),
            }
        }
    }

    /// Returns the difference between the expected and the actual server state.
    async fn state_difference(
        &mut self,
        expected_state: &ExpectedState,
    ) -> Result<Option<Difference>, String> {
        let answer = self
            .server
            .send(self.rule.api, request("GET", &expected_state.get));
        let answer = answer.await?;
        let result = answer.at("/result").cloned();
        let matches = match (&expected_state.result, &result) {
            (Some(expected), Some(found)) => same(expected, found),
            (None, None) => expected_state.nothing,
            _ => false,
        };
        let text = |value: &Option<Value>| match value {
            Some(value) => value.to_string(),
            None => "nothing".to_owned(),
        };
        Ok((!matches).then(|| Difference {
            path: format!("afterwards GET {}", expected_state.get),
            expected: text(&expected_state.result),
            got: text(&result),
        }))
    }

    fn failed(&self, step: usize, differences: Vec<Difference>) -> Verdict {
        let failed_step = step
            .checked_sub(1)
            .and_then(|index| self.rule.steps.get(index));
        let request = match failed_step {
            Some(step) => short(&Value::Object(step.ask.clone()).to_string()),
            None => "open".to_owned(),
        };
        let received = self.server.received();
        let clauses = self.rule.clauses.iter();
        let mut lines: Vec<String> = clauses
            .map(|clause| format!("{}: {}", clause.id, clause.states))
            .collect();
        let reported = received.iter().take(MAX_REPORTED_REQUESTS);
        lines.extend(reported.map(|(request, reply)| line(request, reply.as_ref())));
        if let Some(more @ 1..) = received.len().checked_sub(MAX_REPORTED_REQUESTS) {
            lines.push(format!("… and {more} more requests"));
        }
        Verdict::Fail(Failure {
            step,
            request,
            differences,
            notes: lines,
            ..Failure::default()
        })
    }
}

fn parse_reply(answer: &Value) -> Result<AdapterReply, Broken> {
    AdapterReply::read(answer).map_err(|reason| Broken::Garbled(short(&answer.to_string()), reason))
}

fn unreachable(broken: &Broken) -> Verdict {
    Verdict::NotRun(Reason::Unreachable(broken.to_string()))
}

fn not_supported(feature: &str) -> Verdict {
    Verdict::NotRun(Reason::NotSupported(feature.to_owned()))
}

/// Formats the name of an operation, with its options.
fn operation(request: &Map<String, Value>) -> String {
    let name = request
        .get("do")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let options = request.get("options").and_then(Value::as_object);
    let options: Vec<_> = options
        .into_iter()
        .flatten()
        .map(|(name, _)| name.as_str())
        .collect();
    match options.is_empty() {
        true => format!("`{name}`"),
        false => format!("`{name}` with {}", options.join(", ")),
    }
}

fn short(text: &str) -> String {
    match text.char_indices().nth(MAX_TEXT_CHARS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
