//! Released versions of OPA, including known bad ones.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use conformance::target::Target;
use serde::Deserialize;

use crate::stored_evidence::RuleResults;
use crate::{command::complete, report, root};

/// Go module of the real OPA.
const MODULE: &str = "github.com/open-policy-agent/opa";
/// Minor number of the first release of version 0 that supports, with a flag, the language of the
/// scenarios; version 1 needs no flag.
const TOLD_V1: u32 = 61;
/// Setups in which older releases do not start: one has a module in the newer language, the other a
/// configuration that they accept only without discovery.
const NEWER: [&str; 2] = ["token-auth", "discovery"];
/// File with the list of releases.
const LIST: &str = "xtask/verification/opa-releases.toml";
/// File with the evidence of the releases in COMPATIBILITY.md.
pub(crate) const EVIDENCE: &str = "results/opa.ndjson.xz";
/// Page about all releases.
pub(crate) const PAGE: &str = "results/opa-releases.md";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Releases {
    /// Releases whose results are in COMPATIBILITY.md, oldest first.
    pub(crate) usual: Vec<String>,
    pub(crate) all: Vec<String>,
    /// Earlier releases, whose language is older than that of the scenarios: only rules about
    /// regressions that do not need the newer language run on them.
    pub(crate) older: Vec<String>,
    bad: Vec<Bad>,
}

/// Release with a harmful regression.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Bad {
    /// Last bad release, and the first release that is fixed.
    last: String,
    mended: Option<String>,
    /// Last good release before the regression, if no release fixed it.
    before: Option<String>,
    wrong: String,
    /// URL of the report about the regression.
    told: String,
    /// Reason why no rule, of the documents or of the pack, can show the regression.
    cannot: Option<String>,
}

impl Releases {
    /// # Errors
    /// When the list cannot be read, or names a release on which the suite does not run.
    pub(crate) fn read() -> Result<Self, Box<dyn Error>> {
        let releases: Self = toml::from_str(&fs::read_to_string(root().join(LIST))?)?;
        let bad = releases.bad.iter().filter(|bad| bad.cannot.is_none());
        let named = bad.flat_map(|bad| std::iter::once(&bad.last).chain(bad.good()));
        let available = [&releases.all, &releases.older];
        for version in named {
            if !available.iter().any(|list| list.contains(version)) {
                return Err(format!("{LIST}: {version} is neither in `all` nor in `older`").into());
            }
        }
        for version in &releases.usual {
            if !releases.all.contains(version) {
                return Err(format!("{LIST}: {version} is not among `all`").into());
            }
        }
        Ok(releases)
    }

    /// Returns the page about all releases: the rules that each release satisfies, and which of
    /// these rules, or of the rules about regressions, show the bad releases.
    pub(crate) fn page(
        &self,
        columns: &[(String, RuleResults)],
        regressions: &[(String, RuleResults)],
    ) -> String {
        let mut page = String::from(
            "# Releases of Open Policy Agent\n\nEvery minor release from 0.68 on, and the patches \
             that mended a regression, judged by the rules of the engine's API and by those of the \
             pack `regressions`. Written by `cargo xtask matrix --all --bless`; the releases stand in \
             [`xtask/verification/opa-releases.toml`](../xtask/verification/opa-releases.toml).\n",
        );
        if columns.len() < self.all.len() {
            let (run, all) = (columns.len(), self.all.len());
            // Writing to a string cannot fail.
            let _ = write!(page, "\n{run} of these {all} releases were run.\n");
        }
        self.bad_releases(&mut page, &[regressions, columns]);
        let mut before: Option<&RuleResults> = None;
        page += "\n## Rules passed by each release\n\n| release | rules passed | changed since the one before |\n|---|--:|---|\n";
        for (name, results) in columns {
            let passed = results.values().filter(|results| **results).count();
            let change = before.map_or_else(String::new, |before| change(before, results));
            // Writing to a string cannot fail.
            let _ = writeln!(
                page,
                "| {name} | {passed} of {} | {change} |",
                results.len()
            );
            before = Some(results);
        }
        page
    }

    fn bad_releases(&self, page: &mut String, columns: &[&[(String, RuleResults)]]) {
        let (mut shown, mut possible) = (0, 0);
        let mut rows = String::new();
        for bad in &self.bad {
            let pairs = bad.good().map(|good| pairs(columns, &bad.last, good));
            let pairs = pairs.filter(|pairs| !pairs.is_empty());
            let conclusion = match (&bad.cannot, pairs) {
                (Some(reason), _) => format!("no rule can: {reason}"),
                (None, Some(pairs)) => {
                    possible += 1;
                    let rules = pairs.into_iter().flat_map(|(bad, good)| better(bad, good));
                    let rules: Vec<&str> = rules.collect();
                    shown += usize::from(!rules.is_empty());
                    match rules.is_empty() {
                        true => "**no rule does**".to_owned(),
                        false => listed(&rules),
                    }
                }
                (None, None) => "not run".to_owned(),
            };
            let (last, wrong, link) = (&bad.last, &bad.wrong, &bad.told);
            let fixed_in = bad.mended.as_deref().unwrap_or("–");
            let fixed_in = match &bad.before {
                Some(before) => format!("{fixed_in} (good: {before})"),
                None => fixed_in.to_owned(),
            };
            // Writing to a string cannot fail.
            let _ = writeln!(
                rows,
                "| {last} | {fixed_in} | {wrong} ([report]({link})) | {conclusion} |"
            );
        }
        let all = self.bad.len();
        let _ = write!(
            page,
            "\n## Releases that hurt people\n\nOf {all} such releases a rule can show {possible}; {shown} \
             are shown. A rule shows one when the bad release breaks it and the mended one keeps it; \
             of several, some may be about what else changed between the two.\n\n| last bad | mended | what was wrong | shown by |\n|---|---|---|---|\n{rows}"
        );
    }
}

