//! Judges rules by the exchanges of an earlier run, without any traffic.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use super::rule::Ended;
use super::{Chosen, Inner};
use crate::cleanup::Made;
use crate::client::Base;
use crate::evidence::Exchange;
use crate::judge;
use crate::names::namespace;
use crate::runner::{Line, Player};
use crate::scenario::{Identity, Scenario};
use crate::server::Server;
use crate::tape::Tape;
use crate::target::Token;

impl Inner {
    /// Plays a rule against a tape of its exchanges in the run of this name.
    pub(super) async fn replay(
        &self,
        chosen: &Chosen,
        scenario: &Scenario,
        run: &str,
        addresses: &Addresses,
        tape: &Tape,
    ) -> Ended {
        let server = Server::new(addresses.api.clone(), tokens(scenario), &[])
            .told_of(addresses.depot.clone());
        let player = Player {
            client: &self.client,
            line: Line::Tape(tape),
            contract: self.contract,
            server: &server,
            vendor: &self.target.vendor,
            patience: Duration::ZERO,
            document: chosen.clause.document,
            rule: &chosen.clause.id,
            ns: &namespace(run, &chosen.clause.id),
            events: &Mutex::default(),
            requests: &AtomicU64::new(0),
            made: Made::default(),
        };
        let played = player.play(scenario).await;
        Ended {
            verdict: judge::verdict(chosen.clause.level, chosen.snapshot.as_deref(), &played),
            transcript: played.transcript.to_string(),
            trouble: None,
        }
    }
}

/// Who was asked in an earlier run.
#[derive(Debug)]
pub(super) struct Addresses {
    /// The API, or where only the depot was asked, the depot.
    api: Base,
    depot: Option<Base>,
}

/// The addresses in evidence of a rule: those of the first exchange with each.
pub(super) fn addresses(exchanges: &[Exchange]) -> Option<Addresses> {
    let base = |exchange: &Exchange| {
        let url = &exchange.request.url;
        let authority: Vec<&str> = url.splitn(4, '/').take(3).collect();
        Base::parse(&authority.join("/")).ok()
    };
    let with_depot = |exchange: &&Exchange| exchange.identity == "suite";
    let with_api = |exchange: &&Exchange| !matches!(exchange.identity.as_str(), "suite" | "engine");
    let first = exchanges.iter().find(with_api).or(exchanges.first());
    Some(Addresses {
        api: base(first?)?,
        depot: exchanges.iter().find(with_depot).and_then(base),
    })
}

/// Tokens for whoever asks: none of them is sent.
fn tokens(scenario: &Scenario) -> BTreeMap<String, Token> {
    let roles = scenario
        .steps
        .iter()
        .filter_map(|step| match step.identity {
            Identity::Role(role) => Some(role.to_owned()),
            _ => None,
        });
    roles.map(|role| (role, Token::new("not-sent"))).collect()
}
