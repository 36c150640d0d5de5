//! Compares the evaluator with regorus' interpreter on the policies that benchmarks evaluate, in
//! turns in one process, and fails when it is slower.

use std::error::Error;
use std::io::{Write, stdout};
use std::process::ExitCode;
use std::time::Instant;

use rego::value::from_json;
use rego::{Compiler, Evaluation, Module, Policy, Query, Solution, Value};
use rego_generate::measured::{self, Policy as Measured};

const ROUNDS: usize = 200;
const WARM_UP: usize = 20;
/// What is lost to noise is no slowness.
const BOUND: f64 = 1.1;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut slow = false;
    for measured in measured::ALL {
        let ratio = compare(measured)?;
        slow |= ratio > BOUND;
        writeln!(
            stdout(),
            "evaluator, {}, ours to regorus: {ratio:.2}x (at most {BOUND}x)",
            measured.told
        )?;
    }
    Ok(if slow {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

fn compare(measured: &Measured) -> Result<f64, Box<dyn Error>> {
    let documents = format!(r#"{{"{}_data":{}}}"#, measured.name, measured.documents());
    let input = from_json(measured.input().as_bytes())?;
    let (ours, documents_of_ours) = prepare(measured, &documents)?;

    let mut theirs = regorus::Engine::new();
    theirs.add_policy(measured.name.to_owned(), measured.text.to_owned())?;
    theirs.add_data(regorus::Value::from_json_str(&documents)?)?;
    theirs.set_input(regorus::Value::from_json_str(&measured.input())?);
    let rule = measured.query();

    let (mut our_times, mut their_times) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS + WARM_UP {
        let begun = Instant::now();
        let mut evaluation = Evaluation::new(&documents_of_ours);
        evaluation.input = Some(input.clone());
        let answers = ours.evaluate(&mut evaluation)?;
        let our_time = begun.elapsed();
        let begun = Instant::now();
        let their_result = theirs.eval_rule(rule.clone())?;
        let their_time = begun.elapsed();
        let our_result = answers.into_iter().next().and_then(Solution::into_document);
        let our_result = our_result.map(|value: Value| value.to_string());
        if our_result != Some(their_result.to_json_str()?) {
            return Err(format!("{}: {our_result:?} is not {their_result}", measured.name).into());
        }
        if round >= WARM_UP {
            our_times.push(our_time.as_secs_f64());
            their_times.push(their_time.as_secs_f64());
        }
    }
    Ok(median(our_times) / median(their_times))
}

fn prepare(measured: &Measured, documents: &str) -> Result<(Query, Value), Box<dyn Error>> {
    let module = Module::parse(measured.name, measured.text)?;
    let policy = Compiler::new(&Policy::default())
        .put(measured.name, module)
        .compile()?;
    let path = [Value::from(measured.name), Value::from("allow")];
    let query = Query::document(&policy, &path)?;
    Ok((query, from_json(documents.as_bytes())?))
}

fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples.get(samples.len() / 2).copied().unwrap_or(f64::NAN)
}
