//! /health

pub(super) mod get;

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};

use super::Control;
use super::store::{DatabaseError, Probe};

/// Time for which the result of a check is reused.
const MAX_AGE: Duration = Duration::from_secs(1);

/// Timeout after which the database counts as unresponsive.
const HEALTH_TIMEOUT: Duration = Duration::from_secs(2);

/// Result of a check: the key check in the database, or the database error.
type Outcome = Result<String, DatabaseError>;

/// Last check of the database, shared by concurrent health requests.
#[derive(Debug, Default)]
pub(super) struct Health(Mutex<Option<LastCheck>>);

#[derive(Debug, Clone)]
struct LastCheck {
    started: Instant,
    ended: Arc<OnceLock<Instant>>,
    outcome: Shared<BoxFuture<'static, Outcome>>,
}

impl LastCheck {
    /// Starts a check in its own task, which continues when the requests that wait for it end.
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
            started: Instant::now(),
            ended,
            outcome: outcome.boxed().shared(),
        }
    }

    /// Returns true if the check is still running, or ended recently.
    fn is_fresh(&self) -> bool {
        self.ended
            .get()
            .is_none_or(|ended| ended.elapsed() < MAX_AGE)
    }
}

impl Control {
    /// Returns the error of the database, if any. A check that exceeds the timeout is an error.
    pub(super) async fn database_failure(&self) -> Option<DatabaseError> {
        let last_check = {
            let mut last = self.health.0.lock().unwrap_or_else(PoisonError::into_inner);
            match &*last {
                Some(last_check) if last_check.is_fresh() => last_check.clone(),
                _ => last.insert(LastCheck::begin(self.store.probe())).clone(),
            }
        };
        let deadline = last_check.started + HEALTH_TIMEOUT;
        match tokio::time::timeout_at(deadline.into(), last_check.outcome).await {
            Ok(Ok(check)) if self.cipher.knows(&check) => None,
            Ok(Ok(_)) => Some(DatabaseError::UnknownKey),
            Ok(Err(database_failure)) => Some(database_failure),
            Err(_) => Some(DatabaseError::Silent),
        }
    }
}
