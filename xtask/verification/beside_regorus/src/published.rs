//! Published benchmark policies, read from their original sources and not part of this project.

use std::collections::HashMap;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::case::Case;

/// Policies of regorus' benchmark `evaluation`, each with three inputs.
const REGORUS: [&str; 9] = [
    "rbac",
    "api_access",
    "data_sensitivity",
    "time_based",
    "data_processing",
    "azure_vm",
    "azure_storage",
    "azure_keyvault",
    "azure_nsg",
];

/// Number of users, groups, folders and documents in the inputs of Cedar's comparison.
const ENTITIES: usize = 50;

/// Cases of regorus itself, from its package.
pub(crate) fn by_regorus() -> Result<Vec<Case>, Box<dyn Error>> {
    let folder = package()?.join("benches/evaluation/test_data");
    let mut cases = Vec::new();
    for name in REGORUS {
        let text = read(&folder.join(format!("policies/{name}_policy.rego")))?;
        for number in ["", "2", "3"] {
            cases.push(Case {
                name: format!("regorus {name}{number}"),
                text: text.clone(),
                is_v0: false,
                documents: "{}".to_owned(),
                input: read(&folder.join(format!("inputs/{name}_input{number}.json")))?,
                rule: ["bench", "allow"].map(str::to_owned),
            });
        }
    }
    Ok(cases)
}

/// Cases of Cedar's comparison with Rego, from the sources of `cedar-examples`, with inputs of the
/// required shape. `tinytodo` is excluded: it has several bodies after one head, of which one holds
/// in OPA and none in regorus.
pub(crate) fn by_cedar(folder: &Path) -> Result<Vec<Case>, Box<dyn Error>> {
    let inputs = [("gdrive", gdrive()), ("github", github())];
    let case = |(name, input): (&str, Value)| {
        let text = format!("oopsla2024-benchmarks/benches/{name}/rego/{name}.rego");
        Ok(Case {
            name: format!("Cedar {name}"),
            text: read(&folder.join(text))?,
            is_v0: true,
            documents: "{}".to_owned(),
            input: input.to_string(),
            rule: [name, "allow"].map(str::to_owned),
        })
    };
    inputs.into_iter().map(case).collect()
}

/// The only comparable case of the enterprise edition of OPA, from its sources: the other one,
/// `entitlements`, uses modifiers, which the RVM does not support.
pub(crate) fn by_eopa(folder: &Path) -> Result<Case, Box<dyn Error>> {
    let folder = folder.join("pkg/rego_vm/testdata");
    Ok(Case {
        name: "EOPA monster".to_owned(),
        text: read(&folder.join("monster.rego"))?,
        is_v0: false,
        documents: "{}".to_owned(),
        input: read(&folder.join("monster.input"))?,
        rule: ["play", "deny"].map(str::to_owned),
    })
}

/// Input with a document in the last of a chain of nested folders, of which the user may view the
/// first.
fn gdrive() -> Value {
    let last = ENTITIES - 1;
    let folder = |at| format!("Folder::\"{at}\"");
    let files = chain(folder, "Document::\"report\"");
    let principal = json!({
        "documentsAndFoldersWithViewAccess": [folder(0)],
        "ownedFolders": [folder(last)],
        "ownedDocuments": ["Document::\"notes\""],
    });
    json!({
        "principal": principal,
        "action": "Action::\"read\"",
        "resource": {"uid": "Document::\"report\"", "isPublic": false},
        "files": files,
    })
}

/// Input with a user in the first of a chain of nested teams; the last team may write.
fn github() -> Value {
    let can = |what| format!("RepoPermission::\"app {what}\"");
    let names = ["read", "triage", "write", "maintain", "admin"];
    let of_repository = names.map(|name| (format!("Action::\"{name}\""), json!(can(name))));
    let mut resource: serde_json::Map<_, _> = of_repository.into_iter().collect();
    let of_owner = ["read", "write", "admin"];
    let of_owner = of_owner.map(|name| (format!("Action::\"{name}\""), json!(name)));
    let of_owner: serde_json::Map<_, _> = of_owner.into_iter().collect();
    resource.insert("owner".to_owned(), of_owner.into());
    json!({
        "principal": "Team::\"0\"",
        "action": "Action::\"read\"",
        "resource": resource,
        "orgs": chain(|at| format!("Team::\"{at}\""), &can("write")),
    })
}

/// Returns a graph in which each node leads to the next, and the last to `end`.
fn chain(name: impl Fn(usize) -> String, end: &str) -> Value {
    let next = |at| match at + 1 {
        ENTITIES => end.to_owned(),
        next => name(next),
    };
    let edges = (0..ENTITIES).map(|at| (name(at), vec![next(at)]));
    let edges = edges.chain([(end.to_owned(), Vec::new())]);
    json!(edges.collect::<HashMap<_, _>>())
}

fn read(path: &Path) -> Result<String, Box<dyn Error>> {
    Ok(fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?)
}

/// Returns the source folder of the package regorus.
fn package() -> Result<PathBuf, Box<dyn Error>> {
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args([
            "metadata",
            "--format-version",
            "1",
            "--locked",
            "--manifest-path",
        ])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
        .output()?;
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let packages = metadata.get("packages").and_then(Value::as_array);
    let manifest = packages
        .into_iter()
        .flatten()
        .find(|package| package.get("name").and_then(Value::as_str) == Some("regorus"))
        .and_then(|package| package.get("manifest_path")?.as_str())
        .ok_or("cargo knows no package regorus")?;
    let folder = Path::new(manifest).parent().ok_or("no folder")?;
    Ok(folder.to_owned())
}
