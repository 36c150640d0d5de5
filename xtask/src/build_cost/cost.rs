//! Measures the cost of a command in time.

use std::ops::AddAssign;
use std::process::Command;
use std::time::Instant;

use crate::Failure;
use crate::commands::output;

/// CPU time and wall-clock time of a command, in seconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cost {
    pub(super) processor: f64,
    pub(super) waiting: f64,
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        self.processor += other.processor;
        self.waiting += other.waiting;
    }
}

/// Shell script that runs a command and prints the CPU time of its child processes; works on every
/// system.
const SCRIPT: &str = r#""$@" >&2 && times"#;

/// Runs a command and measures it.
///
/// # Errors
/// When it does not succeed.
pub(super) fn measure(command: Command) -> Result<Cost, Failure> {
    let mut shell = Command::new("sh");
    shell.args(["-c", SCRIPT, "sh"]).arg(command.get_program());
    shell.args(command.get_args());
    if let Some(folder) = command.get_current_dir() {
        shell.current_dir(folder);
    }
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            shell.env(name, value);
        }
    }
    let start = Instant::now();
    let times = output(&mut shell)?;
    Ok(Cost {
        processor: of_children(&times).ok_or("the shell does not say how long it took")?,
        waiting: start.elapsed().as_secs_f64(),
    })
}

/// Sums the second line of the output of `times`: user and system time of all terminated child
/// processes, in seconds.
fn of_children(times: &str) -> Option<f64> {
    times.lines().nth(1)?.split_whitespace().map(seconds).sum()
}

/// Parses a time such as `1m2.5s` into seconds.
fn seconds(text: &str) -> Option<f64> {
    let (minutes, seconds) = text.strip_suffix('s')?.split_once('m')?;
    Some(minutes.parse::<f64>().ok()? * 60.0 + seconds.parse::<f64>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::of_children;

    #[test]
    fn times_of_shells_are_read() {
        let dash = "0m0.000000s 0m0.000000s\n16m40.500000s 1m0.250000s\n";
        assert_eq!(of_children(dash), Some(1_060.75));
        let bash = "0m0.001s 0m0.002s\n0m1.500s 0m0.500s\n";
        assert_eq!(of_children(bash), Some(2.0));
        assert_eq!(of_children("0m0.001s 0m0.002s\n"), None);
        assert_eq!(of_children(""), None);
    }
}
