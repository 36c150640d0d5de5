//! The context passed to a built-in function.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use super::caches::{Cached, Caches};
use crate::Value;
use crate::hash::HashMap;
use crate::host::{Cancellation, Host, NoHost};
use crate::meter::{Ended, Meter, VALUE_BYTES};
use crate::syntax::Location;
use crate::value::Text;

/// As much is prepared in an evaluation; when there is more, all is forgotten.
const MAX_PREPARED: usize = 1000;

/// A trial uses only what was made of texts of at most this many bytes: what is made of longer
/// patterns may be slow.
const MAX_TRIED: usize = 128;

/// Why a call has no value. By default that makes it undefined; strictly, an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    /// `eval_type_error`: an operand has the wrong type.
    Type(String),
    /// `eval_builtin_error`: the operands' values do not do.
    Value(String),
    /// Ends the evaluation in any case, with this message.
    Halt(String),
    /// The evaluation has to end.
    Ended(Ended),
}

/// Something that a function makes of a text and uses again. It takes memory beside values.
pub(crate) trait Prepared: Send + Sync + 'static {
    /// The bytes that it takes, about, if the text is so long.
    fn bytes(&self, text: usize) -> usize {
        text.saturating_mul(PREPARED)
    }
}

/// The bytes that a schema or key takes for each byte of its text.
const PREPARED: usize = 64;

/// The answers of non-deterministic functions, by name and operands: the same call has the same
/// answer throughout an evaluation.
pub(crate) type Answers = BTreeMap<(&'static str, Vec<Value>), Option<Value>>;

/// What all calls of one evaluation share.
#[derive(Debug, Default)]
pub(crate) struct Session {
    /// The time that the whole evaluation takes as now, once it is known.
    pub(crate) now: Cell<Option<SystemTime>>,
    /// What non-deterministic functions answered.
    pub(crate) answers: Answers,
    /// What functions prepare from an operand and use again, such as compiled patterns.
    pub(crate) prepared: HashMap<(&'static str, Text), Cached>,
    /// The hosts that `http.send` and the like may reach; all when absent.
    pub(crate) allowed_hosts: Option<Arc<[String]>>,
}

/// What is outside of an evaluation, and the same for many. It is borrowed, because threads would
/// wait for each other to count who has it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct BuiltinContext<'c> {
    /// What functions see of the world, if anything.
    pub(crate) host: Option<&'c dyn Host>,
    /// What evaluations leave for each other, if anything.
    pub(crate) caches: Option<&'c Caches>,
}

impl Session {
    /// The time that the whole evaluation takes as now.
    pub(crate) fn now(&self) -> SystemTime {
        let now = self.now.get().unwrap_or_else(SystemTime::now);
        self.now.set(Some(now));
        now
    }
}

/// One call.
#[derive(Debug)]
pub(crate) struct Call<'c> {
    /// Where it stands.
    pub(crate) location: &'c Location,
    /// What it shares with others.
    pub(crate) session: &'c mut Session,
    /// What the evaluation uses.
    pub(crate) meter: &'c Meter,
    /// What it shares with other evaluations.
    pub(crate) outside: BuiltinContext<'c>,
}

impl Call<'_> {
    /// What functions see of the world.
    pub(crate) fn host(&self) -> &dyn Host {
        self.outside.host.unwrap_or(&NoHost)
    }

    /// Fails when the evaluation has to end. Loops over large operands ask this in each round.
    #[inline]
    pub(crate) fn check(&self) -> Result<(), Failure> {
        self.meter.tick().map_err(Failure::Ended)
    }

    /// The same for loops that do several rounds at once.
    pub(crate) fn spend(&self, units: usize) -> Result<(), Failure> {
        self.meter.spend(units).map_err(Failure::Ended)
    }

    /// Fails when the evaluation has to end, before something whose length nobody knows.
    pub(crate) fn begin(&self) -> Result<(), Failure> {
        self.meter.look().map_err(Failure::Ended)
    }

    /// Waits for something that the host does.
    pub(crate) fn wait<T>(&self, ask: impl FnOnce(&dyn Host, Cancellation<'_>) -> T) -> T {
        self.meter.rest();
        ask(self.host(), &|| self.meter.wanted())
    }

    /// Fails when so many values are too many, before they are made. They are counted afterwards.
    pub(crate) fn estimate(&self, values: usize) -> Result<(), Failure> {
        let foreseen = self.meter.foresee(values);
        foreseen.map_err(Failure::Ended)
    }

    /// Counts values before they are made, and fails when they are too many.
    pub(crate) fn make(&self, values: usize) -> Result<(), Failure> {
        self.meter.make(values);
        self.check()
    }

    /// Charges operands for what they unfold to, before they are given to a library or written as a
    /// text.
    pub(crate) fn unfold<'v>(
        &self,
        operands: impl IntoIterator<Item = &'v Value>,
    ) -> Result<(), Failure> {
        let meter = &self.meter;
        let mut operands = operands.into_iter();
        let unfolded = operands.try_for_each(|operand| meter.unfold(operand));
        unfolded.map_err(Failure::Ended)
    }

    /// A value as a text, charged for what it unfolds to.
    pub(crate) fn written(&self, value: &Value) -> Result<String, Failure> {
        self.unfold([value])?;
        Ok(value.to_string())
    }

    /// What a function makes of a text: made once, and kept for the rest of the evaluation and
    /// for later ones. Nobody knows how long that takes, so it is not begun when the evaluation has
    /// to end; what it takes is charged.
    ///
    /// # Errors
    /// When it cannot be made, which is not kept.
    pub(crate) fn prepared<T: Prepared>(
        &mut self,
        kind: &'static str,
        text: &Text,
        make: impl FnOnce(&Self) -> Result<T, Failure>,
    ) -> Result<Arc<T>, Failure> {
        let key = (kind, text.clone());
        if let Some(known) = self.session.prepared.get(&key)
            && let Ok(known) = Arc::clone(known).downcast::<T>()
        {
            return Ok(known);
        }
        let caches = self.outside.caches;
        let known = caches.and_then(|caches| caches.made(kind, text));
        let is_trial = self.meter.is_trial();
        if is_trial && text.len() > MAX_TRIED {
            return Err(Failure::Ended(Ended::Trial));
        }
        let made = match known.and_then(|known| known.downcast::<T>().ok()) {
            Some(known) => known,
            None if is_trial => return Err(Failure::Ended(Ended::Trial)),
            None => {
                self.begin()?;
                let made = Arc::new(make(self)?);
                let bytes = made.bytes(text.len());
                self.make(bytes / VALUE_BYTES as usize)?;
                if let Some(caches) = caches {
                    caches.keep(kind, text, Arc::<T>::clone(&made), bytes);
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
