//! Comparison of values, item by item.
//!
//! Values that policies create can share parts so often that an enumeration of all paths to them
//! would never end: `[x, x]`, where `x` is `[y, y]`, and so on. Parts that are found equal are
//! therefore cached once a comparison has reached a certain cost, and not compared again.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Array, Object, Set, Value};

/// Number of compared arrays, objects and sets after which a comparison caches equal parts.
const CACHE_THRESHOLD: u32 = 1_000;

/// State of a comparison.
struct Comparison {
    /// Whether only equality matters, rather than order.
    equality: bool,
    comparisons: u32,
    /// Number of items that may have been compared.
    work: usize,
    /// Pairs of parts that were found equal, by their addresses.
    equal: BTreeSet<(usize, usize)>,
}

/// Address and length of an array, an object or a set.
type Address = (usize, usize);

impl Comparison {
    fn of(equality: bool) -> Self {
        Self {
            equality,
            comparisons: 0,
            work: 0,
            equal: BTreeSet::new(),
        }
    }

    fn values(&mut self, left: &Value, right: &Value) -> Ordering {
        match (left, right) {
            (Value::Array(left), Value::Array(right)) => self.arrays(left, right),
            (Value::Object(left), Value::Object(right)) => self.objects(left, right),
            (Value::Set(left), Value::Set(right)) => self.sets(left, right),
            // Neither comparison recurses here, because one of the values has no parts, or they are
            // of different types.
            _ if !self.equality => left.cmp(right),
            _ if left == right => Ordering::Equal,
            _ => Ordering::Less,
        }
    }

    fn arrays(&mut self, left: &Array, right: &Array) -> Ordering {
        let parts = ((left.address(), left.len()), (right.address(), right.len()));
        if let Some(known) = self.known(parts) {
            return known;
        }
        for (left, right) in left.iter().zip(right.iter()) {
            let order = self.values(left, right);
            if order.is_ne() {
                return order;
            }
        }
        self.alike(parts)
    }

    fn objects(&mut self, left: &Object, right: &Object) -> Ordering {
        let parts = ((left.address(), left.len()), (right.address(), right.len()));
        if let Some(known) = self.known(parts) {
            return known;
        }
        for (left, right) in left.iter().zip(right.iter()) {
            let mut order = self.values(left.0, right.0);
            if order.is_eq() {
                order = self.values(left.1, right.1);
            }
            if order.is_ne() {
                return order;
            }
        }
        self.alike(parts)
    }

    fn sets(&mut self, left: &Arc<Set>, right: &Arc<Set>) -> Ordering {
        let parts = (
            (Arc::as_ptr(left).addr(), left.len()),
            (Arc::as_ptr(right).addr(), right.len()),
        );
        if let Some(known) = self.known(parts) {
            return known;
        }
        for (left, right) in left.iter().zip(right.iter()) {
            let order = self.values(left, right);
            if order.is_ne() {
                return order;
            }
        }
        self.alike(parts)
    }

    /// Returns the order of two parts, if no comparison of their items is needed to know it.
    fn known(&mut self, (left, right): (Address, Address)) -> Option<Ordering> {
        if left.0 == right.0 {
            return Some(Ordering::Equal);
        }
        if self.equality && left.1 != right.1 {
            return Some(Ordering::Less);
        }
        self.comparisons = self.comparisons.saturating_add(1);
        self.work = self.work.saturating_add(left.1.min(right.1));
        let is_known =
            self.comparisons > CACHE_THRESHOLD && self.equal.contains(&(left.0, right.0));
        is_known.then_some(Ordering::Equal)
    }

    /// Returns the order of two parts whose items are equal up to the length of the shorter one.
    fn alike(&mut self, (left, right): (Address, Address)) -> Ordering {
        if self.comparisons > CACHE_THRESHOLD && left.1 == right.1 {
            self.equal.insert((left.0, right.0));
        }
        left.1.cmp(&right.1)
    }
}

/// Returns whether two values are equal, and the number of items that may have been compared.
pub(crate) fn equal(left: &Value, right: &Value) -> (bool, usize) {
    let mut comparison = Comparison::of(true);
    let equal = comparison.values(left, right).is_eq();
    (equal, comparison.work)
}

/// Whether two arrays, objects or sets are equal. A separate function, so that comparisons of
/// scalars cost next to nothing.
#[inline(never)]
fn are_alike(left: &Value, right: &Value) -> bool {
    equal(left, right).0
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(left), Self::Bool(right)) => left == right,
            (Self::Number(left), Self::Number(right)) => left == right,
            (Self::String(left), Self::String(right)) => left == right,
            (Self::Bytes(left), Self::Bytes(right)) => left == right,
            (Self::Array(_), Self::Array(_))
            | (Self::Object(_), Self::Object(_))
            | (Self::Set(_), Self::Set(_)) => are_alike(self, other),
            _ => false,
        }
    }
}

impl Eq for Value {}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Compares two arrays, objects or sets. A separate function, so that scalars cost next to nothing.
#[inline(never)]
fn in_order(left: &Value, right: &Value) -> Ordering {
    Comparison::of(false).values(left, right)
}

impl Ord for Value {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Bool(left), Self::Bool(right)) => left.cmp(right),
            (Self::Number(left), Self::Number(right)) => left.cmp(right),
            (Self::String(left), Self::String(right)) => left.as_str().cmp(right),
            (Self::Bytes(left), right) => left.compare(right),
            (left, Self::Bytes(right)) => right.compare(left).reverse(),
            (Self::Array(_), Self::Array(_))
            | (Self::Object(_), Self::Object(_))
            | (Self::Set(_), Self::Set(_)) => in_order(self, other),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl PartialEq for Array {
    fn eq(&self, other: &Self) -> bool {
        Comparison::of(true).arrays(self, other).is_eq()
    }
}

impl Eq for Array {}

impl PartialOrd for Array {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Array {
    fn cmp(&self, other: &Self) -> Ordering {
        Comparison::of(false).arrays(self, other)
    }
}

impl PartialEq for Object {
    fn eq(&self, other: &Self) -> bool {
        Comparison::of(true).objects(self, other).is_eq()
    }
}

impl Eq for Object {}

impl PartialOrd for Object {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Object {
    fn cmp(&self, other: &Self) -> Ordering {
        Comparison::of(false).objects(self, other)
    }
}
