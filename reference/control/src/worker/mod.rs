//! Workers: build due bundles, write them to storage and record the results.
//!
//! One task per process polls for due bundles, as soon as this process commits a change and
//! regularly for those of other replicas, and starts a task for each that it can claim. While a
//! build runs its lease is renewed; when that fails the build is aborted at once, because another
//! replica may have started it again.
//!
//! The order of steps makes a crash at any moment harmless: the bundle is due until its result is
//! recorded, the result is recorded after the object is written, and objects are replaced whole.

mod build_cache;
mod destination;
mod inputs;
mod outcome;
mod permits;
mod publish;
mod repository_cache;
mod run;
mod trial;
mod turns;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::Instant;
use tracing::{error, info, warn};

use self::permits::Permits;
use self::repository_cache::WorkFolder;
use self::trial::{NextBuild, Trials};
use self::turns::Turns;
use super::Control;
use super::builder::Access;
use super::model::{Bundle, Kind};
use super::storage::AllowedStorages;
use super::store::{Queue, StoreError};
use http_server::StartError;

/// Duration of a claim without renewal, and so the time that the bundles of a lost replica wait.
const LEASE: Duration = Duration::from_secs(12);

/// Interval at which changes of other replicas and due times are polled.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Changes come in bursts; those within this time are propagated together.
const DEBOUNCE: Duration = Duration::from_millis(20);

/// Maximum number of propagation batches before builds are started.
const MAX_DRAIN_ROUNDS: u32 = 20;

/// Interval at which metrics and folders of deleted bundles are removed.
const SWEEP_INTERVAL: Duration = Duration::from_secs(600);

/// Pause after a database failure.
const DATABASE_PAUSE: Duration = Duration::from_secs(2);

/// Timeout of the workers' database operations; the server may have become unreachable silently.
const DATABASE_TIMEOUT: Duration = Duration::from_secs(60);

/// Time that running builds get to finish after the server is asked to stop.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(10);

/// Time that aborted builds get to release their claims.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(3);

/// Interval of checks whether the clock of the database was set back.
const CLOCK_INTERVAL: Duration = Duration::from_secs(10);

/// Minimum interval that the definition of a bundle can set, unless that of the server is shorter:
/// all bundles share the builders.
const MIN_INTERVAL: Duration = Duration::from_secs(1);

/// Maximum time by which the due time of a finished build may exceed its interval.
const CLOCK_SLACK: Duration = Duration::from_secs(60);

/// Settings of the workers.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// Resources that builds may access.
    pub(crate) access: Access,
    /// Allowed destinations.
    pub(crate) destinations: AllowedStorages,
    /// Folder that contains the bundles of owners, each in a folder of the owner's name.
    pub(crate) owner_prefix: Option<String>,
    /// Folder that stores repositories; `None` means a temporary one.
    pub(crate) work: Option<PathBuf>,
    /// Interval between builds when nothing changes.
    pub(crate) interval: Duration,
    /// Maximum number of concurrent builds; with zero, changes are only propagated.
    pub(crate) concurrent: usize,
}

impl Settings {
    /// Returns the interval between builds of a bundle when nothing changes: its own one, if set,
    /// but not less than the smaller of one second and the server's interval.
    fn interval_of(&self, bundle: &Bundle) -> Duration {
        let minimum = MIN_INTERVAL.min(self.interval);
        let configured = bundle.interval();
        configured.map_or(self.interval, |configured| configured.max(minimum))
    }
}

/// State shared by all builds of a process.
#[derive(Debug)]
struct Shared {
    control: Arc<Control>,
    settings: Settings,
    /// Identifies this process in claims.
    owner: String,
    work: WorkFolder,
    slots: Permits,
    /// Digest of the settings that determine, together with the inputs, the result of a build.
    builder: String,
}

/// The workers of a process; dropping them stops them without waiting.
#[derive(Debug)]
pub struct Workers {
    stop: watch::Sender<()>,
    task: JoinHandle<()>,
}

impl Workers {
    /// Starts the workers of a control plane.
    ///
    /// # Errors
    /// When the folder for repositories cannot be created, or the database fails.
    pub(super) async fn start(control: Arc<Control>) -> Result<Self, StartError> {
        let settings = control.settings.clone();
        let work = WorkFolder::open(settings.work.as_deref()).map_err(|failure| {
            StartError::new(format!("folder for the builds' files: {failure}"))
        })?;
        control.store.release_all().await?;
        if settings.concurrent > 0 {
            control.store.recheck_all().await?;
        }
        let shared = Arc::new(Shared {
            owner: owner()?,
            control,
            slots: Permits::new(settings.concurrent),
            builder: build_cache::builder(&settings.access),
            settings,
            work,
        });
        let (stop, stopped) = watch::channel(());
        let task = tokio::spawn(shared.work(stopped));
        Ok(Self { stop, task })
    }

