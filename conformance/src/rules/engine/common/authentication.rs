//! Authentication
//!
//! The authorization policy of the setup `token-auth` lets the administrator do everything, lets a
//! reader read, and lets everyone read documents named `open`.

use crate::rules::engine::v1::compile::filters::tables::{ALL, filter};
use crate::rules::engine::{module, policy, shared_policy};
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("bearer-token-served", || {
        documents()
            .when(get("/v1/data/{ns}/closed").expect(at("/result")))
            .when(
                get("/v1/data/{ns}/closed")
                    .role("reader")
                    .expect(at("/result")),
            )
            .when(put_closed().expect(success()))
            .when(get("/v1/data/{ns}/closed").expect(at("/result")))
    }),
    Rule::new("token-reaches-authorization", || {
        documents()
            .when(put_closed().role("reader").expect(error()))
            .when(get("/v1/data/{ns}/closed").expect(at("/result")))
            .each(
                changes().into_iter().chain(decisions()),
                |scenario, step| scenario.when(refused(step.role("reader"))),
            )
            .when(get("/v1/data/{ns}/closed").expect(at("/result")))
            .when(put_closed().expect(success()))
            .when(get("/v1/data/{ns}/closed").expect(at("/result")))
    }),
    Rule::new("policy-decides", || {
        documents()
            .when(get("/v1/data/{ns}/open").anonymous().expect(at("/result")))
            .when(
                get("/v1/data/{ns}/closed")
                    .anonymous()
                    .expect(error())
                    .expect(without("inside")),
            )
            .when(
                get("/v1/data/{ns}/closed")
                    .authorization("Bearer nobody")
                    .expect(error())
                    .expect(without("inside")),
            )
            .when(put_closed().role("reader").expect(error()))
            .when(put_closed().anonymous().expect(error()))
            .when(get("/v1/data/{ns}/closed").expect(at("/result")))
            .each(
                changes().into_iter().chain(decisions()).chain(reads()),
                refused_without_valid_token,
            )
            .when(get("/v1/data/{ns}/closed").expect(at("/result")))
    }),
    // Does not run on servers that accept no modules, which have nothing at these paths.
    Rule::new("policy-decides-on-modules", || {
        let module_of = |suffix: &str, package: &str, rules: &str| {
            put(format!("/v1/policies/{{ns}}-{suffix}")).text("text/plain", module(package, rules))
        };
        documents()
            .changes_global()
            .given(
                policy(r#"answer := "inside""#).or_not_run("the server accepts no policy modules"),
            )
            .given(module_of("health", "system.health", "{ns} := true"))
            .given(shared_policy("system", r#"main := "inside""#))
            .each(
                [
                    get("/v1/policies"),
                    get("/v1/policies/{ns}"),
                    policy(r#"answer := "changed""#),
                    delete("/v1/policies/{ns}"),
                    get("/health/{ns}"),
                    post("/").json(json!({})),
                ],
                refused_without_valid_token,
            )
            .when(get("/v1/policies/{ns}").expect(at("/result/raw")))
            .when(get("/v1/data/{ns}/answer").expect(at("/result")))
    }),
    Rule::new("missing-token", || refusal(Step::anonymous)),
    Rule::new("invalid-token", || {
        refusal(|step| step.authorization("Bearer nobody"))
    }),
];

fn documents() -> Scenario {
    scenario()
        .setup("token-auth")
        .given(put("/v1/data/{ns}").json(json!({"open": "outside", "closed": "inside"})))
}

fn put_closed() -> Step {
    put("/v1/data/{ns}/closed").json(json!("changed"))
}

/// Changes of the closed document by PATCH and DELETE.
fn changes() -> [Step; 2] {
    let operations = json!([{"op": "replace", "path": "/closed", "value": "changed"}]);
    [
        patch("/v1/data/{ns}").text("application/json-patch+json", operations.to_string()),
        delete("/v1/data/{ns}/closed"),
    ]
}

/// Reads of the closed document by POST. A server may lack some of these endpoints.
fn decisions() -> [Step; 5] {
    let compiled = json!({"query": "data.{ns}.closed == input.x", "unknowns": ["input"]});
    [
        post("/v1/data/{ns}/closed").json(json!({"input": {}})),
        post("/v0/data/{ns}/closed").json(json!({})),
        post("/v1/query").json(json!({"query": "x = data.{ns}.closed"})),
        post("/v1/compile").json(compiled),
        filter("closed", ALL),
    ]
}

/// Other protected reads by GET. A server may lack some of these endpoints.
fn reads() -> [Step; 3] {
    [
        get("/v1/query?q=x%20%3D%20data.{ns}.closed"),
        get("/v1/config"),
        get("/v1/status"),
    ]
}

/// Expects that the request is rejected, and that the response reveals no closed document.
fn refused(step: Step) -> Step {
    step.expect(error()).expect(without("inside"))
}

/// Expects rejections of the request without a token and with an unknown one.
fn refused_without_valid_token(scenario: Scenario, step: Step) -> Scenario {
    scenario
        .when(refused(step.clone().anonymous()))
        .when(refused(step.authorization("Bearer nobody")))
}

/// Expects the documented properties of the response to a rejected request.
fn refusal(caller: impl Fn(Step) -> Step) -> Scenario {
    documents().when(
        caller(get("/v1/data/{ns}/closed"))
            .expect(status())
            .expect(header("WWW-Authenticate"))
            .expect(media_type())
            .expect(text()),
    )
}
