//! Inspection of a server before it is judged: reachability, API, authentication and capabilities.

mod api;
mod capabilities;
mod cause;
pub(crate) mod modules;
pub(crate) mod preflight_error;
#[cfg(test)]
#[expect(clippy::expect_used, reason = "a test fails by panicking")]
mod tests;

use std::time::{Duration, Instant, SystemTime};

use crate::catalogue::Document;
use crate::http_client::answer::{Answer, NoAnswer};
use crate::http_client::wire::Outgoing;
use crate::http_client::{Base, Client};
use crate::scenario::Identity;
use crate::target::server::Server;
use api::ApiEvidence;

/// Clock difference up to which nothing is reported.
const CLOCK_SLACK: Duration = Duration::from_secs(30);
/// Response time from which a run, which has many hundred requests, takes long.
const SLOW: Duration = Duration::from_secs(1);
/// Number of characters shown of a server's message.
const MAX_RESPONSE_CHARS: usize = 120;

/// Result of one check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) mark: Severity,
    /// Subject of the check, in a word.
    pub(crate) about: &'static str,
    /// Observation of the check.
    pub(crate) what: String,
    /// Recommended action.
    pub(crate) advice: Option<String>,
}

/// Severity of a finding for a run on the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Severity {
    /// As expected.
    Ok,
    /// Informational.
    Note,
    /// A run would report it as failures of the server, or not start.
    Problem,
}

impl Finding {
    fn new(mark: Severity, about: &'static str, what: impl Into<String>) -> Self {
        Self {
            mark,
            about,
            what: what.into(),
            advice: None,
        }
    }

    /// Creates an informational finding.
    pub(crate) fn note(about: &'static str, what: impl Into<String>) -> Self {
        Self::new(Severity::Note, about, what)
    }

    fn advice(self, advice: impl Into<String>) -> Self {
        Self {
            advice: Some(advice.into()),
            ..self
        }
    }
}

/// All findings about a server.
#[derive(Debug, Default)]
pub(crate) struct Diagnosis {
    pub(crate) findings: Vec<Finding>,
    /// Whether any response arrived.
    pub(crate) reached: bool,
    /// The APIs that the server has.
    pub(crate) apis: Vec<Document>,
    /// Whether the server requires a token for the inspected paths.
    pub(crate) locked: bool,
    /// Detected capabilities.
    pub(crate) capabilities: Vec<&'static str>,
    /// Missing capabilities.
    pub(crate) absent: Vec<&'static str>,
    /// Vendor in the media types of a product that identifies itself.
    pub(crate) product: Option<&'static str>,
    /// Vendor whose filter media types the server accepts.
    pub(crate) vendor: Option<String>,
    /// Version that the server reports.
    pub(crate) version: Option<String>,
    /// Policies on the server.
    pub(crate) modules: Vec<modules::Module>,
    /// Why no rule can be judged on this server.
    pub(crate) refusal: Option<preflight_error::PreflightError>,
}

impl Diagnosis {
    /// Whether no finding is a problem.
    pub(crate) fn is_sound(&self) -> bool {
        !self
            .findings
            .iter()
            .any(|finding| finding.mark == Severity::Problem)
    }
}

/// Inspects one server.
#[derive(Debug)]
pub(crate) struct Doctor<'a> {
    pub(crate) client: &'a Client,
    pub(crate) server: &'a Server,
    /// Whether certificates are not checked.
    pub(crate) insecure: bool,
    /// Whether POST requests may be sent. They evaluate undefined documents, and change nothing.
    pub(crate) posts: bool,
}

/// A probe request.
#[derive(Debug, Clone, Copy)]
struct Question<'q> {
    method: &'static str,
    path: &'q str,
    /// Headers of the request; they override the default `Accept: application/json`.
    headers: &'q [(&'q str, &'q str)],
    body: &'q [u8],
    /// Whether the request is sent with the administrator's token.
    authorized: bool,
}

impl<'q> Question<'q> {
    const fn get(path: &'q str) -> Self {
        Self {
            method: "GET",
            path,
            headers: &[],
            body: &[],
            authorized: true,
        }
    }

    const fn post(path: &'q str, headers: &'q [(&'q str, &'q str)], body: &'q [u8]) -> Self {
        Self {
            method: "POST",
            headers,
            body,
            ..Self::get(path)
        }
    }
}

