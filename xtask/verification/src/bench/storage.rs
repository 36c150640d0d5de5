//! Latency from a change of a definition until its bundle is in storage, and build throughput.

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

/// Maximum number of consecutive changes in a measurement.
const CHANGES: usize = 200;

/// Time limit after which no more changes are made.
const ENOUGH: Duration = Duration::from_secs(90);

/// Interval between builds of unchanged bundles: the usual interval, and one so short that all
/// bundles are always due.
const USUAL: &str = "30s";
const SHORT: &str = "1s";

/// Interval at which the storage is polled for a bundle.
const LOOK: Duration = Duration::from_millis(1);

/// Time limit for all bundles to reach the storage.
const TIMEOUT: Duration = Duration::from_secs(900);

/// Goal and bound of a measurement.
enum Goal {
    /// Goal and upper bound, in milliseconds.
    Within(f64, f64),
    /// Goal and lower bound, in bundles per second.
    Rate(f64, f64),
    /// No goal or bound: reported only, with this unit.
    Any(&'static str),
}

/// Goals for the median and the 99th percentile of the time of one change.
const MEDIAN: Goal = Goal::Within(500.0, 1_000.0);
const SLOWEST: Goal = Goal::Within(2_000.0, 4_000.0);

/// Goal for builds of small bundles, on two cores.
const BUILDS: Goal = Goal::Rate(200.0, 100.0);

/// Control plane with bundles in storage.
struct ControlPlane {
    folder: TempDir,
    program: PathBuf,
    bundles: usize,
    server: Option<Server>,
}

/// Inode and modification time, which identify a version of a file.
type FileVersion = (u64, SystemTime);

/// Runs all measurements at each number of bundles, and compares the results with their bounds.
///
/// # Errors
/// When a bound is exceeded, or a server fails.
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

/// Runs all measurements at one number of bundles; returns those that are out of bounds.
fn measure(program: &Path, bundles: usize) -> Result<Vec<String>, Box<dyn Error>> {
    let mut missed = Vec::new();
    let mut report_figure = |what: &str, figure: f64, goal: &Goal| {
        let what = format!("{what} at {bundles} bundles");
        let (summary, holds) = goal.summary(figure);
        report(&what, &summary);
        if !holds {
            missed.push(what);
        }
    };
    let start = Instant::now();
    let mut plane = ControlPlane::start(program, bundles)?;
    plane.all_written(&vec![None; bundles], start)?;
    report_figure("first builds", rate(bundles, start), &Goal::Any("a second"));
    let mut taken = plane.changes()?;
    report_figure("one change, median", percentile(&mut taken, 50), &MEDIAN);
    report_figure("one change, 99 %", percentile(&mut taken, 99), &SLOWEST);
    let before = plane.written()?;
    let start = Instant::now();
    plane.put("/v1/sources/shared/data/shared", "2")?;
    plane.all_written(&before, start)?;
    report_figure(
        "builds after one change of all",
        rate(bundles, start),
        &BUILDS,
    );
    plane.restart(USUAL)?;
    let start = Instant::now();
    plane.all_unchanged(start)?;
    let unchanged = "bundles found unchanged";
    report_figure(unchanged, rate(bundles, start), &Goal::Any("a second"));
    plane.restart(SHORT)?;
    let mut taken = plane.changes()?;
    let expected = "one change while all are due";
    report_figure(
        &format!("{expected}, median"),
        percentile(&mut taken, 50),
        &MEDIAN,
    );
    report_figure(
        &format!("{expected}, 99 %"),
        percentile(&mut taken, 99),
        &SLOWEST,
    );
    Ok(missed)
}

impl ControlPlane {
    /// Starts a server whose configuration declares the bundles, each with a separate source and
    /// one that all of them share.
    fn start(program: &Path, bundles: usize) -> Result<Self, Box<dyn Error>> {
        let folder = scratch()?;
        let path = |name: &str| folder.path().join(name);
        fs::create_dir(path("built"))?;
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
        fs::write(path("config.json"), config.to_string())?;
        let server = serve(program, folder.path(), USUAL)?;
        Ok(Self {
            folder,
            program: program.to_owned(),
            bundles,
            server: Some(server),
        })
    }

    /// Kills and restarts the server, which then checks all bundles in storage.
    fn restart(&mut self, interval: &str) -> Result<(), Box<dyn Error>> {
        // The old server must have ended before the new one starts.
        self.server = None;
        self.server = Some(serve(&self.program, self.folder.path(), interval)?);
        Ok(())
    }

    /// Opens a new connection to the server, which closes idle ones.
    fn client(&self) -> Result<Client, Box<dyn Error>> {
        self.server.as_ref().ok_or("no server runs")?.client()
    }

