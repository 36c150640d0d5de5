//! Start-up time and memory with a large amount of data.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Map, json};

use super::scaling::{LARGE, module, users};
use super::side_by_side::Programs;
use super::{Bound, Limit};
use crate::bundles::archive::packed;
use crate::report;
use crate::servers::Server;

/// Number of policies that are loaded together.
const POLICIES: usize = 5_300;

/// Number of bundles that are loaded together.
const BUNDLES: usize = 64;

/// Number of starts of each program in each case; the shortest counts.
const ROUNDS: usize = 3;

/// Time limit for readiness after the start: EOPA can take a minute to read 100 MB.
const READY_TIMEOUT: Duration = Duration::from_secs(120);

/// Goals for a start of our engine, which are only reported: they depend on the machine.
struct Goal {
    seconds: f64,
    megabytes: Option<f64>,
}

const JSON: Goal = Goal {
    seconds: 0.5,
    // A bound relative to the size of the documents applies instead.
    megabytes: None,
};
const MANY: Goal = Goal {
    seconds: 0.4,
    megabytes: Some(80.0),
};
const SMALL: Goal = Goal {
    seconds: 0.1,
    megabytes: None,
};

/// Measured cost of a start.
struct Cost {
    seconds: f64,
    /// Resident memory after the start, in bytes.
    memory: f64,
    /// Peak resident memory, in bytes.
    peak: f64,
}

/// Measures starts with a document of 100 MB, with 5,300 policies, and with 64 bundles.
pub(super) fn measure(programs: &Programs, folder: &Path) -> Result<Vec<Bound>, Box<dyn Error>> {
    let mut bounds = Vec::new();
    let both = |arguments: &[&str], ready: &str| -> Result<_, Box<dyn Error>> {
        let ours = cost(
            &programs.ours,
            &[&["engine"], arguments].concat(),
            ready,
            folder,
        )?;
        let peer = &programs.peer;
        let theirs = cost(
            &programs.theirs,
            &[peer.serve, arguments].concat(),
            ready,
            folder,
        )?;
        Ok((ours, (peer.name, theirs)))
    };
    let document = folder.join("users.json");
    fs::write(&document, format!(r#"{{"large":{}}}"#, users(LARGE)))?;
    #[expect(clippy::cast_precision_loss, reason = "a ratio of sizes")]
    let bytes = fs::metadata(&document)?.len() as f64;
    let (ours, peer) = both(&[&display_path(&document)], "/v1/data/large/user-0005000")?;
    bounds.extend(compared("100 MB of JSON", (&ours, &peer), &JSON, 3.0));
    let to_bytes = |what, memory: f64, most| {
        let what = format!("{what} memory with 100 MB of JSON, to its bytes");
        Bound::new(what, memory / bytes, Limit::AtMost(most))
    };
    bounds.push(to_bytes("resident", ours.memory, 1.6));
    bounds.push(to_bytes("the most", ours.peak, 2.6));

    let modules = folder.join("policies");
    fs::create_dir(&modules)?;
    for at in 0..POLICIES {
        let package = format!("start.p{at}");
        fs::write(modules.join(format!("{at}.rego")), module(&package, at))?;
    }
    let (ours, peer) = both(&[&display_path(&modules)], "/v1/data/start/p5000/allow")?;
    bounds.extend(compared("5,300 policies", (&ours, &peer), &MANY, 2.5));

    let config = folder.join("bundles.json");
    fs::write(&config, bundles(folder)?)?;
    let (ours, peer) = both(
        &["--config-file", &display_path(&config)],
        "/health?bundles",
    )?;
    bounds.extend(compared("64 bundles", (&ours, &peer), &SMALL, 1.0));
    Ok(bounds)
}

fn display_path(path: &Path) -> String {
    path.display().to_string()
}

/// Measures the cost of a program from its start until it serves a path.
fn cost(
    program: &Path,
    arguments: &[&str],
    ready: &str,
    folder: &Path,
) -> Result<Cost, Box<dyn Error>> {
    let mut cost = Cost {
        seconds: f64::INFINITY,
        memory: 0.0,
        peak: 0.0,
    };
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let server = Server::spawn(program, arguments, folder)?;
        let answers = || server.client()?.ok("GET", ready, "").map(drop);
        while answers().is_err() {
            if start.elapsed() > READY_TIMEOUT {
                return Err(format!("{} does not answer {ready}", program.display()).into());
            }
            std::thread::yield_now();
        }
        cost.seconds = start.elapsed().as_secs_f64().min(cost.seconds);
        cost.memory = server.memory()? * 1024.0;
        cost.peak = server.peak_memory()? * 1024.0;
    }
    Ok(cost)
}

/// Compares the costs of our engine and a peer, and reports ours.
fn compared(
    what: &str,
    (ours, (name, theirs)): (&Cost, &(&str, Cost)),
    goal: &Goal,
    least: f64,
) -> [Bound; 2] {
    let summary = |figure: f64, digits: usize, unit: &str, goal: Option<f64>| {
        let goal = goal.map(|goal| {
            let missed = if figure > goal { ", missed" } else { "" };
            format!(" (goal {goal} {unit}{missed})")
        });
        format!("{figure:.digits$} {unit}{}", goal.unwrap_or_default())
    };
    let seconds = summary(ours.seconds, 2, "s", Some(goal.seconds));
    let megabytes = summary(ours.memory / 1e6, 0, "MB", goal.megabytes);
    report(what, &format!("{seconds}, {megabytes}"));
    [
        Bound::new(
            format!("start with {what}, {name} to ours"),
            theirs.seconds / ours.seconds,
            Limit::AtLeast(least),
        ),
        Bound::new(
            format!("resident memory with {what}, ours to {name}"),
            ours.memory / theirs.memory,
            Limit::AtMost(1.0),
        ),
    ]
}

/// Writes small bundles, and returns a configuration that loads all of them.
fn bundles(folder: &Path) -> Result<String, Box<dyn Error>> {
    let mut all = Map::new();
    for at in 0..BUNDLES {
        let name = format!("bundle{at}");
        let path = folder.join(format!("{name}.tar.gz"));
        let manifest = json!({"revision": "1", "roots": [&name]}).to_string();
        let document = json!({"users": {"alice": at}}).to_string();
        let policy = module(&format!("{name}.rules"), at);
        let bundle = packed(&[
            (".manifest", &manifest),
            (&format!("{name}/data.json"), &document),
            (&format!("{name}/rules/policy.rego"), &policy),
        ])?;
        fs::write(&path, bundle)?;
        let resource = format!("file://{}", path.display());
        all.insert(name, json!({"resource": resource}));
    }
    Ok(json!({"bundles": all}).to_string())
}
