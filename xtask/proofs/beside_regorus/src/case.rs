//! What is compared: the measured policies, and the benchmark of regorus itself, which comes with
//! its package.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

use rego_generate::measured;
use serde_json::Value;

/// A policy with what it is asked.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) text: String,
    /// The root of the documents, JSON.
    pub(crate) documents: String,
    /// JSON.
    pub(crate) input: String,
    /// The package of one step, and the rule in it.
    pub(crate) rule: [String; 2],
}

impl Case {
    /// The input, as a value that nobody else has.
    pub(crate) fn own_input(&self) -> Result<rego::Value, Box<dyn Error>> {
        Ok(rego::value::from_json(self.input.as_bytes())?)
    }
}

/// The policies of regorus' benchmark `evaluation`, each with three inputs.
const PUBLISHED: [&str; 9] = [
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

/// Those whose names are wanted.
pub(crate) fn chosen(is_wanted: &dyn Fn(&str) -> bool) -> Result<Vec<Case>, Box<dyn Error>> {
    let mut cases = published(&package()?.join("benches/evaluation/test_data"))?;
    cases.retain(|case| is_wanted(&case.name));
    let measured = measured::ALL.iter().chain(measured::IN_PROCESS);
    let measured = measured.filter(|policy| is_wanted(policy.told));
    cases.extend(measured.map(|policy| Case {
        name: policy.told.to_owned(),
        text: policy.text.to_owned(),
        documents: format!(r#"{{"{}_data":{}}}"#, policy.name, policy.documents()),
        input: policy.input(),
        rule: [policy.name.to_owned(), "allow".to_owned()],
    }));
    Ok(cases)
}

fn published(folder: &Path) -> Result<Vec<Case>, Box<dyn Error>> {
    let read = |path: String| {
        let path = folder.join(path);
        std::fs::read_to_string(&path).map_err(|why| format!("{}: {why}", path.display()))
    };
    let mut cases = Vec::new();
    for name in PUBLISHED {
        for number in ["", "2", "3"] {
            cases.push(Case {
                name: format!("regorus {name}{number}"),
                text: read(format!("policies/{name}_policy.rego"))?,
                documents: "{}".to_owned(),
                input: read(format!("inputs/{name}_input{number}.json"))?,
                rule: ["bench".to_owned(), "allow".to_owned()],
            });
        }
    }
    Ok(cases)
}

/// Where the sources of regorus are.
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
