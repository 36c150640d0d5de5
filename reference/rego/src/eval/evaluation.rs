//! Options, state and solutions of one evaluation.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::SystemTime;

use smallvec::SmallVec;

use crate::Value;
use crate::builtins::{Answers, BuiltinContext, Caches, Session};
use crate::error::EvalError;
use crate::hash::HashMap;
use crate::host::Host;
use crate::meter::{AbortReason, Limits, Meter};
use crate::syntax::Location;
use crate::trace::Tracer;
use crate::value::Object;

/// Callback for the lines that `print` prints, with the location of the call.
pub type Print<'e> = &'e mut dyn FnMut(&Location, &str);

/// Inputs and options of an evaluation.
pub struct Evaluation<'e> {
    /// The root of the base documents, an object.
    pub documents: &'e Value,
    /// `input`; undefined if absent.
    pub input: Option<Value>,
    /// Whether a failing call of a built-in function is an error. If not, it is undefined.
    pub strict: bool,
    /// Receives the trace events.
    pub tracer: Option<&'e mut dyn Tracer>,
    /// Receives the output of `print`, with the location of the call.
    pub print: Option<Print<'e>>,
    /// Cancels the evaluation once it is true. If absent, the evaluation cannot be cancelled.
    pub cancelled: Option<Arc<AtomicBool>>,
    /// Limits of the evaluation.
    pub limits: Limits,
    /// Current time for the evaluation. If absent, the clock is read when it is first needed.
    pub now: Option<SystemTime>,
    /// Environment that built-in functions can access, such as servers and files; empty if absent.
    pub host: Option<&'e dyn Host>,
    /// Network hosts that built-in functions may reach; all if absent.
    pub allowed_hosts: Option<Arc<[String]>>,
    /// If present, receives the results of nondeterministic calls: an object that maps the names of
    /// functions to objects that map their operands, as a JSON array, to results.
    pub calls: Option<Object>,
    /// If present, receives the `labels` that METADATA blocks give the rules that had an answer:
    /// one object for each rule, without duplicates, in the order of the first answers. Members of
    /// a rule that was evaluated for a single member are omitted.
    pub rule_labels: Option<Vec<Value>>,
    /// Caches shared with earlier and later evaluations; none if absent.
    pub caches: Option<&'e Caches>,
}

impl<'e> Evaluation<'e> {
    /// Creates an untraced evaluation without an input.
    pub fn new(documents: &'e Value) -> Self {
        Self {
            documents,
            input: None,
            strict: false,
            tracer: None,
            print: None,
            cancelled: None,
            limits: Limits::default(),
            now: None,
            host: None,
            allowed_hosts: None,
            calls: None,
            rule_labels: None,
            caches: None,
        }
    }

    /// Charges for the expanded size of values. Must be called before code other than an evaluation
    /// traverses them.
    ///
    /// # Errors
    /// If an evaluation with these limits would be aborted.
    pub fn afford<'v>(&self, values: impl IntoIterator<Item = &'v Value>) -> Result<(), EvalError> {
        let meter = self.meter();
        let mut values = values.into_iter();
        let afforded = values.try_for_each(|value| meter.unfold(value));
        afforded.map_err(AbortReason::error)
    }

    /// Stores the results of nondeterministic functions in `calls`.
    pub(super) fn take_calls(&mut self, answers: Answers) {
        let Some(calls) = &mut self.calls else {
            return;
        };
        for ((name, operands), answer) in answers {
            let Some(answer) = answer else {
                continue;
            };
            calls.insert_if_missing(name, || Value::from(Object::new()));
            if let Some(answers) = calls.get_mut(name).and_then(Value::as_object_mut) {
                answers.insert(Value::from(operands).to_string(), answer);
            }
        }
    }

    /// Creates a meter with the limits of the evaluation.
    #[inline]
    pub(crate) fn meter(&self) -> Meter {
        Meter::new(self.cancelled.clone(), self.limits.clone())
    }

    #[inline]
    pub(super) fn session(&self) -> Session {
        Session {
            now: Cell::new(self.now),
            answers: BTreeMap::new(),
            prepared: HashMap::default(),
            allowed_hosts: self.allowed_hosts.clone(),
        }
    }

    #[inline]
    pub(super) fn builtin_context(&self) -> BuiltinContext<'e> {
        BuiltinContext {
            host: self.host,
            caches: self.caches,
        }
    }
}

impl fmt::Debug for Evaluation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Evaluation")
            .field("input", &self.input)
            .field("strict", &self.strict)
            .finish_non_exhaustive()
    }
}

/// One solution of a query.
#[derive(Debug, Clone, PartialEq)]
pub struct Solution {
    pub(super) bindings: Vec<(Arc<str>, Value)>,
    pub(super) values: SmallVec<[Value; 1]>,
}

impl Solution {
    /// Returns the bindings of the variables by their source names, sorted by name, without
    /// wildcards.
    pub fn bindings(&self) -> &[(Arc<str>, Value)] {
        &self.bindings
    }

    /// Returns the values of the expressions in the order of evaluation; `true` for expressions
    /// without a value.
    pub fn values(&self) -> &[Value] {
        &self.values
    }

    /// Returns the bindings as an object.
    pub fn to_value(&self) -> Value {
        Value::object(self.bindings.iter().cloned())
    }

    /// Returns the requested document, see [`Query::document`](crate::Query::document).
    pub fn into_document(self) -> Option<Value> {
        self.values.into_iter().next()
    }
}