    /// Starts no more builds, and returns when the running ones have finished; those that do not
    /// finish soon are aborted, for another replica or the next start.
    pub async fn shutdown(self) {
        drop(self.stop);
        if let Err(failure) = self.task.await {
            error!(%failure, "the workers ended early");
        }
    }
}

/// Generates a unique name for this process.
fn owner() -> Result<String, StartError> {
    let mut random = [0; 8];
    getrandom::fill(&mut random)
        .map_err(|_| StartError::new("the system gives no random bytes"))?;
    Ok(format!(
        "{}-{:016x}",
        std::process::id(),
        u64::from_be_bytes(random)
    ))
}

impl Shared {
    /// Polls for due bundles until stopped, then waits for the running builds.
    async fn work(self: Arc<Self>, mut stopped: watch::Receiver<()>) {
        let mut builds = JoinSet::new();
        let (give_up, given_up) = watch::channel(());
        let mut sweep = tokio::time::interval(SWEEP_INTERVAL);
        let mut clock = tokio::time::interval(CLOCK_INTERVAL);
        let mut trials = Trials::default();
        // Time of the next propagation of changes.
        let mut next = Instant::now();
        loop {
            let now = Instant::now();
            let is_pass_due = next <= now;
            // A database that does not respond must not delay the shutdown. A claim whose response
            // is lost expires.
            let started = self.start_builds(&mut builds, &given_up, &mut trials, is_pass_due);
            let started = tokio::select! {
                _ = stopped.changed() => break,
                started = with_timeout(started) => started,
            };
            match started {
                Ok(true) => {}
                Ok(false) if is_pass_due => next = now + POLL_INTERVAL,
                Ok(false) => {}
                Err(failure) => {
                    error!(%failure, "cannot look for bundles to build");
                    next = Instant::now() + DATABASE_PAUSE;
                }
            }
            let debounced = Instant::now() + DEBOUNCE;
            tokio::select! {
                _ = stopped.changed() => break,
                // Builds that finish free slots, which are used immediately.
                () = self.control.store.wait_for_change(), if debounced < next => next = debounced,
                _ = sweep.tick() => self.sweep().await,
                _ = clock.tick() => self.repair_due_times().await,
                () = tokio::time::sleep_until(next) => {}
                Some(ended) = builds.join_next() => log_panic(ended),
            }
        }
        if tokio::time::timeout(SHUTDOWN_GRACE, wait_for_all(&mut builds))
            .await
            .is_ok()
        {
            return;
        }
        warn!(
            builds = builds.len(),
            "abandoning builds that did not end in time"
        );
        drop(give_up);
        // Dropping the set aborts those that still have not finished.
        drop(tokio::time::timeout(RELEASE_TIMEOUT, wait_for_all(&mut builds)).await);
    }

    /// Propagates changes if it is time to, and starts as many builds as are due and have slots.
    /// Returns whether there are more changes to propagate.
    async fn start_builds(
        self: &Arc<Self>,
        builds: &mut JoinSet<()>,
        given_up: &watch::Receiver<()>,
        trials: &mut Trials,
        is_pass_due: bool,
    ) -> Result<bool, StoreError> {
        let store = &self.control.store;
        let mut more = is_pass_due;
        let mut rounds = 0..MAX_DRAIN_ROUNDS;
        while more && rounds.next().is_some() {
            more = store.propagate_changes().await?;
        }
        if is_pass_due && self.settings.concurrent > 0 {
            trials.set_waiting(store.has_suspect().await?, Instant::now());
        }
        let next = trials.next(self.slots.are_idle(), Instant::now());
        let started = match next {
            NextBuild::Others => self.start_unsuspected(builds, given_up).await?,
            NextBuild::Trial | NextBuild::Nothing => false,
        };
        let is_free =
            next == NextBuild::Others && !started && trials.may_start() && self.slots.are_idle();
        if next == NextBuild::Trial || is_free {
            self.start_trial(builds, given_up, trials).await?;
        }
        Ok(more)
    }

