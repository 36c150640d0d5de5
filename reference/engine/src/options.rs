//! Command line options of the engine.

use std::path::PathBuf;

use super::bundle_files::BundleOptions;
use super::ignored_flags::IgnoredFlags;
use super::limits::EvaluationOptions;

/// Default vendors in the media types of filters.
pub(super) const MEDIA_TYPE_VENDORS: [&str; 2] = ["engine", "opa"];

/// Parses the name of a vendor, which may contain only letters, digits, `-` and `_`.
fn vendor(text: &str) -> Result<String, String> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    match !text.is_empty() && text.chars().all(allowed) {
        true => Ok(text.to_owned()),
        false => Err("letters, digits, `-` and `_` only".to_owned()),
    }
}

/// Command-line options of the engine.
#[derive(Debug, Clone, Default, clap::Args)]
#[group(id = "engine")]
pub struct Options {
    /// Configuration file, YAML or JSON; `${NAME}` is replaced by the environment variable
    #[arg(short, long, value_name = "FILE")]
    pub config_file: Option<PathBuf>,
    /// Overrides configuration values, such as `labels.region=west,decision_logs.console=true`
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Overrides configuration values with the contents of files
    #[arg(long, value_name = "KEY=FILE")]
    pub set_file: Vec<String>,
    /// Authentication of clients: `tls` requires certificates signed by `--tls-ca-cert-file`,
    /// `token` passes bearer tokens to the authorization policy
    #[arg(long, value_name = "SCHEME", default_value = "off", value_parser = ["token", "tls", "off"])]
    #[arg(requires_if("tls", "tls_ca_cert_file"))]
    pub authentication: String,
    /// Authorization of requests: `basic` evaluates the document `default_authorization_decision`
    /// of the configuration for each
    #[arg(long, value_name = "SCHEME", default_value = "off", value_parser = ["basic", "off"])]
    pub authorization: String,
    /// Pattern of names of files and directories that are not loaded, such as `.*`
    #[arg(long, value_name = "PATTERN", value_delimiter = ',')]
    pub ignore: Vec<String>,
    /// Vendor names in the media types of data filters; a response uses the vendor name of its
    /// request
    #[arg(long, value_name = "NAME", default_values = MEDIA_TYPE_VENDORS)]
    #[arg(value_parser = vendor, value_delimiter = ',')]
    pub media_type_vendor: Vec<String>,
    /// Answers 404 below /v1/batch, as Open Policy Agent does
    #[arg(long)]
    pub disable_batch_api: bool,
    /// Column types for data filters, JSON or YAML in the format of `targetSQLColumnTypes`; those
    /// in a request take precedence
    #[arg(long, value_name = "FILE")]
    pub sql_column_types: Option<PathBuf>,
    /// Uses Rego v0 for policies and queries that neither import `rego.v1` nor belong to a bundle
    /// with another version; the default of `--addr` is :8181
    #[arg(long)]
    pub v0_compatible: bool,
    /// Reloads policy and data files, or bundles, when they change; an invalid change has no effect
    #[arg(short, long)]
    pub watch: bool,
    /// Reloads the configuration file when it changes, as SIGHUP does
    #[arg(long, requires = "config_file")]
    pub watch_config: bool,
    /// Seconds to wait for bundles, discovery and other plugins before the server listens; 0 or
    /// less: no wait
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 0,
        allow_negative_numbers = true
    )]
    pub ready_timeout: i64,
    /// Further address, in the form of `--addr`, that serves only /health and /metrics; may be
    /// repeated
    #[arg(long, value_name = "ADDRESS", value_delimiter = ',')]
    pub diagnostic_addr: Vec<String>,
    /// Limits of evaluations
    #[command(flatten)]
    pub evaluation: EvaluationOptions,
    /// Bundles on the command line
    #[command(flatten)]
    pub bundles: BundleOptions,
    /// Flags of `opa run` without a meaning here
    #[command(flatten)]
    pub without_effect: IgnoredFlags,
    /// Policy and data files and directories, each as `[PREFIX:]PATH`; data of a subdirectory is
    /// nested below its name. An http:// or https:// URL is a bundle
    #[arg(value_name = "FILE|DIR|URL")]
    pub data: Vec<String>,
}

impl Options {
    /// Arguments that are paths of files and directories.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        let all = self.data.iter().map(String::as_str);
        all.filter(|path| !is_address(path))
    }

    /// Arguments that are URLs of bundles.
    pub(super) fn addresses(&self) -> impl Iterator<Item = &str> {
        let all = self.data.iter().map(String::as_str);
        all.filter(|path| is_address(path))
    }
}

/// Whether an argument is a URL.
fn is_address(path: &str) -> bool {
    path.starts_with("http://") || path.starts_with("https://")
}
