//! Verification of bundle signatures.

use std::collections::BTreeMap;
use std::fmt;

use globset::GlobBuilder;
use rego::Value;
use rego::value::{Object, from_json, from_json_prefix, from_yaml};
use zeroize::Zeroizing;

use super::digest::{canonical, digest};
use super::{BundleError, File, manifest};

/// Name of the signatures file.
const NAME: &str = ".signatures.json";

/// Plugin name by which signers denote the built-in signature format.
const DEFAULT_PLUGIN: &str = "_default";

/// Settings of signature verification.
#[derive(Debug, Clone, Default)]
pub struct Verification {
    /// Verification keys by id.
    pub keys: BTreeMap<String, Key>,
    /// Id of the key that must have been used; if absent, the signature names one of the keys.
    pub key_id: Option<String>,
    /// Scope that the signature must have; if empty, that of the key.
    pub scope: String,
    /// Patterns of the paths of files that a signature need not list.
    pub exclude_files: Vec<String>,
    /// Whether verification is disabled.
    pub skip: bool,
}

/// Verification key.
#[derive(Clone)]
pub struct Key {
    /// Public key or certificate in PEM, or shared secret.
    pub key: Zeroizing<String>,
    /// Algorithm, such as `RS256`.
    pub algorithm: String,
    /// Scope that signatures with this key must have.
    pub scope: String,
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Key")
            .field("algorithm", &self.algorithm)
            .field("scope", &self.scope)
            .finish_non_exhaustive()
    }
}

/// Verifies the signature of files, if one is required, and removes the signatures file from them.
///
/// # Errors
/// When a required signature is missing, when a signature is invalid or of another scope, when the
/// files differ from those that it lists, or when no keys are configured to verify it.
pub(super) fn check(
    files: &mut Vec<File>,
    verification: Option<&Verification>,
) -> Result<(), BundleError> {
    let signed = files.iter().position(|file| file.path == NAME);
    let signed = signed.map(|at| files.remove(at));
    if verification.is_some_and(|verification| verification.skip) {
        return Ok(());
    }
    let Some(signed) = signed else {
        return match verification {
            Some(_) => Err(BundleError::new("the bundle has no `.signatures.json`")),
            None => Ok(()),
        };
    };
    let wrong = |reason: String| BundleError::of_file(NAME, reason);
    let token = token(&signed.bytes).map_err(wrong)?;
    let verification = verification
        .ok_or_else(|| wrong("the bundle is signed, but no keys are configured".to_owned()))?;
    let listed = read_files(&token, verification).map_err(wrong)?;
    compare(files, listed, verification)
}

/// Extracts the only token of the file, a JSON Web Token.
fn token(text: &[u8]) -> Result<String, String> {
    let document = from_json_prefix(text).map_err(|error| error.to_string())?;
    let plugin = document.get("plugin").and_then(Value::as_str);
    if let Some(plugin) = plugin.filter(|plugin| !["", DEFAULT_PLUGIN].contains(plugin)) {
        return Err(format!(
            "signatures by the plugin `{plugin}` are not supported"
        ));
    }
    let tokens = document.get("signatures").and_then(Value::as_array);
    let mut tokens = tokens.into_iter().flat_map(|tokens| tokens.iter());
    match (tokens.next().and_then(Value::as_str), tokens.next()) {
        (Some(token), None) => Ok(token.to_owned()),
        _ => Err("`signatures` must list one token".to_owned()),
    }
}

/// Entry of a file in a signature.
struct Listed {
    algorithm: String,
    digest: String,
}

/// Verifies the token and returns the files that it lists, by path.
fn read_files(
    token: &str,
    verification: &Verification,
) -> Result<BTreeMap<String, Listed>, String> {
    let (header, claims) = rego::jwt::unverified(token)?;
    let text = |of: &Object, name| of.get(name).and_then(Value::as_str).map(str::to_owned);
    let ids = [
        verification.key_id.clone(),
        text(&header, "kid"),
        text(&claims, "keyid"),
    ];
    let id = ids.into_iter().flatten().find(|id| !id.is_empty());
    let id = id.ok_or("neither the configuration nor the signature names a key")?;
    let key = verification.keys.get(&id);
    let key = key.ok_or_else(|| format!("there is no key `{id}`"))?;
    rego::jwt::verify(token, &key.algorithm, &key.key)?;
    let scope = match verification.scope.as_str() {
        "" => &key.scope,
        scope => scope,
    };
    let declared_scope = text(&claims, "scope").unwrap_or_default();
    if declared_scope != *scope {
        return Err(format!("the scope is `{declared_scope}`, not `{scope}`"));
    }
    let files = claims.get("files").and_then(Value::as_array);
    let files = files.into_iter().flat_map(|files| files.iter());
    let files = files.map(|file| {
        let text = |name| file.get(name).and_then(Value::as_str);
        let parts = (text("name"), text("algorithm"), text("hash"));
        let (Some(name), Some(algorithm), Some(digest)) = parts else {
            return Err("a listed file needs `name`, `algorithm` and `hash`".to_owned());
        };
        let listed = Listed {
            algorithm: algorithm.to_owned(),
            digest: digest.to_ascii_lowercase(),
        };
        Ok((name.trim_start_matches('/').to_owned(), listed))
    });
    files.collect()
}

/// Compares the files with the listed ones.
fn compare(
    files: &[File],
    mut listed: BTreeMap<String, Listed>,
    verification: &Verification,
) -> Result<(), BundleError> {
    let excluded = excluded(&verification.exclude_files)?;
    for file in files {
        let wrong = |reason: &str| BundleError::of_file(&file.path, reason);
        let found = listed.remove(&file.path);
        if excluded.is_match(&file.path) {
            continue;
        }
        let found = found.ok_or_else(|| wrong("not listed in the signature"))?;
        let digest = digest(&found.algorithm, &signed(file)?);
        let digest = digest.ok_or_else(|| {
            let message = format!("its digest by `{}` is not supported", found.algorithm);
            wrong(&message)
        })?;
        let digest = hex::encode(digest);
        if digest != found.digest {
            return Err(wrong("the digest differs from the one in the signature"));
        }
    }
    match listed.keys().next() {
        Some(missing) => Err(BundleError::of_file(
            missing,
            "listed in the signature, but missing from the bundle",
        )),
        None => Ok(()),
    }
}

/// Returns the bytes of a file that are signed: the canonical JSON of a document, or all bytes of
/// any other file.
fn signed(file: &File) -> Result<Vec<u8>, BundleError> {
    let document = match file.path.rsplit('/').next().unwrap_or_default() {
        "data.json" | manifest::NAME => from_json(&file.bytes).map_err(|error| error.to_string()),
        "data.yaml" | "data.yml" => from_yaml(&file.bytes).map_err(|error| error.to_string()),
        _ => return Ok(file.bytes.clone()),
    };
    let document = document.map_err(|reason| BundleError::of_file(&file.path, reason))?;
    Ok(canonical(&document))
}

fn excluded(patterns: &[String]) -> Result<globset::GlobSet, BundleError> {
    let mut set = globset::GlobSetBuilder::new();
    for text in patterns {
        let pattern = GlobBuilder::new(text).literal_separator(true).build();
        let pattern =
            pattern.map_err(|error| BundleError::new(format!("exclude `{text}`: {error}")))?;
        set.add(pattern);
    }
    set.build()
        .map_err(|error| BundleError::new(format!("exclude: {error}")))
}
