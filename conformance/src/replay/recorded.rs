//! Recorded requests of a rule.

use crate::diff::answers::NormalizedResponse;
use crate::diff::normalize::Normalizer;
use crate::evidence::{ChosenRule, Event, Exchange, RunStarted, run_of};
use crate::scenario::{Scenario, Step};

/// The evidence of one rule.
#[derive(Debug)]
pub(crate) struct RecordedRule<'a> {
    pub(crate) rule: &'a str,
    /// The setup in which the rule's server was started.
    pub(super) setup: &'a str,
    pub(super) started: &'a RunStarted,
    /// Name of the run that sent the requests; its resource names have this prefix.
    pub(super) run: &'a str,
    /// Exchanges, without those of the cleanup.
    pub(super) exchanges: Vec<&'a Exchange>,
    /// The rule's scenario in this suite, if it still has one.
    pub(super) scenario: Option<Scenario>,
}

/// A request to send, and its recorded response.
#[derive(Debug)]
pub(super) struct RecordedRequest<'a> {
    pub(super) exchange: &'a Exchange,
    /// Whether the effect of the step is eventual, so that the replay waits for it.
    pub(super) waits: bool,
}

impl<'a> RecordedRule<'a> {
    /// Collects the evidence of one rule that a run chose.
    pub(crate) fn of(events: &'a [Event], started: &'a RunStarted, chosen: &'a ChosenRule) -> Self {
        let exchanges = events.iter().filter_map(|event| match event {
            Event::Exchange(exchange) if exchange.rule == chosen.rule && exchange.step > 0 => {
                Some(&**exchange)
            }
            _ => None,
        });
        let exchanges: Vec<&Exchange> = exchanges.collect();
        let known = crate::rules::sections().find_map(|section| {
            let slug = chosen.rule.strip_prefix(section.path)?.strip_prefix('/')?;
            section.rules.iter().find(|rule| rule.slug == slug)
        });
        Self {
            rule: &chosen.rule,
            setup: chosen.setup.as_deref().unwrap_or("default"),
            started,
            run: run_of(exchanges.iter().copied(), &chosen.rule).unwrap_or(&started.run),
            exchanges,
            scenario: known.map(|rule| (rule.scenario)()),
        }
    }

    /// Whether this identity sent any request.
    pub(super) fn has_requests_from(&self, identity: &str) -> bool {
        let mut exchanges = self.exchanges.iter();
        exchanges.any(|exchange| exchange.identity == identity)
    }

    /// Returns the step of this suite's scenario to which an exchange belongs.
    pub(super) fn step(&self, exchange: &Exchange) -> Option<&Step> {
        let steps = &self.scenario.as_ref()?.steps;
        steps.get(exchange.step.checked_sub(1)?)
    }

    /// Returns the requests in order. A request that was repeated until its response was as
    /// expected appears once.
    pub(super) fn requests(&self) -> Vec<RecordedRequest<'a>> {
        let normalizer = Normalizer::new(self.run, self.rule);
        let vendor = &self.started.target.vendor;
        let normalize = |exchange: &Exchange| {
            let response = exchange.response.as_ref();
            response.map(|response| NormalizedResponse::of(response, vendor, &normalizer))
        };
        let mut requests: Vec<RecordedRequest<'a>> = Vec::new();
        for exchange in &self.exchanges {
            let until = match self.step(exchange) {
                Some(step) => !step.until.is_empty(),
                // A server's uploads to and downloads from the fixture server are asynchronous.
                None => self.has_requests_from("suite") && exchange.request.method == "GET",
            };
            let repeats = requests.last().is_some_and(|last| {
                let same = last.exchange.step == exchange.step
                    && last.exchange.request == exchange.request;
                same && (until || normalize(last.exchange) != normalize(exchange))
            });
            if repeats {
                requests.pop();
            }
            requests.push(RecordedRequest {
                exchange,
                waits: until || repeats,
            });
        }
        requests
    }
}
