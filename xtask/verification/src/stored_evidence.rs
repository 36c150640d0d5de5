//! Servers that are not in a registry: their stored evidence in `results/` is judged again by the
//! current rules.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::PathBuf;

use chrono::Utc;
use conformance::Suite;
use conformance::catalogue::Catalogue;
use conformance::evidence::Event;
use conformance::known_deviations::KnownList;
use conformance::verdict::Verdict;
use serde::Deserialize;

use crate::{cargo::cargo, command::complete, evidence, report, root};

/// Folder of the stored evidence, and file with the list of its servers.
pub(crate) const FOLDER: &str = "results";
const LIST: &str = "servers.toml";

/// Whether a server satisfies each rule, by id; rules that were not judged are left out.
pub(crate) type RuleResults = BTreeMap<String, bool>;

/// Records the verdict of a rule.
pub(crate) fn note(results: &mut RuleResults, rule: String, verdict: &Verdict) {
    match verdict {
        Verdict::Pass => drop(results.insert(rule, true)),
        Verdict::Fail(_) => drop(results.insert(rule, false)),
        Verdict::Recorded | Verdict::NotRun(_) => {}
    }
}

/// One version of a server.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Server {
    pub(crate) name: String,
    /// Details of the version that are not in the server's name.
    version: String,
    commit: String,
    /// Repository of the server, and the command that builds its program in a checkout of the
    /// repository.
    source: String,
    build: String,
    /// Name of the server's program on the search path.
    program: String,
    run: Vec<Run>,
}

/// Run of the suite on a server.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Run {
    /// Name of the target file, without its extension.
    target: String,
    /// Additional options of `conformance run` for this run.
    options: Vec<String>,
    evidence: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    server: Vec<Server>,
}

/// Returns all servers in the list.
///
/// # Errors
/// When the list cannot be read.
pub(crate) fn servers() -> Result<Vec<Server>, Box<dyn Error>> {
    let text = fs::read_to_string(root().join(FOLDER).join(LIST))?;
    Ok(toml::from_str::<List>(&text)?.server)
}

/// Judges all evidence again; failures must match the known deviations of the targets.
///
/// # Errors
/// When evidence cannot be read, or verdicts do not match.
pub(crate) fn run() -> Result<(), Box<dyn Error>> {
    let mut wrong = Vec::new();
    for server in servers()? {
        for run in &server.run {
            wrong.extend(run.unknown(&run.judge()?)?);
        }
        let results = server.rule_results()?;
        let proven = results.values().filter(|results| **results).count();
        let of = results.len();
        report(&server.name, &format!("{proven} of {of} rules"));
    }
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(wrong.join("\n").into()),
    }
}

impl Server {
    /// Returns the results of the server's stored evidence by the current rules.
    ///
    /// # Errors
    /// When the evidence cannot be read.
    pub(crate) fn rule_results(&self) -> Result<RuleResults, Box<dyn Error>> {
        let mut results = RuleResults::new();
        for run in &self.run {
            results.extend(run.judge()?);
        }
        Ok(results)
    }

    /// Returns the events of each run on the server, with the verdicts of the current rules.
    ///
    /// # Errors
    /// When the evidence cannot be read.
    pub(crate) fn events(&self) -> Result<Vec<Vec<Event>>, Box<dyn Error>> {
        self.run.iter().map(Run::events).collect()
    }

    /// Returns sentences about the origin of the server, and how it was judged.
    pub(crate) fn about(&self) -> Vec<String> {
        let mut description = vec![format!(
            "Source: {} at `{}` ({}); built by `{}`.",
            self.source, self.commit, self.version, self.build
        )];
        description.extend(self.run.iter().map(|run| {
            let (target, options) = (&run.target, run.options.join(" "));
            format!("Judged by `conformance run --target {target} {options}`.")
        }));
        description
    }

    /// Runs the suite on the server's program if it is on the search path; with `keep` the new
    /// evidence replaces the stored one.
    ///
    /// # Errors
    /// When a run does not match the list of known deviations.
    pub(crate) fn run(&self, keep: bool) -> Result<(), Box<dyn Error>> {
        let Some(program) = on_search_path(&self.program) else {
            let (program, source, commit) = (&self.program, &self.source, &self.commit);
            let build = &self.build;
            let reason = format!(
                "not run, as `{program}` is not on the search path; {source} at {commit} ({}) has \
                 it: {build}",
                self.version
            );
            report(&self.name, &reason);
            return Ok(());
        };
        report("judging", &format!("{}, {}", self.name, program.display()));
        for run in &self.run {
            let evidence = root().join(format!("target/peers/{}.ndjson", run.target));
            if let Some(folder) = evidence.parent() {
                fs::create_dir_all(folder)?;
            }
            complete(
                cargo()
                    .current_dir(root())
                    .args(["conformance", "run", "--target", &run.target])
                    .args(["--report", &format!("ndjson={}", evidence.display())])
                    .args(&run.options),
            )?;
            if keep {
                evidence::keep(&evidence, &run.file())?;
            }
        }
        Ok(())
    }
}

impl Run {
    fn file(&self) -> PathBuf {
        root().join(FOLDER).join(&self.evidence)
    }

    /// Returns the stored events of the run, with the verdicts of the current rules.
    fn events(&self) -> Result<Vec<Event>, Box<dyn Error>> {
        let events = evidence::read(&self.file())?;
        Ok(Suite::judge_again(events).map_err(|error| format!("{}: {error}", self.evidence))?)
    }

    fn judge(&self) -> Result<RuleResults, Box<dyn Error>> {
        let mut results = RuleResults::new();
        for event in self.events()? {
            if let Event::Judged(judged) = event {
                note(&mut results, judged.rule, &judged.verdict);
            }
        }
        Ok(results)
    }

    /// Returns messages about verdicts that do not match the list of known deviations.
    fn unknown(&self, results: &RuleResults) -> Result<Vec<String>, Box<dyn Error>> {
        let catalogue = Catalogue::embedded()?;
        let ids = catalogue.with_packs().map(|clause| clause.id.as_str());
        let version = self
            .options
            .iter()
            .skip_while(|one| *one != "--target-version");
        let version = version.map(String::as_str).nth(1);
        let known = KnownList::embedded(&self.target, ids)?;
        let known = known.on(&self.target, version, Utc::now().date_naive())?;
        let mut wrong = Vec::new();
        for (rule, results) in results {
            let is_known = known.deviation(rule).is_some();
            if *results == is_known && known.flaky(rule).is_none() {
                let verdict = if *results {
                    "is kept, but known"
                } else {
                    "is broken, but not known"
                };
                let list = &self.target;
                wrong.push(format!(
                    "{}: {rule} {verdict} in known/{list}.toml",
                    self.evidence
                ));
            }
        }
        Ok(wrong)
    }
}

/// Returns the path of a program on the search path, if it is there.
pub(crate) fn on_search_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let mut candidates = std::env::split_paths(&path).map(|folder| folder.join(program));
    candidates.find(|candidate| candidate.is_file())
}
