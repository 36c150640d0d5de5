//! Generated policies: our answers beside those of regorus, where it takes the policy.

#![expect(clippy::panic, reason = "a test says by a panic what is wrong")]

use std::cell::Cell;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{TestError, TestRunner};
use rego::value::from_json;
use rego::{Answer, Compiler, Evaluation, Module, Policy, Query, QueryOptions, Value};
use rego_generate::Choices;

/// How many policies are made.
const CASES: u32 = 400;

/// So many of the policies both must take, and so many of the questions to those both must
/// answer with a value; much of the language is unknown to regorus.
const TAKEN: u32 = 100;
const DEFINED: u32 = 300;

#[test]
fn both_answer_alike() {
    let (taken, defined, undefined) = (Cell::new(0_u32), Cell::new(0_u32), Cell::new(0_u32));
    let count = |counter: &Cell<u32>| counter.set(counter.get() + 1);
    let mut runner = TestRunner::new(ProptestConfig {
        cases: CASES,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let judged = runner.run(&vec(any::<u8>(), 0..600), |bytes| {
        let mut choices = Choices::new(&bytes);
        let input = rego_generate::input(&mut choices);
        let module = rego_generate::module(&mut choices);
        let (Some(policy), Some(mut theirs)) = (ours(&module), theirs(&module, input)) else {
            return Ok(());
        };
        count(&taken);
        for rule in rego_generate::QUERIES {
            // What one of the two refuses or cannot decide is no answer to compare.
            let (Some(our), Ok(their)) = (
                ask(&policy, rule, input),
                theirs.eval_query((*rule).to_owned(), false),
            ) else {
                continue;
            };
            let their = their
                .result
                .first()
                .and_then(|result| result.expressions.first());
            let their = their.and_then(|expression| expression.value.to_json_str().ok());
            let their = their.and_then(|text| from_json(text.as_bytes()).ok());
            count(if our.is_some() { &defined } else { &undefined });
            prop_assert_eq!(our, their, "{} of {} with input {}", rule, module, input);
        }
        Ok(())
    });
    if let Err(TestError::Fail(why, _)) = judged {
        panic!("{why}");
    }
    let (taken, defined) = (taken.get(), defined.get());
    assert!(
        taken >= TAKEN && defined >= DEFINED,
        "both took {taken} of {CASES} policies, and {defined} answers were values, {} none",
        undefined.get()
    );
}

fn ours(module: &str) -> Option<Policy> {
    let module = Module::parse("m.rego", module).ok()?;
    Compiler::new(&Policy::default())
        .put("m.rego", module)
        .compile()
        .ok()
}

fn theirs(module: &str, input: &str) -> Option<regorus::Engine> {
    let mut engine = regorus::Engine::new();
    engine
        .add_policy("m.rego".to_owned(), module.to_owned())
        .ok()?;
    engine
        .add_data(regorus::Value::from_json_str(rego_generate::documents()).ok()?)
        .ok()?;
    engine.set_input(regorus::Value::from_json_str(input).ok()?);
    engine.set_strict_builtin_errors(false);
    Some(engine)
}

/// The document as JSON has it, or that there is none; nothing when the evaluation fails.
fn ask(policy: &Policy, rule: &str, input: &str) -> Option<Option<Value>> {
    let documents = from_json(rego_generate::documents().as_bytes()).ok()?;
    let query = Query::parse(policy, rule, &QueryOptions::default()).ok()?;
    let mut evaluation = Evaluation::new(&documents);
    evaluation.input = from_json(input.as_bytes()).ok();
    let answers = query.evaluate(&mut evaluation).ok()?;
    let document = answers.into_iter().next().and_then(Answer::into_document);
    Some(document.and_then(|value| from_json(value.to_string().as_bytes()).ok()))
}
