//! What the server around the language did wrong.

use crate::rules::engine::policy;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    // 1.17.0 to 1.18.0: what was compiled is kept once a rule of it has been evaluated.
    Rule::new("memory-after-compilations", || {
        let memory = metrics()
            .shows([Check::Status(200), Check::TellsMemory])
            .or_not_run("it needs a metric of the memory that the server uses");
        let large = policy(&many_rules()).or_not_run("it needs the language of version 1");
        compiled(scenario().fresh().given(large), 0)
            .given(memory.capture_text("before"))
            .each(1..=COMPILATIONS, compiled)
            .when(metrics().expect(memory_within("before", 3)))
    }),
    // 1.21.1 and before
    Rule::new("encoded-slash-is-authorized", || {
        scenario()
            .setup("token-auth")
            .given(
                put("/v1/data/{ns}").json(json!({"closed/open": "inside", "closed": {"open": 1}})),
            )
            .when(
                get("/v1/data/{ns}/closed/open")
                    .anonymous()
                    .expect(at("/result")),
            )
            .when(
                get("/v1/data/{ns}/closed%2Fopen")
                    .anonymous()
                    .expect(error())
                    .expect(without("inside")),
            )
    }),
    // 1.9.0 to 1.11.0: after the first upload the buffer holds no more than one upload does.
    Rule::new("decisions-kept-after-upload", || {
        let scenario = scenario()
            .setup("decision-logs")
            .given(policy("decision := count(input.text)"))
            .given(decision("first"))
            .given(logged(1));
        scenario
            .each(0..EVENTS, |scenario, number| {
                scenario.given(decision(&noise(number)))
            })
            .when(logged(usize::from(EVENTS) + 1).expect(status()))
    }),
    // 1.0.0 and later, on purpose: containers that are started as before are not reached.
    Rule::new("default-address", || {
        scenario()
            .setup("no-address")
            .fresh()
            .when(elsewhere(get("/health")).expect(status()))
    }),
];

/// How often everything is compiled: often enough for the memory of the bad releases to become five
/// times as much, or more.
const COMPILATIONS: u8 = 32;

fn metrics() -> Step {
    get("/metrics").off_contract("the documents do not speak of metrics for Prometheus")
}

/// Rules that take a few megabytes when they are compiled.
fn many_rules() -> String {
    let rule = |number: u32| {
        format!(
            "rule_{number} if {{\n\tsome item in input.items\n\titem.name == \"{number}\"\n\t\
             item.size > {number}\n}}\n\n"
        )
    };
    (0..500).map(rule).collect()
}

/// Has everything compiled, by a change of a small module, and its rule evaluated.
fn compiled(scenario: Scenario, number: u8) -> Scenario {
    let module = format!("package {{ns}}_small\nimport rego.v1\nnumber := {number}\n");
    let answer = get("/v1/data/{ns}_small/number");
    scenario
        .given(put("/v1/policies/{ns}-small").text("text/plain", module))
        .given(answer.shows([Check::Equals("/result".to_owned(), json!(number))]))
}

/// Events that together take more than an upload, however they are compressed.
const EVENTS: u8 = 24;
/// Characters of the input of each, none of which tells the next one.
const LENGTH: usize = 6_000;

fn decision(text: &str) -> Step {
    post("/v1/data/{ns}/decision").json(json!({"input": {"by": "{ns}", "text": text}}))
}

/// Waits until so many events of the scenario have come.
fn logged(events: usize) -> Step {
    mock(get("/received/logs?holds={ns}")).until([Check::AtLeast(String::new(), events)])
}

/// A text that looks random, another for each number.
fn noise(number: u8) -> String {
    let mut state = u64::from(number) + 1;
    let mut letter = || {
        // Marsaglia's xorshift.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let place = u8::try_from(state % 26).unwrap_or_default();
        char::from(b'a' + place)
    };
    (0..LENGTH).map(|_| letter()).collect()
}
