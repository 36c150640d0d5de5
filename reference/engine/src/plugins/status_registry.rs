//! Last status of each plugin.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use rego::Value;
use rego::value::Object;
use tokio::sync::watch;

use super::backoff::rfc3339;
use crate::config;

/// Names of the plugins in reports.
pub(crate) const BUNDLE: &str = "bundle";
pub(crate) const DECISION_LOGS: &str = "decision_logs";
pub(crate) const DISCOVERY: &str = "discovery";
pub(crate) const STATUS: &str = "status";

/// Latest status of each plugin.
#[derive(Debug, Default)]
pub(crate) struct StatusRegistry {
    latest: Mutex<Statuses>,
    /// Whether all plugins have been ready at the same time.
    ready: AtomicBool,
    /// Notified of every change.
    changed: watch::Sender<()>,
}

/// Latest statuses of the plugins.
#[derive(Debug, Default)]
struct Statuses {
    /// Whether each plugin without prerequisites has been started, by name.
    started: BTreeMap<&'static str, bool>,
    bundles: BTreeMap<String, BundleStatus>,
    discovery: Option<BundleStatus>,
    decision_logs: Option<Failure>,
}

/// Status of a bundle.
#[derive(Debug, Clone, Default)]
pub(crate) struct BundleStatus {
    pub(crate) revision: String,
    pub(crate) kind: Option<&'static str>,
    /// Bytes of the bundle's archive.
    pub(crate) size: Option<usize>,
    pub(crate) activated: Option<SystemTime>,
    pub(crate) downloaded: Option<SystemTime>,
    /// Time of the last successful request.
    pub(crate) answered: Option<SystemTime>,
    /// Time of the last request.
    pub(crate) requested: Option<SystemTime>,
    /// Durations of the steps of the last update, by name, in nanoseconds.
    pub(crate) times: BTreeMap<&'static str, u64>,
    /// Failure that left the bundle out of date, if any.
    pub(crate) failure: Option<Failure>,
}

/// Error of a failed operation.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Failure {
    pub(crate) code: &'static str,
    pub(crate) message: String,
    /// Errors with their locations, as error objects list them.
    pub(crate) errors: Vec<Value>,
    /// Status of an unsuccessful response.
    pub(crate) http_code: Option<u16>,
}

impl StatusRegistry {
    /// Sets the configured plugins. The status of a bundle that stays is preserved.
    pub(crate) fn configure(&self, plugins: &config::Plugins) {
        self.change(|statuses| {
            let started = std::mem::take(&mut statuses.started);
            for (name, there) in [
                (DECISION_LOGS, plugins.decision_logs.is_some()),
                (STATUS, plugins.status.is_some()),
            ] {
                if there {
                    let started = started.get(name).copied().unwrap_or_default();
                    statuses.started.insert(name, started);
                }
            }
            statuses
                .bundles
                .retain(|name, _| plugins.bundles.contains_key(name));
            for name in plugins.bundles.keys() {
                statuses.bundles.entry(name.clone()).or_default();
            }
            match &plugins.discovery {
                Some(_) => drop(statuses.discovery.get_or_insert_default()),
                None => statuses.discovery = None,
            }
        });
    }

    /// Marks the plugins without prerequisites as started.
    pub(super) fn start(&self) {
        self.change(|statuses| {
            statuses
                .started
                .values_mut()
                .for_each(|started| *started = true)
        });
    }

    /// Changes the status of a bundle, if it is still configured.
    pub(super) fn update_bundle(&self, name: &str, change: impl FnOnce(&mut BundleStatus)) {
        self.change(|statuses| statuses.bundles.get_mut(name).map(change));
    }

    /// Changes the status of the discovery.
    pub(super) fn update_discovery(&self, change: impl FnOnce(&mut BundleStatus)) {
        self.change(|statuses| statuses.discovery.as_mut().map(change));
    }

    /// Sets or clears the failure of the last upload of decisions.
    pub(super) fn set_upload_failure(&self, failure: Option<Failure>) {
        if self.lock().decision_logs != failure {
            self.change(|statuses| statuses.decision_logs = failure);
        }
    }

    /// Receiver of change notifications.
    pub(crate) fn watch(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// Whether all bundles, and the discovery if configured, have been activated.
    pub(crate) fn all_activated(&self) -> bool {
        let statuses = self.lock();
        let mut all = statuses.bundles.values().chain(&statuses.discovery);
        all.all(|status| status.activated.is_some())
    }

    /// Plugins, and whether each is ready.
    pub(crate) fn plugins(&self) -> BTreeMap<&'static str, bool> {
        self.lock().plugins()
    }

