//! Latency from a change to its bundle in storage, and build throughput.

use std::error::Error;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Map, json};
use tempfile::TempDir;

use super::{scratch, send_keyed, tokens};
use crate::servers::{Client, Server};
use crate::{release_build, report};

/// Changes that are made one after the other.
const CHANGES: usize = 200;

/// No more are made after this time.
const ENOUGH: Duration = Duration::from_secs(90);

/// The time between two builds of what has not changed: usually, and so short that all bundles
/// are due all the time.
const USUAL: &str = "30s";
const SHORT: &str = "1s";

/// How often storage is looked at for a change.
const LOOK: Duration = Duration::from_millis(1);

/// Everything comes to storage within this time, or the server is given up.
const TIMEOUT: Duration = Duration::from_secs(900);

/// What a figure is held against: what is wanted, and what may be missed by no machine.
enum Goal {
    /// Milliseconds: no more than these.
    Within(f64, f64),
    /// Bundles a second: no fewer than these.
    Rate(f64, f64),
    /// It is only told.
    Any(&'static str),
}

/// The median and the 99th percentile of the time of one change.
const MEDIAN: Goal = Goal::Within(500.0, 1_000.0);
const SLOWEST: Goal = Goal::Within(2_000.0, 4_000.0);

/// Small bundles that are built, on two cores.
const BUILDS: Goal = Goal::Rate(200.0, 100.0);

/// A control plane with bundles in storage.
struct ControlPlane {
    folder: TempDir,
    program: PathBuf,
    bundles: usize,
    server: Option<Server>,
}

/// What tells one file from the one that it replaced.
type FileVersion = (u64, SystemTime);

/// Measures at each number of bundles, and holds the figures against their bounds.
///
/// # Errors
/// When a bound is exceeded, or a server does not do what it was told.
pub(super) fn run(sizes: &[usize], program: Option<&Path>) -> Result<(), Box<dyn Error>> {
    let program = match program {
        Some(program) => program.to_owned(),
        None => release_build::reference()?,
    };
    let mut missed = Vec::new();
    for bundles in sizes {
        missed.extend(measure(&program, *bundles)?);
    }
    match missed.is_empty() {
        true => Ok(()),
        false => Err(format!("out of bounds: {}", missed.join("; ")).into()),
    }
}

/// Takes all figures at one number of bundles; those that are out of bounds.
fn measure(program: &Path, bundles: usize) -> Result<Vec<String>, Box<dyn Error>> {
    let mut missed = Vec::new();
    let mut tell = |what: &str, figure: f64, goal: &Goal| {
        let what = format!("{what} at {bundles} bundles");
        let (told, holds) = goal.told(figure);
        report(&what, &told);
        if !holds {
            missed.push(what);
        }
    };
    let begun = Instant::now();
    let mut plane = ControlPlane::start(program, bundles)?;
    plane.all_written(&vec![None; bundles], begun)?;
    tell("first builds", rate(bundles, begun), &Goal::Any("a second"));
    let mut taken = plane.changes()?;
    tell("one change, median", percentile(&mut taken, 50), &MEDIAN);
    tell("one change, 99 %", percentile(&mut taken, 99), &SLOWEST);
    let before = plane.written()?;
    let begun = Instant::now();
    plane.put("/v1/sources/shared/data/shared", "2")?;
    plane.all_written(&before, begun)?;
    tell(
        "builds after one change of all",
        rate(bundles, begun),
        &BUILDS,
    );
    plane.restart(USUAL)?;
    let begun = Instant::now();
    plane.all_unchanged(begun)?;
    let unchanged = "bundles found unchanged";
    tell(unchanged, rate(bundles, begun), &Goal::Any("a second"));
    plane.restart(SHORT)?;
    let mut taken = plane.changes()?;
    let due = "one change while all are due";
    tell(
        &format!("{due}, median"),
        percentile(&mut taken, 50),
        &MEDIAN,
    );
    tell(
        &format!("{due}, 99 %"),
        percentile(&mut taken, 99),
        &SLOWEST,
    );
    Ok(missed)
}

impl ControlPlane {
    /// A server whose configuration declares the bundles, each with a source of its own and one
    /// that all of them share.
    fn start(program: &Path, bundles: usize) -> Result<Self, Box<dyn Error>> {
        let folder = scratch()?;
        let place = |name: &str| folder.path().join(name);
        fs::create_dir(place("built"))?;
        let mut declared = Map::new();
        let mut sources = Map::from_iter([("shared".to_owned(), json!({}))]);
        for number in 0..bundles {
            let name = name(number);
            let storage = json!({"filesystem": {"path": file(number)}});
            let requirements = json!([{"source": name}, {"source": "shared"}]);
            let bundle = json!({"object_storage": storage, "requirements": requirements});
            declared.insert(name.clone(), bundle);
            sources.insert(name, json!({"files": {"policy.rego": POLICY}}));
        }
        let config = json!({
            "tokens": tokens(),
            "bundles": declared,
            "sources": sources,
        });
        fs::write(place("config.json"), config.to_string())?;
        let server = serve(program, folder.path(), USUAL)?;
        Ok(Self {
            folder,
            program: program.to_owned(),
            bundles,
            server: Some(server),
        })
    }

    /// Has the server killed and started again, after which it looks at all that is in storage.
    fn restart(&mut self, interval: &str) -> Result<(), Box<dyn Error>> {
        // Nothing of the old one may be left when the new one begins.
        self.server = None;
        self.server = Some(serve(&self.program, self.folder.path(), interval)?);
        Ok(())
    }

