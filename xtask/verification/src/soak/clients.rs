//! Clients of the soak test; each writes only its own data.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::time::sleep;

use super::environment::{BUNDLE, DefinitionServer};
use super::model::{Documents, Random};
use super::tally::ClientResults;
use crate::servers::{Failure, HANG_LIMIT, Message, Wire, request, request_with};

/// Number of clients of each kind.
pub(super) const EACH: u64 = 3;

/// Pause between two requests of a client, which limits the load of the servers.
const PAUSE: Duration = Duration::from_millis(10);

/// Source address of the clients.
const HERE: [u8; 4] = [127, 0, 0, 1];

/// Client with a connection to a server.
struct Client {
    wire: Wire,
    tally: ClientResults,
}

impl Client {
    async fn new(name: &'static str, to: SocketAddr) -> Result<Self, Failure> {
        let wire = Wire::connect(to, HERE).await?;
        let tally = ClientResults {
            name,
            ..ClientResults::default()
        };
        Ok(Self { wire, tally })
    }

    /// Sends a request; fails if the response does not have this status.
    async fn expect_status(&mut self, request: &[u8], status: u16) -> Result<Message, Failure> {
        let start = Instant::now();
        let answer = self.wire.exchange(request).await?;
        let taken = start.elapsed().as_secs_f64() * 1e3;
        self.tally.milliseconds.push(taken);
        let body = answer.json();
        let id = body.get("decision_id").and_then(Value::as_str);
        self.tally.ids.extend(id.map(str::to_owned));
        if answer.status() != status {
            let first = String::from_utf8_lossy(request).into_owned();
            let text = answer.text();
            return Err(format!("{first}: {} {text}, not {status}", answer.status()).into());
        }
        sleep(PAUSE).await;
        Ok(answer)
    }

    /// Sends a request; another `result` in the response is an error.
    async fn result(&mut self, request: &[u8], expected: Option<&Value>) -> Result<(), Failure> {
        let body = self.expect_status(request, 200).await?.json();
        match body.get("result") == expected {
            true => Ok(()),
            false => {
                let first = String::from_utf8_lossy(request).into_owned();
                Err(format!("{first}: {body}, not {expected:?}").into())
            }
        }
    }
}

/// Writes and reads documents that no other client uses.
pub(super) async fn documents(
    to: SocketAddr,
    number: u64,
    until: Instant,
) -> Result<ClientResults, Failure> {
    let mut client = Client::new("documents", to).await?;
    let mut random = Random::new(number + 1);
    let mut known = Documents::default();
    let base = format!("/v1/data/documents/of{number}");
    client
        .expect_status(&request("PUT", &base, "{}"), 204)
        .await?;
    while Instant::now() < until {
        let step = known.step(&mut random);
        let request_bytes = request(step.method, &format!("{base}{}", step.path), &step.body);
        match &step.result {
            Some(result) => client.result(&request_bytes, result.as_ref()).await?,
            None => drop(client.expect_status(&request_bytes, step.status).await?),
        }
    }
    Ok(client.tally)
}

/// Writes a policy that no other client uses, tries to replace it by an invalid one, and removes
/// it.
pub(super) async fn policies(
    to: SocketAddr,
    number: u64,
    until: Instant,
) -> Result<ClientResults, Failure> {
    let mut client = Client::new("policies", to).await?;
    let path = format!("/v1/policies/of{number}");
    let rule = format!("/v1/data/policies/of{number}/state");
    for state in 0_u64.. {
        if Instant::now() > until {
            break;
        }
        let text = format!(
            "package policies.of{number}\n\nstate := {state} if input.wanted\n\nstate := -1 if not input.wanted\n"
        );
        client
            .expect_status(&request("PUT", &path, &text), 200)
            .await?;
        let request_bytes = request("POST", &rule, "{\"input\": {\"wanted\": true}}");
        client.result(&request_bytes, Some(&json!(state))).await?;
        let request_bytes = request("POST", &rule, "{}");
        client.result(&request_bytes, Some(&json!(-1))).await?;
        client
            .expect_status(&request("PUT", &path, "package broken\n\np :="), 400)
            .await?;
        let stored = client
            .expect_status(&request("GET", &path, ""), 200)
            .await?
            .json();
        if stored.pointer("/result/raw") != Some(&json!(text)) {
            return Err(format!("{path}: {stored}, not {text}").into());
        }
        if state % 8 == 7 {
            client
                .expect_status(&request("DELETE", &path, ""), 200)
                .await?;
            client.result(&request("POST", &rule, "{}"), None).await?;
            client
                .expect_status(&request("GET", &path, ""), 404)
                .await?;
        }
    }
    Ok(client.tally)
}

