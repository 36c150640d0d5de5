//! Bundles given on the command line.

use std::fs;
use std::path::Path;

use rego::Version;
use zeroize::Zeroizing;

use super::state::Contents;
use super::{bundle_activation, load};
use bundle::{Bundle, Key, Limits, Verification};
use http_server::StartError;

/// Command-line options of bundles.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct BundleOptions {
    /// Loads the paths as bundles: archives, or directories with the same layout
    #[arg(short, long)]
    pub bundle: bool,
    /// Key that verifies signatures of bundles: public key or certificate in PEM, or secret of an
    /// HS algorithm; the text itself, or the path of a file
    #[arg(long, value_name = "KEY|FILE", requires = "bundle")]
    pub verification_key: Option<String>,
    /// Id of the verification key
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub verification_key_id: String,
    /// Signature algorithm of bundles
    #[arg(long, value_name = "NAME", default_value = "RS256")]
    pub signing_alg: String,
    /// Required scope of the signatures of bundles
    #[arg(long, value_name = "NAME", default_value = "")]
    pub scope: String,
    /// Pattern of files in bundles that need not be listed in the signature
    #[arg(long, value_name = "PATTERN", value_delimiter = ',')]
    pub exclude_files_verify: Vec<String>,
    /// Does not verify signatures of bundles
    #[arg(long)]
    pub skip_verify: bool,
}

/// Combined contents of the bundles at these paths, except for files with ignored names. Policies
/// are of `version` unless a manifest specifies another.
pub(super) fn contents(
    options: &BundleOptions,
    paths: &[String],
    ignored: &[String],
    version: Version,
) -> Result<Contents, StartError> {
    let bundles = read(options, paths, ignored, version)?;
    let mut contents = Contents::default();
    bundle_activation::activate(&mut contents, bundles)
        .map_err(|error| StartError::new(error.in_full()))?;
    Ok(contents)
}

/// Reads the bundles at these paths, see [`contents`], without activating them.
pub(super) fn read(
    options: &BundleOptions,
    paths: &[String],
    ignored: &[String],
    version: Version,
) -> Result<Vec<(String, Bundle)>, StartError> {
    let ignored = load::patterns(ignored)?;
    let verification = verification(options)?;
    let limits = Limits::default();
    let bundles = paths.iter().map(|name| {
        let path = name.strip_prefix("file://").unwrap_or(name);
        let bundle = Bundle::open(
            Path::new(path),
            name,
            version,
            &limits,
            verification.as_ref(),
            &ignored,
        );
        let bundle = bundle
            .map_err(|error| StartError::new(format!("bundle `{name}`: {}", error.in_full())))?;
        Ok((name.clone(), bundle))
    });
    bundles.collect()
}

fn verification(options: &BundleOptions) -> Result<Option<Verification>, StartError> {
    if options.skip_verify {
        let skip = Verification {
            skip: true,
            ..Verification::default()
        };
        return Ok(Some(skip));
    }
    let Some(key) = &options.verification_key else {
        return Ok(None);
    };
    let key = match fs::exists(key) {
        Ok(true) => fs::read_to_string(key)
            .map_err(|failure| StartError::new(format!("--verification-key `{key}`: {failure}")))?,
        // Anything that is not a path, such as a PEM string, is the key.
        Ok(false) | Err(_) => key.clone(),
    };
    let key = Key {
        key: Zeroizing::new(key),
        algorithm: options.signing_alg.clone(),
        scope: options.scope.clone(),
    };
    Ok(Some(Verification {
        keys: [(options.verification_key_id.clone(), key)].into(),
        key_id: Some(options.verification_key_id.clone()),
        scope: options.scope.clone(),
        exclude_files: options.exclude_files_verify.clone(),
        skip: false,
    }))
}
