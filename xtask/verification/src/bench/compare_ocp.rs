//! Comparison with OPA Control Plane: writes and reads of definitions, in alternating turns.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::Instant;

use serde_json::json;

use super::engine::{Bound, Bounds, Limit, Outcome};
use super::{median, scratch, send_keyed, tokens};
use crate::servers::Server;
use crate::stored_evidence::on_search_path;
use crate::{release_build, report};

/// Program of OPA Control Plane.
const PROGRAM: &str = "opactl";

/// Ratio of OPA Control Plane's request times to ours: the goal, and the lower limit for any
/// machine.
const GOAL: f64 = 2.0;
const LEAST: f64 = 1.0;

/// Number of alternating turns for each server; the first ones warm up.
const TURNS: usize = 44;
const WARM_UP: usize = 4;

/// Number of requests of a turn. The first one wakes up an idle server.
const TURN: usize = 10;

/// Measured request. Later operations use the definitions that earlier ones create.
struct Operation {
    label: &'static str,
    method: &'static str,
    path: fn(usize) -> String,
    body: fn(usize) -> String,
}

const OPERATIONS: [Operation; 6] = [
    Operation {
        label: "PUT that creates a source",
        method: "PUT",
        path: |number| format!("/v1/sources/new-{number}"),
        body: |number| json!({"name": format!("new-{number}")}).to_string(),
    },
    Operation {
        label: "PUT that creates a bundle",
        method: "PUT",
        path: |number| format!("/v1/bundles/new-{number}"),
        body: |number| bundle(&format!("new-{number}"), &format!("new-{number}")),
    },
    Operation {
        label: "PUT that replaces a bundle",
        method: "PUT",
        path: |number| format!("/v1/bundles/new-{number}"),
        body: |number| bundle(&format!("new-{number}"), SHARED),
    },
    Operation {
        label: "GET",
        method: "GET",
        path: |number| format!("/v1/bundles/new-{number}"),
        body: |_| String::new(),
    },
    Operation {
        label: "list of 100",
        method: "GET",
        path: |_| "/v1/bundles?limit=100".to_owned(),
        body: |_| String::new(),
    },
    Operation {
        label: "DELETE",
        method: "DELETE",
        path: |number| format!("/v1/bundles/new-{number}"),
        body: |_| String::new(),
    },
];

/// Source that all preloaded bundles use.
const SHARED: &str = "shared";

/// Measures every operation at each number of bundles, and compares the ratios with their bounds.
///
/// # Errors
/// When the program is not on the search path, a bound is exceeded, or a server fails.
pub(super) fn run(sizes: &[usize], program: Option<&Path>) -> Outcome {
    let theirs = on_search_path(PROGRAM);
    let theirs = theirs.ok_or_else(|| format!("`{PROGRAM}` is not on the search path"))?;
    let ours = match program {
        Some(program) => program.to_owned(),
        None => release_build::reference()?,
    };
    let mut bounds = Bounds::default();
    for bundles in sizes {
        bounds.add(measure(&ours, &theirs, *bundles)?);
    }
    bounds.check()
}

fn measure(ours: &Path, theirs: &Path, bundles: usize) -> Result<Vec<Bound>, Box<dyn Error>> {
    let folder = scratch()?;
    let ours = start_ours(ours, folder.path())?;
    let theirs = start_theirs(theirs, folder.path())?;
    report("filling", &format!("{bundles} bundles"));
    fill(&ours, bundles)?;
    fill(&theirs, bundles)?;
    let mut bounds = Vec::new();
    for operation in &OPERATIONS {
        let [ours, theirs] = compare(operation, [&ours, &theirs])?;
        let what = format!("{} at {bundles} bundles, OCP to ours", operation.label);
        bounds.push(Bound::new(what, theirs / ours, Limit::AtLeast(LEAST)).towards(GOAL));
    }
    Ok(bounds)
}

/// Returns the median time of an operation on each server, in milliseconds.
fn compare(
    operation: &Operation,
    [ours, theirs]: [&Server; 2],
) -> Result<[f64; 2], Box<dyn Error>> {
    let mut clients = [(ours.client()?, Vec::new()), (theirs.client()?, Vec::new())];
    for turn in 0..TURNS {
        for (client, taken) in &mut clients {
            for number in turn * TURN..(turn + 1) * TURN {
                let path = (operation.path)(number);
                let start = Instant::now();
                send_keyed(client, operation.method, &path, &(operation.body)(number))?;
                if turn >= WARM_UP {
                    taken.push(start.elapsed().as_secs_f64() * 1000.0);
                }
            }
        }
    }
    Ok(clients.map(|(_, mut taken)| median(&mut taken)))
}

/// Stores a source, and bundles that use it.
fn fill(server: &Server, bundles: usize) -> Outcome {
    let mut client = server.client()?;
    let source = json!({"name": SHARED}).to_string();
    send_keyed(
        &mut client,
        "PUT",
        &format!("/v1/sources/{SHARED}"),
        &source,
    )?;
    for number in 0..bundles {
        let name = format!("bundle-{number:06}");
        let path = format!("/v1/bundles/{name}");
        send_keyed(&mut client, "PUT", &path, &bundle(&name, SHARED))?;
    }
    Ok(())
}

fn bundle(name: &str, source: &str) -> String {
    json!({"name": name, "requirements": [{"source": source}]}).to_string()
}

fn start_ours(program: &Path, folder: &Path) -> Result<Server, Box<dyn Error>> {
    let config = folder.join("ours.json");
    fs::write(&config, json!({"tokens": tokens()}).to_string())?;
    let database = format!("sqlite://{}", folder.join("ours.db").display());
    let config = config.display().to_string();
    let arguments = [
        "control",
        "--no-builder",
        "--config",
        &config,
        "--database",
        &database,
    ];
    Server::start(program, &arguments, folder)
}

fn start_theirs(program: &Path, folder: &Path) -> Result<Server, Box<dyn Error>> {
    let config = folder.join("theirs.json");
    // Database settings that match ours.
    let settings = "_pragma=foreign_keys(1)&_pragma=journal_mode(WAL)&_txlock=immediate";
    let dsn = format!("file:{}?{settings}", folder.join("theirs.db").display());
    let database = json!({"sql": {"driver": "sqlite3", "dsn": dsn}});
    let text = json!({"database": database, "tokens": tokens()}).to_string();
    fs::write(&config, text)?;
    let config = config.display().to_string();
    let data = folder.join("data").display().to_string();
    let arguments = ["run", "--config", &config, "--data-dir", &data];
    Server::start(program, &arguments, folder)
}
