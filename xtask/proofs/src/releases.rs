//! Released versions of the real OPA: which there are, and which are known to be bad.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use conformance::target::Target;
use serde::Deserialize;

use crate::kept::Kept;
use crate::{postgres::done, report, root};

/// The module of the real OPA.
const MODULE: &str = "github.com/open-policy-agent/opa";
/// The first version that reads the language of the scenarios without being told to.
const V1: &str = "1.";
/// The releases.
const LIST: &str = "xtask/proofs/opa-releases.toml";
/// The page about all of them.
pub(crate) const PAGE: &str = "results/opa-releases.md";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Releases {
    /// Those of COMPATIBILITY.md, oldest first.
    pub(crate) usual: Vec<String>,
    pub(crate) all: Vec<String>,
    bad: Vec<Bad>,
}

/// A release that hurt people.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Bad {
    /// The last release that is bad, and the first that is not.
    last: String,
    mended: Option<String>,
    wrong: String,
    /// Where that is told.
    told: String,
    /// Why no rule can show it, of the documents or of the pack.
    cannot: Option<String>,
}

impl Releases {
    /// # Errors
    /// A list that cannot be read, or that names a release which the suite is not run on.
    pub(crate) fn read() -> Result<Self, Box<dyn Error>> {
        let releases: Self = toml::from_str(&fs::read_to_string(root().join(LIST))?)?;
        let bad = releases.bad.iter().filter(|bad| bad.cannot.is_none());
        let named = bad.flat_map(|bad| std::iter::once(&bad.last).chain(&bad.mended));
        for version in named.chain(&releases.usual) {
            if !releases.all.contains(version) {
                return Err(format!("{LIST}: {version} is not among `all`").into());
            }
        }
        Ok(releases)
    }

    /// The page about all releases: how much each keeps of the documents, and what of that, or of
    /// the rules about regressions, tells the bad ones.
    pub(crate) fn page(
        &self,
        columns: &[(String, Kept)],
        regressions: &[(String, Kept)],
    ) -> String {
        let mut page = String::from(
            "# Releases of Open Policy Agent\n\nEvery minor release from 0.68 on, and the patches \
             that mended a regression, judged by the rules of the engine's API and by those of the \
             pack `regressions`. Written by `cargo xtask matrix --all --bless`; the releases stand in \
             [`xtask/proofs/opa-releases.toml`](../xtask/proofs/opa-releases.toml).\n",
        );
        if columns.len() < self.all.len() {
            let (run, all) = (columns.len(), self.all.len());
            // Writing to a string cannot fail.
            let _ = write!(page, "\n{run} of these {all} releases were run.\n");
        }
        self.bad_releases(&mut page, &[regressions, columns]);
        let mut before: Option<&Kept> = None;
        page += "\n## How much each keeps\n\n| release | rules kept | other than the one before |\n|---|--:|---|\n";
        for (name, kept) in columns {
            let held = kept.values().filter(|kept| **kept).count();
            let change = before.map_or_else(String::new, |before| change(before, kept));
            // Writing to a string cannot fail.
            let _ = writeln!(page, "| {name} | {held} of {} | {change} |", kept.len());
            before = Some(kept);
        }
        page
    }