impl Bad {
    /// Returns the good release that the bad one is compared with.
    fn good(&self) -> Option<&String> {
        self.before.as_ref().or(self.mended.as_ref())
    }
}

/// Returns the results of two versions as a pair, for each set of columns that contains both.
fn pairs<'k>(
    columns: &[&'k [(String, RuleResults)]],
    one: &str,
    other: &str,
) -> Vec<(&'k RuleResults, &'k RuleResults)> {
    let of = |columns: &'k [(String, RuleResults)], version: &str| {
        let name = name(version);
        let found = columns.iter().find(|(column, _)| *column == name)?;
        Some(&found.1)
    };
    let both = columns
        .iter()
        .copied()
        .map(|columns| Some((of(columns, one)?, of(columns, other)?)));
    both.flatten().collect()
}

/// Returns the name of a version in tables.
pub(crate) fn name(version: &str) -> String {
    format!("OPA {version}")
}

/// Returns the rules that the first version violates and the second satisfies.
fn better<'k>(one: &'k RuleResults, other: &RuleResults) -> Vec<&'k str> {
    let broken = one.iter().filter(|(_, passes)| !**passes);
    let fixed = broken.filter(|(rule, _)| other.get(*rule) == Some(&true));
    fixed.map(|(rule, _)| rule.as_str()).collect()
}

/// Formats the differences between the results of consecutive releases.
fn change(before: &RuleResults, after: &RuleResults) -> String {
    let (gained, lost) = (better(before, after), better(after, before));
    let mut parts = Vec::new();
    if !gained.is_empty() {
        parts.push(format!("keeps {}", listed(&gained)));
    }
    if !lost.is_empty() {
        parts.push(format!("breaks {}", listed(&lost)));
    }
    parts.join("; ")
}

/// Formats a list of rules: a few by id, more only by number.
fn listed(rules: &[&str]) -> String {
    match rules {
        [.., _] if rules.len() <= 6 => format!("`{}`", rules.join("`, `")),
        _ => format!("{} rules", rules.len()),
    }
}

/// Returns the path of a version's built program.
pub(crate) fn program(version: &str) -> PathBuf {
    root().join(format!("target/peers/opa-v{version}/opa"))
}

/// Builds a version if it is missing; returns the path of its program. The version is built as a
/// dependency of an empty module, since `go install` refuses modules with replacements, such as
/// 0.68.0 and 0.42.0.
///
/// # Errors
/// When the version is not available.
pub(crate) fn build(version: &str) -> Result<PathBuf, Box<dyn Error>> {
    let program = program(version);
    if let Some(folder) = program.parent()
        && !program.is_file()
    {
        report("building", &format!("the real OPA {version}"));
        let module = folder.join("module");
        fs::create_dir_all(&module)?;
        fs::write(module.join("go.mod"), "module release\n")?;
        let required = format!("{MODULE}@v{version}");
        for arguments in [&["get", &required][..], &["build", "-o", "../opa", MODULE]] {
            complete(
                Command::new("go")
                    .current_dir(&module)
                    .env("CGO_ENABLED", "0")
                    .args(arguments),
            )?;
        }
    }
    Ok(program)
}

/// Returns the minor number of a release of version 0.
fn minor_of_0(version: &str) -> Option<u32> {
    let (minor, _) = version.strip_prefix("0.")?.split_once('.')?;
    minor.parse().ok()
}

/// Returns the target `opa` that is started with this program, in the language of the scenarios.
///
/// # Errors
/// When the target file cannot be read.
pub(crate) fn target(version: &str, program: &Path) -> Result<Target, Box<dyn Error>> {
    let file = root().join("conformance/targets/opa.toml");
    let mut target = Target::parse(&fs::read_to_string(file)?, "opa.toml")?;
    target.name = format!("opa {version}");
    target.program = Some(program.display().to_string());
    match minor_of_0(version) {
        Some(minor) if minor >= TOLD_V1 => {
            for setup in target.setups.values_mut() {
                for launch in setup.engine.iter_mut() {
                    launch.args.push("--v1-compatible".to_owned());
                }
            }
        }
        Some(_) => target
            .setups
            .retain(|setup, _| !NEWER.contains(&setup.as_str())),
        None => {}
    }
    Ok(target)
}
