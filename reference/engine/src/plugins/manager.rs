//! Plugin manager: starts, reconfigures and stops plugins.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use globset::GlobSet;
use rego::Value;
use rego::value::Object;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tracing::{error, info, warn};

use super::bundles::Loader;
use super::download::{Downloader, Reading};
use super::logs::{DiskBuffer, Uploader};
use super::merge::merge;
use super::persistence;
use super::poll::Poller;
use super::prometheus::Collectors;
use super::service::Client;
use super::status::Reporter;
use super::{Host, Plugins};
use crate::config::{self, BundleLocation, Config, Discovery, Key, Service, Source};
use crate::file_watcher::{Files, Watcher};
use crate::options::Options;
use http_server::StartError;
use http_server::telemetry::{Settings, Telemetry};

/// Running plugins. Dropping the value ends them without waiting.
#[derive(Debug)]
pub struct Running(Arc<Manager>);

/// Owner of the running plugins.
#[derive(Debug)]
pub(super) struct Manager {
    pub(super) host: Arc<dyn Host>,
    plugins: Arc<Plugins>,
    options: Options,
    tasks: Mutex<Tasks>,
}

/// Running tasks and their configuration.
#[derive(Debug)]
pub(super) struct Tasks {
    /// Boot configuration of the engine.
    boot: Value,
    /// Discovered configuration.
    discovered: Option<Value>,
    /// Whether no more tasks are started.
    stopped: bool,
    clients: Clients,
    bundles: BTreeMap<String, (Plan<Source>, Task)>,
    pub(super) discovery: Option<(Plan<Discovery>, Task)>,
    uploads: Option<(Plan<config::Upload>, Task)>,
    reports: Option<(Plan<config::Status>, Task)>,
}

/// Validated configuration, and the resources that it needs.
#[derive(Debug)]
struct Prepared {
    config: Config,
    clients: Clients,
    /// Disk buffer of decisions, if configured.
    spool: Option<Arc<DiskBuffer>>,
    /// Tracer of spans, if configured.
    telemetry: Option<Arc<Telemetry>>,
}

/// Services by name, with their clients.
type Clients = BTreeMap<String, (Service, Arc<Client>)>;

/// Plan of a task. When it changes, the task is replaced.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Plan<T> {
    what: T,
    service: Option<Service>,
    /// Configured keys, and the persistence directory.
    keys: BTreeMap<String, Key>,
    persistence: PathBuf,
}

/// Background task that ends when it is dropped.
#[derive(Debug)]
pub(super) struct Task {
    handle: JoinHandle<()>,
    stop: watch::Sender<bool>,
}

impl Drop for Task {
    fn drop(&mut self) {
        self.handle.abort();
    }
}

impl Task {
    pub(super) fn start<F>(work: impl FnOnce(watch::Receiver<bool>) -> F) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let (stop, stopped) = watch::channel(false);
        let handle = tokio::spawn(work(stopped));
        Self { handle, stop }
    }
}

impl Running {
    /// Starts the plugins of an engine that was opened with these options.
    ///
    /// # Errors
    /// When the configuration cannot be applied.
    pub(crate) fn start(
        host: Arc<dyn Host>,
        plugins: &Arc<Plugins>,
        options: &Options,
    ) -> Result<Self, StartError> {
        let manager = Arc::new(Manager {
            host,
            plugins: Arc::clone(plugins),
            options: options.clone(),
            tasks: Mutex::new(Tasks {
                boot: Value::from(Object::new()),
                discovered: None,
                stopped: false,
                clients: BTreeMap::new(),
                bundles: BTreeMap::new(),
                discovery: None,
                uploads: None,
                reports: None,
            }),
        });
        let started = manager.boot(Config::read(options)?);
        started.map_err(|error| StartError::new(format!("configuration: {error}")))?;
        Ok(Self(manager))
    }

    /// Rereads the configuration and applies it.
    ///
    /// # Errors
    /// When it cannot be read or applied. Then nothing changes.
    pub async fn reload(&self) -> Result<(), String> {
        let manager = Arc::clone(&self.0);
        let reloaded = tokio::task::spawn_blocking(move || manager.reload());
        reloaded.await.map_err(|error| error.to_string())?
    }

    /// Reloads the configuration whenever its file changes, if the options ask for that, until the
    /// result is dropped.
    pub fn watch_config(&self) -> Option<Watcher> {
        let options = &self.0.options;
        let file = options
            .config_file
            .clone()
            .filter(|_| options.watch_config)?;
        let files = Files {
            paths: vec![file],
            ignored: GlobSet::empty(),
        };
        let (seen, manager) = (files.snapshot(), Arc::downgrade(&self.0));
        Some(Watcher::start(files, seen, move || {
            let Some(manager) = manager.upgrade() else {
                return;
            };
            match manager.reload() {
                Ok(()) => info!("the configuration was read again"),
                Err(error) => error!(
                    why = error,
                    "the configuration cannot be reloaded and stays unchanged"
                ),
            }
        }))
    }

