//! What a built-in function sees of the evaluation that calls it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use super::caches::{Caches, Made};
use crate::Value;
use crate::syntax::Location;
use crate::value::Text;

/// As much is prepared in an evaluation; when there is more, all is forgotten.
const MAX_PREPARED: usize = 1000;

/// Why a call has no value. By default that makes it undefined; strictly, an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    /// `eval_type_error`: an operand has the wrong type.
    Type(String),
    /// `eval_builtin_error`: the operands' values do not do.
    Value(String),
    /// Ends the evaluation in any case, with this message.
    Halt(String),
    /// The evaluation was cancelled.
    Cancelled,
}

/// What all calls of one evaluation share.
#[derive(Debug)]
pub(crate) struct Session {
    /// The time that the whole evaluation takes as now.
    pub(crate) now: SystemTime,
    /// The answers of non-deterministic functions, by name and operands: the same call has the
    /// same answer throughout an evaluation.
    pub(crate) answers: BTreeMap<(&'static str, Vec<Value>), Option<Value>>,
    /// What functions prepare from an operand and use again, such as compiled patterns.
    pub(crate) prepared: HashMap<(&'static str, Text), Made>,
    /// Set by whoever no longer wants the answer.
    pub(crate) cancelled: Arc<AtomicBool>,
    /// What `opa.runtime` answers.
    pub(crate) runtime: Option<Value>,
    /// The hosts that `http.send` and the like may reach; all when absent.
    pub(crate) allowed_hosts: Option<Arc<[String]>>,
    /// What evaluations leave for each other, if anything.
    pub(crate) caches: Option<Arc<Caches>>,
}

/// One call.
#[derive(Debug)]
pub(crate) struct Call<'c> {
    /// Where it stands.
    pub(crate) location: &'c Location,
    /// What it shares with others.
    pub(crate) session: &'c mut Session,
}

impl Call<'_> {
    /// Fails when nobody waits for the answer any more. Loops over large operands ask this.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        if self.session.cancelled.load(Ordering::Relaxed) {
            return Err(Failure::Cancelled);
        }
        Ok(())
    }

    /// What a function makes of a text: made once, and kept for the rest of the evaluation and
    /// for later ones.
    ///
    /// # Errors
    /// When it cannot be made, which is not kept.
    pub(crate) fn prepared<T: Send + Sync + 'static>(
        &mut self,
        kind: &'static str,
        text: &Text,
        make: impl FnOnce() -> Result<T, Failure>,
    ) -> Result<Arc<T>, Failure> {
        let key = (kind, text.clone());
        if let Some(known) = self.session.prepared.get(&key)
            && let Ok(known) = Arc::clone(known).downcast::<T>()
        {
            return Ok(known);
        }
        let caches = self.session.caches.as_ref();
        let known = caches.and_then(|caches| caches.made(kind, text));
        let made = match known.and_then(|known| known.downcast::<T>().ok()) {
            Some(known) => known,
            None => {
                let made = Arc::new(make()?);
                if let Some(caches) = caches {
                    caches.keep(kind, text, Arc::<T>::clone(&made));
                }
                made
            }
        };
        if self.session.prepared.len() >= MAX_PREPARED {
            self.session.prepared.clear();
        }
        self.session.prepared.insert(key, Arc::<T>::clone(&made));
        Ok(made)
    }
}
