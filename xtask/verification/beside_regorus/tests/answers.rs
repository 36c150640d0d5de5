//! Results of generated policies, compared with regorus where it accepts the policy.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use rego::value::from_json;
use rego::{Compiler, Evaluation, Module, Policy, Query, QueryOptions, Solution, Value};
use rego_generate::Choices;

/// Number of generated policies.
const CASES: u32 = 400;

/// Minimum number of policies that both evaluators accept, and of queries to which both give a
/// value; regorus does not support much of the language.
const TAKEN: u32 = 100;
const DEFINED: u32 = 300;

/// One in this many policies may have a different answer: regorus differs from OPA in negated calls
/// with undefined operands, modifiers that need evaluation, and some functions. `cargo xtask
/// fuzz-opa` compares the same policies with OPA.
const DIFFERING: u32 = 10;

#[derive(Debug, Default)]
struct Tally {
    taken: u32,
    defined: u32,
    undefined: u32,
    differing: Vec<String>,
}

#[test]
fn both_answer_alike() {
    let tally = RefCell::new(Tally::default());
    let config = ProptestConfig {
        cases: CASES,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    // A fixed seed, because a minimum number of policies must be accepted.
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let judged = runner.run(&vec(any::<u8>(), 0..600), |bytes| {
        compare(&bytes, &mut tally.borrow_mut());
        Ok(())
    });
    assert_eq!(judged, Ok(()));
    let Tally {
        taken,
        defined,
        undefined,
        differing,
    } = tally.into_inner();
    let differ = u32::try_from(differing.len()).unwrap_or(u32::MAX);
    assert!(
        taken >= TAKEN && defined >= DEFINED && differ * DIFFERING <= taken,
        "both took {taken} of {CASES} policies; {defined} answers were values, {undefined} none; \
         {differ} policies differ:\n{}",
        differing.join("\n")
    );
}

fn compare(bytes: &[u8], tally: &mut Tally) {
    let mut choices = Choices::new(bytes);
    let input = rego_generate::input(&mut choices);
    let module = rego_generate::module(&mut choices);
    let (Some(policy), Some(mut theirs)) = (ours(&module), theirs(&module, input)) else {
        return;
    };
    tally.taken += 1;
    for rule in rego_generate::QUERIES {
        // A query that either of them rejects or fails to evaluate is not compared.
        let Some(our) = evaluate(&policy, rule, input) else {
            continue;
        };
        let evaluation = AssertUnwindSafe(|| theirs.eval_query((*rule).to_owned(), false));
        let their = match catch_unwind(evaluation) {
            Ok(Ok(their)) => their,
            Ok(Err(_)) => continue,
            // Some generated policies make regorus panic, which leaves its engine unusable.
            Err(_) => return,
        };
        let their = their
            .result
            .first()
            .and_then(|result| result.expressions.first());
        let their = their.and_then(|expression| expression.value.to_json_str().ok());
        let their = their.and_then(|text| from_json(text.as_bytes()).ok());
        if our != their {
            let differs = format!("{rule} of {module} with input {input}: {our:?}, {their:?}");
            tally.differing.push(differs);
            return;
        }
        match our {
            Some(_) => tally.defined += 1,
            None => tally.undefined += 1,
        }
    }
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

/// Returns the value of a query as JSON, the inner none if it is undefined, the outer none on an
/// error.
fn evaluate(policy: &Policy, rule: &str, input: &str) -> Option<Option<Value>> {
    let documents = from_json(rego_generate::documents().as_bytes()).ok()?;
    let query = Query::parse(policy, rule, &QueryOptions::default()).ok()?;
    let mut evaluation = Evaluation::new(&documents);
    evaluation.input = from_json(input.as_bytes()).ok();
    let answers = query.evaluate(&mut evaluation).ok()?;
    let document = answers.into_iter().next().and_then(Solution::into_document);
    Some(document.and_then(|value| from_json(value.to_string().as_bytes()).ok()))
}
