//! One request and its response: sent, checked against the OpenAPI document, recorded without
//! secrets.

use std::sync::atomic::Ordering;
use std::time::Instant;

use bytes::Bytes;

use crate::catalogue::Document;
use crate::evidence::{Defect, Event, Exchange, Payload, ReceivedResponse, SentRequest};
use crate::faults::{self, RequestContext};
use crate::http_client::Base;
use crate::http_client::answer::{Answer, NoAnswer};
use crate::http_client::curl;
use crate::http_client::wire::{Outgoing, Wire};
use crate::judge::openapi::{Finding, Message};
use crate::judge::scenario_run::ScenarioRun;
use crate::judge::verdict::Answered;
use crate::run::runner::{Runner, Transport, identity_name};
use crate::scenario::resource_names::mask_namespace;
use crate::scenario::{Identity, Recipient, Step};
use crate::sync::lock;

/// Maximum length of a response's message in a summary, in characters.
const MESSAGE_SHOWN: usize = 120;

impl Runner<'_> {
    /// Sends one request of a step; checks request and response against the OpenAPI document.
    pub(crate) async fn exchange(
        &self,
        index: usize,
        step: &Step,
        wire: Wire,
        trace: &mut ScenarioRun,
    ) -> Result<Answer, NoAnswer> {
        let identity = identity_name(step);
        let base = self.server.base_for(step);
        let (sent, answer) = self.send(base, index + 1, identity, wire).await;
        let document = self.document(step);
        if let (Wire::Http(request), None, Some(document)) = (&sent, step.off_contract, document) {
            self.check_request(document, request);
        }
        let judged = document.filter(|document| !step.given && describes(*document, step));
        if let (Wire::Http(request), Ok(answer), Some(document)) = (&sent, &answer, judged) {
            let finding = self.check_answer(document, request, answer);
            trace.findings.extend(finding.map(|what| (index, what)));
        }
        if let Some(slot) = trace.sent.last_mut() {
            slot.wire = Some(sent);
            slot.answered = answer.as_ref().ok().map(|answer| answered(answer, self.ns));
        }
        answer
    }

    /// Returns the API document for a step's request; none if it goes to the fixture server or
    /// elsewhere, where any response is valid.
    fn document(&self, step: &Step) -> Option<Document> {
        match step.recipient {
            Recipient::Judged => Some(self.document),
            Recipient::Engine => Some(Document::Engine),
            Recipient::Mock | Recipient::Elsewhere => None,
        }
    }

    /// Checks a request against the document; an invalid one is recorded as a defect of the suite.
    fn check_request(&self, document: Document, request: &Outgoing) {
        let message = Message {
            headers: &request.headers,
            body: &request.body,
        };
        let (method, path) = (request.method, request.path.as_str());
        let finding = self.contract.check_request(document, method, path, message);
        if let Some(what) = finding {
            self.emit(Event::Defect(Defect {
                rule: self.rule.to_owned(),
                what,
            }));
        }
    }

    fn check_answer(
        &self,
        document: Document,
        request: &Outgoing,
        answer: &Answer,
    ) -> Option<Finding> {
        let message = Message {
            headers: &answer.headers,
            body: &answer.body,
        };
        self.contract.check_response(
            document,
            request.method,
            &request.path,
            answer.status,
            self.vendor,
            message,
        )
    }

    /// Sends a request and records the evidence; also returns the request without its secrets.
    pub(crate) async fn send(
        &self,
        base: &Base,
        number: usize,
        identity: String,
        mut wire: Wire,
    ) -> (Wire, Result<Answer, NoAnswer>) {
        if !self.server.is_mock(base) {
            match &mut wire {
                Wire::Http(request) => self.client.complete(&mut request.headers),
                Wire::Raw(bytes) => self.client.complete_raw(bytes),
            }
        }
        self.requests.fetch_add(1, Ordering::Relaxed);
        let start = Instant::now();
        let mut answer = self.transmit(base, number, &identity, &wire).await;
        let mut milliseconds = start.elapsed().as_secs_f64() * 1000.0;
        match (&mut answer, self.transport) {
            (Ok(recorded), Transport::Replayed(_)) => milliseconds = recorded.milliseconds,
            (Ok(received), _) => received.milliseconds = milliseconds,
            (Err(_), _) => {}
        }
        let public = self.redacted(&wire);
        self.emit(Event::Exchange(Box::new(Exchange {
            rule: self.rule.to_owned(),
            step: number,
            identity,
            request: sent(base, &public),
            response: answer.as_ref().ok().map(|answer| self.received(answer)),
            error: answer.as_ref().err().map(ToString::to_string),
            milliseconds,
        })));
        (public, answer)
    }

    /// Sends a request by the configured transport; cleanup requests go directly to the server.
    async fn transmit(
        &self,
        base: &Base,
        number: usize,
        who: &str,
        wire: &Wire,
    ) -> Result<Answer, NoAnswer> {
        match self.transport {
            Transport::Replayed(recording) => recording.answer(number, who, wire),
            Transport::Altered(alterations) if number > 0 => {
                let administrator = self.server.authorization(&Identity::Administrator);
                let administrator = administrator.ok().flatten();
                let context = RequestContext {
                    client: self.client,
                    recipient: self.recipient(base),
                    base,
                    who,
                    administrator: administrator.as_deref(),
                };
                faults::carry(alterations, context, wire).await
            }
            Transport::Live | Transport::Altered(_) => self.client.carry(base, wire).await,
        }
    }

    /// Returns the recipient that has this address: API or fixture server.
    fn recipient(&self, base: &Base) -> faults::Recipient {
        if self.server.is_mock(base) {
            return faults::Recipient::Mock;
        }
        match self.document {
            Document::Control if base.url == self.server.base.url => faults::Recipient::Control,
            Document::Control | Document::Engine => faults::Recipient::Engine,
        }
    }

    fn emit(&self, event: Event) {
        lock(self.events).push(event);
    }

    fn redacted(&self, wire: &Wire) -> Wire {
        let redactor = &self.server.redactor;
        match wire {
            Wire::Raw(bytes) => {
                Wire::Raw(redactor.raw(&String::from_utf8_lossy(bytes)).into_bytes())
            }
            Wire::Http(request) => Wire::Http(Outgoing {
                method: request.method,
                path: redactor.text(&request.path),
                headers: self.redacted_headers(&request.headers),
                body: self.redacted_bytes(&request.body),
            }),
        }
    }

    fn redacted_headers(&self, headers: &[(String, String)]) -> Vec<(String, String)> {
        let redactor = &self.server.redactor;
        headers
            .iter()
            .map(|(name, value)| (name.clone(), redactor.header_value(name, value)))
            .collect()
    }

    fn redacted_bytes(&self, bytes: &Bytes) -> Bytes {
        let redactor = &self.server.redactor;
        match std::str::from_utf8(bytes) {
            Ok(text) if redactor.reveals(text) => Bytes::from(redactor.text(text)),
            _ => bytes.clone(),
        }
    }

    fn received(&self, answer: &Answer) -> ReceivedResponse {
        ReceivedResponse {
            status: answer.status,
            headers: self.redacted_headers(&answer.headers),
            body: Payload::stored(&self.redacted_bytes(&answer.body)),
        }
    }
}

