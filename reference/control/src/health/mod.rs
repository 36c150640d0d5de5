//! /health

pub(super) mod get;

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};

use super::Control;
use super::store::{DatabaseError, Probe};

/// Time for which the result of a probe is reused.
const FRESH: Duration = Duration::from_secs(1);

/// Timeout after which the database counts as unresponsive.
const HEALTH_TIMEOUT: Duration = Duration::from_secs(2);

/// Key check that was read, or the database error.
type Outcome = Result<String, DatabaseError>;

/// Last probe of the database, shared by all concurrent health checks.
#[derive(Debug, Default)]
pub(super) struct Health(Mutex<Option<LastCheck>>);

#[derive(Debug, Clone)]
struct LastCheck {
    begun: Instant,
    ended: Arc<OnceLock<Instant>>,
    outcome: Shared<BoxFuture<'static, Outcome>>,
}

impl LastCheck {
    /// Starts a probe, which continues even if nobody waits for it.
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

    /// Whether the probe still runs, or has finished recently.
    fn counts(&self) -> bool {
        self.ended.get().is_none_or(|ended| ended.elapsed() < FRESH)
    }
}

impl Control {
    /// Returns the database error, if any, within a limited time.
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
