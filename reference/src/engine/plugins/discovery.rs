//! Discovery: a bundle that holds the rest of the configuration.

use std::path::PathBuf;
use std::sync::Arc;

use rego::value::Object;
use rego::{Answer, Compiler, Evaluation, Policy, Query, Value};
use tracing::{error, info, warn};

use super::board::{BundleStatus, DISCOVERY, Failure};
use super::clock::{Pauses, SHORTEST_PAUSE};
use super::download::{Arrived, BUNDLE_ERROR, Downloader};
use super::keep;
use super::manager::Manager;
use crate::bundle::{Bundle, Content};
use crate::engine::config::{Delay, Trigger};

/// Downloads the discovery bundle again and again, and has the engine go by what it says.
#[derive(Debug)]
pub(super) struct Discoverer {
    pub(super) manager: Arc<Manager>,
    pub(super) downloader: Downloader,
    pub(super) delay: Delay,
    pub(super) trigger: Trigger,
    /// Where the archive is kept, if it is.
    pub(super) kept: Option<PathBuf>,
    /// The path of the document that is the configuration.
    pub(super) decision: Vec<String>,
}

impl Discoverer {
    /// Goes on until it is dropped, or until what lies on disk was read.
    pub(super) async fn run(mut self) {
        if let Some(path) = self.kept.clone()
            && let Err(why) = self.restore(path).await
        {
            warn!(why, "the discovery bundle cannot be loaded from disk");
        }
        if self.trigger == Trigger::Manual {
            return;
        }
        let mut pauses = Pauses::new(self.delay);
        loop {
            let fine = self.turn().await;
            if fine && self.downloader.ends() {
                return;
            }
            let pause = match fine && self.downloader.holds_back() {
                true => SHORTEST_PAUSE,
                false => pauses.next(fine),
            };
            tokio::time::sleep(pause).await;
        }
    }

    /// Looks for a new configuration once; whether there is nothing wrong.
    async fn turn(&mut self) -> bool {
        let mut request = BundleStatus::default();
        let fetched = self.downloader.fetch(&mut request).await;
        let board = &self.manager.engine().plugins().board;
        board.discovery(|status| status.take_request(&request));
        let done = match fetched {
            Ok(Some(arrived)) => self.take(arrived).await.map_err(failure),
            Ok(None) => Ok(()),
            Err(failure) => Err(failure),
        };
        if let Err(failure) = &done {
            error!(why = failure.message, "the configuration is not discovered");
        }
        let fine = done.is_ok();
        let board = &self.manager.engine().plugins().board;
        board.discovery(|status| status.failure = done.err());
        fine
    }

    /// Goes by what a bundle says, and keeps its archive.
    async fn take(&mut self, arrived: Arrived) -> Result<(), String> {
        let Arrived { bundle, archive } = arrived;
        let etag = bundle.etag.clone();
        self.apply(bundle).await?;
        self.downloader.uses(&etag);
        let Some(path) = self.kept.clone().filter(|_| !archive.is_empty()) else {
            return Ok(());
        };
        let saved = tokio::task::spawn_blocking(move || keep::save(&path, &archive)).await;
        let saved = saved.unwrap_or_else(|why| Err(std::io::Error::other(why)));
        if let Err(why) = saved {
            warn!(%why, "the discovery bundle cannot be kept on disk");
        }
        Ok(())
    }

    async fn apply(&self, bundle: Bundle) -> Result<(), String> {
        let (manager, decision) = (Arc::clone(&self.manager), self.decision.clone());
        let applied = tokio::task::spawn_blocking(move || {
            let revision = bundle.manifest.revision.clone();
            let runtime = manager.runtime();
            manager.discovered(evaluate(bundle, &decision, runtime)?)?;
            info!(revision, "the configuration is discovered");
            manager.engine().plugins().board.discovery(|status| {
                status.revision = revision;
                status.activated = Some(std::time::SystemTime::now());
            });
            Ok(())
        });
        applied.await.map_err(|why| why.to_string())?
    }

    /// Goes by the bundle that is kept on disk, if there is one.
    async fn restore(&self, path: PathBuf) -> Result<(), String> {
        let reading = self.downloader.reading();
        let read = tokio::task::spawn_blocking(move || {
            let archive = keep::load(&path).map_err(|why| why.to_string())?;
            let read = |archive: Vec<u8>| reading.read(&archive).map_err(|why| why.in_full());
            archive.map(read).transpose()
        });
        match read.await.map_err(|why| why.to_string())?? {
            Some(bundle) => self.apply(bundle).await,
            None => Ok(()),
        }
    }
}