/// Requests decisions, queries and partial evaluations.
pub(super) async fn decisions(
    to: SocketAddr,
    number: u64,
    until: Instant,
) -> Result<ClientResults, Failure> {
    let mut client = Client::new("decisions", to).await?;
    let mut random = Random::new(number + 100);
    while Instant::now() < until {
        let user = ["ann", "bob", "eve"].get(usize::try_from(random.below(3))?);
        let level = random.below(10);
        let input = json!({"input": {"user": user, "level": level}}).to_string();
        let allowed = user == Some(&"ann") || level > 7;
        match random.below(4) {
            0..=1 => {
                let request_bytes = request("POST", "/v1/data/soak/allow", &input);
                client.result(&request_bytes, Some(&json!(allowed))).await?;
            }
            2 => {
                let query = json!({
                    "query": "x := count(data.soak.doubled)",
                    "input": {"level": level},
                });
                let request_bytes = request("POST", "/v1/query", &query.to_string());
                let expected = json!([{"x": level}]);
                client.result(&request_bytes, Some(&expected)).await?;
                client.tally.unnamed += 1;
            }
            _ => {
                let query = json!({
                    "query": "data.soak.allow == true",
                    "input": {"level": level},
                    "unknowns": ["input.user"],
                });
                let request_bytes = request("POST", "/v1/compile", &query.to_string());
                let body = client.expect_status(&request_bytes, 200).await?.json();
                let left = body.pointer("/result/queries").and_then(Value::as_array);
                // If the level in the input is sufficient, the condition about the user is empty.
                let always = left.is_some_and(|left| left.contains(&json!([])));
                if always != (level > 7) || left.is_none_or(Vec::is_empty) {
                    return Err(format!("level {level} leaves {body}").into());
                }
            }
        }
    }
    Ok(client.tally)
}

/// Changes definitions of the control plane; after each change, waits until the engine has
/// activated it.
pub(super) async fn definitions(
    server: DefinitionServer,
    until: Instant,
) -> Result<ClientResults, Failure> {
    let mut client = Client::new("definitions", server.control).await?;
    let mut engine = Client::new("definitions", server.engine).await?;
    let authorization = format!("Authorization: Bearer {}\r\n", server.key);
    let keyed_request = |method: &str, path: &str, body: &Value| {
        let body = match method {
            "PUT" => body.to_string(),
            _ => String::new(),
        };
        request_with(method, path, &authorization, body.as_bytes())
    };
    client
        .expect_status(
            &keyed_request("PUT", "/v1/sources/bundled", &json!({})),
            200,
        )
        .await?;
    let bundle = json!({
        "object_storage": {"filesystem": {"path": BUNDLE}},
        "requirements": [{"source": "bundled"}],
    });
    let data = "/v1/sources/bundled/data/bundled/count";
    client
        .expect_status(&keyed_request("PUT", data, &json!(0)), 200)
        .await?;
    client
        .expect_status(&keyed_request("PUT", "/v1/bundles/bundled", &bundle), 200)
        .await?;
    for count in 1_u64.. {
        if Instant::now() > until {
            break;
        }
        client
            .expect_status(&keyed_request("PUT", data, &json!(count)), 200)
            .await?;
        client
            .result(
                &keyed_request("GET", data, &Value::Null),
                Some(&json!(count)),
            )
            .await?;
        let other = format!("/v1/sources/other-{}", count % 20);
        client
            .expect_status(&keyed_request("PUT", &other, &json!({})), 200)
            .await?;
        client
            .expect_status(&keyed_request("GET", &other, &Value::Null), 200)
            .await?;
        client
            .expect_status(&keyed_request("DELETE", &other, &Value::Null), 200)
            .await?;
        client
            .expect_status(&keyed_request("GET", &other, &Value::Null), 404)
            .await?;
        follow(&mut engine, count).await?;
    }
    client.tally.milliseconds.extend(engine.tally.milliseconds);
    client.tally.ids.extend(engine.tally.ids);
    Ok(client.tally)
}

/// Waits until the engine has activated a change. Until then, only the previous change is a correct
/// result.
async fn follow(engine: &mut Client, count: u64) -> Result<(), Failure> {
    let start = Instant::now();
    let request_bytes = request("GET", "/v1/data/bundled/count", "");
    loop {
        let body = engine.expect_status(&request_bytes, 200).await?.json();
        let activated = body.get("result").and_then(Value::as_u64);
        match activated {
            Some(activated) if activated == count => return Ok(()),
            Some(activated) if activated + 1 == count => {}
            None if count == 1 => {}
            _ => return Err(format!("the engine shows {body} before {count}").into()),
        }
        if start.elapsed() > HANG_LIMIT {
            return Err(format!("the engine does not come to {count}").into());
        }
        sleep(PAUSE * 10).await;
    }
}
