//! Origins of recorded requests: the addresses of the servers of a run.

use std::collections::BTreeMap;

use super::{Chosen, Inner};
use crate::catalogue::Document;
use crate::evidence::recording::untrue_exchange;
use crate::evidence::{Event, Exchange, RunStarted};
use crate::http_client::Base;
use crate::scenario::Recipient;

/// The setup whose server addresses are declared at the start of the evidence.
const DEFAULT: &str = "default";

/// Key of a server of a run: setup, API, recipient, and the rule that has it alone, if any.
type ServerKey<'a> = (&'static str, Document, u8, Option<&'a str>);

/// Addresses of the servers as declared at the start of the evidence.
struct DeclaredServer<'a> {
    control: Option<&'a str>,
    engine: Option<&'a str>,
    /// Index of the merged run that judged the rule; 0 for evidence of one run.
    part: usize,
}

impl<'a> DeclaredServer<'a> {
    /// Returns the declared addresses for the run that judged a rule.
    fn of(started: &'a RunStarted, rule: &str) -> Self {
        let (part, control, engine) = match started.part(rule) {
            Some((number, part)) => (number, &part.control, &part.engine),
            None => (0, &started.target.control, &started.target.engine),
        };
        Self {
            control: control.as_deref(),
            engine: engine.as_deref(),
            part,
        }
    }
}

impl Inner {
    /// Checks that every request went to the server of its rule, as declared.
    ///
    /// # Errors
    /// A message that names the first exchange with another server.
    pub(super) fn check_origins(
        &self,
        events: &[Event],
        started: &RunStarted,
    ) -> Result<(), String> {
        check_hosts(started)?;
        let mut known: BTreeMap<(usize, ServerKey<'_>), String> = BTreeMap::new();
        for event in events {
            let Event::Exchange(exchange) = event else {
                continue;
            };
            let chosen = self
                .chosen
                .iter()
                .find(|one| one.clause.id == exchange.rule);
            let Some(chosen) = chosen else { continue };
            let origin = origin(&exchange.request.url).ok_or_else(|| {
                untrue_exchange(exchange, "invalid address: expected that of a server")
            })?;
            let (recipient, place) = place(chosen, exchange);
            let declared = DeclaredServer::of(started, &exchange.rule);
            if let Some(reason) = is_foreign(&origin, recipient, chosen, &declared) {
                return Err(untrue_exchange(exchange, &reason));
            }
            let first = known.entry((declared.part, place));
            let first = first.or_insert_with(|| origin.url.clone());
            if *first != origin.url {
                let reason = format!("sent to `{}`, others to `{first}`", origin.url);
                return Err(untrue_exchange(exchange, &reason));
            }
        }
        Ok(())
    }
}

/// Checks for each API that the parts of merged evidence are on one host, or all on loopback.
fn check_hosts(started: &RunStarted) -> Result<(), String> {
    for document in Document::ALL {
        let urls = started.parts.iter().filter_map(|part| match document {
            Document::Control => part.control.as_deref(),
            Document::Engine => part.engine.as_deref(),
        });
        let mut first: Option<Base> = None;
        for url in urls {
            let base = Base::parse(url)
                .map_err(|_| format!("invalid address `{url}`: expected that of a server"))?;
            let known = first.get_or_insert_with(|| base.clone());
            let same = known.host == base.host || known.is_loopback() && base.is_loopback();
            if !same {
                return Err(format!(
                    "its parts are on two hosts: `{}` and `{}`",
                    known.url, base.url
                ));
            }
        }
    }
    Ok(())
}

/// Parses scheme and authority of an address; none if not in the form that the suite writes.
fn origin(url: &str) -> Option<Base> {
    let end = url
        .match_indices('/')
        .nth(2)
        .map_or(url.len(), |(end, _)| end);
    let start = url.get(..end)?;
    Base::parse(start).ok().filter(|base| base.url == start)
}

fn place<'a>(chosen: &Chosen, exchange: &'a Exchange) -> (Recipient, ServerKey<'a>) {
    let scenario = chosen.scenario.as_ref();
    let place = exchange.step.checked_sub(1);
    let step = scenario.and_then(|scenario| scenario.steps.get(place?));
    let recipient = match (exchange.identity.as_str(), step.map(|step| step.recipient)) {
        ("suite", _) => Recipient::Mock,
        ("engine", _) => Recipient::Engine,
        (_, Some(Recipient::Elsewhere)) => Recipient::Elsewhere,
        _ => Recipient::Judged,
    };
    let fresh = scenario.is_some_and(|scenario| scenario.fresh);
    let alone = fresh.then_some(exchange.rule.as_str());
    let setup = scenario.map_or("", |scenario| scenario.setup);
    let number = match recipient {
        Recipient::Judged => 0,
        Recipient::Engine => 1,
        Recipient::Elsewhere => 2,
        Recipient::Mock => 3,
    };
    (recipient, (setup, chosen.clause.document, number, alone))
}

/// Returns why an address does not belong to the target, or none if it does: servers that the suite
/// starts are on this machine, others at an address declared at the start of the evidence.
fn is_foreign(
    origin: &Base,
    recipient: Recipient,
    chosen: &Chosen,
    declared: &DeclaredServer<'_>,
) -> Option<String> {
    let document = match recipient {
        Recipient::Judged => chosen.clause.document,
        Recipient::Engine => Document::Engine,
        // They are at an address of the suite's machine.
        Recipient::Elsewhere | Recipient::Mock => return None,
    };
    let declared = match document {
        Document::Control => declared.control,
        Document::Engine => declared.engine,
    };
    let declared = declared.and_then(|url| Base::parse(url).ok());
    // Other setups have other ports.
    let is_default = chosen
        .scenario
        .as_ref()
        .is_some_and(|scenario| scenario.setup == DEFAULT);
    let is_its = match declared {
        Some(base) if is_default => base.authority == origin.authority && base.tls == origin.tls,
        Some(base) if base.host == origin.host => true,
        _ => origin.is_loopback(),
    };
    (!is_its).then(|| {
        format!(
            "invalid address `{}`: expected that of the target",
            origin.url
        )
    })
}
