//! Process metrics for Prometheus, named as in its client libraries. Unavailable on systems without
//! `/proc`.

use std::fmt;
use std::fs;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;

use crate::log::dropped_lines;

/// Linux reports process times to programs in hundredths of a second.
const TICKS_PER_SECOND: f64 = 100.0;

/// Registers metrics of memory, time and files.
pub fn register(registry: &mut Registry) {
    registry.register_collector(Box::new(Process));
}

#[derive(Debug)]
struct Process;

impl Collector for Process {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let seen = Usage::now();
        if let Some(seconds) = seen.cpu_seconds {
            let counter = ConstCounter::new(seconds);
            let help = "Time that processors spent on the process in seconds";
            let metric = counter.metric_type();
            counter.encode(encoder.encode_descriptor(
                "process_cpu_seconds",
                help,
                None,
                metric,
            )?)?;
        }
        let dropped = ConstCounter::new(dropped_lines());
        let help = "Log lines dropped because the queue was full or they could not be written";
        let metric = dropped.metric_type();
        dropped.encode(encoder.encode_descriptor("log_lines_dropped", help, None, metric)?)?;
        for (name, help, value) in [
            (
                "process_resident_memory_bytes",
                "Resident memory size in bytes",
                seen.resident,
            ),
            (
                "process_virtual_memory_bytes",
                "Virtual memory size in bytes",
                seen.addresses,
            ),
            (
                "process_open_fds",
                "Files and connections that are open",
                seen.open_files,
            ),
            (
                "process_max_fds",
                "Files and connections that may be open",
                seen.most_files,
            ),
            (
                "process_start_time_seconds",
                "When the process was started, in seconds since 1970",
                seen.started,
            ),
        ] {
            if let Some(value) = value {
                let gauge = ConstGauge::new(value);
                let metric = gauge.metric_type();
                gauge.encode(encoder.encode_descriptor(name, help, None, metric)?)?;
            }
        }
        Ok(())
    }
}

/// Current resource usage of the process.
#[derive(Debug, Default)]
struct Usage {
    cpu_seconds: Option<f64>,
    resident: Option<f64>,
    addresses: Option<f64>,
    open_files: Option<f64>,
    most_files: Option<f64>,
    started: Option<f64>,
}

impl Usage {
    fn now() -> Self {
        let text = |path| fs::read_to_string(path).unwrap_or_default();
        let (status, limits) = (text("/proc/self/status"), text("/proc/self/limits"));
        let stat = text("/proc/self/stat");
        let entries = fs::read_dir("/proc/self/fd").ok();
        Self {
            cpu_seconds: cpu_seconds(&stat),
            resident: kibibytes(&status, "VmRSS:"),
            addresses: kibibytes(&status, "VmSize:"),
            // One of the entries is the directory being read.
            open_files: entries.map(|entries| to_float(entries.count().saturating_sub(1))),
            most_files: number_after(&limits, "Max open files"),
            started: started(&stat, &text("/proc/stat")),
        }
    }
}

/// Field at an index after the program name in `/proc/self/stat`; index 0 is the state. The name
/// may contain any characters.
fn field(stat: &str, place: usize) -> Option<f64> {
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(place)?.parse().ok()
}

fn cpu_seconds(stat: &str) -> Option<f64> {
    let (user, system) = (field(stat, 11)?, field(stat, 12)?);
    Some((user + system) / TICKS_PER_SECOND)
}

/// Start time of the process in seconds since 1970: its offset plus the boot time of the system.
fn started(stat: &str, system: &str) -> Option<f64> {
    let after = field(stat, 19)? / TICKS_PER_SECOND;
    Some(number_after(system, "btime")? + after)
}

fn kibibytes(status: &str, name: &str) -> Option<f64> {
    Some(number_after(status, name)? * 1024.0)
}

/// First number after a name at the start of a line.
fn number_after(text: &str, name: &str) -> Option<f64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    rest.split_whitespace().next()?.parse().ok()
}

/// Converts a number of files, which always fits.
fn to_float(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::from(u32::MAX), f64::from)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const STAT: &str = "7 (a) b) S 1 7 7 0 -1 4 1 0 0 0 150 50 0 0 20 0 3 0 4200 9 1 2\n";
    const STATUS: &str = "Name:\ta\nVmSize:\t    2000 kB\nVmRSS:\t     100 kB\n";
    const LIMITS: &str = "Limit  Soft Limit  Hard Limit  Units\nMax open files            1024                 4096                 files\n";
    const ENDLESS: &str =
        "Max open files            unlimited            unlimited            files\n";

    #[rstest]
    #[case::seconds(cpu_seconds(STAT), Some(2.0))]
    #[case::no_seconds(cpu_seconds(""), None)]
    #[case::start(started(STAT, "cpu 1 2\nbtime 1000\n"), Some(1042.0))]
    #[case::no_start(started(STAT, ""), None)]
    #[case::resident_memory(kibibytes(STATUS, "VmRSS:"), Some(102_400.0))]
    #[case::virtual_memory(kibibytes(STATUS, "VmSize:"), Some(2_048_000.0))]
    #[case::no_memory(kibibytes("", "VmRSS:"), None)]
    #[case::limit(number_after(LIMITS, "Max open files"), Some(1024.0))]
    #[case::no_limit(number_after(ENDLESS, "Max open files"), None)]
    fn what_the_system_writes_is_read(#[case] seen: Option<f64>, #[case] expected: Option<f64>) {
        assert_eq!(seen, expected);
    }
}
