//! Preflight checks of a scenario.

use std::collections::BTreeMap;

use crate::catalogue::Document;
use crate::http_client::wire::request_line;
use crate::judge::transcript::Namer;
use crate::run::placeholders::Placeholders;
use crate::run::runner::json_body;
use crate::run::side_effects::{SideEffects, side_effects_of};
use crate::scenario::{Effect, Recipient, Scenario, Send};
use crate::target::server::Server;

/// Returns violations of the suite's own rules by a scenario, without sending anything.
pub(crate) fn defects(scenario: &Scenario, document: Document, server: &Server) -> Vec<String> {
    const NS: &str = "namespace";
    let captures = BTreeMap::new();
    let placeholders = Placeholders {
        ns: NS,
        repetition: 0,
        captures: &captures,
        server,
        vendor: "engine",
    };
    let namer = Namer::new(scenario);
    let mut defects = Vec::new();
    for step in &scenario.steps {
        if !step.given && !step.shows.is_empty() {
            defects.push(format!(
                "`{}` is judged, so what it shows belongs into its expectations",
                namer.line(step)
            ));
        }
        if step.given && !step.expectations.is_empty() {
            defects.push(format!(
                "`{}` is given, so its expectations are lost",
                namer.line(step)
            ));
        }
        if let Send::Http { path, .. } = &step.request
            && namer.fill(path).contains('{')
        {
            defects.push(format!(
                "`{}` has a placeholder of no known name",
                namer.line(step)
            ));
        }
        let (method, path) = match &step.request {
            Send::Http { method, path, .. } => ((*method).to_owned(), placeholders.path(path)),
            Send::Raw(text) => {
                request_line(text.replace("{ns}", NS).replace("{prefix}", "").as_bytes())
            }
        };
        let body = json_body(step).map(|value| placeholders.json(value));
        let reached = |document| side_effects_of(document, &method, &path, body.as_ref(), NS);
        let foreign = match step.recipient {
            Recipient::Judged | Recipient::Elsewhere => reached(document) == SideEffects::Foreign,
            // Its content comes only from its bundles.
            Recipient::Engine => reached(Document::Engine) != SideEffects::Nothing,
            Recipient::Mock => false,
        };
        if foreign && scenario.effect != Effect::ChangesGlobal {
            defects.push(format!(
                "`{}` changes what is not its own: its path carries no {{ns}}, and the scenario \
                 does not declare changes_global",
                namer.line(step)
            ));
        }
    }
    defects
}

/// Returns a role that the scenario needs but for which the server has no token.
pub(crate) fn missing_role(scenario: &Scenario, server: &Server) -> Option<String> {
    scenario
        .steps
        .iter()
        .find_map(|step| server.server_for(step).authorization(&step.identity).err())
}

#[cfg(test)]
#[expect(clippy::expect_used, reason = "a test fails by panicking")]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::http_client::Base;
    use crate::scenario::*;

    #[rstest]
    #[case::own(Document::Control, scenario().when(put("/v1/bundles/{ns}").expect(status())), "")]
    #[case::foreign(Document::Control, scenario().when(put("/v1/bundles/a")), "not its own")]
    #[case::global(Document::Control, scenario().when(put("/v1/bundles/a")).changes_global(), "")]
    #[case::reading(Document::Control, scenario().when(get("/v1/bundles/a")), "")]
    #[case::placeholder(
        Document::Control,
        scenario().when(get("/v1/bundles/{nss}")),
        "no known name"
    )]
    #[case::expectation_of_a_prerequisite(
        Document::Control,
        scenario().given(get("/v1/bundles").expect(status())),
        "expectations are lost"
    )]
    #[case::shown_by_the_request(
        Document::Control,
        scenario().when(get("/v1/bundles").shows([Check::Status(200)])),
        "belongs into its expectations"
    )]
    #[case::raw(
        Document::Control,
        scenario().when(raw("DELETE /v1/bundles/a HTTP/1.1\r\n\r\n")),
        "not its own"
    )]
    #[case::foreign_engine(
        Document::Control,
        scenario().when(engine(put("/v1/data/{ns}").json(json!(1)))),
        "not its own"
    )]
    #[case::engine_query(
        Document::Control,
        scenario().when(engine(post("/v1/data/a").json(json!({})))),
        ""
    )]
    #[case::patch(
        Document::Engine,
        scenario().when(patch("/v1/data").json(json!([{"path": "/a"}]))),
        "not its own"
    )]
    fn scenarios_that_break_the_rules_of_the_suite_are_refused(
        #[case] document: Document,
        #[case] scenario: Scenario,
        #[case] expected: &str,
    ) {
        let base = Base::parse("http://127.0.0.1:1").expect("an address");
        let server = Server::new(base, BTreeMap::new(), &[]);
        let found = defects(&scenario, document, &server).join("\n");
        assert!(
            found.contains(expected) && found.is_empty() == expected.is_empty(),
            "{scenario:?}: {found}"
        );
    }

    #[test]
    fn roles_without_a_token_are_missing() {
        let base = Base::parse("http://127.0.0.1:1").expect("an address");
        let server = Server::new(base, BTreeMap::new(), &[]);
        let viewer = scenario().when(get("/v1/bundles").role("viewer"));
        assert_eq!(missing_role(&viewer, &server), Some("viewer".to_owned()));
    }
}
