//! Recorded rules: the exchanges of a rule in a run without alterations.
//!
//! If alterations change only responses, the same requests lead to the same responses, so the
//! recorded responses are altered and judged again without any traffic. If they change requests or
//! their timing, the rule runs on the server.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::catalogue::{Document, Level};
use crate::evidence::recording::{self, Recording};
use crate::evidence::request_match::Secrets;
use crate::evidence::{Event, Exchange, Payload, ReceivedResponse};
use crate::faults::{Alteration, ObservedRequest, Recipient};
use crate::http_client::answer::Answer;
use crate::http_client::wire::Wire;
use crate::judge::verdict::Verdict;
use crate::run::recorded::addresses;
use crate::run::{Chosen, Inner, Suite};

/// A rule with its exchanges in a run without alterations.
#[derive(Debug)]
pub(super) struct RecordedRule {
    pub(super) rule: String,
    exchanges: Vec<Recorded>,
}

#[derive(Debug)]
struct Recorded {
    exchange: Exchange,
    recipient: Recipient,
    wire: Wire,
    answer: Option<Answer>,
}

/// How a rule is judged under alterations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JudgeMode {
    /// By a run on the server.
    Live,
    /// By its recorded exchanges, if they contain all requests of the rule.
    Recorded,
}

impl Suite {
    /// Records the chosen rules, each with its exchanges.
    ///
    /// # Errors
    /// The rules that fail without any alteration: tests on such a server prove nothing.
    pub(super) fn recorded_rules(&self) -> Result<Vec<Arc<RecordedRule>>, Vec<String>> {
        let mut exchanges = self.exchanges()?;
        let rules = self.inner.chosen.iter().map(|one| one.clause);
        let rules = rules.filter(|clause| clause.level == Level::Rule);
        let recorded = rules.filter_map(|clause| {
            let exchanges = exchanges.remove(&clause.id)?;
            Some(Arc::new(RecordedRule::of(clause.id.clone(), exchanges)))
        });
        Ok(recorded.collect())
    }

    /// Records the exchanges of every rule, by rule id.
    pub(super) fn exchanges(&self) -> Result<BTreeMap<String, Vec<Exchange>>, Vec<String>> {
        let mut exchanges: BTreeMap<String, Vec<Exchange>> = BTreeMap::new();
        let mut broken = Vec::new();
        self.run(|event| match event {
            Event::Exchange(exchange) if exchange.step > 0 => exchanges
                .entry(exchange.rule.clone())
                .or_default()
                .push(*exchange),
            Event::Judged(judged)
                if judged.level == Level::Rule && judged.verdict != Verdict::Pass =>
            {
                broken.push(judged.rule);
            }
            _ => {}
        });
        match broken.is_empty() {
            true => Ok(exchanges),
            false => Err(broken),
        }
    }
}

/// Returns the recipient of an exchange of a rule.
fn recipient(rule: &str, exchange: &Exchange) -> Recipient {
    match (exchange.identity.as_str(), Document::of(rule)) {
        ("suite", _) => Recipient::Mock,
        ("engine", _) | (_, Some(Document::Engine)) => Recipient::Engine,
        _ => Recipient::Control,
    }
}

impl RecordedRule {
    pub(super) fn of(rule: String, exchanges: Vec<Exchange>) -> Self {
        let recorded = exchanges.into_iter().map(|exchange| Recorded {
            recipient: recipient(&rule, &exchange),
            wire: exchange.request.to_wire(),
            answer: exchange.response.clone().map(recording::answer),
            exchange,
        });
        let exchanges = recorded.collect();
        Self { rule, exchanges }
    }

