//! Checks that no crate is compiled twice by the two commands of the README, `cargo conformance`
//! and `cargo test --workspace`. Cargo compiles a crate, and all that depend on it, for each set of
//! features requested, which follows from the selected packages. Only cargo's resolver runs.

use std::collections::{BTreeMap, BTreeSet};

use crate::cargo::cargo;
use crate::commands::output;
use crate::{Failure, report, root};

/// Package selections of the two commands: the second one includes dependencies of tests.
const CHOICES: [&[&str]; 2] = [
    &["--package", "opa-conformance", "--edges", "normal,build"],
    &["--workspace", "--edges", "normal,build,dev"],
];

/// Crates that may be compiled twice, with the reason.
const EXCEPTIONS: &[(&str, &str)] = &[(
    "memchr",
    "the build script of `psm` reads archives with it and leaves its default features out",
)];

/// Crates, each with its comma-separated feature sets.
type Features = BTreeMap<String, BTreeSet<String>>;

/// Compares the feature sets of every crate in the two commands.
///
/// # Errors
/// Names every crate that is compiled more than once, and every unneeded exception.
pub(crate) fn run() -> Result<(), Failure> {
    let mut features = Features::new();
    for choice in CHOICES {
        let mut command = cargo();
        command
            .current_dir(root())
            .args(["tree", "--prefix", "none", "--format", "{p}|{f}"])
            .args(choice);
        read(&output(&mut command)?, &mut features);
    }
    let wrong = judge(&features, EXCEPTIONS);
    if wrong.is_empty() {
        let crates = features.len();
        report("compiled once", &format!("{crates} crates"));
        Ok(())
    } else {
        Err(wrong.join("\n").into())
    }
}

/// Adds the crates of the output of `cargo tree`, which has one crate per line; the line of a
/// repeated crate ends with a marker.
fn read(tree: &str, features: &mut Features) {
    for line in tree.lines() {
        let line = line.strip_suffix(" (*)").unwrap_or(line);
        if let Some((name, set)) = line.split_once('|') {
            let sets = features.entry(name.to_owned()).or_default();
            sets.insert(set.to_owned());
        }
    }
}

fn judge(features: &Features, exceptions: &[(&str, &str)]) -> Vec<String> {
    let twice: BTreeMap<&str, &BTreeSet<String>> = features
        .iter()
        .filter(|(_, sets)| sets.len() > 1)
        .map(|(name, sets)| (name.as_str(), sets))
        .collect();
    let is_of = |name: &str, exception: &str| name.split(' ').next() == Some(exception);
    let mut wrong: Vec<String> = twice
        .iter()
        .filter(|(name, _)| !exceptions.iter().any(|(known, _)| is_of(name, known)))
        .map(|(name, sets)| {
            let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
            format!(
                "{name} is compiled {} times, with the features {}",
                sets.len(),
                sets.join(" and ")
            )
        })
        .collect();
    let idle = exceptions
        .iter()
        .filter(|(known, _)| !twice.keys().any(|name| is_of(name, known)));
    wrong.extend(idle.map(|(known, _)| format!("{known} needs no exception any more")));
    wrong
}

#[cfg(test)]
mod tests {
    use super::{Features, judge, read};

    fn judged(trees: [&str; 2], exceptions: &[(&str, &str)]) -> Vec<String> {
        let mut features = Features::new();
        for tree in trees {
            read(tree, &mut features);
        }
        judge(&features, exceptions)
    }

    #[test]
    fn equal_features_are_compiled_once() {
        let trees = ["a v1.0.0|std\nb v1.0.0|\na v1.0.0|std (*)", "a v1.0.0|std"];
        assert!(judged(trees, &[]).is_empty());
    }

    #[test]
    fn two_versions_are_two_crates() {
        assert!(judged(["a v1.0.0|std", "a v2.0.0|"], &[]).is_empty());
    }

    #[test]
    fn other_features_are_a_finding() {
        let wrong = judged(["a v1.0.0|std", "a v1.0.0|alloc,std"], &[]);
        let expected = "a v1.0.0 is compiled 2 times, with the features alloc,std and std";
        assert_eq!(wrong, [expected]);
    }

    #[test]
    fn exceptions_are_needed() {
        let trees = ["a v1.0.0|std", "a v1.0.0|"];
        assert!(judged(trees, &[("a", "")]).is_empty());
        let idle = judged(trees, &[("a", ""), ("b", "")]);
        assert_eq!(idle, ["b needs no exception any more"]);
    }
}
