//! The evaluator alone: the time that each server says it took.

use std::error::Error;
use std::ffi::OsString;

use serde_json::Value;

use super::pair::Pair;
use super::{Bound, Wanted, load, median};
use crate::cargo::cargo;
use crate::postgres::done;
use crate::root;
use crate::servers::Client;
use rego_generate::measured::{self, Policy};

/// Answers of each server, in turns, after those that warm up.
const ROUNDS: usize = 300;
const WARM_UP: usize = 50;

/// Asks both servers for the same decisions and compares the medians.
pub(super) fn measure(pair: &mut Pair) -> Result<Vec<Bound>, Box<dyn Error>> {
    let (mut ours, mut opa) = (pair.ours.client()?, pair.opa.client()?);
    let mut bounds = Vec::new();
    for policy in measured::ALL {
        load(&mut ours, policy)?;
        load(&mut opa, policy)?;
        let ratio = compare(policy, &mut ours, &mut opa)?;
        let what = format!("evaluator, {}, OPA to ours", policy.told);
        bounds.push(Bound::new(what, ratio, Wanted::AtLeast(4.0)));
    }
    Ok(bounds)
}

fn compare(policy: &Policy, ours: &mut Client, opa: &mut Client) -> Result<f64, Box<dyn Error>> {
    let path = format!("/v1/data/{}/allow?metrics=true", policy.name);
    let question = policy.question();
    let (mut our_times, mut opa_times) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS + WARM_UP {
        let (our_result, our_time) = ask(ours, &path, &question)?;
        let (opa_result, opa_time) = ask(opa, &path, &question)?;
        if our_result != opa_result {
            return Err(format!("{}: {our_result} is not {opa_result}", policy.name).into());
        }
        if round >= WARM_UP {
            our_times.push(our_time);
            opa_times.push(opa_time);
        }
    }
    Ok(median(&mut opa_times) / median(&mut our_times))
}

/// The result, and the nanoseconds of its evaluation.
fn ask(client: &mut Client, path: &str, question: &str) -> Result<(Value, f64), Box<dyn Error>> {
    let answer: Value = serde_json::from_slice(client.ok("POST", path, question)?)?;
    let time = answer.pointer("/metrics/timer_rego_query_eval_ns");
    let time = time.and_then(Value::as_f64).ok_or("no evaluation time")?;
    let result = answer.get("result").ok_or("no result")?;
    Ok((result.clone(), time))
}

/// Compares the evaluator with regorus, both in one process: what they answer (`test`), and how
/// fast (`run`), the latter with arguments that choose cases.
pub(super) fn beside_regorus(tasks: &[&str], arguments: &[OsString]) -> Result<(), Box<dyn Error>> {
    for task in tasks {
        let mut command = cargo();
        command
            .current_dir(root().join("xtask/proofs/beside_regorus"))
            .args([task, "--quiet", "--release", "--target-dir"])
            .arg(root().join("target/beside_regorus"))
            .arg("--")
            .args(arguments);
        done(&mut command)?;
    }
    Ok(())
}