    /// Writes a document to the control plane, which must accept it.
    fn put(&self, path: &str, body: &str) -> Result<(), Box<dyn Error>> {
        send_keyed(&mut self.client()?, "PUT", path, body)
    }

    /// Returns the version of a bundle's file in storage.
    fn file_version(&self, number: usize) -> Option<FileVersion> {
        let path = self.folder.path().join("built").join(file(number));
        let found = fs::metadata(path).ok()?;
        Some((found.ino(), found.modified().ok()?))
    }

    /// Returns the versions of all bundles' files in storage.
    fn written(&self) -> Result<Vec<Option<FileVersion>>, Box<dyn Error>> {
        let written: Vec<_> = (0..self.bundles)
            .map(|number| self.file_version(number))
            .collect();
        match written.contains(&None) {
            true => Err("a bundle is not in storage".into()),
            false => Ok(written),
        }
    }

    /// Waits until the file of every bundle has another version than in `before`.
    fn all_written(
        &self,
        before: &[Option<FileVersion>],
        start: Instant,
    ) -> Result<(), Box<dyn Error>> {
        let mut left: Vec<_> = before.iter().enumerate().collect();
        while !left.is_empty() {
            left.retain(|(number, before)| self.file_version(*number) == **before);
            if start.elapsed() > TIMEOUT {
                return Err(format!("{} bundles are not written", left.len()).into());
            }
            sleep(LOOK * 10);
        }
        Ok(())
    }

    /// Makes consecutive changes, spread over all bundles, each as soon as the bundle of the
    /// previous one is in storage; returns the milliseconds of each.
    fn changes(&self) -> Result<Vec<f64>, Box<dyn Error>> {
        let mut taken = Vec::new();
        let start = Instant::now();
        for change in (0..CHANGES).take_while(|_| start.elapsed() < ENOUGH) {
            // Neither in ascending nor in descending order of the bundles.
            let number = (change * 7 % CHANGES) * self.bundles / CHANGES;
            let before = self.file_version(number);
            let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
            let path = format!("/v1/sources/{}/data/value", name(number));
            let start = Instant::now();
            self.put(&path, &time.as_nanos().to_string())?;
            while self.file_version(number) == before {
                if start.elapsed() > TIMEOUT {
                    return Err(format!("{} is not written", name(number)).into());
                }
                sleep(LOOK);
            }
            taken.push(start.elapsed().as_secs_f64() * 1000.0);
        }
        Ok(taken)
    }

    /// Waits until a restarted server has found every bundle unchanged in storage.
    fn all_unchanged(&self, start: Instant) -> Result<(), Box<dyn Error>> {
        loop {
            let metrics =
                String::from_utf8_lossy(self.client()?.ok("GET", "/metrics", "")?).into_owned();
            let count = metrics
                .lines()
                .filter(|line| {
                    line.starts_with("ocp_bundle_upload_count") && line.contains("UNCHANGED")
                })
                .filter_map(|line| line.rsplit(' ').next()?.parse::<usize>().ok())
                .sum::<usize>();
            if count >= self.bundles {
                return Ok(());
            }
            if start.elapsed() > TIMEOUT {
                return Err(format!("only {count} bundles are found unchanged").into());
            }
            sleep(Duration::from_millis(100));
        }
    }
}

impl Goal {
    /// Formats a measurement with its goal, and returns whether it is within its bound.
    fn summary(&self, figure: f64) -> (String, bool) {
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

/// Policy of each bundle, in Base64.
const POLICY: &str = "cGFja2FnZSBhcHAKCmRlZmF1bHQgYWxsb3cgOj0gZmFsc2UKCmFsbG93IGlmIHsKCXNvbWUg\
                      cm9sZSBpbiBpbnB1dC5yb2xlcwoJcm9sZSA9PSAiYWRtaW4iCn0K";

/// Starts a control plane in the folder that contains its configuration.
fn serve(program: &Path, folder: &Path, interval: &str) -> Result<Server, Box<dyn Error>> {
    let path = |name: &str| folder.join(name).display().to_string();
    let database = format!("sqlite://{}", path("control.db"));
    let (config, built) = (path("config.json"), path("built"));
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

/// Returns the number of bundles per second since `start`.
fn rate(bundles: usize, start: Instant) -> f64 {
    bundles as f64 / start.elapsed().as_secs_f64()
}

/// Returns a percentile of the samples.
fn percentile(samples: &mut [f64], percent: usize) -> f64 {
    samples.sort_by(f64::total_cmp);
    let rank = (samples.len() * percent).div_ceil(100);
    let sample = samples.get(rank.saturating_sub(1));
    sample.copied().unwrap_or(f64::NAN)
}
