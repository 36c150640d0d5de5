//! The context passed to a built-in function.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use super::caches::{Cached, Caches};
use crate::Value;
use crate::hash::HashMap;
use crate::host::{Cancellation, Host, NoHost};
use crate::meter::{AbortReason, Meter, VALUE_BYTES};
use crate::syntax::Location;
use crate::value::Text;

/// Maximum number of prepared values per evaluation; at this number, all are discarded.
const MAX_PREPARED: usize = 1000;

/// Maximum length in bytes of a string whose prepared value an inline evaluation uses: longer
/// patterns may be slow.
const MAX_INLINE_TEXT: usize = 128;

/// Failure of a call. By default it makes the call undefined; in strict mode, it is an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    /// `eval_type_error`: an operand has the wrong type.
    Type(String),
    /// `eval_builtin_error`: an operand has an invalid value.
    Value(String),
    /// Aborts the evaluation in any mode, with this message.
    Halt(String),
    /// The evaluation has to end.
    Aborted(AbortReason),
}

/// Value that a function prepares from a string and reuses, such as a compiled pattern. Its memory
/// is not part of that of values.
pub(crate) trait Prepared: Send + Sync + 'static {
    /// Approximate memory in bytes, given the length of the source string in bytes.
    fn bytes(&self, text: usize) -> usize {
        text.saturating_mul(PREPARED)
    }
}

/// Bytes of memory per byte of a schema's or key's source string.
const PREPARED: usize = 64;

/// Results of non-deterministic functions, by name and operands: the same call has the same result
/// throughout an evaluation.
pub(crate) type Answers = BTreeMap<(&'static str, Vec<Value>), Option<Value>>;

/// State shared by all calls of one evaluation.
#[derive(Debug, Default)]
pub(crate) struct Session {
    /// Time that the whole evaluation uses as now, once it is known.
    pub(crate) now: Cell<Option<SystemTime>>,
    /// Results of non-deterministic functions.
    pub(crate) answers: Answers,
    /// Values that functions prepared from an operand and reuse, such as compiled patterns.
    pub(crate) prepared: HashMap<(&'static str, Text), Cached>,
    /// Hosts that functions such as `http.send` may connect to; all when absent.
    pub(crate) allowed_hosts: Option<Arc<[String]>>,
}

/// Environment shared by many evaluations. It is borrowed, because threads would contend for a
/// reference count.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct BuiltinContext<'c> {
    /// Environment that functions access, if any.
    pub(crate) host: Option<&'c dyn Host>,
    /// Caches shared by evaluations, if any.
    pub(crate) caches: Option<&'c Caches>,
}

impl Session {
    /// Returns the time that the whole evaluation uses as now.
    pub(crate) fn now(&self) -> SystemTime {
        let now = self.now.get().unwrap_or_else(SystemTime::now);
        self.now.set(Some(now));
        now
    }
}

/// Context of one call.
#[derive(Debug)]
pub(crate) struct Call<'c> {
    /// Source location of the call.
    pub(crate) location: &'c Location,
    /// State shared with other calls of the evaluation.
    pub(crate) session: &'c mut Session,
    /// Resource usage of the evaluation.
    pub(crate) meter: &'c Meter,
    /// Environment shared with other evaluations.
    pub(crate) outside: BuiltinContext<'c>,
}

impl Call<'_> {
    /// Returns the host environment.
    pub(crate) fn host(&self) -> &dyn Host {
        self.outside.host.unwrap_or(&NoHost)
    }

    /// Fails when the evaluation has to end. Loops over large operands call this per iteration.
    #[inline]
    pub(crate) fn check(&self) -> Result<(), Failure> {
        self.meter.tick().map_err(Failure::Aborted)
    }

    /// Like [`Call::check`], for loops that do several iterations at once.
    pub(crate) fn spend(&self, units: usize) -> Result<(), Failure> {
        self.meter.spend(units).map_err(Failure::Aborted)
    }

    /// Called before an operation of unknown duration: fails when the evaluation has to end.
    pub(crate) fn begin(&self) -> Result<(), Failure> {
        self.meter.look().map_err(Failure::Aborted)
    }

    /// Waits for an operation of the host.
    pub(crate) fn wait<T>(&self, operation: impl FnOnce(&dyn Host, Cancellation<'_>) -> T) -> T {
        self.meter.rest();
        operation(self.host(), &|| self.meter.wanted())
    }

    /// Fails if allocating this many values would exceed the limit. Does not count them.
    pub(crate) fn estimate(&self, values: usize) -> Result<(), Failure> {
        let checked = self.meter.check_room(values);
        checked.map_err(Failure::Aborted)
    }

    /// Counts values before they are allocated, and fails if they exceed the limit.
    pub(crate) fn make(&self, values: usize) -> Result<(), Failure> {
        self.meter.make(values);
        self.check()
    }

    /// Charges operands for their unfolded size, in which shared parts count wherever they occur,
    /// before a library or serializer receives them.
    pub(crate) fn unfold<'v>(
        &self,
        operands: impl IntoIterator<Item = &'v Value>,
    ) -> Result<(), Failure> {
        let meter = &self.meter;
        let mut operands = operands.into_iter();
        let unfolded = operands.try_for_each(|operand| meter.unfold(operand));
        unfolded.map_err(Failure::Aborted)
    }

    /// Serializes a value, which is charged for its unfolded size.
    pub(crate) fn serialize(&self, value: &Value) -> Result<String, Failure> {
        self.unfold([value])?;
        Ok(value.to_string())
    }

    /// Returns the value prepared from a string. The value is created once, and cached for the rest
    /// of the evaluation and for later ones. Creation takes an unknown time, so it does not start
    /// when the evaluation has to end. The memory of the value is charged.
    ///
    /// # Errors
    /// When the value cannot be created. Errors are not cached.
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
        let known = caches.and_then(|caches| caches.get(kind, text));
        let is_inline = self.meter.is_inline();
        if is_inline && text.len() > MAX_INLINE_TEXT {
            return Err(Failure::Aborted(AbortReason::NotInline));
        }
        let value = match known.and_then(|known| known.downcast::<T>().ok()) {
            Some(known) => known,
            None if is_inline => return Err(Failure::Aborted(AbortReason::NotInline)),
            None => {
                self.begin()?;
                let value = Arc::new(make(self)?);
                let bytes = value.bytes(text.len());
                self.make(bytes / VALUE_BYTES as usize)?;
                if let Some(caches) = caches {
                    caches.insert(kind, text, Arc::<T>::clone(&value), bytes);
                }
                value
            }
        };
        if self.session.prepared.len() >= MAX_PREPARED {
            self.session.prepared.clear();
        }
        self.session.prepared.insert(key, Arc::<T>::clone(&value));
        Ok(value)
    }
}
