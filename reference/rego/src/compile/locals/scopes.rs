//! Scopes of local variables.

use crate::hash::HashMap;
use crate::syntax::{Location, Var};

/// How a scope introduced a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Parameter.
    Parameter,
    /// Variable that occurs without a declaration.
    Seen,
    /// Left side of `:=`.
    Assigned,
    /// Declaration by `some` or `every`.
    Declared,
}

#[derive(Debug, Clone)]
struct Entry {
    depth: usize,
    local: Var,
    kind: Kind,
    used: bool,
    at: Option<Location>,
}

/// Stack of open scopes.
#[derive(Debug, Clone, Default)]
pub(super) struct Scopes {
    /// For each variable the scopes that contain it, innermost last.
    entries: HashMap<Var, Vec<Entry>>,
    /// Variables of each scope but the outermost, for its removal.
    inner: Vec<Vec<Var>>,
    /// Variables that `some` and `every` declared in the outermost scope.
    outer: Vec<Var>,
}

impl Scopes {
    /// Opens a scope.
    pub(super) fn open(&mut self) {
        self.inner.push(Vec::new());
    }

    /// Closes the innermost scope.
    pub(super) fn close(&mut self) {
        for var in self.inner.pop().unwrap_or_default() {
            if let Some(entries) = self.entries.get_mut(&var) {
                entries.pop();
                if entries.is_empty() {
                    self.entries.remove(&var);
                }
            }
        }
    }

    /// Closes the innermost scope; its undeclared variables count as seen in the enclosing scope.
    pub(super) fn close_seen(&mut self) {
        let vars = self.inner.last().cloned().unwrap_or_default();
        let seen = vars.into_iter().filter(|var| {
            let entry = self.entries.get(var).and_then(|entries| entries.last());
            entry.is_some_and(|entry| entry.kind == Kind::Seen && entry.local == *var)
        });
        let seen: Vec<Var> = seen.collect();
        self.close();
        for var in seen {
            if !self.entries.contains_key(&var) {
                self.insert(&var, var.clone(), Kind::Seen, None);
            }
        }
    }

    /// Adds a variable to the innermost scope.
    pub(super) fn insert(&mut self, var: &Var, local: Var, kind: Kind, at: Option<Location>) {
        let depth = self.inner.len();
        let entry = Entry {
            depth,
            local,
            kind,
            used: false,
            at,
        };
        let entries = self.entries.entry(var.clone()).or_default();
        match entries.last_mut() {
            Some(last) if last.depth == depth => *last = entry,
            _ => entries.push(entry),
        }
        self.inner
            .last_mut()
            .unwrap_or(&mut self.outer)
            .push(var.clone());
    }

    /// Returns the current local name of a variable.
    pub(super) fn local(&self, var: &Var) -> Option<Var> {
        Some(self.entries.get(var)?.last()?.local.clone())
    }

    /// Returns the current local name of a variable, and marks it as used.
    pub(super) fn use_local(&mut self, var: &Var) -> Option<&Var> {
        let entry = self.entries.get_mut(var)?.last_mut()?;
        entry.used = true;
        Some(&entry.local)
    }

    /// Returns how the innermost scope that contains a variable introduced it.
    pub(super) fn kind(&self, var: &Var) -> Option<Kind> {
        Some(self.entries.get(var)?.last()?.kind)
    }

    /// Returns how the innermost scope introduced a variable.
    pub(super) fn own_kind(&self, var: &Var) -> Option<Kind> {
        let entry = self.entries.get(var)?.last()?;
        (entry.depth == self.inner.len()).then_some(entry.kind)
    }

    /// Returns the unused declarations of the innermost scope, with their locations.
    pub(super) fn unused(&self) -> Vec<(Var, Option<Location>)> {
        let vars = self.inner.last().unwrap_or(&self.outer);
        let unused = vars.iter().filter_map(|var| {
            let entry = self.entries.get(var)?.last()?;
            let open = entry.kind == Kind::Declared && !entry.used;
            open.then(|| (var.clone(), entry.at.clone()))
        });
        unused.collect()
    }
}
