//! /health

pub(super) mod get;

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};

use super::Control;
use super::store::{DatabaseError, Probe};

/// How long the outcome of a probe counts.
const FRESH: Duration = Duration::from_secs(1);

/// How long a probe may take before the database counts as one that does not answer.
const HEALTH_TIMEOUT: Duration = Duration::from_secs(2);

/// The key check that was read, or what is wrong.
type Outcome = Result<String, DatabaseError>;

/// The last probe of the database, which all who ask meanwhile share.
#[derive(Debug, Default)]
pub(super) struct Health(Mutex<Option<LastCheck>>);

#[derive(Debug, Clone)]
struct LastCheck {
    begun: Instant,
    ended: Arc<OnceLock<Instant>>,
    outcome: Shared<BoxFuture<'static, Outcome>>,
}

impl LastCheck {
    /// Begins a probe, which goes on also when nobody waits for it any longer.
    fn begin(probe: &Arc<Probe>) -> Self {
        let ended = Arc::new(OnceLock::new());
        let (probe, end) = (Arc::clone(probe), Arc::clone(&ended));
        let running = tokio::spawn(async move {
            let outcome = probe.run().await;
            end.get_or_init(Instant::now);
            outcome
        });
        let outcome = running.map(|joined| joined.unwrap_or(Err(DatabaseError::Other)));
        Self {
            begun: Instant::now(),
            ended,
            outcome: outcome.boxed().shared(),
        }
    }

    /// Whether the probe still runs, or has ended just now.
    fn counts(&self) -> bool {
        self.ended.get().is_none_or(|ended| ended.elapsed() < FRESH)
    }
}

impl Control {
    /// What is wrong with the database, if anything is; known within a limited time.
    pub(super) async fn database_failure(&self) -> Option<DatabaseError> {
        let asked = {
            let mut last = self.health.0.lock().unwrap_or_else(PoisonError::into_inner);
            match &*last {
                Some(asked) if asked.counts() => asked.clone(),
                _ => last.insert(LastCheck::begin(self.store.probe())).clone(),
            }
        };
        let until = asked.begun + HEALTH_TIMEOUT;
        match tokio::time::timeout_at(until.into(), asked.outcome).await {
            Ok(Ok(check)) if self.cipher.knows(&check) => None,
            Ok(Ok(_)) => Some(DatabaseError::UnknownKey),
            Ok(Err(database_failure)) => Some(database_failure),
            Err(_) => Some(DatabaseError::Silent),
        }
    }
}
