//! Flags of `opa run` that are accepted without effect.

use tracing::info;

/// Flags that are taken and change nothing.
#[derive(Debug, Clone, Default, clap::Args)]
#[group(id = "without-effect")]
pub struct IgnoredFlags {
    /// Has no effect: this program always runs as a server
    #[arg(short, long)]
    server: bool,
    /// This program never checks for newer versions
    #[arg(long, hide = true)]
    skip_version_check: bool,
    /// This program sends no telemetry
    #[arg(long, hide = true)]
    disable_telemetry: bool,
    /// HTTP/2 is always spoken, also without TLS
    #[arg(long, hide = true)]
    h2c: bool,
    /// Policies are Rego v1 unless `--v0-compatible` says otherwise
    #[arg(long, hide = true)]
    v1_compatible: bool,
    /// Metadata of schemas is ignored
    #[arg(long, hide = true)]
    pub(super) skip_known_schema_check: bool,
    /// Documents are always stored for reading
    #[arg(long, hide = true)]
    optimize_store_for_read_speed: bool,
    /// Every error of a policy is reported
    #[arg(short, long, hide = true, value_name = "COUNT")]
    max_errors: Option<u64>,
    /// This program has no profiling endpoints
    #[arg(long, hide = true)]
    pprof: bool,
    /// Has no effect: this program has no interactive shell
    #[arg(short, long, hide = true, value_name = "FORMAT")]
    format: Option<String>,
    /// Has no effect: this program has no interactive shell
    #[arg(short = 'H', long, hide = true, value_name = "FILE")]
    history: Option<String>,
}

impl IgnoredFlags {
    /// Logs which of the flags are set. `--server` is not logged, as it is always in effect.
    pub(super) fn log_set_flags(&self) {
        let flags = [
            ("--skip-version-check", self.skip_version_check),
            ("--disable-telemetry", self.disable_telemetry),
            ("--h2c", self.h2c),
            ("--v1-compatible", self.v1_compatible),
            ("--skip-known-schema-check", self.skip_known_schema_check),
            (
                "--optimize-store-for-read-speed",
                self.optimize_store_for_read_speed,
            ),
            ("--pprof", self.pprof),
            ("--max-errors", self.max_errors.is_some()),
            ("--format", self.format.is_some()),
            ("--history", self.history.is_some()),
        ];
        let flags: Vec<&str> = flags
            .into_iter()
            .filter_map(|(flag, is_given)| is_given.then_some(flag))
            .collect();
        if !flags.is_empty() {
            info!(flags = flags.join(" "), "these flags have no effect");
        }
    }
}
