//! Measurement of one case in alternating turns.

use std::error::Error;
use std::time::{Duration, Instant};

use rego::value::from_json;
use rego::{Compiler, Evaluation, Module, Policy, Query, Value, Version};
use regorus::languages::rego::compiler::Compiler as Assembler;
use regorus::rvm::vm::RegoVM;
use serde_json::Value as Json;

use crate::case::Case;

/// Minimum duration of a turn, so that the resolution of the clock does not matter.
const TURN: Duration = Duration::from_micros(20);
/// Limits of the number of turns of a case: as many as fit in `TIME`, but at least `FEWEST` and at
/// most `MOST`.
const TIME: Duration = Duration::from_secs(3);
const FEWEST: usize = 10;
const MOST: usize = 400;
const WARM_UP: usize = 10;

/// If the first answers of our evaluator, the interpreter and the RVM take longer than `LONG`,
/// `FEW` turns are enough.
const LONG: Duration = Duration::from_millis(200);
const FEW: usize = 3;

/// Median times of one answer, in seconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    pub(crate) ours: f64,
    pub(crate) interpreter: f64,
    pub(crate) rvm: f64,
}

/// Prepared query of our evaluator.
pub(crate) struct Ours {
    query: Query,
    documents: Value,
}

/// Prepared engine and virtual machine of regorus.
struct Theirs {
    engine: regorus::Engine,
    machine: RegoVM,
    rule: String,
    input: regorus::Value,
}

/// Checks that our evaluator, the interpreter and the RVM give the same answer, and measures their
/// times.
pub(crate) fn compare(case: &Case) -> Result<Times, Box<dyn Error>> {
    let ours = Ours::prepare(case)?;
    let mut theirs = Theirs::prepare(case)?;
    let input = case.own_input()?;
    let start = Instant::now();
    let answer = ours.answer(&input)?.map(|value| value.to_string());
    let answer: Option<Json> = answer.as_deref().map(serde_json::from_str).transpose()?;
    for their in [theirs.interpreted()?, theirs.executed()?] {
        let their = (their != regorus::Value::Undefined).then_some(their);
        let their = their.map(|value| value.to_json_str()).transpose()?;
        let their: Option<Json> = their.as_deref().map(serde_json::from_str).transpose()?;
        if answer != their {
            return Err(format!("{}: {answer:?} is not {their:?}", case.name).into());
        }
    }
    let mut calls = [1; 3];
    let (mut our, mut interpreter, mut rvm) = (Vec::new(), Vec::new(), Vec::new());
    let (fewest, warm_up) = match start.elapsed() < LONG {
        true => (FEWEST, WARM_UP),
        false => (FEW, 0),
    };
    let start = Instant::now();
    while our.len() < MOST + warm_up && (our.len() < fewest + warm_up || start.elapsed() < TIME) {
        let [ours_calls, interpreter_calls, rvm_calls] = &mut calls;
        our.push(turn(ours_calls, || ours.answer(&input).map(drop))?);
        interpreter.push(turn(interpreter_calls, || theirs.interpreted().map(drop))?);
        rvm.push(turn(rvm_calls, || theirs.executed().map(drop))?);
    }
    Ok(Times {
        ours: warmed_up(our, warm_up),
        interpreter: warmed_up(interpreter, warm_up),
        rvm: warmed_up(rvm, warm_up),
    })
}

/// Runs only our evaluator on a case for a while.
pub(crate) fn repeat(case: &Case) -> Result<(), Box<dyn Error>> {
    let ours = Ours::prepare(case)?;
    let input = case.own_input()?;
    let start = Instant::now();
    let mut calls = 1;
    while start.elapsed() < TIME {
        turn(&mut calls, || ours.answer(&input).map(drop))?;
    }
    Ok(())
}

/// Returns the average time of a call, in seconds, after an uncounted call that warms the caches.
/// Doubles the number of calls of the next turn if this turn was short.
fn turn(
    calls: &mut u32,
    mut call: impl FnMut() -> Result<(), Box<dyn Error>>,
) -> Result<f64, Box<dyn Error>> {
    call()?;
    let start = Instant::now();
    for _ in 0..*calls {
        call()?;
    }
    let elapsed = start.elapsed();
    let time = elapsed.as_secs_f64() / f64::from(*calls);
    if elapsed < TURN {
        *calls *= 2;
    }
    Ok(time)
}

impl Ours {
    pub(crate) fn prepare(case: &Case) -> Result<Self, Box<dyn Error>> {
        let version = match case.is_v0 {
            true => Version::V0,
            false => Version::V1,
        };
        let module = Module::parse_as("policy.rego", &case.text, version)?;
        let policy = Compiler::new(&Policy::default())
            .put("policy.rego", module)
            .compile()?;
        let path = case.rule.each_ref().map(|step| Value::from(step.as_str()));
        Ok(Self {
            query: Query::document(&policy, &path)?,
            documents: from_json(case.documents.as_bytes())?,
        })
    }

    pub(crate) fn answer(&self, input: &Value) -> Result<Option<Value>, Box<dyn Error>> {
        let mut evaluation = Evaluation::new(&self.documents);
        evaluation.input = Some(input.clone());
        Ok(self.query.decide(&mut evaluation)?)
    }
}

impl Theirs {
    fn prepare(case: &Case) -> Result<Self, Box<dyn Error>> {
        let rule = format!("data.{}", case.rule.join("."));
        let documents = regorus::Value::from_json_str(&case.documents)?;
        let mut engine = regorus::Engine::new();
        engine.set_rego_v0(case.is_v0);
        engine.add_policy("policy.rego".to_owned(), case.text.clone())?;
        engine.add_data(documents.clone())?;
        let compiled = engine.compile_with_entrypoint(&rule.as_str().into())?;
        let mut machine = RegoVM::new();
        machine.load_program(Assembler::compile_from_policy(&compiled, &[&rule])?);
        machine.set_max_instructions(usize::MAX);
        machine.set_data(documents)?;
        Ok(Self {
            engine,
            machine,
            rule,
            input: regorus::Value::from_json_str(&case.input)?,
        })
    }

    fn interpreted(&mut self) -> Result<regorus::Value, Box<dyn Error>> {
        self.engine.set_input(self.input.clone());
        Ok(self.engine.eval_rule(self.rule.clone())?)
    }

    fn executed(&mut self) -> Result<regorus::Value, Box<dyn Error>> {
        self.machine.set_input(self.input.clone());
        Ok(self.machine.execute_entry_point_by_name(&self.rule)?)
    }
}

/// Median of the samples after the warm-up.
fn warmed_up(samples: Vec<f64>, warm_up: usize) -> f64 {
    median(samples.into_iter().skip(warm_up).collect())
}

/// Median of the samples.
pub(crate) fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples.get(samples.len() / 2).copied().unwrap_or(f64::NAN)
}
