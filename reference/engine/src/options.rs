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
    /// Configuration file, YAML or JSON; `${NAME}` stands for an environment variable
    #[arg(short, long, value_name = "FILE")]
    pub config_file: Option<PathBuf>,
    /// Overrides configuration values, such as `labels.region=west,decision_logs.console=true`
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Overrides configuration values with the contents of files
    #[arg(long, value_name = "KEY=FILE")]
    pub set_file: Vec<String>,
    /// How clients prove who they are: `tls` demands certificates that `--tls-ca-cert-file` has
    /// signed, `token` takes effect only together with authorization
    #[arg(long, value_name = "SCHEME", default_value = "off", value_parser = ["token", "tls", "off"])]
    #[arg(requires_if("tls", "tls_ca_cert_file"))]
    pub authentication: String,
    /// Whether a policy decides on each request: `basic` asks the document that the configuration
    /// gives as `default_authorization_decision`
    #[arg(long, value_name = "SCHEME", default_value = "off", value_parser = ["basic", "off"])]
    pub authorization: String,
    /// Names of files and directories that are not loaded, such as `.*`
    #[arg(long, value_name = "PATTERN", value_delimiter = ',')]
    pub ignore: Vec<String>,
    /// The vendors in the media types of data filters; each request is answered with the one that
    /// it names
    #[arg(long, value_name = "NAME", default_values = MEDIA_TYPE_VENDORS)]
    #[arg(value_parser = vendor, value_delimiter = ',')]
    pub media_type_vendor: Vec<String>,
    /// Answers 404 below /v1/batch, as Open Policy Agent does: clients that know how decide one by
    /// one then
    #[arg(long)]
    pub disable_batch_api: bool,
    /// The types of columns for data filters, JSON or YAML with what `targetSQLColumnTypes` may
    /// have; what a request says of a column takes precedence
    #[arg(long, value_name = "FILE")]
    pub sql_column_types: Option<PathBuf>,
    /// Policies and queries are Rego v0 unless they, or the manifest of their bundle, say
    /// otherwise; without `--addr` every network interface is listened on, port 8181
    #[arg(long)]
    pub v0_compatible: bool,
    /// Loads policy and data files, or bundles, again when they change; a change that cannot be
    /// used leaves everything as it is
    #[arg(short, long)]
    pub watch: bool,
    /// Reads the configuration file again when it changes, as at SIGHUP
    #[arg(long, requires = "config_file")]
    pub watch_config: bool,
    /// Seconds to wait for bundles, discovery and other plugins before anything is listened on; 0
    /// or less does not wait
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 0,
        allow_negative_numbers = true
    )]
    pub ready_timeout: i64,
    /// Further addresses, as of `--addr`, that answer only below /health and /metrics; may be
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
    /// Policy and data files and directories, each as `[PREFIX:]PATH`; directories nest data. An
    /// http:// or https:// address is that of a bundle
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
