//! Comparison with OPA of requests for residuals and filters, and of how their cost grows as
//! unrelated modules are added.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::Value;

use super::engine::{Bound, Bounds, Limit, Outcome, Programs, SideBySide};
use super::{median, scratch};
use crate::servers::Client;

/// Numbers of loaded modules, including the queried one.
const SIZES: &[usize] = &[1, 100, 1_000];

/// Number of alternating turns for each server; the first ones warm up.
const ROUNDS: usize = 24;
const WARM_UP: usize = 4;

/// Goal of the ratio of OPA's time in the request handler to ours.
const HANDLER: f64 = 5.0;

/// Number of requests of a turn. The first one wakes up an idle server.
const TURN: usize = 10;

/// Flag that enables OPA's media types on our server.
const VENDOR: &[&str] = &["--media-type-vendor", "opa"];

const POLICY: &str = r#"package shop

# METADATA
# scope: document
# compile:
#   unknowns: [input.orders]
include if {
	input.orders.owner == input.user.name
	not input.orders.deleted == true
}

include if {
	some region in input.user.regions
	input.orders.region == region
	input.orders.total < limits[input.user.role]
}

include if {
	is_auditor
	startswith(input.orders.number, "A-")
}

is_auditor if input.user.role in {"auditor", "admin"}

limits := {"clerk": 100, "auditor": 10000}
"#;

const USER: &str = r#"{"name": "ann", "role": "auditor", "regions": ["north", "south", "west"]}"#;

/// Measured request.
struct Question {
    label: &'static str,
    path: &'static str,
    accept: &'static str,
    body: String,
    /// Minimum ratio of the peer's response time to ours with one module loaded.
    least: f64,
}

/// Runs every measurement, also against EOPA if that is on the search path, and then compares all
/// results with their bounds.
///
/// # Errors
/// When a bound is exceeded, or a server cannot be built or fails.
pub(super) fn run() -> Outcome {
    let folder = scratch()?;
    for size in SIZES {
        write(&policies(folder.path(), *size), *size)?;
    }
    let programs = Programs::build()?;
    let mut bounds = Bounds::default();
    bounds.add(measure(&programs, folder.path())?);
    if let Some(programs) = programs.beside_eopa() {
        bounds.add(measure(&programs, folder.path())?);
    }
    bounds.check()
}

/// Returns the folder with this number of modules.
fn policies(folder: &Path, size: usize) -> PathBuf {
    folder.join(format!("policies{size}"))
}

fn measure(programs: &Programs, folder: &Path) -> Result<Vec<Bound>, Box<dyn Error>> {
    let questions = questions();
    let mut bounds = Vec::new();
    let mut smallest = Vec::new();
    for size in SIZES {
        let loaded = policies(folder, *size).display().to_string();
        let pair = programs.start(folder, (VENDOR, &[]), &[&loaded])?;
        let modules = format!("{size} modules");
        for (at, question) in questions.iter().enumerate() {
            let (ours, theirs) = compare(question, &pair, false)?;
            let what = format!("{}, {modules}, {} to ours", question.label, pair.peer.name);
            let Some(first) = smallest.get(at).copied() else {
                let least = Limit::AtLeast(question.least);
                bounds.push(Bound::new(what, theirs / ours, least));
                smallest.push(ours);
                let (ours, theirs) = compare(question, &pair, true)?;
                let what = format!(
                    "{}, in the handler, {} to ours",
                    question.label, pair.peer.name
                );
                let least = Limit::AtLeast(HANDLER.min(question.least));
                bounds.push(Bound::new(what, theirs / ours, least).towards(HANDLER));
                continue;
            };
            bounds.push(Bound::new(what, theirs / ours, Limit::Any));
            let what = format!("{}, {modules}, to one", question.label);
            bounds.push(Bound::new(what, ours / first, Limit::AtMost(2.0)));
        }
    }
    Ok(bounds)
}

fn questions() -> Vec<Question> {
    let residual = format!(
        r#"{{"query": "data.shop.include", "unknowns": ["input.orders"], "input": {{"user": {USER}}}}}"#
    );
    let filter = format!(r#"{{"input": {{"user": {USER}}}}}"#);
    let of = |label, path, accept, body: &String, least| Question {
        label,
        path,
        accept,
        body: body.clone(),
        least,
    };
    vec![
        of(
            "residual",
            "/v1/compile",
            "application/json",
            &residual,
            3.0,
        ),
        of(
            "filter as SQL",
            "/v1/compile/shop/include",
            "application/vnd.opa.sql.postgresql+json",
            &filter,
            5.0,
        ),
        of(
            "filter as UCAST",
            "/v1/compile/shop/include",
            "application/vnd.opa.ucast.all+json",
            &filter,
            5.0,
        ),
    ]
}

/// Writes the queried policy and unrelated modules into a folder.
fn write(folder: &Path, size: usize) -> Outcome {
    fs::create_dir(folder)?;
    fs::write(folder.join("shop.rego"), POLICY)?;
    for at in 1..size {
        let text = format!(
            "package other{at}\n\ndefault allow := false\n\nallow if {{\n\tinput.user == \"u{at}\"\n\
             \tsome role in input.roles\n\thelper(role)\n}}\n\nhelper(role) if startswith(role, \"r{at}\")\n"
        );
        fs::write(folder.join(format!("other{at}.rego")), text)?;
    }
    Ok(())
}

/// Returns the median times of both servers in seconds: until the response has arrived, or in the
/// handler according to their metric.
fn compare(
    question: &Question,
    pair: &SideBySide,
    in_handler: bool,
) -> Result<(f64, f64), Box<dyn Error>> {
    let (mut ours, mut theirs) = (pair.ours.client()?, pair.theirs.client()?);
    let path = match in_handler {
        true => format!("{}?metrics=true", question.path),
        false => question.path.to_owned(),
    };
    let request = Client::request_of("POST", &path, question.accept, &question.body);
    let (mut our_times, mut their_times) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        for (client, times) in [(&mut ours, &mut our_times), (&mut theirs, &mut their_times)] {
            for _ in 0..TURN {
                let time = time_request(client, &request)?;
                if round >= WARM_UP {
                    times.push(time);
                }
            }
        }
    }
    Ok((median(&mut our_times), median(&mut their_times)))
}

/// Sends a request, whose response must contain a condition; returns the time in the handler if it
/// is reported, or else of the whole response.
fn time_request(client: &mut Client, request: &[u8]) -> Result<f64, Box<dyn Error>> {
    let start = Instant::now();
    let status = client.exchange(request)?;
    let time = start.elapsed().as_secs_f64();
    let body_text = || String::from_utf8_lossy(client.body()).into_owned();
    let answer: Value = serde_json::from_slice(client.body())?;
    let condition = ["/result/queries/0/0", "/result/query/type", "/result/query"]
        .iter()
        .find_map(|path| answer.pointer(path));
    let handler = answer.pointer("/metrics/timer_server_handler_ns");
    let handler = handler.and_then(Value::as_f64).map(|time| time / 1e9);
    match condition {
        Some(condition) if status == 200 && condition.as_str() != Some("") => {
            Ok(handler.unwrap_or(time))
        }
        _ => Err(format!("no condition: {status} {}", body_text()).into()),
    }
}
