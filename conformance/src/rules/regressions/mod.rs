//! Rules that no document states, about defects of releases of the real engine. A comment names the
//! releases that each defect affects; `xtask/verification/opa-releases.toml` has the sources.

use super::Section;
use crate::rules::engine::policy;
use crate::scenario::*;

mod builtins;
mod bundles;
mod compilation;
mod evaluation;
mod residuals;
mod server;

/// Sections of the regressions, one line per file of rules.
#[rustfmt::skip]
pub(crate) const SECTIONS: &[Section] = &[
    Section { path: "regressions/builtins", rules: builtins::RULES },
    Section { path: "regressions/bundles", rules: bundles::RULES },
    Section { path: "regressions/compilation", rules: compilation::RULES },
    Section { path: "regressions/evaluation", rules: evaluation::RULES },
    Section { path: "regressions/residuals", rules: residuals::RULES },
    Section { path: "regressions/server", rules: server::RULES },
];

/// Expects the decision of a module for an input: the value of the rule `decision`.
fn decides(rules: &str, input: Value) -> Scenario {
    decision(scenario().given(policy(rules)), input)
}

/// [`decides`], for a module that a server may be too old to parse; `needs` is the reason.
fn decides_if_read(rules: &str, input: Value, needs: &'static str) -> Scenario {
    decision(scenario().given(policy(rules).or_not_run(needs)), input)
}

/// [`decides`], for a module that the server must accept.
fn takes_and_decides(scenario: Scenario, rules: &str, input: Value) -> Scenario {
    decision(scenario.when(policy(rules).expect(success())), input)
}

fn decision(scenario: Scenario, input: Value) -> Scenario {
    scenario.when(
        post("/v1/data/{ns}/decision")
            .json(json!({"input": input}))
            .expect(at("/result")),
    )
}
