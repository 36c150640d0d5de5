//! Reloads the files of the command line when they change.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use rego::{Compiler, Value};
use tracing::{error, info};

use super::file_watcher::{FileSnapshot, Files, Watcher};
use super::load::Loaded;
use super::options::Options;
use super::runtime::VERSION_PATH;
use super::state::Contents;
use super::{Engine, bundle_files, load, store};
use http_server::StartError;

/// Message of each reload in the log.
const TURN: &str = "Processed file watch event.";

/// Snapshot of the files before they are first loaded, so that no change is missed.
#[derive(Debug)]
pub struct InitialSnapshot {
    files: Files,
    seen: FileSnapshot,
}

impl InitialSnapshot {
    /// Takes a snapshot of the files that the options name, if they are to be watched.
    ///
    /// # Errors
    /// When a pattern of ignored names is malformed.
    pub fn of(options: &Options) -> Result<Option<Self>, StartError> {
        if !options.watch {
            return Ok(None);
        }
        let path = |path: &str| match options.bundles.bundle {
            true => PathBuf::from(path.strip_prefix("file://").unwrap_or(path)),
            false => PathBuf::from(load::split(path).1),
        };
        let files = Files {
            paths: options.paths().map(path).collect(),
            ignored: load::patterns(&options.ignore)?,
        };
        let seen = files.snapshot();
        Ok(Some(Self { files, seen }))
    }
}

impl Engine {
    /// Reloads the files whenever they change, until the result is dropped. If they are invalid,
    /// nothing changes, and the log reports why.
    pub fn watch(self: &Arc<Self>, options: &Options, initial: InitialSnapshot) -> Watcher {
        let (engine, options) = (Arc::clone(self), options.clone());
        let modules = self.state().contents().policy.clone();
        let mut known: BTreeSet<String> = modules.modules().map(|it| it.id().to_owned()).collect();
        let InitialSnapshot { files, seen } = initial;
        Watcher::start(files, seen, move || {
            let started = Instant::now();
            let reloaded = match options.bundles.bundle {
                true => engine.reload_bundles(&options),
                false => engine.reload_files(&options, &mut known),
            };
            let duration = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
            match reloaded {
                Ok(()) => info!(duration, "{TURN}"),
                Err(failure) => error!(duration, err = %failure, "{TURN}"),
            }
        })
    }

    fn reload_bundles(&self, options: &Options) -> Result<(), StartError> {
        let paths: Vec<String> = options.paths().map(str::to_owned).collect();
        let (ignored, version) = (&options.ignore, self.version());
        let bundles = bundle_files::read(&options.bundles, &paths, ignored, version)?;
        let activated = self.activate(bundles);
        activated.map_err(|error| StartError::new(error.in_full()))
    }

    /// Replaces the documents that no bundle owns, and the policies loaded from files before, by
    /// those of the files. `known` contains the ids of these policies, and is updated.
    fn reload_files(
        &self,
        options: &Options,
        known: &mut BTreeSet<String>,
    ) -> Result<(), StartError> {
        let paths: Vec<String> = options.paths().map(str::to_owned).collect();
        let loaded = load::read(&paths, &options.ignore, self.version())?;
        let now: BTreeSet<String> = loaded.modules.iter().map(|(id, _)| id.clone()).collect();
        self.write(|contents| replace(contents, loaded, known, &now))?;
        *known = now;
        Ok(())
    }
}

fn replace(
    contents: &mut Contents,
    loaded: Loaded,
    known: &BTreeSet<String>,
    now: &BTreeSet<String>,
) -> Result<(), StartError> {
    let Loaded {
        mut documents,
        modules,
        ..
    } = loaded;
    let owned = contents.bundles.paths();
    let version = VERSION_PATH.map(str::to_owned).to_vec();
    for path in owned.iter().chain([&version]) {
        if let Some(document) = store::find(&contents.documents, path) {
            let copied = store::put(&mut documents, path, document.clone());
            copied.map_err(|failure| StartError::new(failure.to_string()))?;
        }
    }
    let mut compiler = Compiler::new(&contents.policy).documents(&documents);
    for (id, module) in modules {
        let present = contents.policy.module(&id);
        if present.is_none_or(|present| present.text() != &*module.text) {
            compiler = compiler.put(&id, module);
        }
    }
    for id in known.difference(now) {
        compiler = compiler.remove(id);
    }
    let policy = compiler.compile();
    contents.policy = policy.map_err(|errors| StartError::new(errors.to_string()))?;
    let checked = contents.policy.conflicts(&[] as &[Value], &documents);
    checked.map_err(|errors| StartError::new(errors.to_string()))?;
    contents.documents = documents;
    Ok(())
}
