//! Runs the language cases of the pinned OPA module.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::PathBuf;
use std::process::Command;

use rego::Version;

mod case;
mod unmet;

use crate::{report, root};
use unmet::Unmet;

/// Runs every case of both language versions and prints the score of each folder.
///
/// # Errors
/// When the module is not available, no case is selected, a case fails that is not listed as unmet,
/// a listed case passes, or an entry of the list matches no case.
pub(crate) fn run(only: Option<&str>, list: bool) -> Result<(), Box<dyn Error>> {
    let folder = folder()?;
    let unmet = Unmet::open(&root().join("xtask/verification/rego-cases.toml"))?;
    let mut scores: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let mut cases = case::all(&folder, Version::V1)?;
    cases.extend(case::all(&folder, Version::V0)?);
    let ids: Vec<String> = cases.iter().map(case::Case::id).collect();
    let mut surprises = 0;
    for listed in unmet.idle(&ids) {
        surprises += 1;
        report(listed, "is listed as unmet, but there is no such case");
    }
    for (case, id) in cases.iter().zip(&ids) {
        if only.is_some_and(|only| !id.contains(only)) {
            continue;
        }
        let failure = case.run();
        let (passed, all) = scores.entry(case.folder.clone()).or_default();
        *passed += usize::from(failure.is_none());
        *all += 1;
        match (&failure, unmet.reason(id)) {
            (Some(failure), None) => {
                surprises += 1;
                report(id, failure);
            }
            (Some(failure), Some(reason)) if list => {
                report(id, &format!("{failure} (listed: {reason})"));
            }
            (None, Some(_)) => {
                surprises += 1;
                report(id, "passes, but is listed as unmet");
            }
            _ => {}
        }
    }
    show(&scores, only.is_some() || list);
    match (surprises, only) {
        (0, Some(only)) if scores.is_empty() => {
            Err(format!("no case has {only:?} in its name").into())
        }
        (0, _) => Ok(()),
        (some, _) => Err(format!(
            "{some} cases or entries differ from xtask/verification/rego-cases.toml"
        )
        .into()),
    }
}

/// Returns the folder of the cases in the Go module cache.
fn folder() -> Result<PathBuf, Box<dyn Error>> {
    let go = |arguments: &[&str]| {
        let module = root().join("xtask/verification/opa");
        Command::new("go")
            .current_dir(module)
            .args(arguments)
            .output()
    };
    let name = "github.com/open-policy-agent/opa";
    let downloaded = go(&["mod", "download", name])?;
    if !downloaded.status.success() {
        return Err(String::from_utf8_lossy(&downloaded.stderr).into());
    }
    let listed = go(&["list", "-m", "-f", "{{.Dir}}", name])?;
    let folder = String::from_utf8(listed.stdout)?;
    Ok(PathBuf::from(folder.trim()).join("v1/test/cases/testdata"))
}

/// Prints the score of each folder with failures, or of every folder, and the total.
fn show(scores: &BTreeMap<String, (usize, usize)>, all: bool) {
    let (mut passed_of_all, mut cases) = (0, 0);
    for (folder, (passed, of)) in scores {
        passed_of_all += passed;
        cases += of;
        if all || passed < of {
            report(folder, &format!("{passed} of {of}"));
        }
    }
    let share = 100.0 * f64::from(u32::try_from(passed_of_all).unwrap_or(0))
        / f64::from(u32::try_from(cases).unwrap_or(1).max(1));
    let sum = format!(
        "{passed_of_all} of {cases} in {} folders, {share:.1} %",
        scores.len()
    );
    report("language cases", &sum);
}
