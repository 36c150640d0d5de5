//! Random test cases from a seed.

use std::error::Error;
use std::ops::Range;

use proptest::collection::vec;
use proptest::prelude::any;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};

/// Creates a test runner whose cases depend only on the seed.
pub(crate) fn runner(config: Config, seed: u64) -> TestRunner {
    let mut start = [0; 32];
    let (first, _) = start.split_at_mut(8);
    first.copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &start);
    TestRunner::new_with_rng(config, rng)
}

/// Judges `cases` cases, each generated from random bytes, whose number is in the range `bytes`. A
/// failing case is shrunk in at most `shrinks` attempts.
///
/// # Errors
/// Reports the judge's error for the smallest failing case.
pub(crate) fn judge(
    (cases, shrinks): (u32, u32),
    seed: u64,
    bytes: Range<usize>,
    judge: impl Fn(&[u8]) -> Result<(), String>,
) -> Result<(), Box<dyn Error>> {
    let config = Config {
        cases,
        max_shrink_iters: shrinks,
        failure_persistence: None,
        ..Config::default()
    };
    let judged = runner(config, seed).run(&vec(any::<u8>(), bytes), |bytes| {
        judge(&bytes).map_err(TestCaseError::fail)
    });
    match judged {
        Ok(()) => Ok(()),
        Err(TestError::Fail(reason, _) | TestError::Abort(reason)) => Err(reason.message().into()),
    }
}
