//! Known hostile requests, hundreds of each kind in sequence.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::attack::findings::Findings;
use crate::attack::harness::{ATTACKER, Harness};
use crate::attack::health_monitor::{self, HealthMonitor};
use crate::servers::{Failure, HANG_LIMIT, Wire, request};

/// Number of requests of each kind.
const REQUESTS: usize = 500;

/// Number of concurrent attackers.
const ATTACKERS: usize = 2;

/// Time limit of an evaluation, and how long attackers wait for a response; some disconnect
/// earlier.
const TIMEOUT: &str = "300ms";
const PATIENCE: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(3)];

/// Limit of the server's peak memory, in MiB: the estimated budget of all evaluations is 1 GiB,
/// plus bodies and the allocator's overhead.
const MOST: u64 = 1792;

/// Address-space limit of the server, in bytes, so that unbounded memory use ends the server and
/// not the machine.
const SPACE: u64 = 8 << 30;

/// Benign policy, for which only the input is hostile.
const POLICY: (&str, &str) = (
    "honest.rego",
    r#"package honest

schema := json.match_schema(input.d, input.s)

patched := count(json.marshal(json.patch(input.a, input.p)))

found := count(regex.find_n("a.*b|a", input.s, -1))

replaced := count(regex.replace(input.s, "(a+)", input.v))

groups := count(regex.find_all_string_submatch_n(input.r, input.s, -1))

trimmed := count(trim(input.s, input.c))

valid if graphql.is_valid(input.q, input.s)

keys := count(crypto.parse_private_keys(input.c))

paths := count(graph.reachable_paths(input.g, input.i))
"#,
);

/// Returns Rego that defines `x59`, a value of 2^59 numbers through shared parts.
fn shared() -> String {
    let mut query = "x0 := [1]".to_owned();
    for at in 1..60 {
        let below = at - 1;
        query += &format!("; x{at} := [x{below}, x{below}]");
    }
    query
}

