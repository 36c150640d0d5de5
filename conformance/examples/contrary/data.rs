//! The Data API, and `POST /`.

use std::time::{Duration, Instant};

use http::{StatusCode, header};
use serde_json::{Map, Value, json};

use crate::answer::{Answer, Failure};
use crate::body;
use crate::documents::{self, Operation, Unchanged};
use crate::routes::{Call, State};

type Outcome = Result<Answer, Failure>;

pub(crate) fn get(state: &mut State, call: &Call<'_>, path: &[&str]) -> Outcome {
    if let Some(input) = call.parameter("input") {
        let input = serde_json::from_str::<Value>(input);
        input.map_err(|_| Failure::invalid("the input is not JSON"))?;
    }
    Ok(decide(state, call, path))
}

pub(crate) fn post(state: &mut State, call: &Call<'_>, path: &[&str]) -> Outcome {
    if !call.body.is_empty() {
        let request = body::input(call.head, &call.body)?;
        let members = request.as_object();
        let members = members.ok_or_else(|| Failure::invalid("the body is not an object"))?;
        if members.keys().any(|name| name != "input") {
            return Err(Failure::invalid("the body has more than an input"));
        }
    }
    Ok(decide(state, call, path))
}

/// Responds with the value at a path alone, without an envelope.
pub(crate) fn decide_v0(state: &State, call: &Call<'_>, path: &[&str]) -> Outcome {
    if !call.body.is_empty() {
        body::input(call.head, &call.body)?;
    }
    let found = state.find(path).map(Answer::ok);
    found.ok_or_else(|| Failure::missing("the decision is undefined"))
}

pub(crate) fn put(state: &mut State, call: &Call<'_>, path: &[&str]) -> Outcome {
    body::media_type(call.head, &["application/json"])?;
    let document = serde_json::from_slice(&call.body);
    let document = document.map_err(|_| Failure::invalid("the body is not JSON"))?;
    let if_none_match = call.head.headers.get(header::IF_NONE_MATCH);
    if if_none_match.is_some_and(|value| value != "*") {
        return Err(Failure::invalid("documents have no tags"));
    }
    let computed = state.modules.values().any(|module| module.computes(path));
    if computed {
        return Err(Failure::missing("a rule computes this"));
    }
    if if_none_match.is_some() && documents::find(&state.documents, path).is_some() {
        return Ok(Answer::empty(StatusCode::NOT_MODIFIED));
    }
    let mut changed = state.documents.clone();
    documents::put(&mut changed, path, document).map_err(refused)?;
    state.documents = changed;
    Ok(written(call))
}

pub(crate) fn patch(state: &mut State, call: &Call<'_>, path: &[&str]) -> Outcome {
    body::media_type(call.head, &["application/json-patch+json"])?;
    let operations = serde_json::from_slice::<Vec<Map<String, Value>>>(&call.body);
    let operations =
        operations.map_err(|_| Failure::invalid("the body is not an array of operations"))?;
    let operations = operations.iter().map(|members| operation(path, members));
    let operations = operations.collect::<Option<Vec<_>>>();
    let operations = operations.ok_or_else(|| Failure::invalid("an operation is malformed"))?;
    documents::patch(&mut state.documents, operations).map_err(refused)?;
    Ok(Answer::empty(StatusCode::NO_CONTENT))
}

pub(crate) fn delete(state: &mut State, call: &Call<'_>, path: &[&str]) -> Outcome {
    let path = path.iter().map(|key| (*key).to_owned()).collect();
    documents::patch(&mut state.documents, vec![Operation::Remove(path)]).map_err(refused)?;
    Ok(written(call))
}

/// Returns the decision at a path, in its envelope.
fn decide(state: &mut State, call: &Call<'_>, path: &[&str]) -> Answer {
    let (parsed, start) = (call.start.elapsed(), Instant::now());
    let result = state.find(path);
    let evaluated = start.elapsed();
    state.decisions += 1;
    let mut envelope = Map::new();
    let mut add = |name: &str, value| envelope.insert(name.to_owned(), value);
    add(
        "decision_id",
        json!(format!("decision/{}", state.decisions)),
    );
    if let Some(result) = result {
        add("result", result);
    }
    if call
        .parameter("explain")
        .is_some_and(|value| value != "off")
    {
        add("trace", json!([]));
    }
    if call.is_requested("provenance") {
        add("provenance", provenance());
    }
    let instrument = call.is_requested("instrument");
    if call.is_requested("metrics") || instrument {
        let mut timers = vec![("rego_input_parse", parsed), ("rego_query_eval", evaluated)];
        if instrument {
            timers.push(("query_compile_stage_look_up", evaluated));
        }
        add("metrics", metrics(call, &timers));
    }
    Answer::ok(envelope.into())
}

fn provenance() -> Value {
    json!({
        "version": "7",
        "build_commit": "r1234",
        "build_timestamp": "Thu, 01 Jan 2026 00:00:00 GMT",
        "build_host": "",
        "bundles": {},
    })
}

/// Returns these timers, in nanoseconds, with the metrics that every request has.
pub(crate) fn metrics(call: &Call<'_>, timers: &[(&str, Duration)]) -> Value {
    let all = [("server_handler", call.start.elapsed())];
    let timers = all.iter().chain(timers);
    let mut metrics: Map<String, Value> = timers
        .map(|(name, time)| (format!("timer_{name}_ns"), json!(time.as_nanos() as u64)))
        .collect();
    metrics.insert("counter_server_query_cache_hit".to_owned(), json!(0));
    metrics.into()
}

fn written(call: &Call<'_>) -> Answer {
    match call.is_requested("metrics") {
        true => Answer::ok(json!({"metrics": metrics(call, &[])})),
        false => Answer::empty(StatusCode::NO_CONTENT),
    }
}

fn refused(reason: Unchanged) -> Failure {
    match reason {
        Unchanged::Missing => Failure::missing("no document is there"),
        Unchanged::Nonsense(reason) => Failure::invalid(reason),
    }
}

/// Parses a JSON Patch operation; its path is relative to `base`.
fn operation(base: &[&str], members: &Map<String, Value>) -> Option<Operation> {
    let path = |name: &str| pointer(base, members.get(name)?.as_str()?);
    let value = || members.get("value").cloned();
    let operation = match members.get("op")?.as_str()? {
        "add" => Operation::Add(path("path")?, value()?),
        "remove" => Operation::Remove(path("path")?),
        "replace" => Operation::Replace(path("path")?, value()?),
        "move" => Operation::Move(path("from")?, path("path")?),
        "copy" => Operation::Copy(path("from")?, path("path")?),
        "test" => Operation::Test(path("path")?, value()?),
        _ => return None,
    };
    Some(operation)
}

/// Returns the segments of `base`, then those of the JSON Pointer (RFC 6901).
fn pointer(base: &[&str], pointer: &str) -> Option<Vec<String>> {
    let base = base.iter().map(|key| Some((*key).to_owned()));
    let mut tokens = pointer.split('/');
    if !tokens.next()?.is_empty() {
        return None;
    }
    let tokens = tokens.map(|token| {
        let escapes = token.split('~').skip(1);
        let sound = escapes.into_iter().all(|rest| rest.starts_with(['0', '1']));
        sound.then(|| token.replace("~1", "/").replace("~0", "~"))
    });
    base.chain(tokens).collect()
}
