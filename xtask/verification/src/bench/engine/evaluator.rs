//! Evaluation time, as reported by each server.

use std::error::Error;
use std::ffi::OsString;

use serde_json::Value;

use super::side_by_side::{SideBySide, TIMER};
use super::{Bound, Limit, load, median};
use crate::cargo::cargo;
use crate::command::complete;
use crate::root;
use crate::servers::Client;
use rego_generate::measured::{self, Policy};

/// Number of measured responses of each server, in turns, after those of the warm-up.
const ROUNDS: usize = 300;
const WARM_UP: usize = 50;

/// Maximum document size, in bytes, of policies for in-process measurements that are also measured
/// on servers: other servers are slow with larger documents.
const SMALL: usize = 1 << 20;

/// Requests the same decisions from both servers and compares the medians.
pub(super) fn measure(pair: &SideBySide) -> Result<Vec<Bound>, Box<dyn Error>> {
    let (mut ours, mut theirs) = (pair.ours.client()?, pair.theirs.client()?);
    let mut bounds = Vec::new();
    let small = |policy: &&Policy| policy.documents().len() < SMALL;
    let served = measured::ALL.iter();
    let served = served.map(|policy| (policy, pair.peer.evaluator));
    let hidden = measured::IN_PROCESS.iter().filter(small);
    for (policy, least) in served.chain(hidden.map(|policy| (policy, pair.peer.small))) {
        load(&mut ours, policy)?;
        load(&mut theirs, policy)?;
        let ratio = compare(policy, (&mut ours, TIMER), (&mut theirs, pair.peer.timer))?;
        let what = format!("evaluator, {}, {} to ours", policy.told, pair.peer.name);
        bounds.push(Bound::new(what, ratio, Limit::AtLeast(least)));
    }
    Ok(bounds)
}

/// Returns the ratio of the other server's evaluation time to ours, both from the metrics in their
/// responses.
fn compare(
    policy: &Policy,
    ours: (&mut Client, &str),
    theirs: (&mut Client, &str),
) -> Result<f64, Box<dyn Error>> {
    let path = format!("/v1/data/{}/allow?metrics=true", policy.name);
    let question = policy.question();
    let (mut our_times, mut their_times) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS + WARM_UP {
        let (our_result, our_time) = time_request(ours.0, ours.1, &path, &question)?;
        let (their_result, their_time) = time_request(theirs.0, theirs.1, &path, &question)?;
        if our_result != their_result {
            return Err(format!("{}: {our_result} is not {their_result}", policy.name).into());
        }
        if round >= WARM_UP {
            our_times.push(our_time);
            their_times.push(their_time);
        }
    }
    Ok(median(&mut their_times) / median(&mut our_times))
}

/// Requests a decision; returns the result, and its evaluation time in nanoseconds from this
/// metric.
fn time_request(
    client: &mut Client,
    timer: &str,
    path: &str,
    question: &str,
) -> Result<(Value, f64), Box<dyn Error>> {
    let answer: Value = serde_json::from_slice(client.ok("POST", path, question)?)?;
    let time = answer.get("metrics").and_then(|all| all.get(timer));
    let time = time.and_then(Value::as_f64).ok_or("no evaluation time")?;
    let result = answer.get("result").ok_or("no result")?;
    Ok((result.clone(), time))
}

/// Runs the package that compares the evaluator with regorus in one process: their results (task
/// `test`) and their speed (task `run`), the latter with arguments that select cases.
pub(super) fn beside_regorus(tasks: &[&str], arguments: &[OsString]) -> Result<(), Box<dyn Error>> {
    for task in tasks {
        let mut command = cargo();
        command
            .current_dir(root().join("xtask/verification/beside_regorus"))
            .args([task, "--quiet", "--release", "--target-dir"])
            .arg(root().join("target/beside_regorus"))
            .arg("--")
            .args(arguments);
        complete(&mut command)?;
    }
    Ok(())
}
