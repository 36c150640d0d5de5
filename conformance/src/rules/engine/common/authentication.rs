//! Authentication
//!
//! The setup's authorization policy serves the administrator, lets a reader read, and lets
//! everyone read what is called `open`.

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
            .expect(status())
            .expect(header("WWW-Authenticate"))
            .expect(media_type())
            .expect(text()),
    )
}
