//! Activation of bundles in order of their dependencies.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Instant, SystemTime};

use bundle::{Bundle, BundleError, Content};

use super::Host;
use super::download::nanoseconds;
use super::status_registry::StatusRegistry;

/// Activates bundles one after the other. A bundle that cannot be activated alone waits for others:
/// it may call rules of a later bundle, or own a root that another has yet to give up.
#[derive(Debug, Default)]
pub(super) struct Activation(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    /// Bundles that may be activated, with the number of the task that may do so.
    allowed: BTreeMap<String, u64>,
    last: u64,
    /// Bundles that could not be activated yet.
    waiting: BTreeMap<String, Bundle>,
}

impl Activation {
    /// Allows a task to activate a bundle, and returns the number that authorizes the task.
    pub(super) fn allow(&self, name: &str) -> u64 {
        let mut this = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        this.last += 1;
        let number = this.last;
        this.allowed.insert(name.to_owned(), number);
        this.waiting.remove(name);
        number
    }

    /// Deactivates bundles that are not configured any more.
    ///
    /// # Errors
    /// When other policies need the bundles. Then all of them stay active.
    pub(super) fn remove(&self, host: &dyn Host, names: &[String]) -> Result<(), BundleError> {
        let mut this = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for name in names {
            this.allowed.remove(name);
            this.waiting.remove(name);
        }
        host.deactivate(names)
    }

    /// Activates a bundle, alone or with the waiting ones, and then those that still wait.
    ///
    /// # Errors
    /// When the bundle cannot be activated. Then nothing has changed.
    pub(super) fn activate(
        &self,
        host: &dyn Host,
        statuses: &StatusRegistry,
        name: &str,
        number: u64,
        bundle: Bundle,
    ) -> Result<(), BundleError> {
        let mut this = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if this.allowed.get(name) != Some(&number) {
            let message = format!("the bundle `{name}` is not configured any more");
            return Err(BundleError::new(message));
        }
        this.waiting.remove(name);
        if let Err(alone) = activate(host, statuses, vec![(name.to_owned(), bundle.clone())]) {
            // A delta changes the currently active bundle, so it cannot wait.
            if matches!(bundle.content, Content::Delta(_)) {
                return Err(alone);
            }
            let others = this.waiting.clone();
            this.waiting.insert(name.to_owned(), bundle);
            let all = this.waiting.clone().into_iter().collect();
            if others.is_empty() || activate(host, statuses, all).is_err() {
                return Err(alone);
            }
            this.waiting.clear();
        }
        this.settle(host, statuses);
        Ok(())
    }
}

impl Waiting {
    /// Activates waiting bundles until no more can be activated.
    fn settle(&mut self, host: &dyn Host, statuses: &StatusRegistry) {
        // Each iteration but the last activates one.
        for _ in 0..=self.waiting.len() {
            let mut waiting = self.waiting.iter();
            let settled = waiting.find_map(|(name, bundle)| {
                let one = vec![(name.clone(), bundle.clone())];
                activate(host, statuses, one).ok().map(|()| name.clone())
            });
            match settled {
                Some(name) => drop(self.waiting.remove(&name)),
                None => return,
            }
        }
    }
}

/// Activates bundles and records that in their statuses.
fn activate(
    host: &dyn Host,
    statuses: &StatusRegistry,
    bundles: Vec<(String, Bundle)>,
) -> Result<(), BundleError> {
    let about =
        |(name, bundle): &(String, Bundle)| (name.clone(), bundle.manifest.revision.clone());
    let revisions: Vec<(String, String)> = bundles.iter().map(about).collect();
    let started = Instant::now();
    host.activate(bundles)?;
    for (name, revision) in revisions {
        statuses.update_bundle(&name, |status| {
            status.revision = revision;
            status.activated = Some(SystemTime::now());
            status.failure = None;
            let taken = nanoseconds(started);
            status.times.insert("timer_rego_module_compile_ns", taken);
        });
    }
    Ok(())
}