impl Doctor<'_> {
    /// Runs all checks, in the order in which they depend on each other.
    pub(crate) async fn examine(&self) -> Diagnosis {
        let mut diagnosis = Diagnosis::default();
        diagnosis.findings.extend(self.address());
        let start = Instant::now();
        let mut health = self.request("/health", true).await;
        // A server may close one connection, and answer the next.
        if health.as_ref().is_err_and(|error| !error.slow) {
            health = self.request("/health", true).await;
        }
        let health = match health {
            Ok(health) => health,
            Err(error) => {
                let cause = innermost_cause(&error.what);
                let tls = self.server.base.tls;
                let finding = match !tls && cause::is_no_http(cause) && self.speaks_tls().await {
                    true => cause::speaks_tls(),
                    false => cause::of(cause, &self.redact(cause), tls),
                };
                diagnosis.refusal = Some(preflight_error::PreflightError::unreached(&finding));
                diagnosis.findings.push(finding);
                return diagnosis;
            }
        };
        if let Some(finding) = cause::wrong_protocol(&health, self.server.base.tls) {
            diagnosis.refusal = Some(preflight_error::PreflightError::unreached(&finding));
            diagnosis.findings.push(finding);
            return diagnosis;
        }
        diagnosis.reached = true;
        let elapsed = start.elapsed();
        diagnosis.findings.push(Finding::new(
            Severity::Ok,
            "reach",
            format!("answers in {} ms", elapsed.as_millis()),
        ));
        diagnosis.findings.extend(self.transport());
        diagnosis.findings.extend(clock(&health, SystemTime::now()));
        diagnosis.findings.extend(proxy(&health));
        self.apis(&mut diagnosis, &health).await;
        if elapsed > SLOW {
            diagnosis.findings.push(
                Finding::new(Severity::Note, "time", "answers are slow").advice(
                    "give it time: --timeout is for one request, --eventual-timeout for eventual effects; --jobs 1 asks one thing at a time",
                ),
            );
        }
        if !self.server.base.is_loopback() {
            diagnosis.findings.push(
                Finding::new(Severity::Note, "safety", "it is not on this machine").advice(
                    "rules that touch what others see are left out unless you pass --allow-full-mode; --mode read-only writes nothing",
                ),
            );
        }
        diagnosis
    }

    /// Whether a server that does not speak HTTP here speaks TLS, trusted or not.
    async fn speaks_tls(&self) -> bool {
        let url = &self.server.base.url;
        let url = url.replacen("http://", "https://", 1);
        let Ok(base) = Base::parse(&url) else {
            return false;
        };
        let request = Outgoing {
            method: "GET",
            path: "/health".to_owned(),
            ..Outgoing::default()
        };
        match self.client.send(&base, &request).await {
            Ok(_) => true,
            Err(error) => cause::is_about_tls(&error.what),
        }
    }

    /// Reports a path prefix in the address of the server, if there is one.
    fn address(&self) -> Option<Finding> {
        let url = &self.server.base.url;
        let path = url.splitn(4, '/').nth(3)?;
        let what = format!("everything is asked for below /{path}");
        Some(Finding::new(Severity::Note, "address", what))
    }

    fn transport(&self) -> Vec<Finding> {
        let base = &self.server.base;
        let token = !self.server.administrator_key().is_empty();
        let finding = match (base.tls, self.insecure) {
            (true, true) => Finding::new(Severity::Note, "tls", "its certificate is not checked")
                .advice("name its authority with --cacert instead of --insecure"),
            (true, false) => Finding::new(Severity::Ok, "tls", "its certificate is trusted"),
            (false, _) if token && !base.is_loopback() => {
                Finding::new(Severity::Note, "tls", "the token travels unencrypted")
                    .advice("use an https address")
            }
            (false, _) => return Vec::new(),
        };
        vec![finding]
    }

    /// Detects the APIs, their requirements and capabilities.
    async fn apis(&self, diagnosis: &mut Diagnosis, health: &Answer) {
        let mut responses = Vec::new();
        for (document, path) in api::PLACES {
            match self.request(path, true).await {
                Ok(answer) => {
                    responses.push((document, path, ApiEvidence::of(document, &answer), answer))
                }
                Err(error) => {
                    diagnosis
                        .findings
                        .push(self.unanswered_finding(path, &error));
                    // If one request times out, so do the others.
                    if error.slow {
                        return;
                    }
                }
            }
        }
        for (document, path, kind, _) in &responses {
            if *kind == ApiEvidence::Api {
                let what = format!("GET {path} answers as {} does", api::title(*document));
                diagnosis
                    .findings
                    .push(Finding::new(Severity::Ok, "api", what));
                diagnosis.apis.push(*document);
            }
        }
        let empty_list = responses
            .iter()
            .find(|(_, _, kind, _)| *kind == ApiEvidence::Bare);
        if let Some((document, path, ..)) = empty_list
            && !self.takes_everything().await
        {
            let title = api::title(*document);
            let what = format!("GET {path} answers {{}}, as {title} may whose list is empty");
            diagnosis
                .findings
                .push(Finding::new(Severity::Ok, "api", what));
            diagnosis.apis.push(*document);
        }
        if let Some((_, path, ApiEvidence::Missing, answer)) = responses.first()
            && diagnosis.apis.is_empty()
            && self.denies_documents(answer).await
        {
            let what = format!("GET {path} answers 404, where nothing is defined");
            let advice =
                "an engine answers 200 there, with an object without `result`: rules about it fail";
            let finding = Finding::new(Severity::Note, "api", what).advice(advice);
            diagnosis.findings.push(finding);
            diagnosis.apis.push(Document::Engine);
            diagnosis.capabilities.push("documents");
        }
        let locked = responses
            .iter()
            .find(|(_, _, kind, _)| *kind == ApiEvidence::Locked);
        if let Some((_, path, _, answer)) = locked.filter(|_| diagnosis.apis.is_empty()) {
            diagnosis.locked = true;
            let finding = self.refused_finding(path, answer);
            diagnosis.refusal = Some(preflight_error::PreflightError::from_finding(&finding));
            diagnosis.findings.push(finding);
            return;
        }
        if diagnosis.apis.is_empty() {
            let mut unrecognized = Vec::new();
            for (_, path, kind, answer) in &responses {
                let finding = api::unrecognized_api(path, *kind, &self.describe(answer));
                unrecognized.push((*kind, preflight_error::is_json(answer), finding));
            }
            diagnosis.refusal = self.wrong_address(&unrecognized).await;
            diagnosis
                .findings
                .extend(unrecognized.into_iter().map(|(_, _, finding)| finding));
            return;
        }
        diagnosis.findings.push(api::health(health));
        self.token(diagnosis).await;
        if diagnosis.apis.contains(&Document::Control) {
            diagnosis.capabilities.push("control");
        }
        if diagnosis.apis.contains(&Document::Engine) {
            self.engine(diagnosis, health).await;
        }
        diagnosis.findings.extend(api::summary(diagnosis));
    }

    /// Whether the server answers an unknown path with success.
    async fn takes_everything(&self) -> bool {
        let unknown = self.request(api::UNKNOWN, true).await;
        unknown.is_ok_and(|unknown| unknown.is_success())
    }

    /// Whether a server that answers an undefined document like this has documents anyway.
    async fn denies_documents(&self, answer: &Answer) -> bool {
        let root = self.request("/v1/data", true).await;
        if root.is_ok_and(|root| root.is_success() && root.at("/result").is_some()) {
            return true;
        }
        let unknown = self.request(api::UNKNOWN, true).await;
        unknown.is_ok_and(|unknown| api::denies_document(&unknown, answer))
    }

    /// Checks whether the token is needed, if one is given.
    async fn token(&self, diagnosis: &mut Diagnosis) {
        if self.server.administrator_key().is_empty() {
            diagnosis
                .findings
                .push(Finding::new(Severity::Ok, "token", "it asks for none"));
            return;
        }
        let places = api::PLACES.into_iter();
        for (document, path) in places.filter(|(document, _)| diagnosis.apis.contains(document)) {
            let finding = match self.request(path, false).await {
                Ok(answer) => match ApiEvidence::of(document, &answer) {
                    ApiEvidence::Locked => {
                        if document == Document::Engine {
                            diagnosis.capabilities.push("authorization");
                        }
                        Finding::new(Severity::Ok, "token", "it asks for one, and takes yours")
                    }
                    ApiEvidence::Api | ApiEvidence::Bare => {
                        let what = format!("GET {path} is answered without the token, too");
                        Finding::new(Severity::Note, "token", what)
                            .advice("leave --token-env out if it is not meant to ask for one")
                    }
                    _ => {
                        let description = self.describe(&answer);
                        let what = format!("GET {path} without the token: {description}");
                        Finding::new(Severity::Note, "token", what)
                            .advice("a request without a token should be refused with 401")
                    }
                },
                Err(error) => self.unanswered_finding(path, &error),
            };
            diagnosis.findings.push(finding);
        }
    }

    async fn engine(&self, diagnosis: &mut Diagnosis, health: &Answer) {
        let unknown = self.request(api::UNKNOWN, true).await.ok();
        if unknown.as_ref().is_some_and(Answer::is_success) {
            diagnosis.findings.push(
                Finding::new(
                    Severity::Note,
                    "api",
                    "it answers 200 to a path that no document knows",
                )
                .advice("check that this is the server, and not something that takes everything"),
            );
        }
        if health.is_success() && health.json().is_some_and(serde_json::Value::is_object) {
            diagnosis.capabilities.push("health");
        } else if matches!(health.status, 404 | 405 | 501) {
            diagnosis.absent.push("health");
        }
        self.probe_capabilities(diagnosis, unknown.as_ref()).await;
        if let Ok(page) = self.request("/", true).await {
            diagnosis.product = page.text().contains("Open Policy Agent").then_some("opa");
        }
        if let Some(unknown) = unknown.filter(|unknown| !unknown.is_success()) {
            self.probe_vendor(diagnosis, &unknown).await;
        }
    }

    /// Reports that the server requires a token, or rejects this one.
    fn refused_finding(&self, path: &str, answer: &Answer) -> Finding {
        let description = self.describe(answer);
        if self.server.administrator_key().is_empty() {
            return Finding::new(Severity::Problem, "token", format!("it asks for a token: {description}"))
                .advice("put the administrator's token into an environment variable, and name that with --token-env");
        }
        Finding::new(
            Severity::Problem,
            "token",
            format!("GET {path} is refused with this token: {description}"),
        )
        .advice("check the token and what it may do: rules need an administrator's")
    }

    fn unanswered_finding(&self, path: &str, error: &NoAnswer) -> Finding {
        let what = self.redact(innermost_cause(&error.what));
        Finding::new(
            Severity::Problem,
            "reach",
            format!("GET {path} is not answered: {what}"),
        )
        .advice("look into the server's log; --timeout gives it more time")
    }

    async fn request(&self, path: &str, authorized: bool) -> Result<Answer, NoAnswer> {
        let question = Question::get(path);
        self.send_question(Question {
            authorized,
            ..question
        })
        .await
    }

    /// Sends a probe.
    async fn send_question(&self, question: Question<'_>) -> Result<Answer, NoAnswer> {
        let Question {
            method,
            path,
            body,
            authorized,
            ..
        } = question;
        let question_headers = question.headers.iter();
        let mut headers: Vec<_> = question_headers
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        if !headers.iter().any(|(name, _)| name == "Accept") {
            headers.push(("Accept".to_owned(), "application/json".to_owned()));
        }
        if authorized && let Ok(Some(value)) = self.server.authorization(&Identity::Administrator) {
            headers.push(("Authorization".to_owned(), value));
        }
        self.client.complete(&mut headers);
        let request = Outgoing {
            method,
            path: path.to_owned(),
            headers,
            body: body.to_vec().into(),
        };
        self.client.send(&self.server.base, &request).await
    }

    /// Summarizes a response: status, media type, and message or start of the body.
    fn describe(&self, answer: &Answer) -> String {
        let kind = answer
            .header("Content-Type")
            .map_or(String::new(), |kind| format!(" {kind}"));
        let message = answer.at("/message").and_then(serde_json::Value::as_str);
        let text = message.map_or_else(|| answer.text().into_owned(), str::to_owned);
        self.redact(&format!("{}{kind} {text}", answer.status))
    }

    /// Redacts a server's message for the terminal.
    fn redact(&self, text: &str) -> String {
        let text = self.server.redactor.text(text);
        let words: Vec<&str> = text.split_whitespace().collect();
        let words = words.join(" ");
        let printable = words
            .chars()
            .filter(|c| !c.is_control())
            .take(MAX_RESPONSE_CHARS);
        printable.collect()
    }
}