/// Returns the hostile requests: the name and the bytes of each.
fn requests() -> Vec<(&'static str, Vec<u8>)> {
    let shared = shared();
    let queries = [
        ("print", "print(x59)"),
        (
            "schema of a shared value",
            r#"json.match_schema({"a": x59}, {"properties": {"a": {"items": {"type": "array"}}}})[0]"#,
        ),
        (
            "token",
            r#"io.jwt.encode_sign({"alg": "HS256"}, {"a": x59}, {"kty": "oct", "k": "Zm9v"}) != """#,
        ),
        (
            "template",
            r#"strings.render_template("{{.a}}", {"a": x59}) != """#,
        ),
        ("text", r#"sprintf("%v", [x59]) != """#),
        ("comparison", "x59 == input.x"),
    ];
    let mut all: Vec<_> = queries
        .into_iter()
        .map(|(name, last)| {
            let body = json!({"query": format!("{shared}; {last}"), "input": {}});
            (name, request("POST", "/v1/query", &body.to_string()))
        })
        .collect();
    let traced = json!({"query": format!("{shared}; x59[0] == 7")}).to_string();
    all.push(("trace", request("POST", "/v1/query?explain=full", &traced)));
    let residual = json!({"query": format!("{shared}; input.x == x59"), "unknowns": ["input"]});
    all.push((
        "residual",
        request("POST", "/v1/compile", &residual.to_string()),
    ));
    for (rule, input) in inputs() {
        let body = json!({"input": input}).to_string();
        all.push((
            rule,
            request("POST", &format!("/v1/data/honest/{rule}"), &body),
        ));
    }
    all
}

/// Returns hostile inputs for the rules of the benign policy, each with the name of its rule.
fn inputs() -> Vec<(&'static str, Value)> {
    let definitions = (0..40).map(|at| {
        let next = json!({"$ref": format!("#/definitions/d{}", at + 1)});
        (format!("d{at}"), json!({"allOf": [next, next]}))
    });
    let mut definitions: serde_json::Map<_, _> = definitions.collect();
    definitions.insert("d40".to_owned(), json!({"type": "object"}));
    let schema = json!({"$ref": "#/definitions/d0", "definitions": definitions});
    let doubling = [
        json!({"op": "copy", "from": "", "path": "/c"}),
        json!({"op": "copy", "from": "/c", "path": "/a"}),
        json!({"op": "move", "from": "/c", "path": "/b"}),
    ];
    let patch: Vec<Value> = doubling.iter().cycle().take(180).cloned().collect();
    let fragments: String = (0..5_000)
        .map(|at| format!("fragment f{at} on Q {{ ...f{} }} ", at + 1))
        .collect();
    let layers = (0..60).map(|at| {
        let next: Vec<String> = (at + 1..60).map(|next| format!("n{next}")).collect();
        (format!("n{at}"), json!(next))
    });
    let graph: serde_json::Map<_, _> = layers.collect();
    let marker = "-----BEGIN RSA PRIVATE KEY-----";
    vec![
        ("schema", json!({"d": {}, "s": schema})),
        ("patched", json!({"a": {"a": 1, "b": 1}, "p": patch})),
        ("found", json!({"s": "a".repeat(200_000)})),
        (
            "replaced",
            json!({"s": "a".repeat(200_000), "v": "${1}".repeat(40_000)}),
        ),
        (
            "groups",
            json!({"r": format!("{}a", "()".repeat(3_000)), "s": "a".repeat(60_000)}),
        ),
        (
            "trimmed",
            json!({"s": "a".repeat(1 << 20), "c": format!("{}a", "b".repeat(1 << 20))}),
        ),
        (
            "valid",
            json!({
                "q": format!("{{ ...f0 }} {fragments} fragment f5000 on Q {{ a }}"),
                "s": "type Q { a: Int } schema { query: Q }",
            }),
        ),
        ("keys", json!({"c": marker.repeat(30_000)})),
        ("paths", json!({"g": graph, "i": ["n0"]})),
    ]
}

pub(super) async fn run(harness: &Harness) -> Result<Findings, Failure> {
    let mut findings = Findings::default();
    let limit = ["--evaluation-timeout", TIMEOUT];
    let mut server = harness.engine(&limit, &[POLICY]).await?;
    server.limit_space(SPACE)?;
    let requests = requests();
    let rounds = PATIENCE.into_iter().cycle().flat_map(|patience| {
        let round = requests.iter();
        round.map(move |(name, request_bytes)| (*name, request_bytes.clone(), patience))
    });
    let turns: Vec<_> = rounds.take(REQUESTS).collect();
    let bystander = HealthMonitor::start(server.address, health_monitor::engine(None)).await;
    let mut attackers = JoinSet::new();
    for share in turns.chunks(REQUESTS / ATTACKERS) {
        let (to, share) = (server.address, share.to_vec());
        attackers.spawn(async move {
            let mut outcomes = Vec::new();
            for (name, request_bytes, patience) in share {
                let answered = async {
                    let mut client = Wire::connect(to, ATTACKER).await?;
                    client.send(&request_bytes).await?;
                    client.answer_within(patience).await
                };
                outcomes.push((name, answered.await.map(|answer| answer.status())));
            }
            outcomes
        });
    }
    while let Some(outcomes) = attackers.join_next().await {
        for (name, outcome) in outcomes? {
            let result = match outcome {
                Ok(200 | 400 | 500 | 503) => Ok(()),
                Err(error) if error.kind() == std::io::ErrorKind::TimedOut => Ok(()),
                Ok(status) => Err(status.to_string()),
                Err(error) => Err(error.to_string()),
            };
            findings.succeed(name, result);
        }
    }
    findings.watch(bystander.stop().await?);
    let rests = server.rests(HANG_LIMIT, 0.3).await?;
    findings.check("it goes on when all clients have gone", rests);
    findings.check_memory(&server, MOST)?;
    findings.end(&mut server).await?;
    Ok(findings)
}
