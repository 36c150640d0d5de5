//! Judges rules by recorded exchanges, without traffic.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use super::rule::RuleResult;
use super::{Chosen, Inner};
use crate::evidence::Exchange;
use crate::evidence::recording::Recording;
use crate::http_client::Base;
use crate::http_client::pagination::Listings;
use crate::judge;
use crate::run::created_names::CreatedNames;
use crate::run::runner::{Runner, Transport};
use crate::scenario::resource_names::namespace;
use crate::scenario::{Identity, Scenario};
use crate::target::Token;
use crate::target::server::Server;

impl Inner {
    /// Runs a rule against a recording of its exchanges in the run of this name.
    pub(super) async fn replay(
        &self,
        chosen: &Chosen,
        scenario: &Scenario,
        run: &str,
        addresses: &Addresses,
        recording: &Recording,
    ) -> RuleResult {
        let server = Server::new(addresses.api.clone(), tokens(scenario), &[])
            .with_mock(addresses.mock.clone());
        let runner = Runner {
            client: &self.client,
            transport: Transport::Replayed(recording),
            contract: self.contract,
            server: &server,
            vendor: &self.target.vendor,
            eventual_timeout: Duration::ZERO,
            document: chosen.clause.document,
            rule: &chosen.clause.id,
            ns: &namespace(run, &chosen.clause.id),
            events: &Mutex::default(),
            requests: &AtomicU64::new(0),
            listings: &Listings::default(),
            created: CreatedNames::default(),
        };
        let trace = runner.run(scenario).await;
        RuleResult {
            verdict: judge::verify(chosen.clause.level, chosen.snapshot.as_deref(), &trace),
            transcript: trace.transcript.to_string(),
            early_failure: None,
        }
    }
}

/// Addresses that received the requests of a rule in an earlier run.
#[derive(Debug)]
pub(super) struct Addresses {
    /// Address of the API, or of the fixture server if only that received requests.
    api: Base,
    mock: Option<Base>,
}

/// Returns the addresses in the evidence of a rule: for each recipient, of its first exchange.
pub(super) fn addresses(exchanges: &[Exchange]) -> Option<Addresses> {
    let base = |exchange: &Exchange| {
        let url = &exchange.request.url;
        let authority: Vec<&str> = url.splitn(4, '/').take(3).collect();
        Base::parse(&authority.join("/")).ok()
    };
    let with_mock = |exchange: &&Exchange| exchange.identity == "suite";
    let with_api = |exchange: &&Exchange| !matches!(exchange.identity.as_str(), "suite" | "engine");
    let first = exchanges.iter().find(with_api).or(exchanges.first());
    Some(Addresses {
        api: base(first?)?,
        mock: exchanges.iter().find(with_mock).and_then(base),
    })
}

/// Placeholder tokens for all identities: none of them is sent.
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