    /// Starts as many unsuspected due builds as have slots. Returns whether any was started.
    async fn start_unsuspected(
        self: &Arc<Self>,
        builds: &mut JoinSet<()>,
        given_up: &watch::Receiver<()>,
    ) -> Result<bool, StoreError> {
        let store = &self.control.store;
        let mut started = false;
        // Changes take precedence over bundles that are only rebuilt.
        for queue in [Queue::Changed, Queue::Due] {
            if self.slots.are_taken() {
                break;
            }
            let mut turns = Turns::new(queue, store.waiting(queue).await?);
            // Builds finish meanwhile, and new changes have to be polled.
            let mut rounds = 0..=self.settings.concurrent;
            while rounds.next().is_some()
                && let Some((tenant, slot)) = turns.next(&self.slots)
            {
                match store.claim(queue, &tenant, &self.owner, LEASE).await? {
                    Some(claim) => {
                        started = true;
                        builds.spawn(Arc::clone(self).run(claim, slot, given_up.clone()));
                    }
                    None => turns.remove(&tenant),
                }
            }
        }
        Ok(started)
    }

    /// Starts the build of a bundle during whose build a process crashed.
    async fn start_trial(
        self: &Arc<Self>,
        builds: &mut JoinSet<()>,
        given_up: &watch::Receiver<()>,
        trials: &mut Trials,
    ) -> Result<(), StoreError> {
        let store = &self.control.store;
        if let Some(claim) = store.claim_suspect(&self.owner, LEASE).await? {
            let slot = self
                .slots
                .trial(&claim.tenant, trials.begin(Instant::now()));
            builds.spawn(Arc::clone(self).run(claim, slot, given_up.clone()));
        }
        Ok(())
    }

    /// Repairs due times and leases after the clock of the database was set back.
    async fn repair_due_times(&self) {
        match with_timeout(self.control.store.repair_due_times(LEASE, CLOCK_SLACK)).await {
            Ok(0) => {}
            Ok(bundles) => warn!(bundles, "the clock of the database was put back"),
            Err(failure) => warn!(%failure, "cannot look for times that lie ahead"),
        }
    }

    /// Removes folders and metrics of deleted bundles and sources.
    async fn sweep(&self) {
        let store = &self.control.store;
        let names =
            async { tokio::try_join!(store.names(Kind::Bundle), store.names(Kind::Source)) };
        let (bundles, sources) = match with_timeout(names).await {
            Ok(names) => names,
            Err(failure) => {
                warn!(%failure, "cannot look for what is deleted");
                return;
            }
        };
        self.work.sweep(&bundles.keys().copied().collect());
        let bundles = bundles.into_values().map(|name| (Kind::Bundle, name));
        let sources = sources.into_values().map(|name| (Kind::Source, name));
        self.control
            .metrics
            .retain(&bundles.chain(sources).collect());
    }
}

/// Returns the result of a database operation, if it completes in time.
///
/// # Errors
/// `Silent` when the operation does not complete in time.
async fn with_timeout<T>(
    operation: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    within(DATABASE_TIMEOUT, operation).await
}

async fn within<T>(
    limit: Duration,
    operation: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    let result = tokio::time::timeout(limit, operation).await;
    result.unwrap_or(Err(StoreError::Silent))
}

/// Waits for all builds.
async fn wait_for_all(builds: &mut JoinSet<()>) {
    while let Some(ended) = builds.join_next().await {
        log_panic(ended);
    }
}

/// Logs a build task that panicked.
fn log_panic(ended: Result<(), tokio::task::JoinError>) {
    if let Err(failure) = ended {
        error!(%failure, "a build panicked");
    }
}

impl Control {
    /// Starts the workers, which build bundles until they are shut down.
    ///
    /// # Errors
    /// When the folder for repositories cannot be created, or the database fails.
    pub async fn start_workers(self: &Arc<Self>) -> Result<Workers, StartError> {
        let workers = Workers::start(Arc::clone(self)).await?;
        match self.settings.concurrent {
            0 => info!("this replica builds no bundles"),
            builds => info!(builds, "bundles are built"),
        }
        Ok(workers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_database_that_says_nothing_is_not_waited_for() {
        let silent = std::future::pending::<Result<(), StoreError>>();
        let result = within(Duration::ZERO, silent).await;
        assert!(matches!(result, Err(StoreError::Silent)), "{result:?}");
        let result = within(Duration::ZERO, async { Ok(1) }).await;
        assert!(matches!(result, Ok(1)), "{result:?}");
    }
}
