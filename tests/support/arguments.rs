//! Arguments of a test program with its own harness.

use libtest_mimic::Arguments;

/// Parses the arguments. `RUST_TEST_THREADS`, which the usual harness reads by itself, sets the
/// number of parallel tests unless `--test-threads` does.
pub(crate) fn arguments() -> Arguments {
    let mut arguments = Arguments::from_args();
    let threads = std::env::var("RUST_TEST_THREADS").ok();
    let threads = threads.and_then(|threads| threads.parse().ok());
    arguments.test_threads = arguments.test_threads.or(threads);
    arguments
}
