//! What the command line says about the engine.

use std::path::PathBuf;

use super::bundle_files::BundleOptions;
use super::flags_without_effect::FlagsWithoutEffect;
use super::limits::EvaluationOptions;

/// The vendors in media types, unless others are asked for.
pub(super) const MEDIA_TYPE_VENDORS: [&str; 2] = ["engine", "opa"];

/// A vendor as it may stand in a media type.
fn vendor(text: &str) -> Result<String, String> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    match !text.is_empty() && text.chars().all(allowed) {
        true => Ok(text.to_owned()),
        false => Err("letters, digits, `-` and `_` only".to_owned()),
    }
}

/// What the command line says about the engine.
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
    /// Policies and queries are Rego v0 unless they, or the manifest of their bundle, say
    /// otherwise; without `--addr` every network interface is listened on, port 8181
    #[arg(long)]
    pub v0_compatible: bool,
    /// Limits of evaluations
    #[command(flatten)]
    pub evaluation: EvaluationOptions,
    /// Bundles on the command line
    #[command(flatten)]
    pub bundles: BundleOptions,
    /// Flags of `opa run` without a meaning here
    #[command(flatten)]
    pub without_effect: FlagsWithoutEffect,
    /// Policy and data files and directories, each as `[PREFIX:]PATH`; directories nest data
    #[arg(value_name = "FILE|DIR")]
    pub data: Vec<String>,
}
