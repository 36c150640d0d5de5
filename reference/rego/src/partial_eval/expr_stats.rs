//! Saved expressions and terms of a residual, shared between rules, with their size and groundness.

use std::cmp::Ordering;
use std::ops::Deref;
use std::rc::Rc;

use crate::syntax::visit::{self, Visit};
use crate::syntax::{Expr, ExprTerms, Term, TermValue};

/// A saved part of a residual.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Saved {
    /// An expression that must be satisfied.
    Expr(Shared<Expr>),
    /// A term that must be defined.
    Defined(Shared<Term>),
}

impl Saved {
    pub(super) fn expr(expr: Expr) -> Self {
        Self::Expr(Shared::new(expr))
    }

    pub(super) fn defined(term: Term) -> Self {
        Self::Defined(Shared::new(term))
    }

    /// Returns the number of terms in the part.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Expr(expr) => expr.size,
            Self::Defined(term) => term.size,
        }
    }

    /// Whether the part has no variables and is already in canonical form, so that substitution
    /// does not change it.
    pub(super) fn is_ground(&self) -> bool {
        match self {
            Self::Expr(expr) => expr.is_ground,
            Self::Defined(term) => term.is_ground,
        }
    }
}

/// Shared node, with its size and groundness.
#[derive(Debug, Clone)]
pub(super) struct Shared<T> {
    node: Rc<T>,
    size: usize,
    is_ground: bool,
}

impl<T: Node> Shared<T> {
    pub(super) fn new(node: T) -> Self {
        let mut stats = ExprStats::default();
        node.collect_stats(&mut stats);
        Self {
            node: Rc::new(node),
            size: stats.size,
            is_ground: !stats.is_open,
        }
    }

    /// Changes the node, copying it first if it is shared.
    pub(super) fn change(&mut self, change: impl FnOnce(&mut T)) {
        let node = Rc::make_mut(&mut self.node);
        change(node);
        let mut stats = ExprStats::default();
        node.collect_stats(&mut stats);
        self.size = stats.size;
        self.is_ground = !stats.is_open;
    }

    pub(super) fn is_ground(&self) -> bool {
        self.is_ground
    }

    /// Returns the node, or a copy if it is shared.
    pub(super) fn into_node(self) -> T {
        Rc::unwrap_or_clone(self.node)
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.node
    }
}

impl<T: Eq> PartialEq for Shared<T> {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.node, &other.node) || self.node == other.node
    }
}

impl<T: Eq> Eq for Shared<T> {}

impl<T: Ord> PartialOrd for Shared<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T: Ord> Ord for Shared<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        match Rc::ptr_eq(&self.node, &other.node) {
            true => Ordering::Equal,
            false => self.node.cmp(&other.node),
        }
    }
}

/// Syntax tree node that can be a part of a residual.
pub(super) trait Node: Clone {
    fn collect_stats(&self, stats: &mut ExprStats);
}

impl Node for Expr {
    fn collect_stats(&self, stats: &mut ExprStats) {
        visit::expr(self, stats);
    }
}

impl Node for Term {
    fn collect_stats(&self, stats: &mut ExprStats) {
        visit::term(self, stats);
    }
}

/// Counts terms, and detects variables and nodes that substitution would sort or join.
#[derive(Debug, Default)]
pub(super) struct ExprStats {
    size: usize,
    is_open: bool,
}

impl ExprStats {
    /// Visits a call. A function name does not count as a variable.
    fn call(&mut self, parts: &[Term]) {
        if let Some((name, operands)) = parts.split_first() {
            let before = self.is_open;
            visit::term(name, self);
            self.is_open = before;
            visit::terms(operands, self);
        }
    }
}

impl<'t> Visit<'t> for ExprStats {
    fn term(&mut self, term: &'t Term) -> bool {
        self.size += 1;
        match &term.value {
            TermValue::Var(name) => self.is_open |= !matches!(&*name.0, "input" | "data"),
            TermValue::Ref(parts) => {
                let head = parts.first().map(|head| &head.value);
                self.is_open |= matches!(head, Some(TermValue::Ref(_)));
            }
            TermValue::Set(items) => self.is_open |= !visit::is_set_sorted(items),
            TermValue::Object(members) => self.is_open |= !visit::is_object_sorted(members),
            TermValue::Call(parts) => {
                visit::deep(|| self.call(parts));
                return false;
            }
            _ => {}
        }
        true
    }

    fn expr(&mut self, expr: &'t Expr) -> bool {
        match &expr.terms {
            ExprTerms::Call(parts) if expr.with.is_empty() => {
                self.call(parts);
                false
            }
            _ => {
                // Declarations and replacements are not analysed here.
                self.is_open |= !matches!(expr.terms, ExprTerms::Term(_)) || !expr.with.is_empty();
                true
            }
        }
    }
}