    /// Whether all plugins have been ready at the same time.
    pub(crate) fn ready(&self) -> bool {
        self.ready.load(Ordering::Relaxed)
    }

    /// Names of the plugins with their states.
    pub(crate) fn states(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let states = self.plugins().into_iter();
        states.map(|(name, fine)| (name, if fine { "OK" } else { "NOT_READY" }))
    }

    /// Bundles with their statuses.
    pub(super) fn bundles(&self) -> Vec<(String, BundleStatus)> {
        let statuses = self.lock();
        let bundles = statuses.bundles.iter();
        bundles
            .map(|(name, status)| (name.clone(), status.clone()))
            .collect()
    }

    /// Failure of the last upload of decisions.
    pub(super) fn upload_failure(&self) -> Option<Failure> {
        self.lock().decision_logs.clone()
    }

    /// Report without the labels and metrics of the engine.
    pub(super) fn report(&self) -> Object {
        let mut report = Object::new();
        {
            let statuses = self.lock();
            if !statuses.bundles.is_empty() {
                let bundles = statuses.bundles.iter();
                let bundles = bundles.map(|(name, status)| (name.as_str(), status.to_value(name)));
                report.insert("bundles", Value::object(bundles));
            }
            if let Some(status) = &statuses.discovery {
                report.insert("discovery", status.to_value(DISCOVERY));
            }
            if statuses.started.contains_key(DECISION_LOGS) {
                let mut status = Object::new();
                if let Some(failure) = &statuses.decision_logs {
                    failure.add_to(&mut status);
                }
                report.insert("decision_logs", Value::from(status));
            }
        }
        let states = self.states();
        let states = states.map(|(name, state)| {
            let state = Value::object([("state", Value::from(state))]);
            (name, state)
        });
        report.insert("plugins", Value::object(states));
        report
    }

    fn lock(&self) -> MutexGuard<'_, Statuses> {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change<T>(&self, change: impl FnOnce(&mut Statuses) -> T) {
        let mut statuses = self.lock();
        change(&mut statuses);
        if statuses.plugins().into_values().all(|fine| fine) {
            self.ready.store(true, Ordering::Relaxed);
        }
        drop(statuses);
        self.changed.send_replace(());
    }
}

impl Statuses {
    fn plugins(&self) -> BTreeMap<&'static str, bool> {
        let activated = |status: &BundleStatus| status.activated.is_some();
        let mut plugins = self.started.clone();
        plugins.insert(DISCOVERY, self.discovery.as_ref().is_none_or(activated));
        if !self.bundles.is_empty() {
            plugins.insert(BUNDLE, self.bundles.values().all(activated));
        }
        plugins
    }
}

impl BundleStatus {
    /// Updates the status with the outcome of a download request.
    pub(super) fn take_request(&mut self, request: &Self) {
        self.requested = request.requested;
        self.answered = request.answered.or(self.answered);
        self.downloaded = request.downloaded.or(self.downloaded);
        self.kind = request.kind.or(self.kind);
        self.size = request.size.or(self.size);
        self.times.clone_from(&request.times);
    }

    fn to_value(&self, name: &str) -> Value {
        let mut members = Object::new();
        members.insert("name", Value::from(name));
        if !self.revision.is_empty() {
            members.insert("active_revision", Value::from(self.revision.as_str()));
        }
        if let Some(kind) = self.kind {
            members.insert("type", Value::from(kind));
        }
        if let Some(size) = self.size {
            members.insert("size", Value::from(size));
        }
        for (name, time) in [
            ("last_successful_activation", self.activated),
            ("last_successful_download", self.downloaded),
            ("last_successful_request", self.answered),
            ("last_request", self.requested),
        ] {
            members.insert(name, Value::from(rfc3339(time)));
        }
        let times = self.times.iter();
        let times = times.map(|(name, time)| (*name, Value::from(*time)));
        members.insert("metrics", Value::object(times));
        if let Some(failure) = &self.failure {
            failure.add_to(&mut members);
        }
        Value::from(members)
    }
}

impl Failure {
    fn add_to(&self, status: &mut Object) {
        status.insert("code", Value::from(self.code));
        status.insert("message", Value::from(self.message.as_str()));
        if !self.errors.is_empty() {
            status.insert("errors", Value::from(self.errors.clone()));
        }
        if let Some(code) = self.http_code {
            status.insert("http_code", Value::from(u64::from(code)));
        }
    }
}
