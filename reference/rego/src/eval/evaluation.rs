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
use crate::meter::{Ended, Limits, Meter};
use crate::syntax::Location;
use crate::trace::Tracer;
use crate::value::Object;

/// Takes a line that `print` prints, and where that stands.
pub type Print<'e> = &'e mut dyn FnMut(&Location, &str);

/// What a query is evaluated against, and how.
pub struct Evaluation<'e> {
    /// The root of the base documents, an object.
    pub documents: &'e Value,
    /// `input`; undefined if absent.
    pub input: Option<Value>,
    /// Whether a failing call of a built-in function is an error. If not, it is undefined.
    pub strict: bool,
    /// Watches the evaluation.
    pub tracer: Option<&'e mut dyn Tracer>,
    /// Takes what `print` prints, and where that stands.
    pub print: Option<Print<'e>>,
    /// Ends the evaluation once it is set; nobody does if absent.
    pub cancelled: Option<Arc<AtomicBool>>,
    /// What ends it besides.
    pub limits: Limits,
    /// What the evaluation takes as the present time; if absent, the time when it first needs one.
    pub now: Option<SystemTime>,
    /// What built-in functions see of the world; nothing if absent.
    pub host: Option<&'e dyn Host>,
    /// The hosts that built-in functions may reach; all if absent.
    pub allowed_hosts: Option<Arc<[String]>>,
    /// If present, takes what calls of non-deterministic functions answered: an object by the
    /// names of the functions of objects by their operands, written as a JSON array.
    pub calls: Option<Object>,
    /// If present, takes the `labels` that METADATA blocks give the rules that had an answer: an
    /// object for each rule, those that are equal once, in the order of the first answers. Members
    /// of a rule that was asked for a single member are left out.
    pub rule_labels: Option<Vec<Value>>,
    /// What earlier evaluations left, and this one leaves for later ones; nothing if absent.
    pub caches: Option<&'e Caches>,
}

impl<'e> Evaluation<'e> {
    /// An evaluation now, without an input, that nobody watches.
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

    /// Charges values for what they unfold to, before something else than an evaluation goes through
    /// them.
    ///
    /// # Errors
    /// When an evaluation with these limits would have to end.
    pub fn afford<'v>(&self, values: impl IntoIterator<Item = &'v Value>) -> Result<(), EvalError> {
        let meter = self.meter();
        let mut values = values.into_iter();
        let afforded = values.try_for_each(|value| meter.unfold(value));
        afforded.map_err(Ended::error)
    }

    /// Takes what non-deterministic functions answered.
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

    /// What the evaluation uses, with its limits.
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
    pub(super) fn outside(&self) -> BuiltinContext<'e> {
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

/// One way in which a query holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Solution {
    pub(super) bindings: Vec<(Arc<str>, Value)>,
    pub(super) values: SmallVec<[Value; 1]>,
}

impl Solution {
    /// The variables by the names that were written, in the order of their names, without
    /// wildcards.
    pub fn bindings(&self) -> &[(Arc<str>, Value)] {
        &self.bindings
    }

    /// The values of the expressions, in the order in which they were evaluated; `true` for those
    /// that only hold.
    pub fn values(&self) -> &[Value] {
        &self.values
    }

    /// The bindings as an object.
    pub fn to_value(&self) -> Value {
        Value::object(self.bindings.iter().cloned())
    }

    /// The document that was asked for, see [`Query::document`](crate::Query::document).
    pub fn into_document(self) -> Option<Value> {
        self.values.into_iter().next()
    }
}
