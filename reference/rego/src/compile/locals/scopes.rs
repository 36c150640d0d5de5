//! Scopes of local variables.

use crate::hash::HashMap;
use crate::syntax::{Location, Var};

/// How a scope came to know a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// It is a parameter.
    Parameter,
    /// It occurs.
    Seen,
    /// It is on the left of `:=`.
    Assigned,
    /// It is declared by `some` or `every`.
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

/// The open scopes.
#[derive(Debug, Clone, Default)]
pub(super) struct Scopes {
    /// For each variable the scopes that know it, innermost last.
    entries: HashMap<Var, Vec<Entry>>,
    /// The variables of each scope but the outermost, to forget them.
    inner: Vec<Vec<Var>>,
    /// What `some` and `every` declared in the outermost scope.
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

    /// Closes the innermost scope. What occurs in it and no scope declares occurs in the scope
    /// around it as well.
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

    /// Lets the innermost scope know a variable.
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

    /// What a variable is called where the walk is.
    pub(super) fn local(&self, var: &Var) -> Option<Var> {
        Some(self.entries.get(var)?.last()?.local.clone())
    }

    /// The same, and the variable counts as used.
    pub(super) fn use_local(&mut self, var: &Var) -> Option<&Var> {
        let entry = self.entries.get_mut(var)?.last_mut()?;
        entry.used = true;
        Some(&entry.local)
    }

    /// How any open scope knows a variable.
    pub(super) fn kind(&self, var: &Var) -> Option<Kind> {
        Some(self.entries.get(var)?.last()?.kind)
    }

    /// How the innermost scope knows a variable.
    pub(super) fn own_kind(&self, var: &Var) -> Option<Kind> {
        let entry = self.entries.get(var)?.last()?;
        (entry.depth == self.inner.len()).then_some(entry.kind)
    }

    /// The variables that the innermost scope declares and nobody uses, and where that is.
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
