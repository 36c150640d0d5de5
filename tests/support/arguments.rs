//! The arguments of a test program with its own harness.

use libtest_mimic::Arguments;

/// The arguments. `RUST_TEST_THREADS`, which programs with the usual harness read by themselves, says
/// how many tests run at once unless `--test-threads` does.
pub(crate) fn arguments() -> Arguments {
    let mut arguments = Arguments::from_args();
    let threads = std::env::var("RUST_TEST_THREADS").ok();
    let threads = threads.and_then(|threads| threads.parse().ok());
    arguments.test_threads = arguments.test_threads.or(threads);
    arguments
}
