//! Runs the examples in a folder with the built program.

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use crate::cargo::cargo;
use crate::command::complete;
use crate::{report, root};

/// Builds the program and tests every example with it.
///
/// # Errors
/// Reports the failures of all examples, after every one was tested.
pub(crate) fn try_all<E>(
    folder: &str,
    examples: &[E],
    name: impl Fn(&E) -> &str,
    attempt: impl Fn(&E, &Path) -> Result<(), Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    complete(
        cargo()
            .current_dir(root())
            .args(["build", "--workspace", "--bin", "conformance"]),
    )?;
    let program = root().join("target/debug/conformance");
    let mut wrong = Vec::new();
    for example in examples {
        let start = Instant::now();
        let name = name(example);
        match attempt(example, &program) {
            Ok(()) => {
                let seconds = start.elapsed().as_secs_f32();
                report("tested", &format!("{name} ({seconds:.1} s)"));
            }
            Err(error) => wrong.push(format!("{folder}/{name}: {error}")),
        }
    }
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(wrong.join("\n").into()),
    }
}

/// Returns the names of the subfolders of a folder.
#[cfg(test)]
pub(crate) fn folders(folder: &str) -> std::io::Result<std::collections::BTreeSet<String>> {
    let mut names = std::collections::BTreeSet::new();
    for entry in std::fs::read_dir(root().join(folder))? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            names.insert(entry.file_name().to_string_lossy().into_owned());
        }
    }
    Ok(names)
}
