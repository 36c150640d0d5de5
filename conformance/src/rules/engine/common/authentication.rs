//! Authentication
//!
//! The setup's authorization policy serves the administrator, lets a reader read, and lets
//! everyone read what is called `open`.

use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    Rule::new("bearer-token-served", || {
        documents()
            .when(get("/v1/data/{ns}/closed").keep(at("/result")))
            .when(
                get("/v1/data/{ns}/closed")
                    .role("reader")
                    .keep(at("/result")),
            )
            .when(put_closed().keep(success()))
            .when(get("/v1/data/{ns}/closed").keep(at("/result")))
    }),
    Rule::new("token-reaches-authorization", || {
        documents()
            .when(put_closed().role("reader").keep(error()))
            .when(get("/v1/data/{ns}/closed").keep(at("/result")))
            .when(put_closed().keep(success()))
            .when(get("/v1/data/{ns}/closed").keep(at("/result")))
    }),
    Rule::new("policy-decides", || {
        documents()
            .when(get("/v1/data/{ns}/open").anonymous().keep(at("/result")))
            .when(
                get("/v1/data/{ns}/closed")
                    .anonymous()
                    .keep(error())
                    .keep(without("inside")),
            )
            .when(
                get("/v1/data/{ns}/closed")
                    .authorization("Bearer nobody")
                    .keep(error())
                    .keep(without("inside")),
            )
            .when(put_closed().role("reader").keep(error()))
            .when(put_closed().anonymous().keep(error()))
            .when(get("/v1/data/{ns}/closed").keep(at("/result")))
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

/// What a request that is not served is answered.
fn refusal(caller: impl Fn(Step) -> Step) -> Scenario {
    documents().when(
        caller(get("/v1/data/{ns}/closed"))
            .keep(status())
            .keep(header("WWW-Authenticate"))
            .keep(media_type())
            .keep(text()),
    )
}
