//! Defects of the server outside the language: memory, authorization, decision logs, addresses.

use crate::rules::engine::policy;
use crate::scenario::*;

pub(crate) const RULES: &[Rule] = &[
    // Affects 1.17.0 to 1.18.0: compiled policies stay in memory once one of their rules has been
    // evaluated.
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
    // Affects 1.21.1 and before.
    Rule::new("encoded-slash-is-authorized", || {
        let inside = json!({"sealed": {"part": {"text": "inside"}}, "sealed/part": {}});
        let scenario = scenario()
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
            .given(put("/v1/policies/sealed/part/{ns}").text("text/plain", SEALED))
            .given(put("/v1/data/{ns}_data").role("writer").json(inside));
        let scenario = scenario
            .each(sealed_as_whole(), |scenario, step| {
                scenario.when(step.role("writer").expect(error()))
            })
            .when(get("/v1/policies/sealed/part/{ns}").expect(mentions("inside")));
        scenario
            .each(sealed_by_segments(), |scenario, step| {
                scenario.when(step.role("writer").expect(without("inside")))
            })
            .when(get("/v1/data/{ns}_data/sealed/part").expect(at("/result")))
    }),
    // Affects 1.9.0 to 1.11.0: after the first upload, the buffer stores no more than one upload.
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
    // Affects 1.0.0 and later, by design: containers with an unchanged command line are
    // unreachable.
    Rule::new("default-address", || {
        scenario()
            .setup("no-address")
            .fresh()
            .when(elsewhere(get("/health")).expect(status()))
    }),
];

/// A module that the role `writer` of the setup may not access by any path.
const SEALED: &str = "package {ns}_rules.sealed\nimport rego.v1\n\
                      part if input.fruits.name == \"inside\"\n";

/// Requests for the module [`SEALED`] by endpoints that treat the path as one string, in which an
/// encoded slash is a slash.
fn sealed_as_whole() -> [Step; 5] {
    let filter = json!({"unknowns": ["input.fruits"]});
    let accepted = "application/vnd.engine.sql.postgresql+json";
    [
        get("/v1/policies/sealed/part/{ns}"),
        get("/v1/policies/sealed%2Fpart/{ns}"),
        put("/v1/policies/sealed%2Fpart/{ns}").text("text/plain", "package {ns}_rules.changed\n"),
        delete("/v1/policies/sealed%2Fpart/{ns}"),
        post("/v1/compile/{ns}_rules/sealed%2Fpart")
            .header("Accept", accepted)
            .json(filter),
    ]
}

/// Requests for a document whose name contains a slash. A server in which an encoded slash divides
/// segments accesses the sealed document instead, which it must neither reveal nor change. A server
/// may lack some of these endpoints.
fn sealed_by_segments() -> [Step; 6] {
    let replaced = json!([{"op": "add", "path": "/text", "value": "changed"}]);
    [
        get("/v1/data/{ns}_data/sealed%2Fpart"),
        post("/v1/data/{ns}_data/sealed%2Fpart").json(json!({"input": {}})),
        post("/v0/data/{ns}_data/sealed%2Fpart").json(json!({})),
        patch("/v1/data/{ns}_data/sealed%2Fpart")
            .text("application/json-patch+json", replaced.to_string()),
        put("/v1/data/{ns}_data/sealed%2Fpart").json(json!({"text": "changed"})),
        delete("/v1/data/{ns}_data/sealed%2Fpart"),
    ]
}

/// Number of compilations, after which the affected releases use at least five times the memory.
const COMPILATIONS: u8 = 32;

fn metrics() -> Step {
    get("/metrics").off_contract("the documents do not describe metrics for Prometheus")
}

/// Rules that use a few megabytes when they are compiled.
fn many_rules() -> String {
    let rule = |number: u32| {
        format!(
            "rule_{number} if {{\n\tsome item in input.items\n\titem.name == \"{number}\"\n\t\
             item.size > {number}\n}}\n\n"
        )
    };
    (0..500).map(rule).collect()
}

/// Changes a small module, so that the server compiles everything again, and evaluates its rule.
fn compiled(scenario: Scenario, number: u8) -> Scenario {
    let module = format!("package {{ns}}_small\nimport rego.v1\nnumber := {number}\n");
    let answer = get("/v1/data/{ns}_small/number");
    scenario
        .given(put("/v1/policies/{ns}-small").text("text/plain", module))
        .given(answer.shows([Check::Equals("/result".to_owned(), json!(number))]))
}

/// Number of decision log events, which together exceed one upload even when compressed.
const EVENTS: u8 = 24;
/// Length of the input of each event, in pseudorandom letters.
const LENGTH: usize = 6_000;

fn decision(text: &str) -> Step {
    post("/v1/data/{ns}/decision").json(json!({"input": {"by": "{ns}", "text": text}}))
}

/// Waits until this number of events of the scenario have arrived.
fn logged(events: usize) -> Step {
    mock(get("/received/logs?holds={ns}")).until([Check::AtLeast(String::new(), events)])
}

/// A pseudorandom string, different for each number.
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
