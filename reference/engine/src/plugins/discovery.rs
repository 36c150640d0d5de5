//! Discovery plugin: a bundle with the rest of the configuration.

use std::sync::Arc;
use std::time::SystemTime;

use rego::{Compiler, Evaluation, Policy, Query, Solution, Value};
use tracing::info;

use super::download::{Downloader, Reading};
use super::manager::{Manager, Task, Tasks};
use super::persistence;
use super::poll::{Pollable, Poller, wrong};
use super::status_registry::{BundleStatus, DISCOVERY, Failure};
use crate::config;
use crate::host::SystemHost;
use bundle::{Bundle, Content};

/// Applies the configuration of the discovery bundle to the engine.
#[derive(Debug)]
struct Discoverer {
    manager: Arc<Manager>,
    /// Path of the document that is the configuration.
    decision: Vec<String>,
}

impl Manager {
    /// Starts or replaces the task that downloads the discovery bundle.
    pub(super) fn discovery(self: &Arc<Self>, tasks: &mut Tasks, plugins: &config::Plugins) {
        let Some(discovery) = &plugins.discovery else {
            tasks.discovery = None;
            return;
        };
        let source = &discovery.source;
        let (plan, client) = tasks.plan(discovery.clone(), source.place.service(), plugins);
        if tasks
            .discovery
            .as_ref()
            .is_some_and(|(same, _)| *same == plan)
        {
            return;
        }
        let reading = Reading::new("discovery", self.host.version(), source, plugins);
        tasks.discovery = Downloader::new(source, client, reading).map(|downloader| {
            let discoverer = Discoverer {
                manager: Arc::clone(self),
                decision: discovery.decision.clone(),
            };
            let archive_path =
                persistence::archive_path(&plugins.persistence.join("discovery"), "discovery");
            let poller = Poller::new(discoverer, source, downloader, archive_path);
            (plan, Task::start(|_| poller.run()))
        });
    }
}

impl Pollable for Discoverer {
    fn name(&self) -> &str {
        DISCOVERY
    }

    fn update(&self, change: impl FnOnce(&mut BundleStatus)) {
        self.manager.plugins().statuses.update_discovery(change);
    }

    fn activate(&self, bundle: Bundle) -> Result<(), Failure> {
        let revision = bundle.manifest.revision.clone();
        let config = evaluate(bundle, &self.decision, self.manager.runtime()).map_err(wrong)?;
        self.manager.discovered(config).map_err(wrong)?;
        info!(revision, "the configuration is discovered");
        self.update(|status| {
            status.revision = revision;
            status.activated = Some(SystemTime::now());
        });
        Ok(())
    }
}

/// Evaluates a discovery bundle in isolation; returns the document that is the configuration.
fn evaluate(bundle: Bundle, decision: &[String], runtime: Value) -> Result<Value, String> {
    let Content::Snapshot {
        documents,
        policies,
    } = bundle.content
    else {
        return Err("a delta bundle cannot be a configuration".to_owned());
    };
    let mut compiler = Compiler::new(&Policy::default()).documents(&documents);
    for policy in policies {
        compiler = compiler.put(&policy.id, policy.module);
    }
    let policy = compiler.compile().map_err(|errors| errors.to_string())?;
    let steps: Vec<Value> = decision
        .iter()
        .map(|step| Value::from(step.as_str()))
        .collect();
    let query = Query::document(&policy, &steps).map_err(|errors| errors.to_string())?;
    let host = SystemHost::telling(runtime);
    let mut evaluation = Evaluation::new(&documents);
    evaluation.host = Some(&host);
    let mut answers = query
        .evaluate(&mut evaluation)
        .map_err(|error| error.to_string())?;
    match answers.pop().and_then(Solution::into_document) {
        Some(config @ Value::Object(_)) => Ok(config),
        Some(other) => Err(format!(
            "the configuration must be an object, found {}",
            other.kind()
        )),
        None => Err(format!(
            "the configuration `data.{}` is undefined",
            decision.join(".")
        )),
    }
}
