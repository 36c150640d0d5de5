//! From files to a bundle.

use rego::value::{Object, document_from_json, from_yaml};
use rego::{Module, Value, Version};

use super::manifest;
use super::{
    Bundle, BundleError, Content, File, Manifest, Operation, Policy, Verification, merge, patch,
    signature,
};

/// The bundle that files make; its policies are of `version` if the manifest does not say. Other files than policies, data, the manifest, a patch and the
/// signatures are not looked at, but a signature has to list them, too.
///
/// # Errors
/// When the signature, the manifest or a file is wrong.
pub(super) fn bundle(
    mut files: Vec<File>,
    name: &str,
    version: Version,
    verification: Option<&Verification>,
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
        true => snapshot(&files, name, version, &manifest)?,
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
) -> Result<Content, BundleError> {
    let mut documents = Value::from(Object::new());
    let mut policies = Vec::new();
    for file in files {
        match kind(&file.path) {
            Kind::Policy => policies.push(policy(file, name, version, manifest)?),
            Kind::Json => {
                let document = document_from_json(&file.bytes);
                let document = document.map_err(|error| BundleError::of_file(&file.path, error))?;
                place(&mut documents, &file.path, document)?;
            }
            Kind::Yaml => {
                let document = from_yaml(&file.bytes);
                let document = document.map_err(|error| BundleError::of_file(&file.path, error))?;
                place(&mut documents, &file.path, document)?;
            }
            Kind::Other => {}
        }
    }
    if let Some(at) = outside(&documents, &mut Vec::new(), manifest) {
        let (roots, at) = (&manifest.roots, at.join("/"));
        let message = format!("manifest roots {roots} do not permit data at path '/{at}'");
        return Err(BundleError::new(message));
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
        let message = "a delta bundle holds a patch and no policies or data";
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

/// What a file is for.
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

/// Merges the document of a file into the root document, at the path of the file's directory.
fn place(root: &mut Value, path: &str, document: Value) -> Result<(), BundleError> {
    let directory = path.rsplit_once('/').map(|(directory, _)| directory);
    if directory.is_none() && document.as_object().is_none() {
        let message = format!(
            "the root document must be an object, found {}",
            document.kind()
        );
        return Err(BundleError::of_file(path, message));
    }
    let segments = directory.into_iter().flat_map(|path| path.split('/'));
    let nested = merge::nested(segments, document);
    merge(root, nested, false).map_err(|at| {
        let at = at.join("/");
        BundleError::of_file(path, format!("another file has something at `/{at}`"))
    })
}

/// The path of a document that belongs to no root.
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
