//! Growth of a server's resident memory.

use std::fmt;

/// Maximum ratio between the memory at the end and the memory after the warm-up.
const GROWTH: f64 = 1.05;

/// Growth that is always allowed, in KiB: the allocator may cause it.
const NOISE: f64 = 2_048.0;

/// Samples of a server's resident memory, after the warm-up.
#[derive(Debug)]
pub(super) struct Memory {
    server: &'static str,
    looks: Vec<u64>,
}

impl Memory {
    pub(super) fn new(server: &'static str) -> Self {
        let looks = Vec::new();
        Self { server, looks }
    }

    /// Adds a sample in KiB; samples during the warm-up are ignored.
    pub(super) fn sample(&mut self, resident: u64, warm: bool) {
        if warm {
            self.looks.push(resident);
        }
    }

    /// Returns the medians of the first and the last third of the samples, in KiB.
    fn medians(&self) -> (f64, f64) {
        let third = self.looks.len() / 3;
        let first = self.looks.get(..third).unwrap_or_default();
        let last = self.looks.get(self.looks.len() - third..);
        (median(first), median(last.unwrap_or_default()))
    }

    /// Returns an error message if the memory has grown too much.
    pub(super) fn broken(&self) -> Option<String> {
        let (first, last) = self.medians();
        let grown = last > (first * GROWTH).max(first + NOISE) || !first.is_finite();
        grown.then(|| format!("memory grows: {self}"))
    }
}

impl fmt::Display for Memory {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, last) = self.medians();
        let change = (last / first - 1.0) * 100.0;
        let server = self.server;
        write!(
            to,
            "{server}: {:.1} MiB after its warm-up, {:.1} MiB at the end ({change:+.1} %)",
            first / 1024.0,
            last / 1024.0
        )
    }
}

fn median(looks: &[u64]) -> f64 {
    let mut sorted = looks.to_vec();
    sorted.sort_unstable();
    let middle = sorted.get(sorted.len() / 2).copied();
    middle.map_or(f64::NAN, |middle| middle as f64)
}
