//! Definitions and the archives built from them.

mod archives;
mod certificates;
mod failures;
mod fetched;
mod fingerprints;
mod remotes;
mod repositories;
mod revisions;
mod ssh;
mod submodules;
mod upload_pack;

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::io::Read;
use std::path::Path;

use serde::Deserialize;
use zeroize::Zeroizing;

use super::*;

/// Job as YAML. `ROOT` in it is a placeholder for the folder that contains `files`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct JobFile {
    bundle: Bundle,
    stacks: BTreeMap<String, Stack>,
    sources: BTreeMap<String, Source>,
    /// Pushed documents, by source and path.
    data: BTreeMap<String, BTreeMap<String, String>>,
    secrets: BTreeMap<String, serde_json::Value>,
    /// Contents of files on the disk, by their paths.
    files: BTreeMap<String, String>,
}

/// Folders for consecutive builds.
#[derive(Debug)]
struct TestFolders {
    folder: tempfile::TempDir,
    access: Access,
}

impl TestFolders {
    fn new() -> Result<Self, Box<dyn Error>> {
        let folder = tempfile::tempdir()?;
        let root = folder.path().join("root");
        let (local, library) = (root.join("local-library"), root.join("library"));
        for folder in [&root, &local, &library] {
            std::fs::create_dir_all(folder)?;
        }
        Ok(Self {
            access: Access {
                source_roots: vec![root],
                builtin_roots: vec![local, library],
                hosts: vec!["127.0.0.1".to_owned()],
                secrets_over_http: true,
                environment: BTreeMap::from([("BUILD".to_owned(), "b-7".to_owned())]),
                programs: Path::new(env!("CARGO_MANIFEST_DIR")).join("src/builder/tests/programs"),
                limits: Limits::default(),
            },
            folder,
        })
    }

    fn root(&self) -> std::path::PathBuf {
        self.folder.path().join("root")
    }

    /// Writes the files of a job and parses the rest of it.
    fn job(&self, text: &str) -> Result<Job, Box<dyn Error>> {
        let text = text.replace("ROOT", &self.root().to_string_lossy());
        let mut parsed: JobFile = serde_yaml::from_str(&text)?;
        for (path, text) in &parsed.files {
            let path = self.root().join(path);
            std::fs::create_dir_all(path.parent().unwrap_or(Path::new("/")))?;
            std::fs::write(path, text)?;
        }
        let sources = parsed.sources.into_iter().map(|(name, definition)| {
            let documents = parsed.data.remove(&name).unwrap_or_default();
            let documents = documents.into_iter().collect();
            let secrets = parsed.secrets.iter().map(|(name, value)| {
                let value = Zeroizing::new(value.to_string().into_bytes());
                (name.clone(), Secret::opened(value))
            });
            let input = SourceInput {
                definition,
                documents,
                secrets: secrets.collect(),
            };
            (name, input)
        });
        Ok(Job {
            name: "bundle".to_owned(),
            bundle: parsed.bundle,
            stacks: parsed.stacks.into_iter().collect(),
            sources: sources.collect(),
            secrets: BTreeMap::new(),
        })
    }

    async fn build(&self, job: &Job) -> Result<Built, BuildError> {
        let built = self.build_unless(job, None).await?;
        built.ok_or_else(|| BuildError::internal("nothing was built"))
    }

    /// Builds a job, unless its files have a known fingerprint.
    async fn build_unless(
        &self,
        job: &Job,
        previous: Option<&str>,
    ) -> Result<Option<Built>, BuildError> {
        let work = self.folder.path().join("work");
        build(job, &self.access, &work, &|_, _| {}, previous).await
    }

    /// Builds a job; returns its entries with their contents, or the error.
    async fn listing(&self, text: &str) -> Result<String, Box<dyn Error>> {
        let job = self.job(text)?;
        match self.build(&job).await {
            Ok(built) => {
                let rebuilt = self.build(&job).await?;
                assert_eq!(built.archive, rebuilt.archive, "{text}");
                listing(&built)
            }
            Err(failure) => Ok(format!("{} {failure}", failure.phase.name())),
        }
    }
}

/// Lists the entries of an archive with their contents; `REV` replaces the revision.
fn listing(built: &Built) -> Result<String, Box<dyn Error>> {
    let gzip = flate2::read::GzDecoder::new(built.archive.as_slice());
    let mut archive = tar::Archive::new(gzip);
    let mut text = String::new();
    for entry in archive.entries()? {
        let mut entry = entry?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let mut content = String::new();
        entry.read_to_string(&mut content)?;
        writeln!(text, "{name} {}", content.trim_end())?;
    }
    Ok(text.replace(&built.revision, "REV"))
}

/// Removes the indentation of a string in a test.
fn dedent(text: &str) -> String {
    let lines = text.lines().skip(1);
    let indent = |line: &str| line.len() - line.trim_start().len();
    let min_indent = lines
        .clone()
        .filter(|line| !line.trim().is_empty())
        .map(indent)
        .min()
        .unwrap_or_default();
    let lines = lines.map(|line| line.get(min_indent..).unwrap_or_default().trim_end());
    let lines: Vec<&str> = lines.collect();
    lines.join("\n").trim_end().to_owned() + "\n"
}
