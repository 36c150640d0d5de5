//! Command-line arguments of test programs that have their own harness.

use libtest_mimic::Arguments;

/// Parses the arguments. Without `--test-threads`, the variable `RUST_TEST_THREADS` sets the number
/// of parallel tests, as in the standard harness.
pub(crate) fn arguments() -> Arguments {
    let mut arguments = Arguments::from_args();
    let threads = std::env::var("RUST_TEST_THREADS").ok();
    let threads = threads.and_then(|threads| threads.parse().ok());
    arguments.test_threads = arguments.test_threads.or(threads);
    arguments
}