fn failure(message: String) -> Failure {
    Failure {
        code: BUNDLE_ERROR,
        message,
        ..Failure::default()
    }
}

/// The configuration that a bundle says, evaluated by itself.
fn evaluate(bundle: Bundle, decision: &[String], runtime: Value) -> Result<Value, String> {
    let Content::Snapshot {
        documents,
        policies,
    } = bundle.content
    else {
        return Err("a delta bundle is no configuration".to_owned());
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
    let mut evaluation = Evaluation::new(&documents);
    evaluation.runtime = Some(runtime);
    let mut answers = query
        .evaluate(&mut evaluation)
        .map_err(|why| why.to_string())?;
    match answers.pop().and_then(Answer::into_document) {
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

/// The discovered configuration below the one that the engine was started with, which decides
/// where both say something.
///
/// # Errors
/// When a service or key of the start would not stay what it is.
pub(super) fn merge(discovered: &Value, boot: &Value) -> Result<Value, String> {
    let mut merged = named(discovered.clone());
    let boot = named(boot.clone());
    // Where the configuration is discovered is not discovered.
    if let Some(members) = merged.as_object_mut() {
        members.remove(DISCOVERY);
    }
    below(&mut merged, &boot);
    for section in ["services", "keys"] {
        let Some(started) = boot.get(section).and_then(Value::as_object) else {
            continue;
        };
        for (name, value) in started.iter() {
            let now = merged.get(section).and_then(Value::as_object);
            if now.and_then(|now| now.get_value(name)) != Some(value) {
                let why = "cannot be changed by discovery";
                return Err(format!("{section}: {name} {why}"));
            }
        }
    }
    Ok(merged)
}

/// Puts what `over` says over what `value` does.
fn below(value: &mut Value, over: &Value) {
    match (value, over) {
        (Value::Object(members), Value::Object(over)) => {
            for (name, over) in over.iter() {
                match members.get_value_mut(name) {
                    Some(member) => below(member, over),
                    None => drop(members.insert(name.clone(), over.clone())),
                }
            }
        }
        (value, over) => *value = over.clone(),
    }
}

/// The configuration with services as an object, as others may be put beside them.
fn named(mut config: Value) -> Value {
    let Some(members) = config.as_object_mut() else {
        return config;
    };
    if let Some(Value::Array(services)) = members.get("services") {
        let services = services.iter().filter_map(|service| {
            let name = service.get("name")?.clone();
            Some((name, service.clone()))
        });
        let services: Object = services.collect();
        members.insert("services", Value::from(services));
    }
    config
}

#[cfg(test)]
mod tests {
    use rego::value::from_json;

    use super::merge;

    #[test]
    fn the_configuration_of_the_start_decides() -> Result<(), Box<dyn std::error::Error>> {
        for (discovered, boot, expected) in [
            (
                r#"{"labels": {"a": "1", "b": "2"}, "default_decision": "/x"}"#,
                r#"{"labels": {"b": "3"}, "discovery": {"resource": "d"}}"#,
                Ok(
                    r#"{"default_decision":"/x","discovery":{"resource":"d"},"labels":{"a":"1","b":"3"}}"#,
                ),
            ),
            (r#"{"discovery": {"resource": "other"}}"#, "{}", Ok("{}")),
            (
                r#"{"services": {"t": {"url": "http://t"}, "s": {"url": "http://s"}}}"#,
                r#"{"services": [{"name": "s", "url": "http://s"}]}"#,
                Ok(r#"{"services":{"s":{"name":"s","url":"http://s"},"t":{"url":"http://t"}}}"#),
            ),
            (
                r#"{"services": {"s": {"url": "http://else"}}}"#,
                r#"{"services": {"s": {"url": "http://s"}}}"#,
                Ok(r#"{"services":{"s":{"url":"http://s"}}}"#),
            ),
            (
                r#"{"services": {"s": {"headers": {"a": "b"}}}}"#,
                r#"{"services": {"s": {"url": "http://s"}}}"#,
                Err("services: \"s\" cannot be changed by discovery"),
            ),
            (
                r#"{"keys": {"k": {"scope": "all"}}}"#,
                r#"{"keys": {"k": {"key": "secret"}}}"#,
                Err("keys: \"k\" cannot be changed by discovery"),
            ),
        ] {
            let merged = merge(
                &from_json(discovered.as_bytes())?,
                &from_json(boot.as_bytes())?,
            );
            let merged = merged.map(|merged| merged.to_string());
            let expected = expected.map(str::to_owned).map_err(str::to_owned);
            assert_eq!(merged, expected, "{discovered}");
        }
        Ok(())
    }
}
