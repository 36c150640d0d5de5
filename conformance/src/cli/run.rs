//! `conformance run`: judges a target.

use super::options::RunArguments;
use super::{Console, Failed};

/// Judges a target and returns the exit code of what it comes to.
pub(super) fn run(arguments: RunArguments, console: &mut Console<'_>) -> Result<u8, Failed> {
    let options = arguments.options()?;
    let _ = (console, options);
    Err(Failed::usage("not yet"))
}
