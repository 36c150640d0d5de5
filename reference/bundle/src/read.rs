//! Bundle parsing: from files to policies and data.

use rego::value::{Object, document_from_json, from_yaml};
use rego::{Module, Value, Version};

use super::manifest;
use super::{
    Bundle, BundleError, Content, File, Manifest, Operation, Policy, Verification, merge, patch,
    roots, signature,
};

/// Mapping of directory names to paths of documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Folders {
    /// Percent-encoded, as in downloaded bundles.
    Encoded,
    /// Plain, except for directories in roots that are percent-encoded.
    Plain,
}

/// Builds a bundle from files. Its policies are of `version` if the manifest specifies no Rego
/// version. Files other than policies, data, the manifest, a patch and the signatures are ignored,
/// but a signature must list them, too.
///
/// # Errors
/// When the signature, the manifest or a file is invalid.
pub(super) fn bundle(
    mut files: Vec<File>,
    name: &str,
    version: Version,
    verification: Option<&Verification>,
    folders: Folders,
) -> Result<Bundle, BundleError> {
    signature::check(&mut files, verification)?;
    let find = |name: &str| files.iter().find(|file| file.path == name);
    let manifest = match find(manifest::NAME) {
        Some(file) => Manifest::read(&file.bytes)?,
        None => Manifest::default(),
    };
    let operations = match find(patch::NAME) {
        Some(file) => patch::read(&file.bytes)?,
        None => Vec::new(),
    };
    let content = match operations.is_empty() {
        true => snapshot(&files, name, version, &manifest, folders)?,
        false => delta(&files, operations, &manifest)?,
    };
    Ok(Bundle {
        manifest,
        content,
        etag: String::new(),
    })
}

fn snapshot(
    files: &[File],
    name: &str,
    version: Version,
    manifest: &Manifest,
    folders: Folders,
) -> Result<Content, BundleError> {
    let mut documents = Value::from(Object::new());
    let mut policies = Vec::new();
    for file in files {
        match kind(&file.path) {
            Kind::Policy => policies.push(policy(file, name, version, manifest)?),
            Kind::Json => {
                let document = document_from_json(&file.bytes);
                let document = document.map_err(|error| BundleError::of_file(&file.path, error))?;
                let folder = folder(&file.path, manifest, folders)?;
                place(&mut documents, &file.path, &folder, document)?;
            }
            Kind::Yaml => {
                let document = from_yaml(&file.bytes);
                let document = document.map_err(|error| BundleError::of_file(&file.path, error))?;
                let folder = folder(&file.path, manifest, folders)?;
                place(&mut documents, &file.path, &folder, document)?;
            }
            Kind::Other => {}
        }
    }
    if let Some(at) = outside(&documents, &mut Vec::new(), manifest) {
        return Err(not_permitted(manifest, &at));
    }
    Ok(Content::Snapshot {
        documents,
        policies,
    })
}

fn delta(
    files: &[File],
    operations: Vec<Operation>,
    manifest: &Manifest,
) -> Result<Content, BundleError> {
    let others = files.iter().find(|file| kind(&file.path) != Kind::Other);
    if let Some(file) = others {
        let message = "a delta bundle must not contain policies or data";
        return Err(BundleError::of_file(&file.path, message));
    }
    let roots = &manifest.roots;
    for operation in &operations {
        if roots.holding(&operation.path).is_none() {
            let at = operation.path.join("/");
            let message = format!("manifest roots {roots} do not permit data patch at path '{at}'");
            return Err(BundleError::new(message));
        }
    }
    Ok(Content::Delta(operations))
}

/// Role of a file in a bundle.
#[derive(PartialEq, Eq)]
enum Kind {
    Policy,
    Json,
    Yaml,
    Other,
}

fn kind(path: &str) -> Kind {
    match path.rsplit('/').next().unwrap_or(path) {
        "data.json" => Kind::Json,
        "data.yaml" | "data.yml" => Kind::Yaml,
        name if name.ends_with(".rego") => Kind::Policy,
        _ => Kind::Other,
    }
}

fn policy(
    file: &File,
    name: &str,
    version: Version,
    manifest: &Manifest,
) -> Result<Policy, BundleError> {
    let text = str::from_utf8(&file.bytes);
    let text = text.map_err(|error| BundleError::of_file(&file.path, error))?;
    let names = name.split('/').filter(|part| !matches!(*part, "" | "."));
    let id: Vec<_> = names.chain([file.path.as_str()]).collect();
    let id = id.join("/");
    let version = manifest.version_of(&file.path).unwrap_or(version);
    let module = Module::parse_as(&id, text, version).map_err(BundleError::of_policies)?;
    let package = module.package.names();
    if manifest.roots.holding(&package).is_none() {
        let (roots, package) = (&manifest.roots, package.join("."));
        let message = format!(
            "manifest roots {roots} do not permit 'package {package}' in module '{}'",
            file.path
        );
        return Err(BundleError::new(message));
    }
    Ok(Policy { id, module })
}

fn not_permitted(manifest: &Manifest, at: &[String]) -> BundleError {
    let (roots, at) = (&manifest.roots, at.join("/"));
    BundleError::new(format!(
        "manifest roots {roots} do not permit data at path '/{at}'"
    ))
}

/// Returns the path of the document that corresponds to a file's directory.
fn folder(path: &str, manifest: &Manifest, folders: Folders) -> Result<Vec<String>, BundleError> {
    let Some((folder, _)) = path.rsplit_once('/') else {
        return Ok(Vec::new());
    };
    let folder: Vec<_> = folder.split('/').map(str::to_owned).collect();
    let mut above = (0..=folder.len()).filter_map(|length| folder.get(..length));
    if let Some(outside) = above.find(|above| !manifest.roots.permit_folder(above)) {
        return Err(not_permitted(manifest, outside));
    }
    match folders == Folders::Encoded || manifest.roots.escape(&folder) {
        true => roots::decoded(&folder).map_err(|error| BundleError::of_file(path, error)),
        false => Ok(folder),
    }
}

/// Merges a file's document into the root document, at the path of the file's directory.
fn place(
    root: &mut Value,
    path: &str,
    folder: &[String],
    document: Value,
) -> Result<(), BundleError> {
    if folder.is_empty() && document.as_object().is_none() {
        let message = format!(
            "the root document must be an object, found {}",
            document.kind()
        );
        return Err(BundleError::of_file(path, message));
    }
    let segments = folder.iter().map(String::as_str);
    let nested = merge::nested(segments, document);
    merge(root, nested, false).map_err(|at| {
        let at = at.join("/");
        BundleError::of_file(path, format!("another file defines a document at `/{at}`"))
    })
}

/// Returns the path of the first document that is outside of every root.
fn outside(document: &Value, at: &mut Vec<String>, manifest: &Manifest) -> Option<Vec<String>> {
    if manifest.roots.holding(at).is_some() {
        return None;
    }
    let above = manifest.roots.touching(at).is_some();
    let Some(members) = document.as_object().filter(|_| above) else {
        return Some(at.clone());
    };
    for (name, member) in members {
        at.push(name.as_str().unwrap_or_default().to_owned());
        let found = outside(member, at, manifest);
        if found.is_some() {
            return found;
        }
        at.pop();
    }
    None
}