    fn bad_releases(&self, page: &mut String, columns: &[&[(String, Kept)]]) {
        let of = |version: &str| of_version(columns, version);
        let (mut told, mut can) = (0, 0);
        let mut rows = String::new();
        for bad in &self.bad {
            let mended = bad.mended.as_deref();
            let shown = match (&bad.cannot, of(&bad.last), mended.and_then(of)) {
                (Some(why), ..) => format!("no rule can: {why}"),
                (None, Some(last), Some(mended)) => {
                    can += 1;
                    let pairs = last.into_iter().zip(mended);
                    let rules = pairs.flat_map(|(last, mended)| better(last, mended));
                    let rules: Vec<&str> = rules.collect();
                    told += usize::from(!rules.is_empty());
                    match rules.is_empty() {
                        true => "**no rule does**".to_owned(),
                        false => listed(&rules),
                    }
                }
                (None, ..) => "not run".to_owned(),
            };
            let (last, wrong, told) = (&bad.last, &bad.wrong, &bad.told);
            let mended = mended.unwrap_or("–");
            // Writing to a string cannot fail.
            let _ = writeln!(
                rows,
                "| {last} | {mended} | {wrong} ([told]({told})) | {shown} |"
            );
        }
        let all = self.bad.len();
        let _ = write!(
            page,
            "\n## Releases that hurt people\n\nOf {all} such releases a rule can show {can}; {told} \
             are shown. A rule shows one when the bad release breaks it and the mended one keeps it; \
             of several, some may be about what else changed between the two.\n\n| last bad | mended | what was wrong | shown by |\n|---|---|---|---|\n{rows}"
        );
    }
}

/// What a version keeps, of each set of columns; none if one of them lacks it.
fn of_version<'k>(columns: &[&'k [(String, Kept)]], version: &str) -> Option<Vec<&'k Kept>> {
    let name = name(version);
    let found = columns
        .iter()
        .map(|columns| columns.iter().find(|(column, _)| *column == name));
    found.map(|found| Some(&found?.1)).collect()
}

/// The name of a version in tables.
pub(crate) fn name(version: &str) -> String {
    format!("OPA {version}")
}

/// The rules that one breaks and the other keeps.
fn better<'k>(one: &'k Kept, other: &Kept) -> Vec<&'k str> {
    let broken = one.iter().filter(|(_, kept)| !**kept);
    let mended = broken.filter(|(rule, _)| other.get(*rule) == Some(&true));
    mended.map(|(rule, _)| rule.as_str()).collect()
}

/// What changed from one to the other.
fn change(before: &Kept, kept: &Kept) -> String {
    let (gained, lost) = (better(before, kept), better(kept, before));
    let mut parts = Vec::new();
    if !gained.is_empty() {
        parts.push(format!("keeps {}", listed(&gained)));
    }
    if !lost.is_empty() {
        parts.push(format!("breaks {}", listed(&lost)));
    }
    parts.join("; ")
}

/// A few rules by their ids, more by their number.
fn listed(rules: &[&str]) -> String {
    match rules {
        [.., _] if rules.len() <= 6 => format!("`{}`", rules.join("`, `")),
        _ => format!("{} rules", rules.len()),
    }
}

/// Where a version is, once it is built.
pub(crate) fn program(version: &str) -> PathBuf {
    root().join(format!("target/peers/opa-v{version}/opa"))
}

/// Builds a version, unless it is there; where it is.
///
/// # Errors
/// When it cannot be had.
pub(crate) fn build(version: &str) -> Result<PathBuf, Box<dyn Error>> {
    let program = program(version);
    if let Some(folder) = program.parent()
        && !program.is_file()
    {
        report("building", &format!("the real OPA {version}"));
        done(
            Command::new("go")
                .env("CGO_ENABLED", "0")
                .env("GOBIN", folder)
                .args(["install", &format!("{MODULE}@v{version}")]),
        )?;
    }
    Ok(program)
}

/// The target `opa`, started by this program, in the language of the scenarios.
///
/// # Errors
/// A target file that cannot be read.
pub(crate) fn target(version: &str, program: &Path) -> Result<Target, Box<dyn Error>> {
    let file = root().join("conformance/targets/opa.toml");
    let mut target = Target::parse(&fs::read_to_string(file)?, "opa.toml")?;
    target.name = format!("opa {version}");
    target.program = Some(program.display().to_string());
    if !version.starts_with(V1) {
        for setup in target.setups.values_mut() {
            for launch in setup.engine.iter_mut() {
                launch.args.push("--v1-compatible".to_owned());
            }
        }
    }
    Ok(target)
}