/// Strips the address from the start of an error of the HTTP client.
fn innermost_cause(error: &str) -> &str {
    error.split_once("): ").map_or(error, |(_, cause)| cause)
}

/// Checks whether the server's clock agrees with this machine's.
fn clock(answer: &Answer, now: SystemTime) -> Option<Finding> {
    let date = answer.header("Date")?;
    let Ok(server_time) = httpdate::parse_http_date(&date) else {
        return Some(Finding::new(
            Severity::Note,
            "clock",
            "invalid Date header: expected an HTTP date",
        ));
    };
    let difference = now
        .duration_since(server_time)
        .unwrap_or_else(|negative| negative.duration());
    let finding = if difference > CLOCK_SLACK {
        let what = format!(
            "its clock is {} s from this machine's",
            difference.as_secs()
        );
        Finding::new(Severity::Note, "clock", what)
            .advice("certificates, tokens and cached answers depend on the time: set both clocks")
    } else {
        Finding::new(Severity::Ok, "clock", "agrees with this machine's")
    };
    Some(finding)
}

/// Reports an intermediary between the suite and the server.
fn proxy(answer: &Answer) -> Option<Finding> {
    let name = ["Via", "X-Cache", "CF-Ray", "X-Amzn-Trace-Id"]
        .into_iter()
        .find(|name| answer.header(name).is_some())?;
    Some(
        Finding::new(
            Severity::Note,
            "proxy",
            format!("the header {name} says that a proxy stands in between"),
        )
        .advice("a proxy may change, cache or refuse what rules send: judge the server itself if you can"),
    )
}