    /// A connection, since those that nobody uses for long are closed.
    fn client(&self) -> Result<Client, Box<dyn Error>> {
        self.server.as_ref().ok_or("no server runs")?.client()
    }

    /// Stores a document.
    fn put(&self, path: &str, body: &str) -> Result<(), Box<dyn Error>> {
        send_keyed(&mut self.client()?, "PUT", path, body)
    }

    /// What stands in storage of a bundle.
    fn look(&self, number: usize) -> Option<FileVersion> {
        let path = self.folder.path().join("built").join(file(number));
        let found = fs::metadata(path).ok()?;
        Some((found.ino(), found.modified().ok()?))
    }

    /// What stands in storage of every bundle.
    fn written(&self) -> Result<Vec<Option<FileVersion>>, Box<dyn Error>> {
        let written: Vec<_> = (0..self.bundles).map(|number| self.look(number)).collect();
        match written.contains(&None) {
            true => Err("a bundle is not in storage".into()),
            false => Ok(written),
        }
    }

    /// Waits until every bundle has been written since these were.
    fn all_written(
        &self,
        before: &[Option<FileVersion>],
        begun: Instant,
    ) -> Result<(), Box<dyn Error>> {
        let mut left: Vec<_> = before.iter().enumerate().collect();
        while !left.is_empty() {
            left.retain(|(number, before)| self.look(*number) == **before);
            if begun.elapsed() > TIMEOUT {
                return Err(format!("{} bundles are not written", left.len()).into());
            }
            sleep(LOOK * 10);
        }
        Ok(())
    }

    /// Makes changes one after the other, spread over all bundles, each as soon as the one before
    /// is in storage; the milliseconds of each.
    fn changes(&self) -> Result<Vec<f64>, Box<dyn Error>> {
        let mut taken = Vec::new();
        let begun = Instant::now();
        for change in (0..CHANGES).take_while(|_| begun.elapsed() < ENOUGH) {
            // Neither in the order of the bundles nor against it.
            let number = (change * 7 % CHANGES) * self.bundles / CHANGES;
            let before = self.look(number);
            let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
            let path = format!("/v1/sources/{}/data/value", name(number));
            let begun = Instant::now();
            self.put(&path, &time.as_nanos().to_string())?;
            while self.look(number) == before {
                if begun.elapsed() > TIMEOUT {
                    return Err(format!("{} is not written", name(number)).into());
                }
                sleep(LOOK);
            }
            taken.push(begun.elapsed().as_secs_f64() * 1000.0);
        }
        Ok(taken)
    }

    /// Waits until a server that was started has found every bundle as it is in storage.
    fn all_unchanged(&self, begun: Instant) -> Result<(), Box<dyn Error>> {
        loop {
            let shown =
                String::from_utf8_lossy(self.client()?.ok("GET", "/metrics", "")?).into_owned();
            let count = shown
                .lines()
                .filter(|line| {
                    line.starts_with("ocp_bundle_upload_count") && line.contains("UNCHANGED")
                })
                .filter_map(|line| line.rsplit(' ').next()?.parse::<usize>().ok())
                .sum::<usize>();
            if count >= self.bundles {
                return Ok(());
            }
            if begun.elapsed() > TIMEOUT {
                return Err(format!("only {count} bundles are found unchanged").into());
            }
            sleep(Duration::from_millis(100));
        }
    }
}

impl Goal {
    /// A figure with what is wanted of it, and whether it is within its bound.
    fn told(&self, figure: f64) -> (String, bool) {
        let missed = |holds| if holds { "" } else { ", missed" };
        match self {
            Self::Within(goal, bound) => (
                format!(
                    "{figure:.0} ms (goal {goal:.0} ms{}, bound {bound:.0} ms)",
                    missed(figure <= *goal)
                ),
                figure <= *bound,
            ),
            Self::Rate(goal, bound) => (
                format!(
                    "{figure:.0} a second (goal {goal:.0}{}, bound {bound:.0})",
                    missed(figure >= *goal)
                ),
                figure >= *bound,
            ),
            Self::Any(unit) => (format!("{figure:.0} {unit}"), true),
        }
    }
}

/// A policy as each bundle has one, in base64.
const POLICY: &str = "cGFja2FnZSBhcHAKCmRlZmF1bHQgYWxsb3cgOj0gZmFsc2UKCmFsbG93IGlmIHsKCXNvbWUg\
                      cm9sZSBpbiBpbnB1dC5yb2xlcwoJcm9sZSA9PSAiYWRtaW4iCn0K";

/// Starts a server in a folder that holds its configuration.
fn serve(program: &Path, folder: &Path, interval: &str) -> Result<Server, Box<dyn Error>> {
    let place = |name: &str| folder.join(name).display().to_string();
    let database = format!("sqlite://{}", place("control.db"));
    let (config, built) = (place("config.json"), place("built"));
    let arguments = [
        "control",
        "--config",
        &config,
        "--database",
        &database,
        "--bundle-root",
        &built,
        "--rebuild-interval",
        interval,
    ];
    Server::start(program, &arguments, folder)
}

fn name(number: usize) -> String {
    format!("bundle-{number:06}")
}

fn file(number: usize) -> String {
    format!("{}.tar.gz", name(number))
}

/// So many bundles since then, by the second.
fn rate(bundles: usize, begun: Instant) -> f64 {
    bundles as f64 / begun.elapsed().as_secs_f64()
}

/// The sample that so many percent do not exceed.
fn percentile(samples: &mut [f64], percent: usize) -> f64 {
    samples.sort_by(f64::total_cmp);
    let place = (samples.len() * percent).div_ceil(100);
    let sample = samples.get(place.saturating_sub(1));
    sample.copied().unwrap_or(f64::NAN)
}
