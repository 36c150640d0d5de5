//! In-process execution of the suite's program.

use std::error::Error;

use conformance::cli::{self, Console};

use crate::report;

/// Runs `conformance` to write reports; succeeds whether the rules pass (exit code 0) or fail (1).
///
/// # Errors
/// Reports the output for any other exit code.
pub(crate) fn conformance(arguments: &[&str]) -> Result<(), Box<dyn Error>> {
    report("running", &format!("conformance {}", arguments.join(" ")));
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let console = Console {
        out: &mut out,
        err: &mut err,
        colour: false,
        watched: false,
    };
    let all = std::iter::once("conformance").chain(arguments.iter().copied());
    let code = cli::main(all.map(Into::into), console);
    if code > 1 {
        let output = [out, err].concat();
        return Err(format!("exit code {code}: {}", String::from_utf8_lossy(&output)).into());
    }
    Ok(())
}
