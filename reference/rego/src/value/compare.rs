//! Compares values, item by item.
//!
//! What policies make can share its parts so often that nobody lives to see every way into them
//! walked: `[x, x]`, where `x` is `[y, y]`, and so on. Parts that were found equal are therefore
//! remembered once a comparison has cost something, and not compared again.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Array, Object, Set, Value};

/// A comparison that looked at fewer arrays, objects and sets than this remembers nothing.
const MANY: u32 = 1_000;

/// A comparison on its way.
struct Comparison {
    /// Whether it only matters that the values are equal.
    equality: bool,
    looked: u32,
    /// The items that were looked at, or may have been.
    work: usize,
    /// The addresses of parts that are equal.
    equal: BTreeSet<(usize, usize)>,
}

/// The address and the length of an array, an object or a set.
type Part = (usize, usize);

impl Comparison {
    fn of(equality: bool) -> Self {
        Self {
            equality,
            looked: 0,
            work: 0,
            equal: BTreeSet::new(),
        }
    }

    fn values(&mut self, left: &Value, right: &Value) -> Ordering {
        match (left, right) {
            (Value::Array(left), Value::Array(right)) => self.arrays(left, right),
            (Value::Object(left), Value::Object(right)) => self.objects(left, right),
            (Value::Set(left), Value::Set(right)) => self.sets(left, right),
            // Neither comes back here, since one of the values has no parts or they are of
            // different kinds.
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

    /// How two parts compare, if that is known without a look into them.
    fn known(&mut self, (left, right): (Part, Part)) -> Option<Ordering> {
        if left.0 == right.0 {
            return Some(Ordering::Equal);
        }
        if self.equality && left.1 != right.1 {
            return Some(Ordering::Less);
        }
        self.looked = self.looked.saturating_add(1);
        self.work = self.work.saturating_add(left.1.min(right.1));
        let is_known = self.looked > MANY && self.equal.contains(&(left.0, right.0));
        is_known.then_some(Ordering::Equal)
    }

    /// How two parts compare whose items are equal as far as both have some.
    fn alike(&mut self, (left, right): (Part, Part)) -> Ordering {
        if self.looked > MANY && left.1 == right.1 {
            self.equal.insert((left.0, right.0));
        }
        left.1.cmp(&right.1)
    }
}

/// Whether two values are equal, and how many items were looked at to tell.
pub(crate) fn equal(left: &Value, right: &Value) -> (bool, usize) {
    let mut comparison = Comparison::of(true);
    let equal = comparison.values(left, right).is_eq();
    (equal, comparison.work)
}

/// Whether two arrays, objects or sets are equal. It stands apart, so that comparing what has no
/// parts costs next to nothing.
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

/// The order of two arrays, objects or sets, apart for the same reason.
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