    /// Returns how to judge the rule under alterations; none if they do not affect it.
    pub(super) fn judge_mode(&self, alterations: &[Alteration]) -> Option<JudgeMode> {
        let mut mode = None;
        for one in &self.exchanges {
            let request = one.request();
            for alteration in alterations {
                if !alteration.touches(one.recipient, &request) {
                    continue;
                }
                if self.needs_server(alteration, &request) {
                    return Some(JudgeMode::Live);
                }
                let answer = one.answer.as_ref();
                if !answer.is_some_and(|answer| alteration.changes(answer)) {
                    continue;
                }
                if one.is_cut() {
                    return Some(JudgeMode::Live);
                }
                mode = Some(JudgeMode::Recorded);
            }
        }
        mode
    }

    /// Whether only a run on the server can show the effect of an alteration. Replacing the
    /// response to a request that only reads leaves the server unchanged, but a fixture server that
    /// the rule queries notices reads, too.
    fn needs_server(&self, alteration: &Alteration, request: &ObservedRequest<'_>) -> bool {
        let asks_mock = || {
            self.exchanges
                .iter()
                .any(|one| one.recipient == Recipient::Mock)
        };
        let reads = || matches!(request.method.as_str(), "GET" | "HEAD");
        alteration.alters_request() || (alteration.replies() && (!reads() || asks_mock()))
    }

    /// Whether some altered exchange has another response to a step that waits for an effect.
    pub(super) fn alters_wait(&self, chosen: &Chosen, altered: &[Exchange]) -> bool {
        let steps = chosen.scenario.iter().flat_map(|scenario| &scenario.steps);
        let waiting = steps.enumerate().filter(|(_, step)| !step.until.is_empty());
        let waiting: Vec<usize> = waiting.map(|(index, _)| index + 1).collect();
        let mut pairs = self.exchanges.iter().zip(altered);
        pairs.any(|(one, altered)| {
            waiting.contains(&altered.step) && one.exchange.response != altered.response
        })
    }

    /// Returns the exchanges with altered responses; none if no response changes.
    pub(super) fn altered(&self, alterations: &[Alteration]) -> Option<Vec<Exchange>> {
        let altered: Vec<_> = self
            .exchanges
            .iter()
            .map(|one| one.altered(alterations))
            .collect();
        if altered.iter().all(Option::is_none) {
            return None;
        }
        let exchanges = self.exchanges.iter().zip(altered);
        let exchanges = exchanges.map(|(one, answer)| match answer {
            None => one.exchange.clone(),
            Some(answer) => Exchange {
                response: Some(answer),
                error: None,
                ..one.exchange.clone()
            },
        });
        Some(exchanges.collect())
    }
}

impl Recorded {
    fn request(&self) -> ObservedRequest<'_> {
        ObservedRequest::of(&self.wire, &self.exchange.identity)
    }

    /// Whether only the start of the response's body is stored.
    fn is_cut(&self) -> bool {
        let response = self.exchange.response.as_ref();
        response.is_some_and(|response| response.body.is_cut())
    }

    /// Returns the altered response; none if it is unchanged.
    fn altered(&self, alterations: &[Alteration]) -> Option<ReceivedResponse> {
        let request = self.request();
        let touching = alterations.iter();
        let touching = touching.filter(|one| one.touches(self.recipient, &request));
        let answer = recording::answer(self.exchange.response.clone()?);
        let answer = Alteration::answer(touching, answer);
        let answer = ReceivedResponse {
            status: answer.status,
            body: Payload::of(&answer.body),
            headers: answer.headers,
        };
        (!self.is_cut() && Some(&answer) != self.exchange.response.as_ref()).then_some(answer)
    }
}

impl Inner {
    /// Judges the rule by these exchanges; none if they do not contain all its requests.
    pub(super) async fn judge_recorded(
        &self,
        chosen: &Chosen,
        exchanges: Vec<Exchange>,
    ) -> Option<Verdict> {
        let addresses = addresses(&exchanges)?;
        let secrets = Secrets::of_exchanges(&exchanges);
        let recording = Recording::of(exchanges, secrets);
        let scenario = chosen.scenario.as_ref()?;
        let result = self
            .replay(chosen, scenario, &self.run, &addresses, &recording)
            .await;
        (!recording.is_incomplete()).then_some(result.verdict)
    }
}
