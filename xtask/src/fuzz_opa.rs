//! Compares generated policies and queries with the real OPA.

use std::cell::RefCell;
use std::error::Error;

use proptest::collection::vec;
use proptest::prelude::any;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use rego::value::from_json;
use rego::{Compiler, Evaluation, Module, Policy, Query, Value};
use rego_generate::Choices;
use serde_json::json;

use crate::servers::{Client, Server};
use crate::{peers, report};

/// The bytes that decide a policy.
const BYTES: usize = 400;

/// Asks both for the same until they differ: which policies they take and what those answer,
/// and with `exact` also which mistakes they find in the others, and where.
///
/// # Errors
/// With the smallest case in which they differ, or when OPA cannot be built or asked.
pub(crate) fn run(cases: u32, seed: u64, exact: bool) -> Result<(), Box<dyn Error>> {
    let program = peers::build()?;
    let folder = tempfile::tempdir()?;
    let opa = Server::start(&program, peers::SERVE, folder.path())?;
    let mut client = opa.client()?;
    client.ok("PUT", "/v1/data", rego_generate::documents())?;
    let client = RefCell::new(client);
    let config = Config {
        cases,
        max_shrink_iters: 4_000,
        failure_persistence: None,
        ..Config::default()
    };
    let mut bytes = [0; 32];
    let (start, _) = bytes.split_at_mut(8);
    start.copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let judged = runner.run(&vec(any::<u8>(), 0..BYTES), |bytes| {
        compare(&mut client.borrow_mut(), &bytes, exact).map_err(TestCaseError::fail)
    });
    match judged {
        Ok(()) => {
            report(
                "the same",
                &format!(
                    "{cases} policies, each with {} queries",
                    rego_generate::QUERIES.len()
                ),
            );
            Ok(())
        }
        Err(TestError::Fail(why, _)) => Err(why.message().into()),
        Err(TestError::Abort(why)) => Err(why.message().into()),
    }
}

/// Compares one policy and all of its queries.
fn compare(client: &mut Client, bytes: &[u8], exact: bool) -> Result<(), String> {
    let mut choices = Choices::new(bytes);
    let input = rego_generate::input(&mut choices);
    let module = rego_generate::module(&mut choices);
    let policy = compile(&module);
    let theirs = put(client, &module)?;
    let ours = match &policy {
        Ok(_) => Vec::new(),
        Err(errors) => places(errors),
    };
    let differ = |query: &str, ours: &str, theirs: &str| {
        format!("{module}\nquery: {query}\ninput: {input}\nours: {ours}\nOPA:  {theirs}")
    };
    if ours.is_empty() != theirs.is_empty() || (exact && ours != theirs) {
        return Err(differ("none", &format!("{ours:?}"), &format!("{theirs:?}")));
    }
    let Ok(policy) = policy else {
        return Ok(());
    };
    for query in rego_generate::QUERIES {
        let text = format!("x = {query}");
        let ours = ask(&policy, &text, input);
        let theirs = ask_opa(client, &text, input)?;
        if ours != theirs {
            return Err(differ(query, &ours.to_string(), &theirs.to_string()));
        }
    }
    Ok(())
}

fn compile(text: &str) -> Result<Policy, rego::Errors> {
    let module = Module::parse("m.rego", text)?;
    let documents = documents();
    Compiler::new(&Policy::default())
        .put("m.rego", module)
        .documents(&documents)
        .compile()
}

fn documents() -> Value {
    from_json(rego_generate::documents().as_bytes()).unwrap_or(Value::Null)
}

/// The codes and places of all mistakes, in order of their places.
fn places(errors: &rego::Errors) -> Vec<String> {
    let places = errors.0.iter().map(|error| {
        let at = error.location.as_ref().map(|at| (at.row, at.col));
        format!("{} {:?}", error.code.as_str(), at.unwrap_or_default())
    });
    sorted(places.collect())
}

fn sorted(mut places: Vec<String>) -> Vec<String> {
    places.sort();
    places.dedup();
    places
}

/// What OPA finds wrong with a module.
fn put(client: &mut Client, module: &str) -> Result<Vec<String>, String> {
    let request = Client::request("PUT", "/v1/policies/m.rego", module);
    let status = client.exchange(&request).map_err(|why| why.to_string())?;
    if status == 200 {
        return Ok(Vec::new());
    }
    let answer: serde_json::Value =
        serde_json::from_slice(client.body()).map_err(|why| why.to_string())?;
    let errors = answer
        .get("errors")
        .and_then(serde_json::Value::as_array)
        .cloned();
    let places = errors.unwrap_or_default();
    let places = places.iter().map(|error| {
        let number = |name: &str| {
            error
                .pointer(&format!("/location/{name}"))
                .and_then(serde_json::Value::as_u64)
        };
        let at = (number("row").unwrap_or(0), number("col").unwrap_or(0));
        format!(
            "{} {at:?}",
            error
                .get("code")
                .and_then(serde_json::Value::as_str)
                .unwrap_or_default()
        )
    });
    Ok(sorted(places.collect()))
}

/// The bindings of a query's answers, or the code and place of what failed.
fn ask(policy: &Policy, query: &str, input: &str) -> Value {
    let documents = documents();
    let query = match Query::parse(policy, query, &rego::QueryOptions::default()) {
        Ok(query) => query,
        Err(errors) => return Value::from(places(&errors).join(", ")),
    };
    let mut evaluation = Evaluation::new(&documents);
    evaluation.input = from_json(input.as_bytes())
        .ok()
        .filter(|input| *input != Value::Null);
    match query.evaluate(&mut evaluation) {
        Ok(answers) => {
            let answers = answers.iter().map(rego::Answer::to_value);
            from_json(
                Value::from(answers.collect::<Vec<_>>())
                    .to_string()
                    .as_bytes(),
            )
            .unwrap_or(Value::Null)
        }
        Err(error) => {
            let at = error
                .location
                .as_ref()
                .map(|at| (at.row, at.col))
                .unwrap_or_default();
            Value::from(format!("{} {at:?}", error.code.as_str()))
        }
    }
}

fn ask_opa(client: &mut Client, query: &str, input: &str) -> Result<Value, String> {
    let input: serde_json::Value = serde_json::from_str(input).map_err(|why| why.to_string())?;
    let body = json!({"query": query, "input": input}).to_string();
    let request = Client::request("POST", "/v1/query", &body);
    client.exchange(&request).map_err(|why| why.to_string())?;
    let answer = from_json(client.body()).map_err(|why| why.to_string())?;
    let Some(errors) = answer.get("errors").and_then(Value::as_array) else {
        let result = answer.get("result").cloned();
        return Ok(result.unwrap_or_else(|| Value::from(Vec::new())));
    };
    let places = errors.iter().map(|error| {
        let location = error.get("location");
        let number = |name: &str| {
            location
                .and_then(|at| at.get(name))
                .map_or("0".to_owned(), Value::to_string)
        };
        let code = error
            .get("code")
            .and_then(Value::as_str)
            .unwrap_or_default();
        format!("{code} ({}, {})", number("row"), number("col"))
    });
    Ok(Value::from(sorted(places.collect()).join(", ")))
}