    /// Stops the plugins, and sends queued data within the grace period.
    pub async fn shutdown(self, grace: Duration) {
        let last = {
            let mut tasks = self.0.tasks();
            tasks.stopped = true;
            tasks.bundles.clear();
            tasks.discovery = None;
            let uploads = tasks.uploads.take().map(|(_, task)| task);
            let reports = tasks.reports.take().map(|(_, task)| task);
            [uploads, reports]
        };
        let started = Instant::now();
        // The outcome of the uploads is part of the last report.
        let ended = async {
            for mut task in last.into_iter().flatten() {
                task.stop.send_replace(true);
                if let Err(error) = (&mut task.handle).await {
                    error!(why = %error, "a plugin ended early");
                }
            }
            // The last uploads have spans, too.
            if let Some(telemetry) = self.0.plugins.telemetry.get() {
                let left = grace.saturating_sub(started.elapsed());
                let flushed = tokio::task::spawn_blocking(move || telemetry.flush(left));
                if let Err(error) = flushed.await {
                    error!(why = %error, "spans were not sent");
                }
            }
        };
        if tokio::time::timeout(grace, ended).await.is_err() {
            warn!("decisions or reports were not sent in time");
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut tasks = self.0.tasks();
        tasks.stopped = true;
        tasks.bundles.clear();
        tasks.discovery = None;
        tasks.uploads = None;
        tasks.reports = None;
    }
}

impl Manager {
    /// Rereads the configuration and applies it. This blocks on the disk.
    fn reload(self: &Arc<Self>) -> Result<(), String> {
        let boot = Config::read(&self.options).map_err(|error| error.to_string())?;
        config::warn(&boot);
        self.boot(boot)
    }

    /// Shared state of the plugins.
    pub(super) fn plugins(&self) -> &Plugins {
        &self.plugins
    }

    /// Result of `opa.runtime` in discovery policies. They do not see a previously discovered
    /// configuration, so that the same bundle always has the same result.
    pub(super) fn runtime(&self) -> Value {
        let boot = config::without_secrets(&self.tasks().boot);
        self.host.runtime(&boot)
    }

    /// Applies a discovered configuration.
    ///
    /// # Errors
    /// When it cannot be applied. Then nothing changes.
    pub(super) fn discovered(self: &Arc<Self>, config: Value) -> Result<(), String> {
        self.apply(&mut self.tasks(), |tasks| tasks.discovered = Some(config))
    }

    /// Applies a boot configuration, which also specifies the discovery.
    fn boot(self: &Arc<Self>, boot: Value) -> Result<(), String> {
        let config = Config::of(&boot, self.host.id())?;
        let mut tasks = self.tasks();
        self.apply(&mut tasks, |tasks| tasks.boot = boot)?;
        if !tasks.stopped {
            self.discovery(&mut tasks, &config.plugins);
        }
        Ok(())
    }

    fn tasks(&self) -> MutexGuard<'_, Tasks> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the configuration, and starts and stops the tasks that differ from the previous one.
    fn apply(&self, tasks: &mut Tasks, change: impl FnOnce(&mut Tasks)) -> Result<(), String> {
        let before = (tasks.boot.clone(), tasks.discovered.clone());
        change(tasks);
        let prepared = self.prepare(tasks);
        let prepared = match prepared {
            _ if tasks.stopped => return Ok(()),
            Ok(prepared) => prepared,
            Err(error) => {
                (tasks.boot, tasks.discovered) = before;
                return Err(error);
            }
        };
        let Prepared {
            config,
            clients,
            spool,
            telemetry,
        } = prepared;
        let plugins = config.plugins.clone();
        self.plugins.telemetry.set(telemetry);
        tasks.clients = clients;
        let logs = plugins.decision_logs.as_ref();
        let disk = logs.and_then(|logs| logs.upload.as_ref()?.disk.as_ref());
        self.plugins.logs.adopt(spool, disk);
        self.host.configure(config);
        self.bundles(tasks, &plugins);
        self.uploads(tasks, &plugins);
        self.reports(tasks, &plugins);
        self.plugins.statuses.start();
        Ok(())
    }

    /// Validates the configuration, and prepares its resources.
    fn prepare(&self, tasks: &mut Tasks) -> Result<Prepared, String> {
        if tasks.boot.get("discovery").is_none() {
            tasks.discovered = None;
        }
        let boot = Config::of(&tasks.boot, self.host.id())?;
        let tracing = boot.plugins.tracing.clone();
        let config = match &tasks.discovered {
            Some(discovered) => {
                let merged = merge(discovered, &tasks.boot)?;
                Config::of(&merged, self.host.id())?.discovered_by(&boot)
            }
            None => boot,
        };
        let clients = config.plugins.services.iter().map(|service| {
            let client = match tasks.clients.get(&service.name) {
                Some((same, client)) if same == service => Arc::clone(client),
                _ => Arc::new(Client::new(service, &self.plugins.telemetry)?),
            };
            Ok((service.name.clone(), (service.clone(), client)))
        });
        let clients = clients.collect::<Result<_, String>>()?;
        let logs = config.plugins.decision_logs.as_ref();
        let disk = logs.and_then(|logs| logs.upload.as_ref()?.disk.as_ref());
        let spool = self.plugins.logs.prepare(disk);
        let spool = spool.map_err(|error| format!("decision_logs: {error}"))?;
        // A discovered configuration does not affect tracing.
        let telemetry = self.telemetry(tracing.as_ref());
        let telemetry = telemetry.map_err(|error| format!("distributed_tracing: {error}"))?;
        Ok(Prepared {
            config,
            clients,
            spool,
            telemetry,
        })
    }