/// Returns a short summary of a response: its error message, the title of its HTML page, or else
/// the start of its body.
fn answered(answer: &Answer, ns: &str) -> Answered {
    let message = ["/message", "/detail", "/title", "/error"]
        .into_iter()
        .find_map(|place| answer.at(place)?.as_str());
    let text = match (message, answer.markup()) {
        (Some(message), _) => message.into(),
        (None, Some(markup)) => markup.into(),
        (None, None) => answer.text(),
    };
    // The rule's own name may be as long as the shown message.
    let start: String = text.chars().take(2 * MESSAGE_SHOWN).collect();
    let words: Vec<&str> = start.split_whitespace().collect();
    let masked = mask_namespace(&words.join(" "), ns);
    Answered {
        status: answer.status,
        message: masked.chars().take(MESSAGE_SHOWN).collect(),
    }
}

/// Whether a document describes the responses to a step's identity. The engine's document does not
/// describe its responses to unauthorized callers.
fn describes(document: Document, step: &Step) -> bool {
    document != Document::Engine || step.identity == Identity::Administrator
}

fn sent(base: &Base, public: &Wire) -> SentRequest {
    match public {
        Wire::Http(request) => SentRequest {
            method: request.method.to_owned(),
            url: format!("{}{}", base.url, request.path),
            headers: request.headers.clone(),
            body: Payload::stored(&request.body),
        },
        Wire::Raw(bytes) => SentRequest {
            method: curl::RAW.to_owned(),
            url: base.url.clone(),
            headers: Vec::new(),
            body: Payload::stored(bytes),
        },
    }
}
