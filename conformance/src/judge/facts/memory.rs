//! Memory usage of a process, by its Prometheus metrics.

/// Metrics of memory usage, the most specific first: the Go heap in use, then the resident memory.
const METRICS: [&str; 2] = [
    "go_memstats_heap_inuse_bytes",
    "process_resident_memory_bytes",
];

/// Whether a metrics payload contains one of `METRICS`.
pub(super) fn has_metric(text: &str) -> bool {
    METRICS.iter().any(|metric| value(text, metric).is_some())
}

/// Returns the growth factor between two payloads, by the first of `METRICS` that both contain.
pub(super) fn growth(before: &str, after: &str) -> Option<f64> {
    let both = METRICS
        .iter()
        .find_map(|metric| Some((value(before, metric)?, value(after, metric)?)));
    both.map(|(before, after)| after / before)
}

/// Returns the value of a metric without labels, if positive.
fn value(text: &str, metric: &str) -> Option<f64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(metric))?;
    let (space, rest) = rest.split_at_checked(1)?;
    let value: f64 = rest.split_whitespace().next()?.parse().ok()?;
    (space == " " && value.is_finite() && value > 0.0).then_some(value)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const HEAP: &str =
        "# TYPE go_memstats_heap_inuse_bytes gauge\ngo_memstats_heap_inuse_bytes 2e+06\n";
    const BOTH: &str = "go_memstats_heap_inuse_bytes 5e+06\nprocess_resident_memory_bytes 9e+06\n";
    const RESIDENT: &str = "process_resident_memory_bytes 3000000.0 1700000000\n";

    #[rstest]
    #[case::heap(HEAP, BOTH, Some(2.5))]
    #[case::shrunk_heap(BOTH, HEAP, Some(0.4))]
    #[case::resident(RESIDENT, BOTH, Some(3.0))]
    #[case::another_metric(HEAP, RESIDENT, None)]
    #[case::zero("process_resident_memory_bytes 0\n", RESIDENT, None)]
    #[case::longer_name("process_resident_memory_bytes_total 5\n", RESIDENT, None)]
    #[case::no_value("process_resident_memory_bytes", RESIDENT, None)]
    #[case::nothing("", "", None)]
    fn growth_is_that_of_the_first_metric_of_both(
        #[case] before: &str,
        #[case] after: &str,
        #[case] expected: Option<f64>,
    ) {
        assert_eq!(growth(before, after), expected);
        assert_eq!(
            has_metric(before),
            !before.is_empty() && growth(before, before).is_some()
        );
    }
}