    /// Tracer for these settings: the current one if they are unchanged, or a new one.
    fn telemetry(&self, settings: Option<&Settings>) -> Result<Option<Arc<Telemetry>>, String> {
        let Some(settings) = settings else {
            return Ok(None);
        };
        let current = self.plugins.telemetry.get();
        Ok(Some(match current.filter(|same| same.goes_by(settings)) {
            Some(same) => same,
            None => Arc::new(Telemetry::new(settings)?),
        }))
    }

    fn bundles(&self, tasks: &mut Tasks, plugins: &config::Plugins) {
        let activation = &self.plugins.activation;
        let removed = tasks.bundles.keys();
        let removed = removed.filter(|name| !plugins.bundles.contains_key(*name));
        let removed: Vec<String> = removed.cloned().collect();
        for name in &removed {
            tasks.bundles.remove(name);
        }
        if !removed.is_empty()
            && let Err(error) = activation.remove(&*self.host, &removed)
        {
            error!(why = error.in_full(), "cannot deactivate bundles");
        }
        for (name, source) in &plugins.bundles {
            let (plan, client) = tasks.plan(source.clone(), source.place.service(), plugins);
            if tasks
                .bundles
                .get(name)
                .is_some_and(|(same, _)| *same == plan)
            {
                continue;
            }
            let reading = Reading::new(name, self.host.version(), source, plugins);
            let Some(downloader) = Downloader::new(source, client, reading) else {
                continue;
            };
            let loader = Loader {
                host: Arc::clone(&self.host),
                plugins: Arc::clone(&self.plugins),
                name: name.clone(),
                number: activation.allow(name),
            };
            let archive_path = persistence::archive_path(&plugins.persistence, name);
            let poller = Poller::new(loader, source, downloader, archive_path);
            let task = Task::start(|_| poller.run());
            tasks.bundles.insert(name.clone(), (plan, task));
        }
    }

    fn uploads(&self, tasks: &mut Tasks, plugins: &config::Plugins) {
        let logs = plugins.decision_logs.as_ref();
        let Some(upload) = logs.and_then(|logs| logs.upload.as_ref()) else {
            tasks.uploads = None;
            return;
        };
        let (plan, client) = tasks.plan(upload.clone(), Some(&upload.service), plugins);
        if tasks
            .uploads
            .as_ref()
            .is_some_and(|(same, _)| *same == plan)
        {
            return;
        }
        // Queued events stay in the buffer for the next uploader.
        tasks.uploads = client.map(|client| {
            let uploader = Uploader {
                plugins: Arc::clone(&self.plugins),
                client,
                upload: upload.clone(),
            };
            (plan, Task::start(|stop| uploader.run(stop)))
        });
    }

    fn reports(&self, tasks: &mut Tasks, plugins: &config::Plugins) {
        let active_collectors = &self.plugins.collectors;
        let Some(status) = &plugins.status else {
            tasks.reports = None;
            active_collectors.store(None);
            return;
        };
        let service = status.service.as_ref();
        let (plan, client) = tasks.plan(
            status.clone(),
            service.map(|(service, _)| service.as_str()),
            plugins,
        );
        if tasks
            .reports
            .as_ref()
            .is_some_and(|(same, _)| *same == plan)
        {
            return;
        }
        let buckets = status.prometheus.as_ref();
        let collectors = buckets.map(|buckets| Arc::new(Collectors::new(buckets)));
        active_collectors.store(collectors.clone());
        let reporter = Reporter {
            host: Arc::clone(&self.host),
            plugins: Arc::clone(&self.plugins),
            console: status.console,
            collectors,
            service: client.zip(service.map(|(_, path)| path.clone())),
            trigger: status.trigger,
        };
        tasks.reports = Some((plan, Task::start(|stop| reporter.run(stop))));
    }
}

impl Tasks {
    /// Plan of a task that uses a service, and the client of the service.
    pub(super) fn plan<T>(
        &self,
        what: T,
        service: Option<&str>,
        plugins: &config::Plugins,
    ) -> (Plan<T>, Option<Arc<Client>>) {
        let found = service.and_then(|name| self.clients.get(name));
        let plan = Plan {
            what,
            service: found.map(|(service, _)| service.clone()),
            keys: plugins.keys.clone(),
            persistence: plugins.persistence.clone(),
        };
        (plan, found.map(|(_, client)| Arc::clone(client)))
    }
}

impl BundleLocation {
    /// Name of the service that the bundle comes from, if any.
    pub(super) fn service(&self) -> Option<&str> {
        match self {
            Self::Service { service, .. } => Some(service),
            Self::File(_) => None,
        }
    }
}
