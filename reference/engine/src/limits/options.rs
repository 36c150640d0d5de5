//! Flags of evaluation limits.

use std::time::Duration;

use http_server::units::{duration, size_or_none};

/// Command-line options of evaluations. 0 means no limit.
#[derive(Debug, Clone, clap::Args)]
pub struct EvaluationOptions {
    /// Time limit of an evaluation, such as 500ms, 5s or 1m; 0: unlimited
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = duration)]
    pub evaluation_timeout: Duration,
    /// Maximum number of values that an evaluation allocates, such as items of collections; 0:
    /// unlimited
    #[arg(long, value_name = "COUNT", default_value_t = VALUES)]
    pub evaluation_values: u64,
    /// Memory limit of all concurrent evaluations together, such as 512MiB or 2GiB; 0: unlimited
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = size_or_none)]
    pub evaluation_memory: u64,
}

const TIMEOUT: Duration = Duration::from_secs(30);
const VALUES: u64 = 10_000_000;
const MEMORY: u64 = 1 << 30;

impl Default for EvaluationOptions {
    fn default() -> Self {
        Self {
            evaluation_timeout: TIMEOUT,
            evaluation_values: VALUES,
            evaluation_memory: MEMORY,
        }
    }
}

impl EvaluationOptions {
    pub(super) fn timeout(&self) -> Option<Duration> {
        Some(self.evaluation_timeout).filter(|time| !time.is_zero())
    }

    pub(super) fn values(&self) -> Option<u64> {
        Some(self.evaluation_values).filter(|count| *count > 0)
    }

    pub(super) fn memory(&self) -> Option<u64> {
        Some(self.evaluation_memory).filter(|bytes| *bytes > 0)
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use rstest::rstest;

    use super::*;

    #[derive(Parser)]
    struct Flags {
        #[command(flatten)]
        evaluation: EvaluationOptions,
    }

    fn read(args: &str) -> Option<EvaluationOptions> {
        let args = args.split_whitespace();
        let flags = Flags::try_parse_from(std::iter::once("flags").chain(args)).ok();
        flags.map(|flags| flags.evaluation)
    }

    #[rstest]
    #[case::defaults("", Some((Some(TIMEOUT), Some(VALUES), Some(MEMORY))))]
    #[case::units(
        "--evaluation-timeout 5ms --evaluation-values 7 --evaluation-memory 3KiB",
        Some((Some(Duration::from_millis(5)), Some(7), Some(3 << 10)))
    )]
    #[case::off(
        "--evaluation-timeout 0 --evaluation-values 0 --evaluation-memory 0",
        Some((None, None, None))
    )]
    #[case::time_without_a_unit("--evaluation-timeout 5", None)]
    #[case::unknown_unit("--evaluation-memory 5MB", None)]
    #[case::too_much_memory("--evaluation-memory 99999999999GiB", None)]
    #[case::negative_count("--evaluation-values -1", None)]
    fn flags_have_units_and_may_be_off(
        #[case] args: &str,
        #[case] limits: Option<(Option<Duration>, Option<u64>, Option<u64>)>,
    ) {
        let read = read(args);
        let read = read.map(|read| (read.timeout(), read.values(), read.memory()));
        assert_eq!(read, limits);
    }
}
